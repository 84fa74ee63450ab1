/* Serializes a plan. Targets are computed again after loading. */
#include <stdlib.h>
#include <string.h>

#include "equalizer/plan.h"
#include "equalizer/tone_curve.h"

/* Upper limit of frame numbers. */
#define MOST_FRAMES (INT64_C(1) << 62)

/* Upper limit of PlanNeeds.count. */
#define MOST_COUNT (1u << 22)

/* Upper limit of the weight of frames with a time constant of 3 s, Q16. */
#define MOST_WEIGHT (INT64_C(1) << 32)

static size_t tiles_of(const MeasureShape *s)
{
    return (size_t)s->tiles_x * (size_t)s->tiles_y;
}

static void put_frame(ByteWriter *w, const PlanFrame *f)
{
    const LumeqRect *a = &f->active;
    const size_t cells = tiles_of(&f->shape) * TILE_CELLS;
    lumeq_put_shape(w, &f->shape);
    lumeq_put_meter(w, &f->shape.meter);
    lumeq_put64(w, (uint64_t)f->number);
    lumeq_put64(w, (uint64_t)f->step);
    lumeq_put64(w, (uint64_t)f->plateau);
    const uint32_t fields[] = {
        (uint32_t)a->x,    (uint32_t)a->y,   (uint32_t)a->width, (uint32_t)a->height,
        (uint32_t)f->hard, (uint32_t)f->cut, (uint32_t)f->flash, (uint32_t)f->fade,
        f->factor,         f->distance,      f->moved,           f->change,
        f->gain,           f->light,
    };
    lumeq_put32s(w, fields, sizeof(fields) / sizeof(fields[0]));
    lumeq_put32(w, f->noise);
    lumeq_put32(w, (uint32_t)f->interlaced);
    lumeq_put32s(w, f->level, MEASURE_CELLS);
    lumeq_put32s(w, f->hist, (size_t)f->shape.bins);
    if (f->tiles)
        lumeq_put32s(w, f->tiles[0], cells);
    if (f->padding)
        lumeq_put32s(w, f->padding[0], cells);
}

static void put_curve(ByteWriter *w, const PlanCurve *c, int32_t depth, size_t tiles)
{
    lumeq_put32(w, c->need);
    lumeq_put32(w, c->dark);
    lumeq_put32(w, c->more);
    lumeq_put32s(w, c->bin, (size_t)1 << (depth < 12 ? depth : 12));
    lumeq_put32s(w, c->tile[0], tiles * TILE_CELLS);
}

static void put_curves(ByteWriter *w, const LumeqPlan *plan)
{
    const size_t tiles = plan->count ? tiles_of(&plan_frame(plan, plan->count - 1)->shape) : 0;
    lumeq_put32(w, (uint32_t)plan->last_depth);
    lumeq_put32(w, (uint32_t)tiles);
    if (!plan->last_depth)
        return;
    put_curve(w, &plan->last, plan->last_depth, tiles);
    lumeq_put64(w, (uint64_t)plan->plateau_of);
    if (plan->plateau_of >= 0)
        put_curve(w, &plan->plateau, plan->last_depth, tiles);
}

static void put_needs_and_light(ByteWriter *w, const LumeqPlan *plan)
{
    const PlanLight *light = &plan->light;
    lumeq_put64(w, (uint64_t)plan->needs.time);
    for (int i = 0; i < PLAN_NEEDS; i++) {
        lumeq_put32(w, plan->needs.count[i]);
        lumeq_put64(w, plan->needs.sum[i]);
    }
    lumeq_put32(w, plan->noise);
    lumeq_put32(w, (uint32_t)plan->noise_known);
    lumeq_put64(w, light->weight);
    lumeq_put64(w, light->noise_weight);
    lumeq_put64(w, light->noise);
    for (int i = 0; i < CURVE_CELLS; i++)
        lumeq_put64(w, light->share[i]);
}

