/* Decodes and measures an input or a part of it, for a lookahead or a job. Measures on the caller's
 * thread. */
#ifndef LUMEQ_RUN_MEASURE_PASS_H
#define LUMEQ_RUN_MEASURE_PASS_H

#include "run/curve_maker.h"
#include "run/input.h"

typedef struct MeasurePass {
    Source *source;     /* opened for this pass alone */
    InputOptions input; /* without packets to copy */
    LumeqContext *context;
    const LumeqParams *params;
    /* Gets each frame's measure. Sets *measure to NULL to own it. An error ends the pass. */
    int (*take)(void *opaque, const AVFrame *frame, const MeasuredFrame *which,
                LumeqMeasure **measure, MediaError *error);
    void *opaque;
    /* Frames before this time of the source, in the track's time base, are decoded but not
     * measured. INT64_MIN: all frames are measured. */
    int64_t from_pts;

    /* Results. */
    DamageReport report; /* set on success */
    uint32_t before[2];  /* marks of the two frames before the measured part, nearest first; or 0 */
} MeasurePass;

/* Stores the marks of frames[0] and frames[1], or 0 for NULL. The frames are in reverse order of
 * time; each is measured against the next one in the array. Errors: MEDIA_INPUT, MEDIA_LOST. */
int measure_pass_marks(LumeqContext *context, const LumeqParams *params, AVFrame *const frames[3],
                       uint32_t marks[2], MediaError *error);

/* Reads to the end of the part, or until a stop. Errors: MEDIA_INPUT, MEDIA_LOST, or take()'s. */
int measure_pass_run(MeasurePass *pass, MediaError *error);

#endif
