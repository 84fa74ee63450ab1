/* Input and output of a plan: measures are put, curves are returned. */
#include "equalizer/rule/plan.h"

#include <stdlib.h>
#include <string.h>

#include "equalizer/last_error.h"
#include "equalizer/measure.h"

/* Deflicker evens out light over this many nanoseconds before and after a frame. */
#define FLICKER_RADIUS 500000000

LumeqPlan *lumeq_plan_create(const LumeqParams *params, int64_t lookahead)
{
    LumeqPlan *plan = calloc(1, sizeof(*plan));
    if (!plan)
        return NULL;
    plan->params = *params;
    plan->lookahead = lookahead;
    plan->even = CURVE_ONE;
    plan->reference = params->mode != LUMEQ_MODE_OFF && params->reference;
    if (params->deflicker > 0 && !plan->reference)
        plan->flicker = plan_least(FLICKER_RADIUS, lookahead / 2);
    plan->plateau_of = -1;
    return plan;
}

void lumeq_plan_clear(LumeqPlan *plan)
{
    for (size_t i = 0; i < plan->count; i++)
        lumeq_plan_frame_free(plan_frame(plan, i));
    free(plan->ring);
    plan->ring = NULL;
    plan->room = plan->first = plan->count = 0;
}

void lumeq_plan_destroy(LumeqPlan **plan)
{
    if (!*plan)
        return;
    lumeq_plan_clear(*plan);
    free(*plan);
    *plan = NULL;
}

static int reserve(LumeqPlan *plan)
{
    if (plan->count < plan->room)
        return 0;
    const size_t room = plan->room ? 2 * plan->room : 64;
    PlanFrame **ring = malloc(room * sizeof(*ring));
    if (!ring)
        return LUMEQ_ERR_MEMORY;
    for (size_t i = 0; i < plan->count; i++)
        ring[i] = plan_frame(plan, i);
    free(plan->ring);
    plan->ring = ring;
    plan->room = room;
    plan->first = 0;
    return 0;
}

/* Copies a measure into a frame; tiles only if they are used. */
static PlanFrame *copy_measure(const LumeqPlan *plan, const LumeqMeasure *m)
{
    MeasureShape shape = m->shape;
    if (!lumeq_has_tiles(&plan->params))
        shape.tiles_x = shape.tiles_y = shape.reference = 0;
    PlanFrame *f = lumeq_plan_frame_new(&shape);
    if (!f)
        return NULL;
    const size_t tiles = (size_t)shape.tiles_x * (size_t)shape.tiles_y;
    memcpy(f->hist, m->counts.hist, (size_t)shape.bins * sizeof(*f->hist));
    if (f->tiles)
        memcpy(f->tiles, m->counts.tiles, tiles * sizeof(*f->tiles));
    if (f->padding)
        memcpy(f->padding, m->counts.padding, tiles * sizeof(*f->padding));
    lumeq_plan_take_cells(plan, f, m->counts.cells);
    memcpy(f->cells, m->counts.haze, sizeof(f->cells));
    f->noise = noise_of(m->counts.noise);
    return f;
}

/* Applies newly confirmed bars to the waiting frames since the bars appeared, and to a fade from
 * black just before, whose frames are too dark to show bars. */
static void hold_earlier(LumeqPlan *plan, const PlanFrame *now, int direction)
{
    for (size_t i = plan->count; i-- > 0;) {
        PlanFrame *f = plan_frame(plan, i);
        if (f->sequence < plan->next)
            break;
        const PlanFrame *next = i + 1 < plan->count ? plan_frame(plan, i + 1) : now;
        const int rises = !next->cut && f->light + f->light / 16 < next->light;
        if (f->sequence < plan->found[direction] && !rises)
            break;
        LumeqRect active = f->active;
        if (direction == BARS_ROWS) {
            active.y = now->active.y;
            active.height = now->active.height;
        } else {
            active.x = now->active.x;
            active.width = now->active.width;
        }
        if (memcmp(&active, &f->active, sizeof(active)) != 0)
            lumeq_plan_set_active(plan, f, &active);
        if (f->hard)
            break;
    }
}

