/*
 * Computes a frame's curve from the frames around it.
 *
 * Smoothing: the mean of the targets of the frames in the segment within `radius`, weighted by
 * exp(-|dt| / smooth) minus its value at the radius, so that no frame enters or leaves abruptly.
 * The mean of monotone curves is monotone.
 *
 * Strength: the segment's need, which moves towards the median of the known needs with a time
 * constant too long to be seen.
 *
 * Lift: The rule gets the mean histogram and noise of the frames on both sides within the segment,
 * weighted by exp(-|dt| / 3 s), as past frames are without lookahead. Thus a scene of some seconds
 * is judged as a whole, and lasting changes in a longer one, as when a camera moves outdoors, are
 * followed. The result is then smoothed as without lookahead, since percentiles move by whole
 * codes.
 *
 * Fade: for a plateau's curve C and a frame with a share f of its light, black + f * (C(black + x /
 * f) - black): the curve's output for the plateau, faded like the frame. From f of the range on it
 * is the identity. It is continuous, monotone if C is, and blending by strength commutes with it.
 *
 * Deflicker: flickering light multiplies all luma alike. With gamma, a factor of light is a factor
 * of codes above black, so one factor describes it. The factor between neighbouring frames is the
 * median ratio of their cells, which ignores motion in less than half of them; products of these
 * factors give the relative light of all frames around. The codes are multiplied by its mean, up to
 * a knee that leads to white, and the curve applies to the result: C(D(x)). (The classical way,
 * matching quantiles of histograms, mistakes motion for light.)
 */
#include <math.h>
#include <string.h>

#include "equalizer/rule/arithmetic.h"
#include "equalizer/rule/decay.h"
#include "equalizer/rule/lift.h"
#include "equalizer/rule/light.h"
#include "equalizer/rule/plan.h"
#include "equalizer/tone_curve.h"

/* Nanoseconds: time constant of the need within a segment. */
#define NEED_TIME INT64_C(2000000000)

/* Limits of the factor that evens out a frame's light. */
#define EVEN_MOST (CURVE_ONE * 14 / 10)
#define EVEN_LEAST (CURVE_ONE * 7 / 10)

typedef struct Nodes {
    int count, fraction;   /* one node every 2^fraction codes */
    uint64_t black, white; /* Q16 codes */
} Nodes;

typedef struct Window {
    size_t from, to; /* inclusive */
} Window;

static Nodes nodes_of(const CurveParams *p)
{
    return (Nodes){p->bins, p->fraction, (uint64_t)p->black << 16, (uint64_t)p->white << 16};
}

static Window window_of(const LumeqPlan *plan, size_t i, int64_t radius)
{
    const int64_t at = plan_frame(plan, i)->at;
    Window w = {i, i};
    while (w.from > 0 && !plan_begins(plan, w.from) &&
           plan_frame(plan, w.from - 1)->at >= at - radius)
        w.from--;
    while (w.to + 1 < plan->count && !plan_begins(plan, w.to + 1) &&
           plan_frame(plan, w.to + 1)->at <= at + radius)
        w.to++;
    return w;
}

/* The weighted mean of `count` values of each target in the window, starting at `first`. Flashes
 * count only if there are no other frames. */
static void average(LumeqPlan *plan, Window w, size_t i, size_t first, size_t count, uint32_t *to)
{
    const int64_t tau = llrint(plan->params.smooth * 1e9), middle = plan_frame(plan, i)->at;
    int only_flashes = 1;
    uint64_t total = 0;
    for (size_t k = w.from; k <= w.to; k++)
        only_flashes &= plan_frame(plan, k)->flash != 0;
    memset(plan->sums, 0, count * sizeof(plan->sums[0]));
    for (size_t k = w.from; k <= w.to; k++) {
        const PlanFrame *f = plan_frame(plan, k);
        if (f->flash && !only_flashes)
            continue;
        const int64_t away = f->at > middle ? f->at - middle : middle - f->at;
        const uint32_t weight = lumeq_decay(plan->radius, tau) - lumeq_decay(away, tau) + 1;
        total += weight;
        for (size_t bin = 0; bin < count; bin++)
            plan->sums[bin] += (uint64_t)weight * f->target[first + bin];
    }
    for (size_t bin = 0; bin < count; bin++)
        to[bin] = (uint32_t)((plan->sums[bin] + total / 2) / total);
}

