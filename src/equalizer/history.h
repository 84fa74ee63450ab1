/* LumeqHistory turns measures into curves. Without lookahead, history.c makes the curves frame by
 * frame; with lookahead, rule/plan.c makes them. */
#ifndef LUMEQ_HISTORY_H
#define LUMEQ_HISTORY_H

#include "equalizer/backend.h"
#include "equalizer/measure.h"
#include "equalizer/rule/curve.h"
#include "equalizer/rule/plan.h"
#include "equalizer/settings.h"
#include "lumeq/lumeq.h"

/* The history after a frame. Zero is an empty history. */
typedef struct LumeqPast {
    LumeqState state;
    LumeqClock clock;
    LumeqParams params; /* of that frame */
} LumeqPast;

/* Copies a history's defined members. */
void lumeq_copy_past(LumeqPast *to, const LumeqPast *from);

typedef struct LumeqFollow {
    const LumeqMeasure *measure; /* finished, with the counts that the parameters need */
    int discontinuity;           /* of the history before the frame, use only the clock */
    int interlaced;
    int past; /* number of previous frames that the filter may use */
} LumeqFollow;

/* Makes a frame's curve from the history `before`. The caller has set clock and params of `now`,
 * the history after the frame; lumeq_follow() sets the rest. `work` is scratch memory. Error:
 * MEMORY, with a sentence in lumeq_error_text(). */
int lumeq_follow(const LumeqFollow *frame, const LumeqPast *before, LumeqPast *now, CurveWork *work,
                 LumeqCurve **curve);

/* Makes the history after a frame in reference mode, whose curve the GPU makes. */
void lumeq_pass_over(const LumeqImage *image, const LumeqPast *before, LumeqPast *now);

struct LumeqHistory {
    LumeqParams params; /* of the next frame */
    int ended;          /* the stream has ended; the next put begins a new one */
    LumeqPlan *plan;    /* NULL: no lookahead. The members below are unused with lookahead. */
    LumeqPast pasts[2];
    int last;          /* index in `pasts` of the history after the previous frame */
    LumeqCurve *ready; /* the curve to return next; NULL: none */
    CurveWork work;
};

#endif
