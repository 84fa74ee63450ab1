/* Makes curves from the measures of frames: planned curves for lookaheads and jobs, and live
 * curves from past frames. One thread at a time. */
#ifndef LUMEQ_RUN_CURVE_MAKER_H
#define LUMEQ_RUN_CURVE_MAKER_H

#include <stdbool.h>
#include <stdint.h>

#include "lumeq/lumeq.h"
#include "media/error.h"
#include "media/input/source.h"
#include "run/run_frame.h"

/* Identifies a frame that was measured. Times are those of the input, not shifted to begin at 0. */
typedef struct MeasuredFrame {
    int64_t pts, duration; /* in the time base of its stream */
    int32_t width, height, format;
    int32_t range;   /* an AVColorRange */
    int32_t damaged; /* not 0: damage was found in the input since the previous frame */
    uint32_t mark;   /* measure_mark() of its measure */
    int32_t interlaced;
} MeasuredFrame;

/* Describes a frame; `damaged` and `mark` are 0. Adds `shift` to its pts. */
MeasuredFrame measured_frame(const AVFrame *frame, int64_t shift);

/* True if all members except `damaged` and `mark` are equal. */
bool measured_is_same(const MeasuredFrame *a, const MeasuredFrame *b);

/* The moment of a frame for lumeq_history_put(). `shift` is subtracted from its pts. */
LumeqMoment measured_moment(const MeasuredFrame *frame, int64_t number, int64_t shift,
                            AVRational base);

/* The checksum at the end of a packed measure; it identifies the picture. */
uint32_t measure_mark(const void *packed, size_t size);

typedef struct CurveMaker CurveMaker;

/* `lookahead`: in nanoseconds; 0: none, for curve_maker_judge(). `depth`: number of bits to which
 * frames of fewer bits are converted; 0: none are. MEDIA_INPUT; close the maker even then. */
int curve_maker_open(CurveMaker **maker, const LumeqParams *params, int64_t lookahead, int depth,
                     MediaError *error);

/* Adds the next frame and its measure. The caller keeps the measure, which may be converted to the
 * maker's depth. A NULL frame marks the end. Afterwards, call curve_maker_next() until it returns
 * 0. MEDIA_INPUT. */
int curve_maker_put(CurveMaker *maker, const MeasuredFrame *frame, LumeqMeasure *measure,
                    const LumeqMoment *moment, MediaError *error);

/* Returns 1 and the next frame with its curve, which the caller unrefs; 0: more measures are
 * needed, or there are no more frames. MEDIA_INPUT. */
int curve_maker_next(CurveMaker *maker, MeasuredFrame *frame, LumeqCurve **curve,
                     MediaError *error);

/* For a maker without lookahead, instead of curve_maker_put() and curve_maker_next(): returns 1 if
 * the next frame would be denoised, or 0. MEDIA_INPUT. */
int curve_maker_judge(CurveMaker *maker, const MeasuredFrame *frame, LumeqMeasure *measure,
                      const LumeqMoment *moment, MediaError *error);

void curve_maker_close(CurveMaker **maker);

/* ---- live curves ---- */

/* {0} is closed. */
typedef struct LiveCurves {
    LumeqContext *context;
    LumeqParams params;
    LumeqHistory *history;
    LumeqMeasure *measure; /* of the last frame */
} LiveCurves;

/* The context must outlive `curves`. MEDIA_INPUT, MEDIA_USAGE. */
int live_curves_open(LiveCurves *curves, LumeqContext *context, const LumeqParams *params,
                     MediaError *error);

/* Sets the parameters for later frames, without deflicker, which needs a lookahead. MEDIA_USAGE. */
int live_curves_set(LiveCurves *curves, const LumeqParams *params, MediaError *error);

/* Measures a frame against its `previous[0]`, and makes its curve. Returns 0; MEDIA_LOST, with the
 * history unchanged; or MEDIA_INPUT. */
int live_curves_make(LiveCurves *curves, Frame *frame, MediaError *error);

void live_curves_close(LiveCurves *curves);

/* ---- planned curves ---- */

typedef struct PlannedCurves {
    /* Returns 1 and the next measured frame with its curve, which the caller unrefs; 0 after the
     * last; or a fault. */
    int (*next)(void *opaque, MeasuredFrame *frame, LumeqCurve **curve, MediaError *error);
    void *opaque;
    int strict;           /* true: fails with MEDIA_INPUT if a frame is not the measured one */
    int depth;            /* see curve_maker_open() */
    const Source *source; /* source of the frames */
    const char *path;     /* of the input */
    int64_t taken;        /* number of curves taken; starts at 0 */
    bool differs;         /* set if a frame was not the measured one, or came after the last */
} PlannedCurves;

/* Returns 1 and the curve of the next frame, which the caller unrefs. 0: `in` is not the measured
 * frame or is after the last one; do not call again. AVERROR_EOF: the run was stopped. `zero`: see
 * input_zero(). MEDIA_INPUT, also if the file was changed. */
int planned_take(PlannedCurves *planned, const AVFrame *in, int64_t zero, LumeqCurve **curve,
                 MediaError *error);

#endif
