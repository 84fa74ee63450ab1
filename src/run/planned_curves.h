/*
 * Frames equalized by curves that were planned: each is that of a frame that was measured before,
 * ahead of it or for a job. One thread at a time, but for planned_apply().
 */
#ifndef LUMEQ_RUN_PLANNED_CURVES_H
#define LUMEQ_RUN_PLANNED_CURVES_H

#include "media/input/source.h"
#include "run/curve_maker.h"
#include "run/run_frame.h"

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

#define PLANNED_LOST 2

typedef struct PlannedCurves PlannedCurves;

/* Everything in the options must outlive it. MEDIA_INPUT. */
int planned_open(PlannedCurves **planned, const PlannedOptions *options, MediaError *error);

/* The curve of the next frame, to be given back with lumeq_curve_unref(): 1. Or 0 if `in` is not
 * the frame that was measured: this one and all that follow are to be equalized otherwise. `zero`:
 * what became 0 of the input's times, see reader_zero(). MEDIA_INPUT (also: the file has been
 * changed since). */
int planned_take(PlannedCurves *planned, const AVFrame *in, int64_t zero, LumeqCurve **curve,
                 MediaError *error);

/* Equalizes a frame into `out`; NULL: only fills the statistics. `before`: the frames before it,
 * the nearest first, or NULL. Returns 1; PLANNED_LOST if one of these frames is lost with the GPU;
 * or MEDIA_INPUT. Any thread, several at a time. */
int planned_apply(const PlannedCurves *planned, LumeqCurve *curve, const AVFrame *in,
                  AVFrame *const before[FRAME_PREVIOUS], AVFrame *out, LumeqFrameStats *stats,
                  MediaError *error);

/* Curves that were taken. */
int64_t planned_count(const PlannedCurves *planned);

/* After the last frame: the frames were not those that were measured. */
int planned_differs(const PlannedCurves *planned);

void planned_close(PlannedCurves **planned);

/* ---- several at a time: such frames do not depend on each other, so a GPU uploads one while it
 * computes another and downloads a third ---- */

/* Maximum number of frames in work. */
#define APPLY_MOST 4

typedef struct ApplyPool ApplyPool;

/* `threads`: 0: apply_pool_start() does the work itself. `writes`: true if frames are written to
 * `out`, not only measured. `planned` must outlive it. NULL: out of memory, or no thread can be
 * started. */
ApplyPool *apply_pool_create(const PlannedCurves *planned, int threads, int writes);

/* Equalizes a frame by its curve and the frames before it. At most APPLY_MOST frames are started
 * and not waited for. Waiting returns the answer of planned_apply(); frames may be waited for in
 * any order. */
void apply_pool_start(ApplyPool *pool, Frame *frame);
int apply_pool_wait(ApplyPool *pool, Frame *frame);

/* The first error of any frame, after apply_pool_wait(). */
const MediaError *apply_pool_error(const ApplyPool *pool);

/* Every frame was waited for. NULL is allowed inside. */
void apply_pool_close(ApplyPool **pool);

#endif