/* Computes the smoothed curve of frame i and of its tiles; all targets in the window exist. */
static void smooth(LumeqPlan *plan, Window w, size_t i, PlanCurve *curve)
{
    const MeasureShape *s = &plan_frame(plan, i)->shape;
    average(plan, w, i, 0, (size_t)s->bins, curve->bin);
    for (int tile = 0; tile < s->tiles_x * s->tiles_y; tile++)
        average(plan, w, i, (size_t)s->bins + (size_t)tile * TILE_CELLS, TILE_CELLS,
                curve->tile[tile]);
}

/* The window of a fade's plateau, which starts there. */
static Window plateau_window(const LumeqPlan *plan, size_t i)
{
    Window w = window_of(plan, i, plan->radius);
    w.from = i;
    return w;
}

static int make_targets(LumeqPlan *plan, Window w)
{
    for (size_t k = w.from; k <= w.to; k++)
        if (lumeq_plan_target(plan, plan_frame(plan, k)) < 0)
            return LUMEQ_ERR_MEMORY;
    return 0;
}

/* The curve at a code in range, Q16, interpolated between nodes. */
static uint64_t read_curve(const Nodes *n, const uint32_t *values, uint64_t code)
{
    const int bits = 16 + n->fraction;
    const uint64_t i = code >> bits, rest = code & ((UINT64_C(1) << bits) - 1);
    const uint64_t from = values[i];
    const uint64_t to = i + 1 < (uint64_t)n->count ? values[i + 1] : (i + 1) << bits;
    const uint64_t value = from + ((to > from ? to - from : 0) * rest >> bits);
    return value < n->black ? n->black : value < n->white ? value : n->white;
}

static void fade_curve(const Nodes *n, uint32_t factor, const uint32_t *plateau, uint32_t *to)
{
    const uint64_t range = n->white - n->black;
    for (int i = 0; i < n->count; i++) {
        const uint64_t code = (uint64_t)i << (16 + n->fraction);
        to[i] = (uint32_t)code;
        if (code <= n->black || code >= n->white || !factor)
            continue;
        const uint64_t x = ((code - n->black) << 16) / factor;
        if (x < range)
            to[i] = (uint32_t)(n->black +
                               ((read_curve(n, plateau, n->black + x) - n->black) * factor >> 16));
    }
}

/* `light` (Q24) after a change by the factor to / from; at most 16. */
static uint64_t next_light(uint64_t light, uint32_t from, uint32_t to)
{
    const uint64_t most = UINT64_C(16) << 24, next = light * to / from;
    return next < most ? next : most;
}

/* Mean light of the surrounding frames relative to frame i, Q16, without flashes. */
static uint32_t light_around(const LumeqPlan *plan, size_t i)
{
    const Window w = window_of(plan, i, plan->flicker);
    const uint64_t one = UINT64_C(1) << 24;
    uint64_t sum = one, light = one, count = 1;
    for (size_t k = i + 1; k <= w.to; k++) {
        light = next_light(light, CURVE_ONE, plan_frame(plan, k)->gain);
        sum += plan_frame(plan, k)->flash ? 0 : light;
        count += !plan_frame(plan, k)->flash;
    }
    light = one;
    for (size_t k = i; k > w.from; k--) {
        const uint32_t gain = plan_frame(plan, k)->gain;
        light = next_light(light, gain ? gain : CURVE_ONE, CURVE_ONE);
        sum += plan_frame(plan, k - 1)->flash ? 0 : light;
        count += !plan_frame(plan, k - 1)->flash;
    }
    return (uint32_t)(sum / count >> 8);
}

