/* Makes curves from the measures of frames: planned curves, which take later frames into account,
 * and live curves from past frames. One thread at a time may use an object. */
#ifndef LUMEQ_RUN_CURVE_MAKER_H
#define LUMEQ_RUN_CURVE_MAKER_H

#include <stdbool.h>
#include <stdint.h>

#include "lumeq/lumeq.h"
#include "media/error.h"
#include "media/input/source.h"
#include "run/run_frame.h"

/* Identifies a frame that was measured. */
typedef struct MeasuredFrame {
    int64_t pts, duration; /* in the stream's time base, not shifted to begin at 0 */
    int32_t width, height, format;
    int32_t range;   /* an AVColorRange */
    int32_t damaged; /* not 0: damage was found in the input after the previous frame */
    uint32_t mark;   /* measure_mark() of the frame's measure */
    int32_t interlaced;
} MeasuredFrame;

/* Describes a frame, with `shift` added to its pts. `damaged` and `mark` are 0. */
MeasuredFrame measured_frame(const AVFrame *frame, int64_t shift);

/* True if all members except `damaged` and `mark` are equal. */
bool measured_is_same(const MeasuredFrame *a, const MeasuredFrame *b);

/* The moment of a frame for lumeq_history_put(), with `shift` subtracted from its pts. */
LumeqMoment measured_moment(const MeasuredFrame *frame, int64_t number, int64_t shift,
                            AVRational base);

/* The checksum at the end of a packed measure. It identifies the picture. */
uint32_t measure_mark(const void *packed, size_t size);

typedef struct CurveMaker CurveMaker;

/* `lookahead`: in nanoseconds; 0: only for curve_maker_judge(). `depth`: frames of fewer bits are
 * converted to this many bits; 0: none are. Error: MEDIA_INPUT; close the maker even then. */
int curve_maker_open(CurveMaker **maker, const LumeqParams *params, int64_t lookahead, int depth,
                     MediaError *error);

/* Adds the next frame; NULL: the end. The caller still owns the measure, which may be converted to
 * the maker's depth. Then call curve_maker_next() until it returns 0. Error: MEDIA_INPUT. */
int curve_maker_put(CurveMaker *maker, const MeasuredFrame *frame, LumeqMeasure *measure,
                    const LumeqMoment *moment, MediaError *error);

/* Returns 1 with the next frame and its curve, which the caller must unref. Returns 0 if more
 * measures are needed or no frame is left. Error: MEDIA_INPUT. */
int curve_maker_next(CurveMaker *maker, MeasuredFrame *frame, LumeqCurve **curve,
                     MediaError *error);

/* For a maker without lookahead, in place of curve_maker_put() and curve_maker_next(). Adds the
 * next frame. Returns 1 if the frame would be denoised, else 0. Error: MEDIA_INPUT. */
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

/* The context must outlive `curves`. Errors: MEDIA_INPUT, MEDIA_USAGE. */
int live_curves_open(LiveCurves *curves, LumeqContext *context, const LumeqParams *params,
                     MediaError *error);

/* Sets the parameters for later frames. Ignores deflicker. Error: MEDIA_USAGE. */
int live_curves_set(LiveCurves *curves, const LumeqParams *params, MediaError *error);

/* Measures a frame against its `previous[0]`, and makes its curve. Errors: MEDIA_LOST, with the
 * history unchanged; MEDIA_INPUT. */
int live_curves_make(LiveCurves *curves, Frame *frame, MediaError *error);

void live_curves_close(LiveCurves *curves);

/* ---- planned curves ---- */

typedef struct PlannedCurves {
    /* Returns 1 with the next measured frame and its curve, which the caller must unref; 0 after
     * the last frame; or a MEDIA_* error. */
    int (*next)(void *opaque, MeasuredFrame *frame, LumeqCurve **curve, MediaError *error);
    void *opaque;
    int strict;           /* true: if a frame is not the measured one, fails with MEDIA_INPUT */
    int depth;            /* see curve_maker_open() */
    const Source *source; /* source of the frames */
    const char *path;     /* of the input */
    int64_t taken;        /* number of curves taken; starts at 0 */
    bool differs;         /* set if a frame was not the measured one, or came after the last one */
} PlannedCurves;

/* Takes the curve of `in`, the next frame. Returns 1 with the curve, which the caller must unref.
 * Returns 0 if `in` is not the next measured frame; then do not call it again. AVERROR_EOF: the run
 * was stopped. MEDIA_INPUT: other errors; the file may have changed. `zero`: see input_zero(). */
int planned_take(PlannedCurves *planned, const AVFrame *in, int64_t zero, LumeqCurve **curve,
                 MediaError *error);

#endif
