#include "equalizer/history.h"

#include <stdlib.h>
#include <string.h>

#include "equalizer/arguments.h"
#include "equalizer/frame_stats.h"
#include "equalizer/last_error.h"
#include "equalizer/measure.h"
#include "equalizer/tone_curve.h"

#define LETTERS "LQhi"
#define FORMAT 5

static LumeqHistory *allocate(const LumeqParams *params, int64_t lookahead)
{
    LumeqHistory *h = calloc(1, sizeof(*h));
    if (!h)
        return NULL;
    h->params = *params;
    h->lookahead = lookahead;
    return h;
}

int lumeq_history_create(LumeqHistory **history, const LumeqParams *params, int64_t lookahead)
{
    LumeqParams p;
    if (!history)
        return lumeq_refuse("there is no place for the history");
    *history = NULL;
    if (lumeq_take_params(&p, params, lumeq_error_text(), LUMEQ_ERROR_SIZE) < 0)
        return LUMEQ_ERR_ARGUMENT;
    if (lookahead < 0 || lookahead > LUMEQ_MAX_LOOKAHEAD)
        return lumeq_refuse("a lookahead of %lld ns; 0 to 10 s are supported",
                            (long long)lookahead);
    if (p.deflicker > 0 && !lookahead)
        return lumeq_refuse("deflicker needs a history that looks ahead");
    LumeqHistory *h = allocate(&p, lookahead);
    if (h && lookahead)
        h->plan = lumeq_plan_create(&p, lookahead);
    if (!h || (lookahead && !h->plan)) {
        lumeq_history_destroy(&h);
        return lumeq_refuse_with(LUMEQ_ERR_MEMORY, "no memory for a history");
    }
    *history = h;
    return 0;
}

