#include "equalizer/tone_curve.h"

#include <stdlib.h>
#include <string.h>

#include "equalizer/bytes.h"
#include "equalizer/last_error.h"
#include "equalizer/measure.h"
#include "equalizer/platform.h"
#include "equalizer/rule/curve.h"
#include "equalizer/rule/lift.h"
#include "equalizer/settings.h"

#define LETTERS "LQcv"
#define FORMAT 13

static size_t tables_size(const TileGrid *grid)
{
    return offsetof(TileTables, nodes) +
           (size_t)tile_count(grid) * sizeof(((TileTables *)NULL)->nodes[0]);
}

LumeqCurve *lumeq_curve_new(const MeasureShape *shape, const CurveParams *params,
                            const TileGrid *grid)
{
    const size_t own = padded(sizeof(LumeqCurve));
    const size_t result = padded(lumeq_result_size((uint32_t)params->bins));
    const size_t tables = grid ? padded(tables_size(grid)) : 0;
    const size_t more = grid ? padded(sizeof(TileGrid)) + sizeof(TileSums) : 0;
    uint8_t *memory = lumeq_alloc(own + result + tables + more);
    if (!memory)
        return NULL;
    LumeqCurve *curve = (LumeqCurve *)(void *)memory;
    memset(curve, 0, offsetof(LumeqCurve, table));
    memset(memory + own, 0, lumeq_result_size(0));
    curve->shape = *shape;
    if (!grid) /* the measure may have counted tiles that the curve does not use */
        curve->shape.tiles_x = curve->shape.tiles_y = curve->shape.reference = 0;
    curve->params = *params;
    curve->result = (CurveResult *)(void *)(memory + own);
    if (grid) {
        curve->tables = (TileTables *)(void *)(memory + own + result);
        curve->grid = (TileGrid *)(void *)(memory + own + result + tables);
        *curve->grid = *grid;
        curve->sums =
            (TileSums *)(void *)(memory + own + result + tables + padded(sizeof(TileGrid)));
    }
    return curve;
}

void lumeq_curve_take(LumeqCurve *curve, const CurveResult *result, const TileResult *tiles)
{
    memcpy(curve->result, result, lumeq_result_size((uint32_t)curve->params.bins));
    if (curve->grid)
        *curve->sums = tiles->sums;
}

void lumeq_curve_unref(LumeqCurve **curve)
{
    if (!curve)
        return;
    lumeq_free(*curve);
    *curve = NULL;
}

int lumeq_curve_fits(const LumeqCurve *curve, const LumeqImage *in)
{
    const MeasureShape *s = &curve->shape;
    if (in->width == s->width && in->height == s->height && in->depth == s->depth &&
        in->shift == s->shift && (int)in->range == s->range)
        return 0;
    return lumeq_refuse("the curve is for frames of %dx%d, %d bits, shift %d and range %d; the "
                        "input has %dx%d, %d, %d and %d",
                        s->width, s->height, s->depth, s->shift, s->range, in->width, in->height,
                        in->depth, in->shift, (int)in->range);
}

int lumeq_curve_previous(const LumeqCurve *curve)
{
    const LiftTables *lift = &curve->table.lift;
    const int filters = (lift->luma_on || lift->chroma_on) && lift->noisy;
    return filters && !curve->grid && !curve->result->scene_cut ? curve->past : 0;
}

const CurveTable *lumeq_curve_table(const LumeqCurve *curve, int past, CurveTable *table)
{
    *table = curve->table;
    curve_fill_lift(&curve->params, curve->result, past, table);
    return table;
}

LumeqApplyJob lumeq_curve_job(const LumeqCurve *curve, const LumeqImage *in, const LumeqImage *out)
{
    return (LumeqApplyJob){
        .in = *in,
        .out = *out,
        .fields = curve->fields,
        .write = lumeq_planes(out),
        .curve = curve->params,
        .bars = &curve->result->bars,
        .table = &curve->table,
        .clahe = curve->grid != NULL,
        .grid = curve->grid,
        .tables = curve->tables,
    };
}

static void put_tiles(ByteWriter *w, const LumeqCurve *curve, int bare)
{
    const TileInside *in = &curve->tables->inside;
    const int32_t fields[] = {in->x, in->y, in->first_x, in->last_x, in->first_y, in->last_y};
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
        lumeq_put32(w, (uint32_t)fields[i]);
    for (int i = 0; i < TILE_CELLS; i++)
        lumeq_put32(w, bare ? 0 : curve->sums->hist_out[i]);
    lumeq_put32s(w, curve->sums->curve_sum, TILE_CELLS);
    for (int tile = 0; tile < tile_count(curve->grid); tile++)
        lumeq_put32s(w, curve->tables->nodes[tile], TILE_CELLS + 1);
}

