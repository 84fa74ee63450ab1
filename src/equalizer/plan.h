/* Curves that know what comes: the history with lookahead. One thread at a time. */
#ifndef LUMEQ_PLAN_H
#define LUMEQ_PLAN_H

#include <stdint.h>

#include "equalizer/bytes.h"
#include "lumeq/lumeq.h"

typedef struct LumeqPlan LumeqPlan;

/* Parameters and lookahead (above 0) have been checked. NULL: out of memory. */
LumeqPlan *lumeq_plan_create(const LumeqParams *params, int64_t lookahead);
void lumeq_plan_destroy(LumeqPlan **plan);

/* As lumeq_history_put() and lumeq_history_get(); the measure is finished and fits the parameters,
 * the moment is of this version's size. MEMORY: nothing was done. */
int lumeq_plan_put(LumeqPlan *plan, const LumeqMeasure *measure, const LumeqMoment *moment);
void lumeq_plan_end(LumeqPlan *plan);
int lumeq_plan_get(LumeqPlan *plan, LumeqCurve **curve);

/* Its state as bytes, and back: `bad` where it is none of such a plan, MEMORY where there is none
 * for it; it is then what it was. */
void lumeq_plan_save(const LumeqPlan *plan, ByteWriter *w);
int lumeq_plan_load(LumeqPlan *plan, ByteReader *r);

#endif
