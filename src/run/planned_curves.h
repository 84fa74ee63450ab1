/* Curves that a lookahead or a job has made from the measures of the same frames. One thread at a
 * time. */
#ifndef LUMEQ_RUN_PLANNED_CURVES_H
#define LUMEQ_RUN_PLANNED_CURVES_H

#include "media/input/source.h"
#include "run/curve_maker.h"

typedef struct PlannedOptions {
    /* Returns 1 and the next measured frame with its curve, which the caller unrefs; 0 after the
     * last; or a fault. */
    int (*next)(void *opaque, MeasuredFrame *frame, LumeqCurve **curve, MediaError *error);
    void *opaque;
    int64_t count;        /* number of curves */
    int strict;           /* true: fails with MEDIA_INPUT if a frame is not the measured one */
    int depth;            /* depth of converted frames of 8 bits; 0: their own */
    const Source *source; /* source of the frames */
    const char *path;     /* of the input */
} PlannedOptions;

typedef struct PlannedCurves PlannedCurves;

/* Everything in the options must outlive it. MEDIA_INPUT. */
int planned_open(PlannedCurves **planned, const PlannedOptions *options, MediaError *error);

/* Returns 1 and the curve of the next frame, which the caller unrefs. 0: `in` is not the measured
 * frame, so no curves are left for it and the frames after it. AVERROR_EOF: the run was stopped.
 * `zero`: see input_zero(). MEDIA_INPUT, also if the file was changed. */
int planned_take(PlannedCurves *planned, const AVFrame *in, int64_t zero, LumeqCurve **curve,
                 MediaError *error);

/* Number of curves taken. */
int64_t planned_count(const PlannedCurves *planned);

/* After the last frame: true if the frames were not the measured ones. */
int planned_differs(const PlannedCurves *planned);

void planned_close(PlannedCurves **planned);

#endif