static int pack(const LumeqCurve *curve, int bare, void *bytes, size_t *size)
{
    if (!curve || !size)
        return lumeq_refuse("`curve` or `size` is NULL");
    const MeasureShape *s = &curve->shape;
    const CurveParams *p = &curve->params;
    const CurveResult *result = curve->result;
    const LumeqRect *a = &result->bars.active;
    ByteWriter w = lumeq_bytes_begin(bytes, *size, LETTERS, FORMAT);
    lumeq_put_shape(&w, s);
    const uint32_t fields[] = {
        (uint32_t)p->dither,   (uint32_t)p->chroma, (uint32_t)p->reference, p->frame,
        (uint32_t)a->x,        (uint32_t)a->y,      (uint32_t)a->width,     (uint32_t)a->height,
        (uint32_t)p->transfer, result->strength,    result->scene_cut,
    };
    lumeq_put32s(&w, fields, sizeof(fields) / sizeof(fields[0]));
    lumeq_put64(&w, curve->moved);
    lumeq_put32(&w, result->noise);
    const uint32_t on = p->lift && p->strength; /* mode OFF lifts nothing */
    const uint32_t lift[] = {on,
                             on ? result->lift.dark : 0,
                             on ? result->lift.more : 0,
                             on ? result->lift.noise : 0,
                             on ? p->denoise : 0,
                             on ? result->lift.voids : 0};
    lumeq_put32s(&w, lift, sizeof(lift) / sizeof(lift[0]));
    for (int i = 0; i < 2; i++) {
        lumeq_put32(&w, (uint32_t)(curve->table.tint.of[i] + HAZE_TINT_MOST));
        lumeq_put32(&w, (uint32_t)(curve->table.tint.base[i] + HAZE_BASE_MOST));
    }
    lumeq_put32(&w, (uint32_t)curve->table.tint.lost);
    const HazeClear *clear = &curve->table.clear;
    lumeq_put32(&w, (uint32_t)clear->light);
    lumeq_put32(&w, (uint32_t)clear->lift);
    for (int i = 0; i < MEASURE_CELLS; i++)
        lumeq_put32(&w, clear->gain[i]);
    lumeq_put32(&w, (uint32_t)curve->fields);
    lumeq_put32(&w, (uint32_t)lumeq_curve_previous(curve));
    for (int i = 0; i < p->bins; i++) {
        lumeq_put32(&w, bare ? 0 : result->bin[i].hist);
        lumeq_put32(&w, result->bin[i].curve);
    }
    if (curve->grid)
        put_tiles(&w, curve, bare);
    return lumeq_bytes_end(&w, size) < 0
               ? lumeq_refuse("the buffer is too small for the packed curve")
               : 0;
}

int lumeq_curve_pack(const LumeqCurve *curve, void *bytes, size_t *size)
{
    return pack(curve, 0, bytes, size);
}

int lumeq_curve_pack_bare(const LumeqCurve *curve, void *bytes, size_t *size)
{
    return pack(curve, 1, bytes, size);
}

/* True if an edge of the picture is a multiple of BARS_ALIGNMENT, or the frame's own edge. */
static int is_edge(int at, int size)
{
    return at % BARS_ALIGNMENT == 0 || at == size;
}

static LumeqRect take_active(ByteReader *r, const MeasureShape *s)
{
    LumeqRect a = {.x = lumeq_take_range(r, 0, s->width - 1)};
    a.y = lumeq_take_range(r, 0, s->height - 1);
    a.width = lumeq_take_range(r, 1, s->width - a.x);
    a.height = lumeq_take_range(r, 1, s->height - a.y);
    r->bad |= !is_edge(a.x, s->width) || !is_edge(a.y, s->height) ||
              !is_edge(a.x + a.width, s->width) || !is_edge(a.y + a.height, s->height);
    return a;
}

/* Takes the bins. The curve must be monotone and within the codes. */
static void take_bins(ByteReader *r, LumeqCurve *curve)
{
    const CurveParams *p = &curve->params;
    const uint32_t most = ((1u << p->depth) - 1) << 16;
    for (int i = 0; i < p->bins; i++) {
        CurveBin *bin = &curve->result->bin[i];
        bin->hist = lumeq_take32(r);
        bin->curve = lumeq_take32(r);
        r->bad |= bin->curve > most || (i && bin->curve < bin[-1].curve);
    }
}

/* Takes the lift. Its values must be within the limits of lift_decide(), noise within the codes. */
static void take_lift(ByteReader *r, LumeqCurve *curve)
{
    LiftState *lift = &curve->result->lift;
    const int on = lumeq_take_range(r, 0, 1);
    curve->params.lift = on;
    curve->params.strength = on ? CURVE_ONE : 0;
    lift->on = (uint32_t)on;
    lift->dark = (uint32_t)lumeq_take_range(r, 0, CURVE_ONE);
    lift->more = (uint32_t)lumeq_take_range(r, 0, LIFT_MOST);
    lift->noise = (uint32_t)lumeq_take_range(r, 0, 256 << 16);
    curve->params.denoise = (uint32_t)lumeq_take_range(r, 0, CURVE_ONE);
    lift->voids = (uint32_t)lumeq_take_range(r, 0, CURVE_ONE);
}