static void find_bars(LumeqPlan *plan, PlanFrame *f, const LumeqMeasure *m)
{
    const LumeqImage image = lumeq_shape_image(&f->shape);
    const BarsParams params = lumeq_bars_params(&plan->params, &image, plan->clock.step);
    const BarsState before = plan->bars;
    plan->bars = bars_update(&params, &before, m->counts.lit);
    f->active = plan->bars.active;
    f->area = plan->bars.area;
    for (int i = 0; i < BARS_DIRECTIONS; i++) {
        const BarsPair *was = &before.pair[i], *pair = &plan->bars.pair[i];
        if (f->hard)
            plan->found[i] = f->sequence;
        if (pair->held[0] > was->held[0] || pair->held[1] > was->held[1])
            hold_earlier(plan, f, i);
        if (memcmp(pair->found, was->found, sizeof(pair->found)) != 0)
            plan->found[i] = f->sequence;
    }
}

static void append(LumeqPlan *plan, PlanFrame *f, const LumeqMeasure *m, const LumeqMoment *moment)
{
    static const LumeqClock beginning;
    const PlanFrame *before = plan->count ? plan_frame(plan, plan->count - 1) : NULL;
    if (moment->discontinuity || !before) {
        plan->clock = beginning;
        memset(&plan->bars, 0, sizeof(plan->bars));
    }
    plan->clock = lumeq_clock_next(&plan->clock, moment->number, moment->time, moment->duration);
    f->sequence = plan->sequence;
    f->number = plan->clock.number;
    f->interlaced = moment->interlaced != 0;
    f->step = plan->clock.step < PLAN_LEAST_STEP ? PLAN_LEAST_STEP
                                                 : plan_least(plan->clock.step, PLAN_MOST_STEP);
    f->at = (before ? before->at : 0) + f->step;
    f->hard = moment->discontinuity || !before || !plan_same_shape(&f->shape, &before->shape);
    find_bars(plan, f, m);
    lumeq_plan_look(plan, f, f->hard ? NULL : before, plan->bars.grew);
    plan->ring[(plan->first + plan->count) % plan->room] = f;
    plan->count++;
    plan->sequence++;
    plan->ended = 0;
    lumeq_plan_cuts(plan);
}

/* True if everything that the next curve depends on is known. */
static int is_ready(const LumeqPlan *plan)
{
    const size_t next = plan_place(plan, plan->next);
    if (next >= plan->count)
        return 0;
    if (plan->ended)
        return 1;
    const PlanFrame *last = plan_frame(plan, plan->count - 1);
    return last->at - plan_frame(plan, next)->at >= plan->lookahead ||
           (last->hard && next + 1 < plan->count);
}

int lumeq_plan_put(LumeqPlan *plan, const LumeqMeasure *measure, const LumeqMoment *moment)
{
    if (is_ready(plan))
        return lumeq_refuse_with(LUMEQ_ERR_AGAIN,
                                 "call lumeq_history_get() first: a curve is ready");
    PlanFrame *f = reserve(plan) < 0 ? NULL : copy_measure(plan, measure);
    if (!f)
        return lumeq_refuse_with(LUMEQ_ERR_MEMORY,
                                 "out of memory: a frame's measure cannot be kept");
    append(plan, f, measure, moment);
    return 0;
}

void lumeq_plan_end(LumeqPlan *plan)
{
    plan->ended = 1;
}

/* Frees frames that no later curve depends on. */
static void drop(LumeqPlan *plan)
{
    const PlanFrame *last = plan_frame(plan, plan->count - 1);
    const size_t next = plan_place(plan, plan->next);
    const int64_t since =
        next < plan->count ? plan_frame(plan, next)->at : last->at + PLAN_LEAST_STEP;
    for (size_t left = next; left > PLAN_AROUND; left--) {
        if (plan_frame(plan, 0)->at >= since - plan->flicker)
            break;
        lumeq_plan_frame_free(plan_frame(plan, 0));
        plan->first = (plan->first + 1) % plan->room;
        plan->count--;
    }
}

int lumeq_plan_get(LumeqPlan *plan, LumeqCurve **curve)
{
    if (!is_ready(plan))
        return lumeq_refuse_with(plan->ended ? LUMEQ_ERR_END : LUMEQ_ERR_AGAIN,
                                 plan->ended ? "all curves have been returned"
                                             : "more measures are needed for the next curve");
    const size_t i = plan_place(plan, plan->next);
    lumeq_plan_settle(plan, plan_frame(plan, i)->at + plan->flicker);
    if (lumeq_plan_make(plan, i, curve) < 0)
        return lumeq_refuse_with(LUMEQ_ERR_MEMORY, "out of memory: no curve can be made");
    plan->next++;
    drop(plan);
    return 0;
}