void lumeq_plan_save(const LumeqPlan *plan, ByteWriter *w)
{
    const int64_t numbers[] = {plan->clock.last_time, plan->clock.number, plan->found[0],
                               plan->found[1],        plan->sequence,     plan->cuts,
                               plan->settled,         plan->next};
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        lumeq_put64(w, (uint64_t)numbers[i]);
    lumeq_put32(w, (uint32_t)plan->clock.started);
    lumeq_put32(w, (uint32_t)plan->ended);
    lumeq_put_bars(w, &plan->bars);
    lumeq_put32(w, plan->trail.bins);
    for (uint32_t i = 0; i < plan->trail.bins; i++)
        lumeq_put32(w, plan->trail.bin[i].cdf);
    put_needs_and_light(w, plan);
    lumeq_put64(w, plan->count);
    for (size_t i = 0; i < plan->count; i++)
        put_frame(w, plan_frame(plan, i));
    put_curves(w, plan);
}

static int64_t take_between(ByteReader *r, int64_t least, int64_t most)
{
    const int64_t value = (int64_t)lumeq_take64(r);
    if (value >= least && value <= most)
        return value;
    r->bad = 1;
    return least;
}

static uint32_t take_most(ByteReader *r, uint32_t most)
{
    const uint32_t value = lumeq_take32(r);
    r->bad |= value > most;
    return value;
}

/* Limits the sum of counts to the number of samples, so that it fits 32 bits. */
static void take_counts(ByteReader *r, uint32_t *counts, size_t bins, uint64_t most)
{
    uint64_t sum = 0;
    lumeq_take32s(r, counts, bins);
    for (size_t i = 0; i < bins; i++)
        sum += counts[i];
    r->bad |= sum > most;
}

static void take_frame(ByteReader *r, PlanFrame *f)
{
    const MeasureShape *s = &f->shape;
    const uint64_t area = (uint64_t)s->width * (uint64_t)s->height;
    const uint32_t most = ((1u << s->depth) - 1) << 8;
    f->number = (int64_t)lumeq_take64(r);
    f->step = take_between(r, PLAN_LEAST_STEP, PLAN_MOST_STEP);
    f->plateau = (int64_t)lumeq_take64(r);
    f->active = lumeq_take_active(r, s);
    f->hard = lumeq_take_range(r, 0, 1);
    f->cut = lumeq_take_range(r, 0, 1);
    f->flash = lumeq_take_range(r, 0, 1);
    f->fade = (PlanFade)lumeq_take_range(r, PLAN_NO_FADE, PLAN_FADE_OUT);
    f->factor = take_most(r, CURVE_ONE);
    f->distance = take_most(r, CURVE_ONE);
    f->moved = take_most(r, 1);
    f->change = take_most(r, UINT32_MAX);
    f->gain = take_most(r, 4 * CURVE_ONE);
    f->light = take_most(r, most);
    f->noise = lumeq_take32(r);
    f->interlaced = lumeq_take_range(r, 0, 1);
    for (int i = 0; i < MEASURE_CELLS; i++)
        f->level[i] = take_most(r, most);
    take_counts(r, f->hist, (size_t)s->bins, area);
    for (size_t tile = 0; f->tiles && tile < tiles_of(s); tile++)
        take_counts(r, f->tiles[tile], TILE_CELLS, area);
    for (size_t tile = 0; f->padding && tile < tiles_of(s); tile++)
        take_counts(r, f->padding[tile], TILE_CELLS, INT32_MAX);
}

/* Drops tiles that the plan's parameters do not use. Sets `bad` if they need other tiles or another
 * meter. */
