#include "equalizer/history.h"

#include <stdlib.h>
#include <string.h>

#include "equalizer/arguments.h"
#include "equalizer/last_error.h"
#include "equalizer/measure.h"
#include "equalizer/tone_curve.h"

int lumeq_history_create(LumeqHistory **history, const LumeqParams *params, int64_t lookahead)
{
    LumeqParams p;
    if (!history)
        return lumeq_refuse("`history` is NULL");
    *history = NULL;
    if (lumeq_take_params(&p, params) < 0)
        return LUMEQ_ERR_ARGUMENT;
    if (lookahead < 0 || lookahead > LUMEQ_MAX_LOOKAHEAD)
        return lumeq_refuse("the lookahead is %lld ns; 0 to 10 s are supported",
                            (long long)lookahead);
    if (p.deflicker > 0 && !lookahead)
        return lumeq_refuse("deflicker needs a history with lookahead");
    LumeqHistory *h = calloc(1, sizeof(*h));
    if (h && lookahead)
        h->plan = lumeq_plan_create(&p, lookahead);
    if (!h || (lookahead && !h->plan)) {
        lumeq_history_destroy(&h);
        return lumeq_no_memory();
    }
    h->params = p;
    *history = h;
    return 0;
}

void lumeq_history_destroy(LumeqHistory **history)
{
    if (!history || !*history)
        return;
    lumeq_plan_destroy(&(*history)->plan);
    lumeq_curve_unref(&(*history)->ready);
    free(*history);
    *history = NULL;
}

int lumeq_history_set_params(LumeqHistory *h, const LumeqParams *params)
{
    LumeqParams p;
    if (!h || !params)
        return lumeq_refuse("`history` or `params` is NULL");
    if (h->plan)
        return lumeq_refuse("the parameters of a history with lookahead cannot change");
    if (lumeq_take_params(&p, params) < 0)
        return LUMEQ_ERR_ARGUMENT;
    if (p.deflicker > 0)
        return lumeq_refuse("deflicker needs a history with lookahead");
    h->params = p;
    return 0;
}

void lumeq_copy_past(LumeqPast *to, const LumeqPast *from)
{
    /* Without tiles, the members from `sums` on are undefined. In the reference, tiles have no
     * history: `depth` is 0, and `tile` is undefined. */
    const TileResult *tiles = &from->state.tiles;
    const size_t count = tiles->depth ? (size_t)tiles->tiles_x * tiles->tiles_y : 0;
    memcpy(&to->state.curve, &from->state.curve, lumeq_result_size(from->state.curve.bins));
    memcpy(&to->state.tiles, tiles,
           tiles->tiles_x ? offsetof(TileResult, tile) + count * sizeof(tiles->tile[0])
                          : offsetof(TileResult, sums));
    to->clock = from->clock;
    to->params = from->params;
}

int lumeq_history_copy(LumeqHistory *to, const LumeqHistory *from)
{
    if (!to || !from)
        return lumeq_refuse("`to` or `from` is NULL");
    if (to->plan || from->plan)
        return lumeq_refuse("a history with lookahead cannot be copied");
    if (to == from)
        return 0;
    to->params = from->params;
    to->ended = from->ended;
    lumeq_copy_past(&to->pasts[to->last], &from->pasts[from->last]);
    lumeq_curve_unref(&to->ready);
    return 0;
}

static int same_meter(const LumeqRect *a, const LumeqRect *b)
{
    return !memcmp(a, b, sizeof(*a));
}

/* True if both give a histogram the same target. Strength and mode OFF do not affect the target. */
static int same_target(const LumeqParams *a, const LumeqParams *b)
{
    const int same_mode =
        a->mode == b->mode || a->mode == LUMEQ_MODE_OFF || b->mode == LUMEQ_MODE_OFF;
    return same_mode && a->clip == b->clip && a->denoise == b->denoise &&
           a->transfer == b->transfer && a->brightness == b->brightness && a->gamma == b->gamma;
}

/* After a change of parameters, replaces the curve instead of smoothing it, so that users see the
 * change at once. `before`: the parameters of the previous frame. */
static void change_params(CurveParams *curve, const LumeqParams *before, const LumeqParams *now)
{
    const int counts = before->bars == now->bars && same_meter(&before->meter, &now->meter);
    if (!counts || !same_target(before, now))
        curve->alpha = CURVE_ONE;
}