static HazeTint take_haze(ByteReader *r, LumeqCurve *curve)
{
    HazeClear *clear = &curve->result->clear;
    HazeTint tint;
    for (int i = 0; i < 2; i++) {
        tint.of[i] = lumeq_take_range(r, 0, 2 * HAZE_TINT_MOST) - HAZE_TINT_MOST;
        tint.base[i] = lumeq_take_range(r, 0, 2 * HAZE_BASE_MOST) - HAZE_BASE_MOST;
    }
    tint.lost = lumeq_take_range(r, 0, CURVE_ONE);
    clear->light = lumeq_take_range(r, 0, (1 << curve->params.depth) - 1);
    clear->lift = lumeq_take_range(r, 0, HAZE_LIFT_MOST);
    for (int i = 0; i < MEASURE_CELLS; i++)
        clear->gain[i] = (uint16_t)lumeq_take_range(r, 0, HAZE_GAIN_MOST);
    return tint;
}

static void take_tiles(ByteReader *r, LumeqCurve *curve)
{
    const TileGrid *grid = curve->grid;
    TileInside *in = &curve->tables->inside;
    in->x = lumeq_take_range(r, 0, curve->shape.width - 1);
    in->y = lumeq_take_range(r, 0, curve->shape.height - 1);
    in->first_x = lumeq_take_range(r, 0, grid->x.tiles - 1);
    in->last_x = lumeq_take_range(r, in->first_x, grid->x.tiles - 1);
    in->first_y = lumeq_take_range(r, 0, grid->y.tiles - 1);
    in->last_y = lumeq_take_range(r, in->first_y, grid->y.tiles - 1);
    lumeq_take32s(r, curve->sums->hist_out, TILE_CELLS);
    lumeq_take32s(r, curve->sums->curve_sum, TILE_CELLS);
    uint32_t sum[TILE_CELLS] = {0};
    for (int tile = 0; tile < tile_count(grid); tile++) {
        uint32_t *nodes = curve->tables->nodes[tile];
        lumeq_take32s(r, nodes, TILE_CELLS + 1);
        for (int i = 0; i <= TILE_CELLS; i++)
            r->bad |=
                nodes[i] > tile_last_node(grid->curve.depth) || (i && nodes[i] < nodes[i - 1]);
        for (int i = 0; i < TILE_CELLS; i++)
            sum[i] += nodes[i];
    }
    r->bad |= memcmp(sum, curve->sums->curve_sum, sizeof(sum)) != 0;
}

int lumeq_curve_unpack(LumeqCurve **curve, const void *bytes, size_t size)
{
    if (!curve || !bytes)
        return lumeq_refuse("`curve` or `bytes` is NULL");
    ByteReader r = lumeq_bytes_open(bytes, size, LETTERS, FORMAT);
    const MeasureShape shape = lumeq_take_shape(&r);
    const LumeqImage image = lumeq_shape_image(&shape);
    CurveParams params = lumeq_sample_params(&image);
    params.dither = lumeq_take_range(&r, 0, 1);
    params.chroma = lumeq_take_range(&r, 0, 1);
    params.reference = lumeq_take_range(&r, 0, shape.depth == 8);
    params.frame = lumeq_take32(&r);
    const LumeqRect active = take_active(&r, &shape);
    r.bad |= shape.tiles_x && shape.reference != params.reference;
    if (r.bad)
        return lumeq_refuse("these bytes are not a curve of this version, or they are damaged or "
                            "cut short");

    TileGrid grid;
    if (shape.tiles_x)
        lumeq_tile_grid(&grid, shape.width, shape.height, shape.tiles_x, shape.tiles_y, &params, 0);
    LumeqCurve *made = lumeq_curve_new(&shape, &params, shape.tiles_x ? &grid : NULL);
    if (!made)
        return lumeq_no_memory();
    CurveResult *result = made->result;
    result->bins = (uint32_t)params.bins;
    result->depth = (uint32_t)params.depth;
    result->bars.active = active;
    result->bars.area = (uint32_t)shape.width * (uint32_t)shape.height -
                        (uint32_t)active.width * (uint32_t)active.height;
    made->params.transfer = lumeq_take_range(&r, LUMEQ_TRANSFER_SDR, LUMEQ_TRANSFER_HLG);
    if (made->grid)
        made->grid->curve.transfer = made->params.transfer;
    result->strength = lumeq_take32(&r);
    result->scene_cut = lumeq_take32(&r);
    made->moved = lumeq_take64(&r);
    result->noise = lumeq_take32(&r);
    take_lift(&r, made);
    const HazeTint tint = take_haze(&r, made);
    made->fields = lumeq_take_range(&r, 0, 1);
    made->past = lumeq_take_range(&r, 0, LIFT_PAST);
    take_bins(&r, made);
    if (made->grid)
        take_tiles(&r, made);
    if (!lumeq_bytes_done(&r)) {
        lumeq_curve_unref(&made);
        return lumeq_refuse("the packed curve has an invalid value or length");
    }
    curve_fill_table(&made->params, made->result, &made->table);
    made->table.tint = tint;
    lumeq_curve_unref(curve);
    *curve = made;
    return 0;
}
