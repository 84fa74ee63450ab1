/*
 * Frames equalized by curves that were planned: each is that of a frame that was measured before,
 * ahead of it or for a job. One thread at a time, but for planned_apply().
 */
#ifndef LUMEQ_RUN_PLANNED_CURVES_H
#define LUMEQ_RUN_PLANNED_CURVES_H

#include "media/input/source.h"
#include "run/curve_maker.h"

typedef struct PlannedOptions {
    /* The next frame that was measured, and its curve, which is given back: 1; 0 after the last; or
     * a fault. */
    int (*next)(void *opaque, MeasuredFrame *frame, LumeqCurve **curve, MediaError *error);
    void *opaque;
    int64_t count;         /* how many there are */
    int strict;            /* another frame than was measured is MEDIA_INPUT */
    int depth;             /* that frames of 8 bits were brought to since; 0: their own */
    LumeqContext *context; /* that equalizes */
    const Source *source;  /* that the frames come from */
    const char *path;      /* of the input */
} PlannedOptions;

/* Frames before one that its curve may want. */
#define PLANNED_BEFORE 3

#define PLANNED_LOST 2

typedef struct PlannedCurves PlannedCurves;

/* What is in the options has to outlive it. MEDIA_INPUT. */
int planned_open(PlannedCurves **planned, const PlannedOptions *options, MediaError *error);

/* The curve of the next frame, to be given back with lumeq_curve_unref(): 1. Or 0 if `in` is not
 * the frame that was measured: this one and all that follow are to be equalized otherwise. `zero`:
 * what became 0 of the input's times, see reader_zero(). MEDIA_INPUT (also: the file has been
 * changed since). */
int planned_take(PlannedCurves *planned, const AVFrame *in, int64_t zero, LumeqCurve **curve,
                 MediaError *error);

/*
 * Equalizes a frame into `out`, NULL: only its statistics are wanted. `before`: the frames before
 * it, the nearest first, or NULL. Answers 1; or PLANNED_LOST: the GPU is lost, and what a frame had
 * there: once they are on the host, all of them, the call may be made again. MEDIA_INPUT. Any
 * thread, several at a time.
 */
int planned_apply(const PlannedCurves *planned, LumeqCurve *curve, const AVFrame *in,
                  AVFrame *const before[PLANNED_BEFORE], AVFrame *out, LumeqFrameStats *stats,
                  MediaError *error);

/* Curves that were taken. */
int64_t planned_count(const PlannedCurves *planned);

/* After the last frame: the frames were not those that were measured. */
int planned_differs(const PlannedCurves *planned);

void planned_close(PlannedCurves **planned);

#endif
