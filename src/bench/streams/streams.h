/* Several live videos at once, for `lumeq-bench streams`: each is decoded and equalized by a thread
 * of its own, in one process. */
#ifndef LUMEQ_BENCH_STREAMS_H
#define LUMEQ_BENCH_STREAMS_H

#include <stdint.h>

#include "app/engine.h"

/* A video's packets in memory, over and over again: no disk takes part. */
typedef struct Film {
    Source *source; /* what it says of the video */
    AVPacket **packets;
    int count;
    int64_t length; /* in the track's time base */
    double rate;    /* frames a second */
} Film;

/* Errors: MEDIA_INPUT. */
int film_open(Film *film, const Options *options, const char *path, MediaError *error);
void film_close(Film *film);

/* What all streams share. */
typedef struct StreamsJob {
    const Options *options;
    double seconds;
    double rate; /* frames a second at which packets come; 0: as fast as they are taken */
    int decode_only;
    int download;    /* not 0: what is equalized comes to the host; 0: it stays where it is made, as
                        far as there is room */
    int own_streams; /* not 0: of CUDA, each has its own; 0: they share them */
} StreamsJob;

typedef struct Stream {
    const StreamsJob *job;
    const Film *film;
    /* What it came to. */
    int64_t frames, late; /* late: more than two periods after it was due */
    double wall_us;
    double *delays; /* in milliseconds, sorted, of each frame; NULL where there is no rate */
    int on_gpu;     /* it was decoded there to the end */
    int64_t hosted; /* frames that came to the host for want of room on the GPU */
    MediaError error;
    struct StreamWork *work;
} Stream;

/* Runs them all, from one moment on: 0, or -1 with the error of at least one. `tick` is called once
 * a second meanwhile. The caller frees the delays. */
int streams_run(Stream *streams, int count, void (*tick)(void *opaque), void *opaque);

#endif
