/*
 * The lift with lookahead. The rule gets the mean histogram and noise of the frames on both sides
 * within the segment, weighted by exp(-|dt| / 3 s), as past frames are without lookahead. Thus a
 * scene of some seconds is judged as a whole, and lasting changes in a longer one, as when a camera
 * moves outdoors, are followed. The result is then smoothed as without lookahead, since percentiles
 * move by whole codes.
 */
#include <string.h>

#include "equalizer/decay.h"
#include "equalizer/plan.h"

/* Upper limit of PlanLight.share; 256 of them fit 32 bits. */
#define MOST_SHARE (1u << (LIFT_SHARE_BITS - 7))

/* Weights are Q16; sums have 64 bits. */
static void add_frame(PlanLight *sums, const PlanFrame *f, uint32_t weight)
{
    if (f->blank || f->flash)
        return;
    if (f->counted) {
        sums->weight += weight;
        for (int i = 0; i < CURVE_CELLS; i++)
            sums->share[i] += (uint64_t)weight * (f->share[i] >> 8);
    }
    if (f->noise != NOISE_UNKNOWN) {
        sums->noise_weight += weight;
        sums->noise += (uint64_t)weight * f->noise;
    }
}

static uint64_t faded(uint64_t sum, uint32_t part)
{
    const uint64_t left = CURVE_ONE - part;
    return (sum >> 16) * left + ((sum & 0xffff) * left >> 16);
}

void lumeq_plan_age(PlanLight *past, int64_t time)
{
    const uint32_t part = lumeq_decay(time, LIFT_TIME);
    past->weight = faded(past->weight, part);
    past->noise_weight = faded(past->noise_weight, part);
    past->noise = faded(past->noise, part);
    for (int i = 0; i < CURVE_CELLS; i++)
        past->share[i] = faded(past->share[i], part);
}

void lumeq_plan_lit(PlanLight *past, const PlanFrame *f)
{
    add_frame(past, f, CURVE_ONE);
}

/* Sums up the past frames with their weights at frame i, and all known later ones of its scene. */
static void light_at(const LumeqPlan *plan, size_t i, const PlanLight *past, PlanLight *sums)
{
    const int64_t at = plan_frame(plan, i)->at;
    const size_t end = lumeq_plan_scene_end(plan, i);
    const uint32_t least = CURVE_ONE - lumeq_decay(plan->lookahead, LIFT_TIME);
    *sums = *past;
    for (size_t k = i; k < end; k++) {
        const PlanFrame *f = plan_frame(plan, k);
        const uint32_t weight = CURVE_ONE - lumeq_decay(f->at - at, LIFT_TIME);
        add_frame(sums, f, weight > least ? weight - least : 1);
    }
}

static void take_noise(LumeqPlan *plan, const PlanLight *sums)
{
    if (sums->noise_weight) {
        plan->noise = (uint32_t)(sums->noise / sums->noise_weight) << 8;
        plan->noise_known = 1;
    }
}

uint32_t lumeq_plan_noise(const LumeqPlan *plan)
{
    return plan->noise_known ? plan->noise : LIFT_NOISE_USUAL;
}

void lumeq_plan_lift(LumeqPlan *plan, size_t i, const PlanLight *past, const CurveParams *p,
                     PlanCurve *curve)
{
    const PlanFrame *f = plan_frame(plan, i);
    PlanLight sums;
    LiftCode code[CURVE_CELLS];
    LiftChoice choice = {0, 0, 0, 0};
    light_at(plan, i, past, &sums);
    take_noise(plan, &sums);
    const int alone = f->blank || !sums.weight;
    if (!alone) {
        for (int k = 0; k < CURVE_CELLS; k++) {
            const uint64_t share = sums.share[k] / sums.weight;
            code[k].count = share < MOST_SHARE ? (uint32_t)share : MOST_SHARE;
        }
        choice =
            lift_decide(code, lift_wanted(p, lumeq_plan_noise(plan), 0), &p->light, &plan->work);
    }
    for (int bin = 0; bin < p->bins; bin++) {
        curve->bin[bin] = light_bin(p, bin);
        if (!alone && bin >= curve_black(p) && bin <= curve_white(p))
            curve->bin[bin] = lift_target(p, plan->work.hist, (uint32_t)bin);
    }
    curve->need = choice.need;
    curve->dark = choice.dark;
    curve->more = choice.lift;
}
