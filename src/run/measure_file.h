/*
 * What a job has measured, kept for its plan in a file without a name: a film
 * has more of it than memory should take. It is written in order, then read in order.
 */
#ifndef LUMEQ_RUN_MEASURE_FILE_H
#define LUMEQ_RUN_MEASURE_FILE_H

#include <stdint.h>

#include "lumeq/lumeq.h"
#include "media/error.h"
#include "media/message.h"

/* Which frame was measured. Times are those of the input, not shifted to begin at 0. */
typedef struct MeasuredFrame {
    int64_t pts, duration; /* in the time base of its stream */
    int32_t width, height, format;
    int32_t range;   /* an AVColorRange */
    int32_t damaged; /* the input was seen to be damaged since the frame before */
    uint32_t mark;   /* a checksum of the measure: another picture has another one */
    int32_t interlaced;
} MeasuredFrame;

typedef struct MeasureFile MeasureFile;

/* Where the next one is read; {0}: the first. */
typedef struct MeasureCursor {
    int64_t position;
} MeasureCursor;

/* In the folder of `output`, or where that is NULL or takes none, among the system's temporary
 * files. MEDIA_OUTPUT. */
int measure_file_open(MeasureFile **file, const char *output, MediaError *error);

/* What is known of it without its measure. `shift`: what was taken off the frame's pts. */
MeasuredFrame measure_file_frame(const AVFrame *frame, int64_t shift);

/* Its mark is that of the measure. MEDIA_OUTPUT. */
int measure_file_add(MeasureFile *file, const MeasuredFrame *frame, const LumeqMeasure *measure,
                     MediaError *error);

/* The checksum that ends a packed measure. */
uint32_t measure_mark(const void *packed, size_t size);

/* Whether these two are the same frame, as far as can be told without looking at it. */
int measured_is_same(const MeasuredFrame *a, const MeasuredFrame *b);

/* After the last one, before the first is read. MEDIA_OUTPUT. */
int measure_file_flush(MeasureFile *file, MediaError *error);

/* How many there are. */
int64_t measure_file_count(const MeasureFile *file);

/* The next one: 1, 0 after the last, MEDIA_OUTPUT. `measure` NULL: only which frame it is of; else
 * as lumeq_measure_unpack(). */
int measure_file_read(MeasureFile *file, MeasureCursor *cursor, MeasuredFrame *frame,
                      LumeqMeasure **measure, MediaError *error);

/* Nothing is left of it. */
void measure_file_close(MeasureFile **file);

#endif