static void fit_shape(ByteReader *r, const LumeqPlan *plan, PlanFrame *f)
{
    const LumeqImage image = lumeq_shape_image(&f->shape);
    const MeasureShape wanted = lumeq_measure_shape(&plan->params, &image);
    r->bad |= wanted.tiles_x &&
              (f->shape.tiles_x != wanted.tiles_x || f->shape.tiles_y != wanted.tiles_y ||
               f->shape.reference != wanted.reference);
    r->bad |= plan->reference && f->shape.depth != 8;
    r->bad |= !lumeq_same_meter(&f->shape.meter, &wanted.meter);
    if (!wanted.tiles_x) {
        f->shape.tiles_x = f->shape.tiles_y = f->shape.reference = 0;
        f->tiles = f->padding = NULL;
    }
}

/* Returns MEMORY, or 0 with the frame in the ring; sets `bad` if it is invalid. */
static int take_next(ByteReader *r, LumeqPlan *plan, size_t i)
{
    MeasureShape shape = lumeq_take_shape(r);
    shape.meter = lumeq_take_meter(r, &shape);
    if (r->bad)
        return 0;
    PlanFrame *f = lumeq_plan_frame_new(&shape);
    if (!f)
        return LUMEQ_ERR_MEMORY;
    const PlanFrame *before = i ? plan_frame(plan, i - 1) : NULL;
    plan->ring[plan->count++] = f;
    take_frame(r, f);
    fit_shape(r, plan, f);
    f->at = (before ? before->at : 0) + f->step;
    r->bad |= before && !f->hard && !plan_same_shape(&f->shape, &before->shape);
    if (!r->bad)
        lumeq_plan_set_active(
            plan, f, &(LumeqRect){f->active.x, f->active.y, f->active.width, f->active.height});
    return 0;
}

static int take_frames(ByteReader *r, LumeqPlan *plan)
{
    const int64_t count = take_between(r, 0, plan->sequence);
    if (r->bad || (uint64_t)count > r->left)
        r->bad = 1;
    if (r->bad || !count)
        return 0;
    plan->room = (size_t)count;
    plan->ring = malloc(plan->room * sizeof(*plan->ring));
    if (!plan->ring)
        return LUMEQ_ERR_MEMORY;
    for (size_t i = 0; i < (size_t)count && !r->bad; i++)
        if (take_next(r, plan, i) < 0)
            return LUMEQ_ERR_MEMORY;
    for (size_t i = 0; i < plan->count; i++) {
        PlanFrame *f = plan_frame(plan, i);
        f->sequence = plan->sequence - (int64_t)plan->count + (int64_t)i;
    }
    return 0;
}

/* Reads a curve; it must be monotone and within the codes. */
static void take_rise(ByteReader *r, uint32_t *values, size_t count, int32_t depth)
{
    lumeq_take32s(r, values, count);
    for (size_t i = 0; i < count; i++)
        r->bad |= values[i] > ((1u << depth) - 1) << 16 || (i && values[i] < values[i - 1]);
}

static void take_curve(ByteReader *r, PlanCurve *c, int32_t depth, size_t tiles)
{
    c->need = take_most(r, CURVE_ONE);
    c->dark = take_most(r, CURVE_ONE);
    c->more = take_most(r, LIFT_MOST);
    take_rise(r, c->bin, (size_t)1 << (depth < 12 ? depth : 12), depth);
    for (size_t tile = 0; tile < tiles; tile++)
        take_rise(r, c->tile[tile], TILE_CELLS, depth);
}

static void take_curves(ByteReader *r, LumeqPlan *plan)
{
    plan->last_depth = lumeq_take_range(r, 0, 16);
    const size_t tiles = (size_t)lumeq_take_range(r, 0, TILES_MAX);
    r->bad |= plan->last_depth && plan->last_depth < 8;
    plan->plateau_of = -1;
    if (!plan->last_depth || r->bad)
        return;
    take_curve(r, &plan->last, plan->last_depth, tiles);
    plan->plateau_of = take_between(r, -1, MOST_FRAMES);
    if (plan->plateau_of >= 0)
        take_curve(r, &plan->plateau, plan->last_depth, tiles);
}