/* The mean slope of the curve over the picture, Q16: the factor by which it amplifies changes of
 * light. */
static uint32_t mean_slope(const PlanFrame *f, const CurveParams *p, const uint32_t *curve)
{
    const int width = curve_width(p), black = p->black >> (p->depth - 8);
    uint64_t sum = 0;
    for (int i = black; (i + 1) * width < p->bins; i++)
        sum += (uint64_t)f->share[i - black] *
               ((curve[(i + 1) * width] - curve[i * width]) >> (p->depth - 8));
    return (uint32_t)(sum >> LIFT_SHARE_BITS);
}

/* The share of the light's changes to even out, Q16: `deflicker`, and at least the share that a
 * lifted curve would amplify. */
static uint32_t evening_share(const LumeqPlan *plan, const PlanFrame *f, const CurveParams *p)
{
    const uint32_t asked = (uint32_t)lrint(plan->params.deflicker * CURVE_ONE);
    const uint32_t slope =
        p->lift && f->counted && !f->flash ? mean_slope(f, p, plan->last.bin) : 0;
    const uint32_t calm =
        slope > CURVE_ONE ? CURVE_ONE - (uint32_t)(((uint64_t)CURVE_ONE << 16) / slope) : 0;
    return asked > calm ? asked : calm;
}

/* The factor for codes above black, Q16. */
static uint32_t evening_of(const LumeqPlan *plan, size_t i, const CurveParams *p)
{
    if (!plan->flicker || plan_frame(plan, i)->fade)
        return CURVE_ONE;
    const uint32_t share = evening_share(plan, plan_frame(plan, i), p);
    const uint32_t even = curve_lerp(CURVE_ONE, light_around(plan, i), share);
    return even < EVEN_LEAST ? EVEN_LEAST : even > EVEN_MOST ? EVEN_MOST : even;
}

/* D(x) - black, for x above black: `even` times x up to the knee, where x or the result is 7/8 of
 * the range, then a line to white. */
static uint64_t even_out(uint64_t x, uint64_t range, uint32_t even)
{
    const uint64_t high = range - range / 8;
    const uint64_t knee = even > CURVE_ONE ? (high << 16) / even : high;
    if (x <= knee)
        return x * even >> 16;
    const uint64_t at_knee = knee * even >> 16;
    return at_knee + (uint64_t)((x - knee) >> 8) * (range - at_knee) / ((range - knee) >> 8);
}

/* Makes the table that first evens out flicker, by the factor `even` (Q16), then uses `curve`. */
static void even_curve(const Nodes *n, uint32_t even, const uint32_t *curve, uint32_t *to)
{
    const uint64_t range = n->white - n->black;
    for (int i = 0; i < n->count; i++) {
        const uint64_t code = (uint64_t)i << (16 + n->fraction);
        to[i] = curve[i];
        if (code > n->black && code < n->white) {
            const uint64_t x = even_out(code - n->black, range, even);
            to[i] = (uint32_t)read_curve(n, curve, n->black + (x < range ? x : range));
        }
    }
}

static void count_need(PlanNeeds *needs, uint32_t need)
{
    const uint32_t slot = need >> 8 < PLAN_NEEDS ? need >> 8 : PLAN_NEEDS - 1;
    needs->count[slot] += 256;
    needs->sum[slot] += (uint64_t)need * 256;
}

/* The first frame of the decrease of light that ends at frame `dark`, for fades that are not
 * detected yet. Frames of equal light belong to it only between frames that get darker. */
static size_t find_fade_begin(const LumeqPlan *plan, size_t i, size_t dark)
{
    size_t end = dark;
    for (size_t k = dark; k > i + 1; k--) {
        const uint32_t now = plan_frame(plan, k - 1)->light, was = plan_frame(plan, k - 2)->light;
        if (was < now)
            break;
        end = was > now ? k - 1 : end;
    }
    return end;
}

