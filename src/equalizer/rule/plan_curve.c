/*
 * Computes a frame's curve from the frames around it.
 *
 * An epoch has one curve, made from the mean of up to EPOCH_SAMPLES of its frames, so passing
 * objects count little. Only frames that are known when the epoch begins count. The curve in use
 * moves to the next epoch's curve as without lookahead, or at once if a segment begins.
 *
 * Fade: let f be the frame's light as a share of its plateau's light, and C the plateau's curve.
 * The frame's curve maps black + x to black + f * (C(black + x / f) - black), so the output is the
 * plateau's output, faded like the frame. Codes above the share f of the range stay unchanged.
 *
 * Deflicker: flicker multiplies all light by one factor, and because of gamma also all codes above
 * black. The factor between neighbouring frames is the median ratio of their cells, so motion in
 * less than half of the cells is ignored. Products of these factors give the light of the
 * surrounding frames, relative to the frame. The frame's curve is C(D(x)). D multiplies codes by
 * the mean of the surrounding light, up to a knee that leads to white. C is the smoothed curve. A
 * lift amplifies changes of light; this is taken back as without lookahead.
 */
#include <math.h>
#include <string.h>

#include "equalizer/rule/arithmetic.h"
#include "equalizer/rule/decay.h"
#include "equalizer/rule/epoch.h"
#include "equalizer/rule/light.h"
#include "equalizer/rule/plan.h"
#include "equalizer/tone_curve.h"

/* Maximum number of frames that an epoch's curve is made from. */
#define EPOCH_SAMPLES 32

typedef struct Window {
    size_t from, to; /* inclusive */
} Window;

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

static void fade_curve(const CurveParams *p, uint32_t factor, const uint32_t *plateau, uint32_t *to)
{
    const uint64_t black = (uint64_t)p->black << 16, white = (uint64_t)p->white << 16;
    for (int i = 0; i < p->bins; i++) {
        const uint64_t code = (uint64_t)i << (16 + p->fraction);
        to[i] = (uint32_t)code;
        if (code <= black || code >= white || !factor)
            continue;
        const uint64_t x = black + ((code - black) << 16) / factor;
        if (x < white)
            to[i] = (uint32_t)(black + ((light_read(p, plateau, x) - black) * factor >> 16));
    }
}

