/*
 * LumeqHistory: measures in, curves out. Without lookahead that is the arithmetic of the live way,
 * one frame after the other (history.c); with it, that of plan.c.
 */
#ifndef LUMEQ_HISTORY_H
#define LUMEQ_HISTORY_H

#include "equalizer/backend.h"
#include "equalizer/bytes.h"
#include "equalizer/plan.h"
#include "equalizer/settings.h"
#include "lumeq/lumeq.h"

/* What a frame's curve is made in. */
typedef struct HistoryWork {
    BarsProfile profile;
    BarsWork bars;
    CurveWork curve;
    CurveTable table;
    ClaheWork clahe;
} HistoryWork;

struct LumeqHistory {
    LumeqParams params;
    int64_t lookahead;
    LumeqPlan *plan; /* NULL: no lookahead, and all that follows is used */
    LumeqClock clock;
    LumeqState states[2];
    int last; /* the number of the one that the frame before has left */
    int ended;
    LumeqCurve *ready; /* put, and not got yet */
    HistoryWork work;
};

/* A history without lookahead that goes on from here. The parameters have been checked. NULL: out
 * of memory. */
LumeqHistory *lumeq_history_from(const LumeqParams *params, const LumeqState *state,
                                 const LumeqClock *clock);

#endif