/* The end of the scene of frame i: the next scene, or the decrease of light before black, where a
 * fade may not be detected yet. */
static size_t scene_end(const LumeqPlan *plan, size_t i)
{
    size_t k = i + 1;
    while (k < plan->count && !plan_begins(plan, k) && !plan_frame(plan, k)->blank)
        k++;
    return k < plan->count && plan_frame(plan, k)->blank ? find_fade_begin(plan, i, k) : k;
}

/* The need of frame i's segment: the median over its frames in `past`, frame i and later ones. 0 if
 * all are black. */
static uint32_t segment_need(const LumeqPlan *plan, size_t i, const PlanNeeds *past)
{
    PlanNeeds needs = *past;
    const size_t end = scene_end(plan, i);
    for (size_t k = i; k < end; k++) {
        const PlanFrame *f = plan_frame(plan, k);
        if (!f->blank && !f->flash)
            count_need(&needs, f->need);
    }
    uint64_t total = 0, below = 0;
    for (int slot = 0; slot < PLAN_NEEDS; slot++)
        total += needs.count[slot];
    for (int slot = 0; slot < PLAN_NEEDS; slot++) {
        below += needs.count[slot];
        if (needs.count[slot] && 2 * below >= total)
            return (uint32_t)(needs.sum[slot] / needs.count[slot]);
    }
    return 0;
}

/* True if a frame was counted, that is, one that is not black. */
static int has_needs(const PlanNeeds *needs)
{
    for (int slot = 0; slot < PLAN_NEEDS; slot++)
        if (needs->count[slot])
            return 1;
    return 0;
}

/* Frames longer ago than the lookahead lose weight. */
static void count_finished(LumeqPlan *plan, const PlanFrame *f)
{
    PlanNeeds *needs = &plan->needs;
    if (!f->blank && !f->flash)
        count_need(needs, f->need);
    needs->time += f->step;
    if (needs->time <= plan->lookahead)
        return;
    needs->time /= 2;
    for (int slot = 0; slot < PLAN_NEEDS; slot++) {
        const uint32_t count = needs->count[slot];
        needs->count[slot] = count / 2;
        needs->sum[slot] = count ? needs->sum[slot] * (count / 2) / count : 0; /* keeps the
                                                                                * average */
    }
}

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

static void age_light(PlanLight *past, int64_t time)
{
    const uint32_t part = lumeq_decay(time, LIFT_TIME);
    past->weight = faded(past->weight, part);
    past->noise_weight = faded(past->noise_weight, part);
    past->noise = faded(past->noise, part);
    for (int i = 0; i < CURVE_CELLS; i++)
        past->share[i] = faded(past->share[i], part);
}