/* Sums are limited by the possible number of frames. */
static void take_needs_and_light(ByteReader *r, LumeqPlan *plan)
{
    PlanNeeds *needs = &plan->needs;
    PlanLight *light = &plan->light;
    needs->time = take_between(r, 0, LUMEQ_MAX_LOOKAHEAD + PLAN_MOST_STEP);
    for (int i = 0; i < PLAN_NEEDS; i++) {
        needs->count[i] = take_most(r, MOST_COUNT);
        needs->sum[i] = lumeq_take64(r);
        r->bad |= needs->sum[i] > (uint64_t)needs->count[i] * CURVE_ONE;
    }
    plan->noise = take_most(r, 256 << 16);
    plan->noise_known = lumeq_take_range(r, 0, 1);
    light->weight = (uint64_t)take_between(r, 0, MOST_WEIGHT);
    light->noise_weight = (uint64_t)take_between(r, 0, MOST_WEIGHT);
    light->noise = lumeq_take64(r);
    r->bad |= light->noise > light->noise_weight << 16;
    for (int i = 0; i < CURVE_CELLS; i++)
        light->share[i] = (uint64_t)take_between(r, 0, MOST_WEIGHT << (LIFT_SHARE_BITS - 8));
}

/* Sets `bad` if a fade's plateau is missing or has another shape. */
static void check_fades(ByteReader *r, const LumeqPlan *plan)
{
    for (size_t i = plan_place(plan, plan->next); i < plan->count; i++) {
        const PlanFrame *f = plan_frame(plan, i);
        if (f->fade != PLAN_FADE_IN)
            continue;
        const size_t to = plan_place(plan, f->plateau);
        r->bad |= to >= plan->count || to <= i ||
                  !plan_same_shape(&plan_frame(plan, to)->shape, &f->shape);
        if (r->bad)
            return;
    }
}

static int take_plan(ByteReader *r, LumeqPlan *plan)
{
    plan->clock.last_time = (int64_t)lumeq_take64(r);
    plan->clock.number = (int64_t)lumeq_take64(r);
    plan->found[0] = (int64_t)lumeq_take64(r);
    plan->found[1] = (int64_t)lumeq_take64(r);
    plan->sequence = take_between(r, 0, MOST_FRAMES);
    plan->cuts = take_between(r, 0, plan->sequence);
    plan->settled = take_between(r, 0, plan->cuts);
    plan->next = take_between(r, 0, plan->settled);
    plan->clock.started = lumeq_take_range(r, 0, 1);
    plan->ended = lumeq_take_range(r, 0, 1);
    lumeq_take_bars(r, &plan->bars);
    plan->trail.bins = (uint32_t)lumeq_take_range(r, 0, LUMEQ_MAX_BINS);
    for (uint32_t i = 0; i < plan->trail.bins; i++)
        plan->trail.bin[i].cdf = take_most(r, CURVE_ONE);
    take_needs_and_light(r, plan);
    if (take_frames(r, plan) < 0)
        return LUMEQ_ERR_MEMORY;
    const int64_t first = plan->sequence - (int64_t)plan->count;
    r->bad |= plan->next < first || (plan->sequence && !plan->count);
    /* Later curves depend on earlier frames of the stream. */
    r->bad |= plan->count && !plan_frame(plan, 0)->hard &&
              (plan->next < first || plan->next - first < PLAN_AROUND);
    if (!r->bad)
        take_curves(r, plan);
    if (!r->bad)
        check_fades(r, plan);
    return 0;
}

int lumeq_plan_load(LumeqPlan *plan, ByteReader *r)
{
    LumeqPlan *made = lumeq_plan_create(&plan->params, plan->lookahead);
    if (!made)
        return LUMEQ_ERR_MEMORY;
    const int ret = take_plan(r, made);
    if (ret == 0 && lumeq_bytes_done(r)) {
        lumeq_plan_clear(plan);
        *plan = *made;
        made->ring = NULL;
        made->count = 0;
    }
    lumeq_plan_destroy(&made);
    return ret;
}