int lumeq_follow(const LumeqFollow *frame, const LumeqPast *before, LumeqPast *now, CurveWork *work,
                 LumeqCurve **curve)
{
    static const LumeqState none;
    const LumeqMeasure *m = frame->measure;
    const LumeqState *old = frame->discontinuity ? &none : &before->state;
    LumeqState *state = &now->state;
    const LumeqImage image = lumeq_shape_image(&m->shape);
    CurveParams params = lumeq_curve_params(&now->params, &image, &now->clock);
    params.first = now->params.await_noise && !before->clock.started;
    params.past = frame->past;
    if (before->clock.started && !frame->discontinuity)
        change_params(&params, &before->params, &now->params);
    const BarsParams bars = lumeq_bars_params(&now->params, &image, now->clock.step);
    TileGrid grid;
    const int tiles = lumeq_tiles_params(&grid, &now->params, &image, &params);
    LumeqCurve *made = lumeq_curve_new(&m->shape, &params, tiles ? &grid : NULL);
    if (!made)
        return lumeq_no_memory();

    state->curve.bars = bars_update(&bars, &old->curve.bars, m->counts.lit);
    state->curve.noise = params.reference ? NOISE_UNKNOWN : noise_of(m->counts.noise);
    curve_haze(&params, m->counts.haze, image.width, image.height, &state->curve.bars.active,
               &state->curve.seen);
    curve_compute(&params, m->counts.hist, &old->curve, &state->curve, &made->table, work);
    state->tiles.tiles_x = state->tiles.tiles_y = state->tiles.depth = 0;
    if (tiles)
        lumeq_tile_curves(&grid, m->counts.tiles, m->counts.padding, &state->curve, &old->tiles,
                          &state->tiles, made->tables);
    lumeq_curve_take(made, &state->curve, &state->tiles);
    made->moved = lumeq_curve_moved(&params, &old->curve, &state->curve);
    made->fields = frame->interlaced != 0;
    made->past = frame->past;
    *curve = made;
    return 0;
}

void lumeq_pass_over(const LumeqImage *image, const LumeqPast *before, LumeqPast *now)
{
    const CurveParams params = lumeq_curve_params(&now->params, image, &now->clock);
    const BarsParams bars = lumeq_bars_params(&now->params, image, now->clock.step);
    CurveResult *curve = &now->state.curve;
    curve->bars = bars_update(&bars, &before->state.curve.bars, NULL);
    curve->noise = NOISE_UNKNOWN;
    curve_keep_history(&params, &before->state.curve, curve);
    now->state.tiles.tiles_x = now->state.tiles.tiles_y = now->state.tiles.depth = 0;
}

/* Makes the next curve without lookahead. */
static int follow(LumeqHistory *h, const LumeqMeasure *m, const LumeqMoment *moment)
{
    static const LumeqClock beginning;
    const LumeqFollow frame = {m, moment->discontinuity, moment->interlaced, 0};
    const LumeqPast *before = &h->pasts[h->last];
    LumeqPast *now = &h->pasts[!h->last];
    now->params = h->params;
    now->clock = lumeq_clock_next(moment->discontinuity ? &beginning : &before->clock,
                                  moment->number, moment->time, moment->duration);
    const int ret = lumeq_follow(&frame, before, now, &h->work, &h->ready);
    if (ret < 0)
        return ret;
    h->ready->past = 1; /* lumeq_apply() may get one previous frame */
    h->last = !h->last;
    return 0;
}

static int check_measure(const LumeqHistory *h, const LumeqMeasure *m)
{
    if (m->pending || !m->valid)
        return lumeq_refuse("the measure is not finished, or lumeq_measure_finish() failed");
    const LumeqImage image = lumeq_shape_image(&m->shape);
    const MeasureShape wanted = lumeq_measure_shape(&h->params, &image);
    if (wanted.tiles_x &&
        (m->shape.tiles_x != wanted.tiles_x || m->shape.tiles_y != wanted.tiles_y ||
         m->shape.reference != wanted.reference))
        return lumeq_refuse("the measure's tiles (%dx%d) or `reference` differ from those of the "
                            "parameters (%dx%d)",
                            m->shape.tiles_x, m->shape.tiles_y, wanted.tiles_x, wanted.tiles_y);
    if (!same_meter(&m->shape.meter, &wanted.meter))
        return lumeq_refuse("the measure's metering area differs from that of the parameters");
    if (h->params.reference && h->params.mode != LUMEQ_MODE_OFF && m->shape.depth != 8)
        return lumeq_refuse("the reference is defined for 8 bits per sample, not for %d",
                            m->shape.depth);
    return 0;
}

int lumeq_history_put(LumeqHistory *h, const LumeqMeasure *measure, const LumeqMoment *moment)
{
    LumeqMoment m;
    if (!h || !measure != !moment)
        return lumeq_refuse("`history` is NULL, or only one of `measure` and `moment` is NULL");
    if (!measure) {
        h->ended = 1;
        if (h->plan)
            lumeq_plan_end(h->plan);
        return 0;
    }
    if (LUMEQ_TAKE(LumeqMoment, &m, moment) < 0)
        return LUMEQ_ERR_ARGUMENT;
    if (m.number < 0)
        return lumeq_refuse("the frame number %lld is negative", (long long)m.number);
    if (check_measure(h, measure) < 0)
        return LUMEQ_ERR_ARGUMENT;
    if (!h->plan && h->ready)
        return lumeq_refuse_with(LUMEQ_ERR_AGAIN,
                                 "call lumeq_history_get() first: a curve is ready");
    m.discontinuity |= h->ended;
    const int ret = h->plan ? lumeq_plan_put(h->plan, measure, &m) : follow(h, measure, &m);
    if (ret == 0)
        h->ended = 0;
    return ret;
}

int lumeq_history_get(LumeqHistory *h, LumeqCurve **curve)
{
    if (!h || !curve)
        return lumeq_refuse("`history` or `curve` is NULL");
    *curve = NULL;
    if (h->plan)
        return lumeq_plan_get(h->plan, curve);
    if (!h->ready)
        return lumeq_refuse_with(h->ended ? LUMEQ_ERR_END : LUMEQ_ERR_AGAIN,
                                 "no curve is ready: call lumeq_history_put() first");
    *curve = h->ready;
    h->ready = NULL;
    return 0;
}
