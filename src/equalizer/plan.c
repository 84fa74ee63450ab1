#include "equalizer/plan.h"

struct LumeqPlan {
    int unused;
};

LumeqPlan *lumeq_plan_create(const LumeqParams *params, int64_t lookahead)
{
    (void)params, (void)lookahead;
    return NULL;
}

void lumeq_plan_destroy(LumeqPlan **plan)
{
    *plan = NULL;
}

int lumeq_plan_put(LumeqPlan *plan, const LumeqMeasure *measure, const LumeqMoment *moment)
{
    (void)plan, (void)measure, (void)moment;
    return LUMEQ_ERR_MEMORY;
}

void lumeq_plan_end(LumeqPlan *plan)
{
    (void)plan;
}

int lumeq_plan_get(LumeqPlan *plan, LumeqCurve **curve)
{
    (void)plan, (void)curve;
    return LUMEQ_ERR_AGAIN;
}

void lumeq_plan_save(const LumeqPlan *plan, ByteWriter *w)
{
    (void)plan, (void)w;
}

int lumeq_plan_load(LumeqPlan *plan, ByteReader *r)
{
    (void)plan, (void)r;
    return LUMEQ_ERR_MEMORY;
}