/* Sums up the past frames with their weights at frame i, and all known later ones of its scene. */
static void light_at(const LumeqPlan *plan, size_t i, const PlanLight *past, PlanLight *sums)
{
    const int64_t at = plan_frame(plan, i)->at;
    const size_t end = scene_end(plan, i);
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

/* The measured or assumed noise; codes of 8 bits, Q16. */
static uint32_t noise_of_plan(const LumeqPlan *plan)
{
    return plan->noise_known ? plan->noise : LIFT_NOISE_USUAL;
}

/* Computes the lifted curve of frame i before smoothing; `past` sums up earlier frames. */
static void decide_lift(LumeqPlan *plan, size_t i, const PlanLight *past, const CurveParams *p,
                        PlanCurve *curve)
{
    const PlanFrame *f = plan_frame(plan, i);
    PlanLight sums;
    LiftChoice choice = {0};
    light_at(plan, i, past, &sums);
    take_noise(plan, &sums);
    light_bins(p, curve->bin);
    if (!f->blank && sums.weight) {
        uint32_t counts[CURVE_CELLS], nodes[CURVE_CELLS];
        for (int k = 0; k < CURVE_CELLS; k++) {
            const uint64_t share = sums.share[k] / sums.weight;
            counts[k] = share < MOST_SHARE ? (uint32_t)share : MOST_SHARE;
        }
        choice =
            lift_decide(counts, lift_wanted(p, counts, noise_of_plan(plan), 0), &p->light, nodes);
        lift_targets(p, nodes, plan->work.smooth);
        for (int bin = curve_black(p); bin <= curve_white(p); bin++)
            curve->bin[bin] = plan->work.smooth[bin];
    }
    curve->need = choice.need;
    curve->dark = choice.dark;
    curve->more = choice.lift;
    curve->voids = choice.voids;
}

/* Moves plan->last towards the lift rule's curve; at once if a segment begins. */
static void lift_curve(LumeqPlan *plan, size_t i, const CurveParams *p)
{
    const PlanFrame *f = plan_frame(plan, i);
    PlanCurve *last = &plan->last, *target = &plan->target;
    const int begins = plan_begins(plan, i) || plan->last_depth != f->shape.depth;
    const int64_t tau = llrint(plan->params.smooth * 1e9);
    const uint32_t part = begins ? CURVE_ONE : lumeq_decay(f->step, tau);
    if (plan_begins(plan, i))
        memset(&plan->light, 0, sizeof(plan->light));
    age_light(&plan->light, f->step);
    decide_lift(plan, i, &plan->light, p, target);
    for (int bin = 0; bin < p->bins; bin++)
        last->bin[bin] = curve_lerp(last->bin[bin], target->bin[bin], part);
    last->need = curve_lerp(last->need, target->need, part);
    last->dark = curve_lerp(last->dark, target->dark, part);
    last->more = curve_lerp(last->more, target->more, part);
    last->voids = curve_lerp(last->voids, target->voids, part);
    add_frame(&plan->light, f, CURVE_ONE);
}

/* Computes the frame's smoothed curve before strength, and its need, in plan->last. */
static void shape_curve(LumeqPlan *plan, size_t i, const CurveParams *p, const TileGrid *grid)
{
    const PlanFrame *f = plan_frame(plan, i);
    if (f->fade) {
        const Nodes n = nodes_of(p);
        fade_curve(&n, f->factor, plan->plateau.bin, plan->last.bin);
        plan->last.need = plan->plateau.need;
        plan->last.dark = plan->plateau.dark;
        plan->last.more = plan->plateau.more;
        plan->last.voids = plan->plateau.voids;
        for (int tile = 0; grid && tile < tile_count(grid); tile++) {
            const Nodes cells = nodes_of(&grid->curve);
            fade_curve(&cells, f->factor, plan->plateau.tile[tile], plan->last.tile[tile]);
        }
        return;
    }
    if (p->lift) {
        lift_curve(plan, i, p);
        return;
    }
    smooth(plan, window_of(plan, i, plan->radius), i, &plan->last);
    if (plan_begins(plan, i))
        memset(&plan->needs, 0, sizeof(plan->needs));
    const uint32_t need = segment_need(plan, i, &plan->needs);
    const uint32_t part = has_needs(&plan->needs) ? lumeq_decay(f->step, NEED_TIME) : CURVE_ONE;
    plan->last.need = curve_lerp(plan->last.need, need, part);
    count_finished(plan, f);
}

static uint32_t strength_of(const CurveParams *p, uint32_t need)
{
    if (!p->adaptive || p->lift)
        return p->strength;
    return curve_lerp(0, p->strength, curve_lerp(CURVE_NEED_LEAST, CURVE_ONE, need));
}

/* The curve of a smoothed one with the strength, after evening out flicker. `light`: codes before
 * equalization. */
static void finish_curve(const CurveParams *p, const uint32_t *light, const uint32_t *smoothed,
                         uint32_t strength, uint32_t even, uint32_t *curve)
{
    const Nodes n = nodes_of(p);
    uint32_t weak[LUMEQ_MAX_BINS];
    for (int i = 0; i < n.count; i++)
        curve[i] = weak[i] = curve_lerp(light[i], smoothed[i], strength);
    if (even != CURVE_ONE)
        even_curve(&n, even, weak, curve);
    for (int i = 0; i < n.count; i++)
        curve[i] = curve_limited(p, i, curve[i]);
}

static void finish_tiles(LumeqPlan *plan, const PlanFrame *f, const TileGrid *grid, uint32_t even,
                         TileTables *tables)
{
    uint32_t light[TILE_CELLS], shaped[TILE_CELLS], without[TILE_CELLS], curve[TILE_CELLS];
    uint32_t codes[TILE_CELLS];
    light_bins(&grid->curve, light);
    transfer_map(&grid->curve, &plan->tile_map);
    lumeq_tile_begin(grid, &plan->result.bars, &plan->tiles, tables);
    for (int tile = 0; tile < tile_count(grid); tile++) {
        /* Mode HAZE blends in the frame's own curve, as without lookahead. */
        const uint32_t *calm = plan->last.tile[tile];
        const uint32_t *own =
            grid->haze && !f->fade ? f->target + f->shape.bins + (size_t)tile * TILE_CELLS : calm;
        for (int i = 0; i < TILE_CELLS; i++)
            shaped[i] = curve_lerp(calm[i], own[i], HAZE_OWN);
        finish_curve(&grid->curve, light, shaped, plan->result.strength, even, curve);
        lumeq_tile_add(grid, tile,
                       curve_exclude(&grid->curve, f->tiles[tile],
                                     tile_bars(grid, &plan->result.bars, tile), without),
                       transfer_curve(&grid->curve, &plan->tile_map, curve, codes), &plan->tiles,
                       tables);
    }
}

static void take_bars(CurveResult *result, const PlanFrame *f)
{
    result->bars.active = f->active;
    result->bars.area = f->area;
}

static void fill_result(const LumeqPlan *plan, CurveResult *result, const PlanFrame *f,
                        const CurveParams *p)
{
    const uint32_t need = plan->last.need;
    result->bins = (uint32_t)p->bins;
    result->depth = (uint32_t)p->depth;
    result->white = (uint32_t)p->white;
    result->scene_cut = (uint32_t)f->cut;
    result->need = need;
    result->alpha = CURVE_ONE;
    result->strength = p->lift ? curve_lerp(0, p->strength, need) : strength_of(p, need);
    result->lift.on = (uint32_t)p->lift;
    result->lift.dark = plan->last.dark;
    result->lift.more = plan->last.more;
    result->lift.voids = plan->last.voids;
    result->lift.noise = noise_of_plan(plan);
    result->blank = (uint32_t)f->blank;
    result->fades = f->fade || f->blank;
    result->noise = f->noise;
}

static void make_video(LumeqPlan *plan, size_t i, const CurveParams *p, const TileGrid *grid,
                       LumeqCurve *curve)
{
    const PlanFrame *f = plan_frame(plan, i);
    CurveWork *w = &plan->work;
    memcpy(w->was, plan->last.bin, (size_t)p->bins * sizeof(w->was[0]));
    const int goes_on = plan->last_depth == f->shape.depth && !f->hard;
    shape_curve(plan, i, p, grid);
    const uint32_t even = evening_of(plan, i, p);
    fill_result(plan, &plan->result, f, p);
    take_bars(&plan->result, f);
    const uint32_t *left = curve_exclude(p, f->hist, curve_bars(p, &f->active, f->area), w->left);
    light_bins(p, w->light);
    transfer_map(p, &w->map);
    finish_curve(p, w->light, plan->last.bin, strength_of(p, plan->last.need), even, w->curve);
    const uint32_t *codes = transfer_curve(p, &w->map, w->curve, w->moved);
    for (int bin = 0; bin < p->bins; bin++)
        plan->result.bin[bin] = (CurveBin){plan->last.bin[bin], 0, left[bin], codes[bin]};
    curve_fill_table(p, &plan->result, &curve->table);
    if (grid)
        finish_tiles(plan, f, grid, even, curve->tables);
    lumeq_curve_take(curve, &plan->result, &plan->tiles);
    for (int bin = 0; goes_on && bin < p->bins; bin++)
        curve->moved += w->was[bin] > plan->last.bin[bin] ? w->was[bin] - plan->last.bin[bin]
                                                          : plan->last.bin[bin] - w->was[bin];
    plan->last_depth = f->shape.depth;
}

/* Uses OpenCV's arithmetic, as without lookahead. */
static void make_reference(LumeqPlan *plan, const PlanFrame *f, const CurveParams *p,
                           const TileGrid *grid, LumeqCurve *curve)
{
    static const CurveResult before;
    static const TileResult none;
    take_bars(&plan->result, f);
    plan->result.noise = f->noise;
    curve_compute(p, f->hist, &before, &plan->result, &curve->table, &plan->work);
    if (grid)
        lumeq_tile_curves(grid, f->tiles, f->padding, &plan->result, &none, &plan->tiles,
                          curve->tables);
    lumeq_curve_take(curve, &plan->result, &plan->tiles);
}

/* Computes the plateau's curve if a new fade begins. */
static void find_plateau(LumeqPlan *plan, size_t i, const CurveParams *p)
{
    const PlanFrame *f = plan_frame(plan, i);
    if (!f->fade) {
        plan->plateau_of = -1;
        return;
    }
    if (plan->plateau_of == f->plateau)
        return;
    plan->plateau_of = f->plateau;
    if (f->fade == PLAN_FADE_OUT) {
        plan->plateau = plan->last;
        return;
    }
    static const PlanLight dark;
    static const PlanNeeds none;
    const size_t to = plan_place(plan, f->plateau);
    if (p->lift) {
        decide_lift(plan, to, &dark, p, &plan->plateau);
        return;
    }
    smooth(plan, plateau_window(plan, to), to, &plan->plateau);
    plan->plateau.need = segment_need(plan, to, &none);
}

/* The number of previous frames that the filter may use: in the same scene, at most LIFT_PAST. */
static int frames_before(const LumeqPlan *plan, size_t i)
{
    int count = 0;
    while (count < LIFT_PAST && (size_t)count < i) {
        const PlanFrame *f = plan_frame(plan, i - (size_t)count);
        if (f->hard || f->cut)
            break;
        count++;
    }
    return count;
}

int lumeq_plan_make(LumeqPlan *plan, size_t i, LumeqCurve **curve)
{
    const PlanFrame *f = plan_frame(plan, i);
    const CurveParams p = lumeq_plan_params(plan, f);
    TileGrid grid;
    const int tiles = lumeq_plan_grid(plan, f, &p, &grid);
    const int new_plateau = f->fade == PLAN_FADE_IN && plan->plateau_of != f->plateau;
    if (!plan->reference && !p.lift &&
        ((!f->fade && make_targets(plan, window_of(plan, i, plan->radius)) < 0) ||
         (new_plateau &&
          make_targets(plan, plateau_window(plan, plan_place(plan, f->plateau))) < 0)))
        return LUMEQ_ERR_MEMORY;
    LumeqCurve *made = lumeq_curve_new(&f->shape, &p, tiles ? &grid : NULL);
    if (!made)
        return LUMEQ_ERR_MEMORY;
    made->fields = f->interlaced;
    made->past = frames_before(plan, i);
    if (plan->reference) {
        make_reference(plan, f, &p, tiles ? &grid : NULL, made);
    } else {
        find_plateau(plan, i, &p);
        make_video(plan, i, &p, tiles ? &grid : NULL, made);
    }
    *curve = made;
    return 0;
}