LumeqHistory *lumeq_history_from(const LumeqParams *params, const LumeqState *state,
                                 const LumeqClock *clock)
{
    LumeqHistory *h = allocate(params, 0);
    if (!h)
        return NULL;
    h->params.deflicker = 0;
    lumeq_copy_state(&h->states[0], state);
    h->clock = *clock;
    return h;
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

static void find_tiles(LumeqHistory *h, const LumeqMeasure *m, const TileGrid *grid,
                       const LumeqState *before, LumeqState *now)
{
    ClaheWork *work = &h->work.clahe;
    for (int tile = 0; tile < tile_count(grid); tile++) {
        memcpy(work->hist[tile], m->counts.tiles[tile], sizeof(work->hist[tile]));
        lumeq_tile_find(grid, tile, m->counts.padding ? m->counts.padding[tile] : NULL, &now->curve,
                        &before->tiles, &now->tiles, work);
    }
    lumeq_tile_sum(grid, &now->curve.bars, &now->tiles, work);
}

/* Makes the next curve by the arithmetic of lumeq_process() on the CPU. */
static int follow(LumeqHistory *h, const LumeqMeasure *m, const LumeqMoment *moment)
{
    static const LumeqClock beginning;
    const LumeqClock clock = lumeq_clock_next(moment->discontinuity ? &beginning : &h->clock,
                                              moment->number, moment->time, moment->duration);
    const LumeqImage image = lumeq_shape_image(&m->shape);
    CurveParams params = lumeq_curve_params(&h->params, &image, &clock);
    params.first = lumeq_is_first(&h->params, &h->clock);
    const BarsParams bars = lumeq_bars_params(&h->params, &image, clock.step);
    TileGrid grid;
    const int tiles = lumeq_tiles_params(&grid, &h->params, &image, &params);
    LumeqCurve *curve = lumeq_curve_new(&m->shape, &params, tiles ? &grid : NULL);
    if (!curve)
        return lumeq_refuse_with(LUMEQ_ERR_MEMORY, "no memory for a curve");

    LumeqState *before = &h->states[h->last], *now = &h->states[!h->last];
    if (moment->discontinuity)
        memset(before, 0, sizeof(*before));
    lumeq_profile_of(&h->work.profile, m);
    now->curve.bars = bars_update(&bars, &before->curve.bars, &h->work.profile, &h->work.bars);
    now->curve.noise = noise_of(m->counts.noise);
    for (int i = 0; i < params.bins; i++)
        now->curve.bin[i].hist = m->counts.hist[i];
    curve_compute(&params, &before->curve, before->curve.bin, &now->curve, now->curve.bin,
                  &h->work.table, &h->work.curve);
    lumeq_no_tiles(&now->tiles);
    if (tiles)
        find_tiles(h, m, &grid, before, now);
    lumeq_curve_take(curve, &now->curve, &h->work.table, &h->work.clahe.tables, &now->tiles);
    curve->moved = lumeq_curve_moved(&params, &before->curve, &now->curve);
    curve->fields = moment->interlaced != 0;
    curve->past = 1; /* like lumeq_process() */
    h->last = !h->last;
    h->clock = clock;
    h->ready = curve;
    return 0;
}

/* Checks that the measure has the tiles and the meter of the parameters. */
static int check_measure(const LumeqHistory *h, const LumeqMeasure *m)
{
    if (m->pending || !m->valid)
        return lumeq_refuse("the measure is not finished");
    const LumeqImage image = lumeq_shape_image(&m->shape);
    const MeasureShape wanted = lumeq_measure_shape(&h->params, &image);
    if (wanted.tiles_x &&
        (m->shape.tiles_x != wanted.tiles_x || m->shape.tiles_y != wanted.tiles_y ||
         m->shape.reference != wanted.reference))
        return lumeq_refuse("the measure has %dx%d tiles, the parameters want %dx%d",
                            m->shape.tiles_x, m->shape.tiles_y, wanted.tiles_x, wanted.tiles_y);
    if (!lumeq_same_meter(&m->shape.meter, &wanted.meter))
        return lumeq_refuse("the measure is of another part of the picture than the parameters "
                            "meter");
    if (h->params.reference && h->params.mode != LUMEQ_MODE_OFF && m->shape.depth != 8)
        return lumeq_refuse("the reference is defined for 8 bits a sample, not for %d",
                            m->shape.depth);
    return 0;
}

int lumeq_history_put(LumeqHistory *h, const LumeqMeasure *measure, const LumeqMoment *moment)
{
    LumeqMoment m;
    if (!h || !measure != !moment)
        return lumeq_refuse("there is no history, or only one of measure and moment");
    if (!measure) {
        h->ended = 1;
        if (h->plan)
            lumeq_plan_end(h->plan);
        return 0;
    }
    if (lumeq_take_struct(&m, sizeof(m), moment) < 0)
        return lumeq_refuse("the moment has an unknown size");
    if (m.number < 0)
        return lumeq_refuse("the frame's number %lld is negative", (long long)m.number);
    if (check_measure(h, measure) < 0)
        return LUMEQ_ERR_ARGUMENT;
    if (!h->plan && h->ready)
        return lumeq_refuse_with(LUMEQ_ERR_AGAIN, "the curve before has not been got");
    m.discontinuity |= h->ended;
    const int ret = h->plan ? lumeq_plan_put(h->plan, measure, &m) : follow(h, measure, &m);
    if (ret == 0)
        h->ended = 0;
    return ret;
}

int lumeq_history_get(LumeqHistory *h, LumeqCurve **curve)
{
    if (!h || !curve)
        return lumeq_refuse("there is no history, or no place for the curve");
    *curve = NULL;
    if (h->plan)
        return lumeq_plan_get(h->plan, curve);
    if (!h->ready)
        return lumeq_refuse_with(h->ended ? LUMEQ_ERR_END : LUMEQ_ERR_AGAIN,
                                 "no measure was put since the last curve");
    *curve = h->ready;
    h->ready = NULL;
    return 0;
}

static void put_lift(ByteWriter *w, const CurveResult *c)
{
    const LiftState *s = &c->lift;
    const uint32_t known = s->known | s->awaited << 1 | s->young << 3;
    const uint32_t fields[] = {s->on, s->dark, s->more, known, s->noise, s->seen, s->counted};
    lumeq_put32(w, s->on);
    if (!s->on)
        return;
    lumeq_put32s(w, fields + 1, sizeof(fields) / sizeof(fields[0]) - 1);
    lumeq_put32(w, s->ignored ? NOISE_UNKNOWN : c->noise);
    lumeq_put32s(w, s->share, CURVE_CELLS);
}

/* The shares sum up to about 1 at most; the limit of 2 leaves ample room for rounding. */
static void take_lift(ByteReader *r, CurveResult *c)
{
    LiftState *s = &c->lift;
    uint64_t sum = 0;
    s->on = (uint32_t)lumeq_take_range(r, 0, 1);
    if (!s->on)
        return;
    s->dark = (uint32_t)lumeq_take_range(r, 0, CURVE_ONE);
    s->more = (uint32_t)lumeq_take_range(r, 0, LIFT_MOST);
    const uint32_t known = (uint32_t)lumeq_take_range(r, 0, LIFT_YOUNG << 3 | 7);
    s->known = known & 1;
    s->awaited = known >> 1 & 3;
    s->young = known >> 3;
    r->bad |= s->awaited > LIFT_AWAITED;
    s->noise = (uint32_t)lumeq_take_range(r, 0, 256 << 16);
    s->seen = (uint32_t)lumeq_take_range(r, 0, LIFT_NOISE_SEEN);
    s->counted = (uint32_t)lumeq_take_range(r, 0, 1);
    c->noise = lumeq_take32(r);
    r->bad |= c->noise != NOISE_UNKNOWN && c->noise > 256 << 8;
    lumeq_take32s(r, s->share, CURVE_CELLS);
    for (int i = 0; i < CURVE_CELLS; i++)
        sum += s->share[i];
    r->bad |= sum >> (LIFT_SHARE_BITS + 1) != 0;
}

static void put_state(ByteWriter *w, const LumeqState *state)
{
    const CurveResult *c = &state->curve;
    const TileResult *t = &state->tiles;
    const uint32_t fields[] = {c->bins, c->depth, c->white, c->jumps, c->need, c->fades};
    lumeq_put32s(w, fields, sizeof(fields) / sizeof(fields[0]));
    lumeq_put_bars(w, &c->bars);
    for (uint32_t i = 0; i < c->bins; i++) {
        lumeq_put32(w, c->bin[i].smooth);
        lumeq_put32(w, c->bin[i].cdf);
    }
    put_lift(w, c);
    const uint32_t tiles = t->tiles_x && t->depth ? t->tiles_x * t->tiles_y : 0;
    lumeq_put32(w, tiles ? t->tiles_x : 0);
    lumeq_put32(w, tiles ? t->tiles_y : 0);
    if (tiles)
        lumeq_put32s(w, t->smooth[0], (size_t)tiles * TILE_CELLS);
}

/* Checks that a curve is monotone and within the codes. */
static void check_rise(ByteReader *r, uint32_t value, uint32_t *before, uint32_t depth)
{
    r->bad |= value < *before || value > ((1u << depth) - 1) << 16;
    *before = value;
}

static void take_state(ByteReader *r, LumeqState *state)
{
    CurveResult *c = &state->curve;
    TileResult *t = &state->tiles;
    memset(state, 0, sizeof(*state));
    c->bins = (uint32_t)lumeq_take_range(r, 0, LUMEQ_MAX_BINS);
    c->depth = (uint32_t)lumeq_take_range(r, 0, 16);
    c->white = lumeq_take32(r);
    r->bad |= c->depth && c->white != 235u << c->depth >> 8 && c->white != (1u << c->depth) - 1;
    c->jumps = (uint32_t)lumeq_take_range(r, 0, CURVE_JUMPS + 1);
    c->need = (uint32_t)lumeq_take_range(r, 0, CURVE_ONE);
    c->fades = (uint32_t)lumeq_take_range(r, 0, 1);
    r->bad |= c->depth && c->bins != (c->depth < 12 ? 1u << c->depth : LUMEQ_MAX_BINS);
    lumeq_take_bars(r, &c->bars);
    uint32_t before = 0;
    for (uint32_t i = 0; i < c->bins && !r->bad; i++) {
        c->bin[i].smooth = lumeq_take32(r);
        c->bin[i].cdf = lumeq_take32(r);
        r->bad |= c->bin[i].cdf > CURVE_ONE;
        if (c->depth)
            check_rise(r, c->bin[i].smooth, &before, c->depth);
    }
    take_lift(r, c);
    t->tiles_x = (uint32_t)lumeq_take_range(r, 0, LUMEQ_MAX_TILES);
    t->tiles_y =
        (uint32_t)lumeq_take_range(r, t->tiles_x ? 1 : 0, t->tiles_x ? LUMEQ_MAX_TILES : 0);
    t->depth = t->tiles_x ? c->depth : 0;
    t->white = c->white;
    r->bad |= t->tiles_x && !c->depth;
    for (uint32_t tile = 0; tile < t->tiles_x * t->tiles_y && !r->bad; tile++) {
        before = 0;
        lumeq_take32s(r, t->smooth[tile], TILE_CELLS);
        for (int i = 0; i < TILE_CELLS && !r->bad; i++)
            check_rise(r, t->smooth[tile][i], &before, t->depth);
    }
}

int lumeq_history_save(const LumeqHistory *h, void *bytes, size_t *size)
{
    if (!h || !size)
        return lumeq_refuse("there is no history, or no room for its size");
    if (h->ready)
        return lumeq_refuse_with(LUMEQ_ERR_AGAIN, "the curve before has not been got");
    ByteWriter w = lumeq_bytes_begin(bytes, *size, LETTERS, FORMAT);
    lumeq_put64(&w, (uint64_t)h->lookahead);
    lumeq_put32(&w, (uint32_t)h->ended);
    if (h->plan) {
        lumeq_plan_save(h->plan, &w);
    } else {
        lumeq_put64(&w, (uint64_t)h->clock.last_time);
        lumeq_put64(&w, (uint64_t)h->clock.number);
        lumeq_put32(&w, (uint32_t)h->clock.started);
        put_state(&w, &h->states[h->last]);
    }
    return lumeq_bytes_end(&w, size) < 0 ? lumeq_refuse("there is no room for the history") : 0;
}

static int load_state(LumeqHistory *h, ByteReader *r)
{
    LumeqClock clock = {.last_time = (int64_t)lumeq_take64(r)};
    clock.number = (int64_t)lumeq_take64(r);
    clock.started = lumeq_take_range(r, 0, 1);
    LumeqState *state = malloc(sizeof(*state));
    if (!state)
        return LUMEQ_ERR_MEMORY;
    take_state(r, state);
    if (lumeq_bytes_done(r)) {
        h->states[h->last] = *state;
        h->clock = clock;
        lumeq_curve_unref(&h->ready);
    }
    free(state);
    return 0;
}

int lumeq_history_load(LumeqHistory *h, const void *bytes, size_t size)
{
    if (!h || !bytes)
        return lumeq_refuse("there is no history, or nothing to load");
    ByteReader r = lumeq_bytes_open(bytes, size, LETTERS, FORMAT);
    const int64_t lookahead = (int64_t)lumeq_take64(&r);
    const int ended = lumeq_take_range(&r, 0, 1);
    if (r.bad)
        return lumeq_refuse("these bytes are no history of this version");
    if (lookahead != h->lookahead)
        return lumeq_refuse("the saved history looks %lld ns ahead, this one %lld",
                            (long long)lookahead, (long long)h->lookahead);
    const int ret = h->plan ? lumeq_plan_load(h->plan, &r) : load_state(h, &r);
    if (ret < 0)
        return lumeq_refuse_with(ret, "no memory for the history");
    if (!lumeq_bytes_done(&r))
        return lumeq_refuse("these bytes are no whole history");
    h->ended = ended;
    return 0;
}
