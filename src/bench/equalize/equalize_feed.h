/* An equalizer with pictures to feed it with, and what it should make of them. */
#ifndef LUMEQ_BENCH_EQUALIZE_FEED_H
#define LUMEQ_BENCH_EQUALIZE_FEED_H

#include <stddef.h>

#include "bench/equalize/equalize.h"

/* In rotation on the host, each way: more than can be in flight. */
#define FEED_PICTURES 8

typedef struct Feed {
    const EqualizeCase *of;
    LumeqEqualizer *eq;
    LumeqImage in[FEED_PICTURES], out[FEED_PICTURES];
    int submitted, received;
} Feed;

/* All of them: 0, or -1 after a sentence on stderr. */

int feed_open(Feed *feed, const EqualizeCase *c, int device);
void feed_close(Feed *feed);

/* The first frames, as many in flight as there can be, against plain C on one thread, bit for bit.
 * Before everything else. */
int feed_check(Feed *feed);

/* Microseconds from one frame to the next while as many as there can be are in flight. */
int feed_time(Feed *feed, double seconds, double *us);

/* One frame alone, from before it is handed in until it is back: the median. */
int feed_time_alone(Feed *feed, double seconds, double *us);

/* As feed_time(), of pictures that stay in the GPU's memory. Right after feed_check(), with whose
 * frames the first are compared. */
int feed_time_resident(const Feed *feed, int device, double seconds, double *us);

/* The copies of the pictures both ways at once, without an equalizer: as feed_time(). */
int feed_time_duplex(const Feed *feed, int device, double seconds, double *us);

/* A picture without gaps: luma and, of 3 planes, chroma of 4:2:0 behind it. */
size_t feed_image_size(const BenchPicture *picture, int planes);
LumeqImage feed_image(const BenchPicture *picture, void *memory, int planes);

/* A case's picture in memory from malloc(), with chroma that is all alike; plane[0] is NULL when
 * there is none left. */
LumeqImage feed_input(const BenchPicture *picture, int planes);

/* What the CPU makes of it as the first frame, bars looked at like the rest; luma in memory from
 * malloc(). */
int feed_expected(LumeqImage *out, const LumeqImage *in, const EqualizeMode *mode);

/* 0, or -1 after a sentence about the first sample that differs; `what` was computed. */
int feed_compare(const EqualizeCase *c, const char *what, const LumeqImage *got,
                 const LumeqImage *expected);

#endif
