/*
 * LumeqHistory: measures in, curves out. Without lookahead it uses the arithmetic of
 * lumeq_process(), frame by frame (history.c); with lookahead, plan.c.
 */
#ifndef LUMEQ_HISTORY_H
#define LUMEQ_HISTORY_H

#include "equalizer/backend.h"
#include "equalizer/plan.h"
#include "equalizer/settings.h"
#include "lumeq/lumeq.h"

typedef struct HistoryWork {
    BarsProfile profile;
    BarsWork bars;
    CurveWork curve;
    CurveTable table;
    ClaheWork clahe;
} HistoryWork;

struct LumeqHistory {
    LumeqParams params, last_params; /* of the next frame and of the previous one */
    LumeqPlan *plan;                 /* NULL: no lookahead; only then the members below are used */
    LumeqClock clock;
    LumeqState states[2];
    int last; /* index of the previous frame's state */
    int ended;
    LumeqCurve *ready; /* the curve to return next; NULL: none yet */
    HistoryWork work;
};

#endif