static void fade_haze(const CurveParams *p, uint32_t factor, const HazeState *plateau,
                      HazeState *to)
{
    const int32_t black = p->black >> (p->depth - 8) << 8;
    *to = *plateau;
    for (int i = 0; i < MEASURE_CELLS; i++) {
        uint32_t *tones[] = {&to->low[i], &to->mean[i], &to->veil[i]};
        for (int k = 0; k < 3; k++)
            if ((int32_t)*tones[k] > black)
                *tones[k] = (uint32_t)(black + ((int64_t)*tones[k] - black) * factor / CURVE_ONE);
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

/* The factor D for codes above black, Q16. `added`: the share of a change that the curve adds. */
static uint32_t evening_of(LumeqPlan *plan, size_t i, const CurveParams *p, uint32_t added)
{
    const PlanFrame *f = plan_frame(plan, i),
                    *last = plan_begins(plan, i) ? f : plan_frame(plan, i - 1);
    const uint32_t *before = last == f || last->flash ? NULL : last->seen.mean;
    const uint32_t asked = (uint32_t)lrint(plan->params.deflicker * CURVE_ONE);
    const int is_lifted = p->lift && f->counted && added > asked;
    if (f->fade == PLAN_FADE_IN)
        plan->even = CURVE_ONE;
    else if (is_lifted && !f->fade && !f->flash)
        plan->even = light_factor(p, added, plan->last.cleared.mean, before, f->seen.mean,
                                  plan->alpha, &plan->change);
    else if (!is_lifted && !f->fade)
        plan->even = light_limited(curve_lerp(CURVE_ONE, light_around(plan, i), asked));
    return plan->even;
}

/* The first frame of the decrease of light that ends at the black frame `dark`. Frames of equal
 * light belong to the decrease only between frames that get darker. */
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

/* The first frame after the scene of frame i: the next segment's first frame, or the first frame of
 * a decrease to black, which may be a fade that is not detected yet. */
static size_t scene_end(const LumeqPlan *plan, size_t i)
{
    size_t k = i + 1;
    while (k < plan->count && !plan_begins(plan, k) && !plan_frame(plan, k)->blank)
        k++;
    return k < plan->count && plan_frame(plan, k)->blank ? find_fade_begin(plan, i, k) : k;
}

/* True if a segment's frames from frame i on differ from an epoch's CDF for at least EPOCH_WAIT or
 * half of the lookahead, whichever is shorter. */
static int is_changed(const LumeqPlan *plan, size_t i, const uint32_t *cdf)
{
    const CurveParams p = lumeq_plan_params(plan, plan_frame(plan, i));
    const int64_t since = plan_frame(plan, i)->at;
    const int64_t wait = EPOCH_WAIT * INT64_C(1000);
    const int64_t known = plan->lookahead / 2;
    for (size_t k = i; k < plan->count && (k == i || !plan_begins(plan, k)); k++) {
        const PlanFrame *f = plan_frame(plan, k);
        if (!f->flash && !epoch_differs(&p, cdf, f->cdf))
            return 0;
        if (f->at - since >= (wait < known ? wait : known))
            return 1;
    }
    return 0;
}

/* The known frames of a scene from frame i on, until the picture differs from a CDF. */
static Window window_by(const LumeqPlan *plan, size_t i, const uint32_t *cdf)
{
    const size_t end = scene_end(plan, i);
    Window w = {i, i};
    while (plan->params.smooth > 0 && w.to + 1 < end && !is_changed(plan, w.to + 1, cdf))
        w.to++;
    return w;
}

/* Selects evenly spaced frames of a window: no flashes or black frames if there are others. */
static int take_samples(const LumeqPlan *plan, Window w, PlanFrame *samples[EPOCH_SAMPLES])
{
    const size_t each = (w.to - w.from) / EPOCH_SAMPLES + 1;
    int count = 0;
    for (size_t k = w.from; k <= w.to; k += each)
        if (!plan_frame(plan, k)->flash && !plan_frame(plan, k)->blank)
            samples[count++] = plan_frame(plan, k);
    if (!count)
        samples[count++] = plan_frame(plan, w.from);
    return count;
}

/* Selects the frames for the curve of the epoch that frame i begins. Sets `cdf` to the mean of the
 * frames that resemble frame i. The epoch lasts as long as frames resemble this mean. */
static int epoch_samples(const LumeqPlan *plan, size_t i, uint32_t cdf[CURVE_CELLS],
                         PlanFrame *samples[EPOCH_SAMPLES])
{
    const int count = take_samples(plan, window_by(plan, i, plan_frame(plan, i)->cdf), samples);
    for (int cell = 0; cell < CURVE_CELLS; cell++) {
        uint32_t sum = 0;
        for (int k = 0; k < count; k++)
            sum += samples[k]->cdf[cell];
        cdf[cell] = sum / (uint32_t)count;
    }
    return take_samples(plan, window_by(plan, i, cdf), samples);
}

static int make_targets(LumeqPlan *plan, size_t i)
{
    uint32_t cdf[CURVE_CELLS];
    PlanFrame *samples[EPOCH_SAMPLES];
    const int count = epoch_samples(plan, i, cdf, samples);
    for (int k = 0; k < count; k++)
        if (lumeq_plan_target(plan, samples[k]) < 0)
            return LUMEQ_ERR_MEMORY;
    return 0;
}

static void mean_target(PlanFrame **samples, int count, size_t first, size_t bins, uint32_t *to)
{
    for (size_t bin = 0; bin < bins; bin++) {
        uint64_t sum = 0;
        for (int k = 0; k < count; k++)
            sum += samples[k]->target[first + bin];
        to[bin] = (uint32_t)((sum + (uint64_t)count / 2) / (uint64_t)count);
    }
}

/* The measured or assumed noise; codes of 8 bits, Q16. */
static uint32_t noise_of_plan(const LumeqPlan *plan)
{
    return plan->noise_known ? plan->noise : LIFT_NOISE_USUAL;
}

static void mean_noise(LumeqPlan *plan, PlanFrame **samples, int count)
{
    uint64_t sum = 0, known = 0;
    for (int k = 0; k < count; k++)
        if (samples[k]->noise != NOISE_UNKNOWN) {
            sum += samples[k]->noise;
            known++;
        }
    if (known) {
        plan->noise = (uint32_t)(sum / known) << 8;
        plan->noise_known = 1;
    }
}

/* The haze of the frames that are not black: the mean, but the median of each cell's light, so
 * passing objects do not change it. */
static void usual_haze(PlanFrame **samples, int count, HazeState *haze)
{
    PlanFrame *lit[EPOCH_SAMPLES];
    size_t used = 0;
    memset(haze, 0, sizeof(*haze));
    for (int k = 0; k < count; k++)
        if (!samples[k]->blank) {
            lit[used++] = samples[k];
            curve_move_haze(haze, &samples[k]->seen, CURVE_ONE / (uint32_t)used);
        }
    for (int i = 0; i < MEASURE_CELLS && used; i++) {
        int32_t light[EPOCH_SAMPLES];
        for (size_t k = 0; k < used; k++)
            light[k] = (int32_t)lit[k]->seen.mean[i];
        haze->mean[i] = (uint32_t)haze_common(light, used, 50, 0);
    }
}

/* Computes the lift rule's curve for the frames' mean histogram. */
static void decide_lift(LumeqPlan *plan, PlanFrame **samples, int count, const CurveParams *p,
                        PlanCurve *curve)
{
    uint32_t shares[CURVE_CELLS] = {0}, nodes[CURVE_CELLS], used = 0;
    memset(&curve->choice, 0, sizeof(curve->choice));
    for (int k = 0; k < count; k++)
        used += samples[k]->counted && !samples[k]->blank;
    for (int k = 0; k < count; k++)
        for (int i = 0; i < CURVE_CELLS && samples[k]->counted && !samples[k]->blank; i++)
            shares[i] += samples[k]->share[i] / used;
    mean_noise(plan, samples, count);
    light_bins(p, curve->bin);
    if (used) {
        curve->choice =
            lift_decide(shares, lift_wanted(p, shares, noise_of_plan(plan), 0), &p->light, nodes);
        lift_targets(p, nodes, plan->work.smooth);
        for (int bin = curve_black(p); bin <= curve_white(p); bin++)
            curve->bin[bin] = plan->work.smooth[bin];
    }
    curve_weaken_haze(p, &curve->cleared, curve->choice.dark);
}

/* Computes the epoch that frame i begins. Without a lift, make_targets() must have been called. */
static void make_epoch(LumeqPlan *plan, size_t i, const CurveParams *p, PlanEpoch *epoch)
{
    PlanFrame *samples[EPOCH_SAMPLES];
    const int count = epoch_samples(plan, i, epoch->cdf, samples);
    const MeasureShape *s = &plan_frame(plan, i)->shape;
    usual_haze(samples, count, &epoch->curve.cleared);
    if (p->lift) {
        decide_lift(plan, samples, count, p, &epoch->curve);
        return;
    }
    uint32_t need = 0;
    for (int k = 0; k < count; k++)
        need += samples[k]->blank ? 0 : samples[k]->need;
    epoch->curve.choice.need = need / (uint32_t)count;
    mean_target(samples, count, 0, (size_t)s->bins, epoch->curve.bin);
    for (int tile = 0; tile < s->tiles_x * s->tiles_y; tile++)
        mean_target(samples, count, (size_t)s->bins + (size_t)tile * TILE_CELLS, TILE_CELLS,
                    epoch->curve.tile[tile]);
}

/* True if frame i begins an epoch. */
static int begins_epoch(const LumeqPlan *plan, size_t i)
{
    const PlanFrame *f = plan_frame(plan, i);
    return plan_begins(plan, i) || plan->last_depth != f->shape.depth || plan->params.smooth <= 0 ||
           is_changed(plan, i, plan->epoch.cdf);
}

/* Moves plan->last towards the epoch's curve. */
static void move_curve(LumeqPlan *plan, size_t i, const CurveParams *p, const TileGrid *grid)
{
    const PlanFrame *f = plan_frame(plan, i);
    PlanCurve *last = &plan->last;
    const PlanCurve *to = &plan->epoch.curve;
    const int at_once = plan_begins(plan, i) || plan->last_depth != f->shape.depth;
    const int64_t tau = llrint(plan->params.smooth * 1e9);
    const uint32_t part = plan->alpha = at_once ? CURVE_ONE : lumeq_decay(f->step, tau);
    for (int bin = 0; bin < p->bins; bin++)
        last->bin[bin] = curve_lerp(last->bin[bin], to->bin[bin], part);
    for (int tile = 0; grid && tile < tile_count(grid); tile++)
        for (int cell = 0; cell < TILE_CELLS; cell++)
            last->tile[tile][cell] = curve_lerp(last->tile[tile][cell], to->tile[tile][cell], part);
    last->choice.need = curve_lerp(last->choice.need, to->choice.need, part);
    last->choice.dark = curve_lerp(last->choice.dark, to->choice.dark, part);
    last->choice.lift = curve_lerp(last->choice.lift, to->choice.lift, part);
    last->choice.voids = curve_lerp(last->choice.voids, to->choice.voids, part);
    curve_move_haze(&last->cleared, &to->cleared, part);
}

/* Computes the frame's curve before strength, and its need, in plan->last. */
static void shape_curve(LumeqPlan *plan, size_t i, const CurveParams *p, const TileGrid *grid)
{
    const PlanFrame *f = plan_frame(plan, i);
    const PlanCurve *plateau = &plan->plateau.curve;
    if (f->fade) {
        fade_curve(p, f->factor, plateau->bin, plan->last.bin);
        plan->last.choice = plateau->choice;
        fade_haze(p, f->factor, &plateau->cleared, &plan->last.cleared);
        for (int tile = 0; grid && tile < tile_count(grid); tile++)
            fade_curve(&grid->curve, f->factor, plateau->tile[tile], plan->last.tile[tile]);
        return;
    }
    if (begins_epoch(plan, i))
        make_epoch(plan, i, p, &plan->epoch);
    move_curve(plan, i, p, grid);
}

/* Computes a curve that multiplies codes by the factor `even`, then applies the smoothed curve with
 * strength and limit. `light`: codes before equalization. */
static void finish_curve(const CurveParams *p, const uint32_t *light, const uint32_t *smoothed,
                         uint32_t strength, uint32_t even, uint32_t *curve)
{
    uint32_t weak[LUMEQ_MAX_BINS];
    for (int i = 0; i < p->bins; i++)
        curve[i] = weak[i] = curve_lerp(light[i], smoothed[i], strength);
    if (even != CURVE_ONE)
        light_even(p, even, weak, curve);
    for (int i = 0; i < p->bins; i++)
        curve[i] = curve_limited(p, i, curve[i]);
}

static void finish_tiles(LumeqPlan *plan, const PlanFrame *f, const TileGrid *grid, uint32_t even,
                         TileTables *tables)
{
    uint32_t light[TILE_CELLS], without[TILE_CELLS], curve[TILE_CELLS], codes[TILE_CELLS];
    light_bins(&grid->curve, light);
    transfer_map(&grid->curve, &plan->tile_map);
    lumeq_tile_begin(grid, &plan->result.bars, &plan->tiles, tables);
    for (int tile = 0; tile < tile_count(grid); tile++) {
        finish_curve(&grid->curve, light, plan->last.tile[tile], plan->result.strength, even,
                     curve);
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
    result->bins = (uint32_t)p->bins;
    result->depth = (uint32_t)p->depth;
    result->white = (uint32_t)p->white;
    result->scene_cut = (uint32_t)f->cut;
    result->need = plan->last.choice.need;
    result->alpha = CURVE_ONE;
    result->strength = curve_strength(p, plan->last.choice.need);
    result->lift.on = (uint32_t)p->lift;
    result->lift.dark = plan->last.choice.dark;
    result->lift.more = plan->last.choice.lift;
    result->lift.voids = plan->last.choice.voids;
    result->cleared = plan->last.cleared;
    result->lift.noise = noise_of_plan(plan);
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
    fill_result(plan, &plan->result, f, p);
    take_bars(&plan->result, f);
    const uint32_t *left = curve_exclude(p, f->hist, curve_bars(p, &f->active, f->area), w->left);
    light_bins(p, w->light);
    transfer_map(p, &w->map);
    const uint32_t strength = p->lift ? p->strength : plan->result.strength;
    finish_curve(p, w->light, plan->last.bin, strength, CURVE_ONE, w->curve);
    const uint32_t even = evening_of(plan, i, p, curve_clear_haze(p, w->curve, &plan->result));
    if (even != CURVE_ONE)
        finish_curve(p, w->light, plan->last.bin, strength, even, w->curve);
    const uint32_t *codes = transfer_curve(p, &w->map, w->curve, w->moved);
    for (int bin = 0; bin < p->bins; bin++)
        plan->result.bin[bin] =
            (CurveBin){.smooth = plan->last.bin[bin], .hist = left[bin], .curve = codes[bin]};
    curve_fill_table(p, &plan->result, &curve->table);
    if (grid)
        finish_tiles(plan, f, grid, even, curve->tables);
    lumeq_curve_take(curve, &plan->result, &plan->tiles);
    for (int bin = 0; goes_on && bin < p->bins; bin++)
        curve->moved += w->was[bin] > plan->last.bin[bin] ? w->was[bin] - plan->last.bin[bin]
                                                          : plan->last.bin[bin] - w->was[bin];
    plan->last_depth = f->shape.depth;
}

/* Computes OpenCV's curve, as without lookahead. */
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
    if (f->fade == PLAN_FADE_OUT)
        plan->plateau.curve = plan->last;
    else
        make_epoch(plan, plan_place(plan, f->plateau), p, &plan->plateau);
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
    const int rises = f->fade == PLAN_FADE_IN && plan->plateau_of != f->plateau;
    const int begins = !f->fade && !plan->reference && begins_epoch(plan, i);
    if (!plan->reference && !p.lift && (rises || begins) &&
        make_targets(plan, rises ? plan_place(plan, f->plateau) : i) < 0)
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
