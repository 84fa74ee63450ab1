/* LumeqHistory turns measures into curves. Without lookahead, history.c makes them frame by frame;
 * with lookahead, rule/plan.c makes them. */
#ifndef LUMEQ_HISTORY_H
#define LUMEQ_HISTORY_H

#include "equalizer/backend.h"
#include "equalizer/measure.h"
#include "equalizer/rule/curve.h"
#include "equalizer/rule/plan.h"
#include "equalizer/settings.h"
#include "lumeq/lumeq.h"

/* The history after a frame. Zero: none. */
typedef struct LumeqPast {
    LumeqState state;
    LumeqClock clock;
    LumeqParams params; /* of that frame */
} LumeqPast;

/* Copies a history, without members that are undefined. */
void lumeq_copy_past(LumeqPast *to, const LumeqPast *from);

typedef struct LumeqFollow {
    const LumeqMeasure *measure; /* finished, with the counts that the parameters need */
    int discontinuity;           /* ignore the history before the frame, except for its clock */
    int interlaced;
    int past; /* number of previous frames that the filter may use */
} LumeqFollow;

/* Makes a frame's curve from the history before the frame. Fills in `now`, the history after it;
 * the caller has set its clock and params. `work` is scratch memory. Error: MEMORY, with a sentence
 * in lumeq_error_text(). */
int lumeq_follow(const LumeqFollow *frame, const LumeqPast *before, LumeqPast *now, CurveWork *work,
                 LumeqCurve **curve);

/* Makes the history after a frame of the reference, whose curve is made elsewhere. */
void lumeq_pass_over(const LumeqImage *image, const LumeqPast *before, LumeqPast *now);

struct LumeqHistory {
    LumeqParams params; /* of the next frame */
    int ended;          /* the stream has ended; the next put begins a new one */
    LumeqPlan *plan;    /* NULL: no lookahead. The members below are unused with lookahead. */
    LumeqPast pasts[2];
    int last;          /* index in `pasts` of the history after the previous frame */
    LumeqCurve *ready; /* the curve to return next; NULL: none yet */
    CurveWork work;
};

#endif
