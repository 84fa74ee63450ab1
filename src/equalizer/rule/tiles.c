/* The grid of tiles, and their curves. */
#include "equalizer/tiles.h"

#include <string.h>

#include "equalizer/reference.h"
#include "equalizer/rule/arithmetic.h"
#include "equalizer/rule/curve.h"
#include "equalizer/rule/lift.h"
#include "equalizer/rule/light.h"
#include "equalizer/rule/transfer.h"

/* Finds each piece's first sample by bisection: piece numbers increase along the axis. */
static void find_pieces(TileAxis *axis)
{
    for (int piece = 0; piece <= axis->tiles + 1; piece++) {
        int low = 0, high = axis->size;
        while (low < high) {
            const int middle = low + (high - low) / 2;
            if (tile_piece(axis, middle) < piece)
                low = middle + 1;
            else
                high = middle;
        }
        axis->piece[piece] = low;
    }
}

static TileAxis divide(int size, int tiles)
{
    TileAxis axis = {.size = size, .padded = size, .tiles = tiles < size ? tiles : size};
    axis.step = (uint32_t)((((uint64_t)axis.tiles << 31) + (uint32_t)size - 1) / (uint32_t)size);
    find_pieces(&axis);
    return axis;
}

static TileAxis divide_padded(int size, int tiles, int padding)
{
    TileAxis axis = {.size = size, .padded = size + padding, .tiles = tiles};
    const int side = axis.padded / tiles;
    axis.inverse = 1.0f / (float)side;
    find_pieces(&axis);
    return axis;
}

/* Source: OpenCV 4.x, modules/imgproc/src/clahe.cpp, CLAHE_Impl::apply. */
static void divide_reference(TileGrid *grid, int width, int height, int tiles_x, int tiles_y,
                             double clip)
{
    const int even = width % tiles_x == 0 && height % tiles_y == 0;
    grid->x = divide_padded(width, tiles_x, even ? 0 : tiles_x - width % tiles_x);
    grid->y = divide_padded(height, tiles_y, even ? 0 : tiles_y - height % tiles_y);
    const int64_t area = (int64_t)(grid->x.padded / tiles_x) * (grid->y.padded / tiles_y);
    const double limit = clip * (double)area / TILE_CELLS;
    grid->limit = UINT32_MAX;
    if (clip > 0 && limit < (double)UINT32_MAX)
        grid->limit = limit < 1 ? 1 : (uint32_t)limit;
}

void lumeq_tile_grid(TileGrid *grid, int width, int height, int tiles_x, int tiles_y,
                     const CurveParams *curve, double clip)
{
    *grid = (TileGrid){.curve = *curve};
    grid->curve.bins = TILE_CELLS;
    grid->curve.fraction = curve->depth - 8;
    grid->curve.stretch = 0;
    if (curve->reference) {
        divide_reference(grid, width, height, tiles_x, tiles_y, clip);
    } else {
        grid->x = divide(width, tiles_x);
        grid->y = divide(height, tiles_y);
    }
}

/* The number of a tile's samples in [from, to). */
static int overlap(const TileAxis *axis, int tile, int from, int to)
{
    const int start = tile_start(axis, tile), end = tile_start(axis, tile + 1);
    const int common = (end < to ? end : to) - (start > from ? start : from);
    return common > 0 ? common : 0;
}

/* The first and the last tile with at least half of their samples in [from, to). */
static void find_range(const TileAxis *axis, int from, int to, int32_t *first, int32_t *last)
{
    *first = axis->tiles;
    *last = 0;
    for (int i = 0; i < axis->tiles; i++) {
        const int size = tile_start(axis, i + 1) - tile_start(axis, i);
        if (2 * overlap(axis, i, from, to) >= size) {
            *first = i < *first ? i : *first;
            *last = i;
        }
    }
    if (*first > *last) /* no such tile: use the picture's middle tile */
        *first = *last = tile_piece(axis, from + (to - from) / 2) < axis->tiles
                             ? tile_piece(axis, from + (to - from) / 2)
                             : axis->tiles - 1;
}

TileInside tile_inside(const TileGrid *grid, const BarsState *bars)
{
    TileInside inside = {0, 0, 0, grid->x.tiles - 1, 0, grid->y.tiles - 1, {0, 0}};
    if (bars->area) {
        const LumeqRect *a = &bars->active;
        inside.x = a->x;
        inside.y = a->y;
        find_range(&grid->x, a->x, a->x + a->width, &inside.first_x, &inside.last_x);
        find_range(&grid->y, a->y, a->y + a->height, &inside.first_y, &inside.last_y);
    }
    return inside;
}

uint32_t tile_bars(const TileGrid *grid, const BarsState *bars, int tile)
{
    if (!bars->area)
        return 0;
    const int x = tile % grid->x.tiles, y = tile / grid->x.tiles;
    const LumeqRect *a = &bars->active;
    const int width = overlap(&grid->x, x, a->x, a->x + a->width);
    const int height = overlap(&grid->y, y, a->y, a->y + a->height);
    return (uint32_t)overlap(&grid->x, x, 0, grid->x.size) *
               (uint32_t)overlap(&grid->y, y, 0, grid->y.size) -
           (uint32_t)width * (uint32_t)height;
}

/* ---- curves ---- */

/* Shared by the curves of a frame's tiles. */
typedef struct TileFrame {
    const TileGrid *grid;
    const CurveResult *frame;
    uint32_t light[TILE_CELLS]; /* codes before equalization */
    uint32_t weight, alpha;     /* as in CurveResult; 1 without a history */
} TileFrame;

/* Computes the target of a tile from its counts without bars. */
static void tile_target(const TileFrame *f, const uint32_t *left, uint32_t *target)
{
    const CurveParams *p = &f->grid->curve;
    uint32_t hist[TILE_CELLS], sums[TILE_CELLS];
    const CurveView view = curve_count(p, left, hist);
    curve_target(p, view.counted, view.flat || f->frame->epoch.black, f->light, hist, sums, target);
}

/* OpenCV's curve of a tile. */
static void tile_reference(const TileGrid *grid, const uint32_t *hist, const uint32_t *padding,
                           uint32_t *curve)
{
    const int width = grid->x.padded / grid->x.tiles, height = grid->y.padded / grid->y.tiles;
    const float scale = 255.0f / (float)((uint32_t)width * (uint32_t)height);
    uint32_t counts[TILE_CELLS], excess = 0;
    for (int i = 0; i < TILE_CELLS; i++) {
        counts[i] = hist[i] + (padding ? padding[i] : 0);
        excess += counts[i] > grid->limit ? counts[i] - grid->limit : 0;
    }
    for (uint32_t i = 0; i < TILE_CELLS; i++)
        counts[i] = reference_clipped(i, counts[i], grid->limit, excess);
    curve_scan(counts, TILE_CELLS, curve);
    for (int i = 0; i < TILE_CELLS; i++)
        curve[i] = reference_rounded(curve[i], scale) << 16;
}

void lumeq_tile_begin(const TileGrid *grid, const BarsState *bars, TileResult *result,
                      TileTables *tables)
{
    tables->inside = tile_inside(grid, bars);
    result->tiles_x = (uint32_t)grid->x.tiles;
    result->tiles_y = (uint32_t)grid->y.tiles;
    result->depth = grid->curve.reference ? 0 : (uint32_t)grid->curve.depth;
    result->white = (uint32_t)grid->curve.white;
    memset(&result->sums, 0, sizeof(result->sums));
}

HIDE_VARIANTS(lumeq_tile_add)
ALSO_AVX2 void lumeq_tile_add(const TileGrid *grid, int tile, const uint32_t *left,
                              const uint32_t *curve, TileResult *result, TileTables *tables)
{
    const int shift = 8 + grid->curve.fraction;
    uint32_t *nodes = tables->nodes[tile], codes[TILE_CELLS];
    for (int i = 0; i < TILE_CELLS; i++) {
        /* Truncated, so that rounding the node gives the same code as rounding the curve. */
        const uint32_t node = curve[i] >> 8;
        nodes[i] = node;
        result->sums.curve_sum[i] += node;
        codes[i] = least_of((node + 128) >> shift, TILE_CELLS - 1);
    }
    nodes[TILE_CELLS] = tile_last_node(grid->curve.depth);
    /* Visits four parts alternately: neighbouring cells often share a counter, and would stall. */
    for (int i = 0; i < TILE_CELLS / 4; i++)
        for (int j = i; j < TILE_CELLS; j += TILE_CELLS / 4)
            result->sums.hist_out[codes[j]] += left[j];
}

void lumeq_tile_curves(const TileGrid *grid, uint32_t (*hist)[TILE_CELLS],
                       uint32_t (*padding)[TILE_CELLS], const CurveResult *frame,
                       const TileResult *before, TileResult *result, TileTables *tables)
{
    const CurveParams *p = &grid->curve;
    const int goes_on =
        before->depth == (uint32_t)p->depth && before->white == (uint32_t)p->white &&
        before->tiles_x == (uint32_t)grid->x.tiles && before->tiles_y == (uint32_t)grid->y.tiles;
    TileFrame f = {.grid = grid,
                   .frame = frame,
                   .weight = goes_on ? frame->weight : CURVE_ONE,
                   .alpha = goes_on ? frame->alpha : CURVE_ONE};
    TransferMap map;
    memset(map.key, 0, sizeof(map.key));
    transfer_map(p, &map);
    light_bins(p, f.light);
    lumeq_tile_begin(grid, &frame->bars, result, tables);
    for (int tile = 0; tile < tile_count(grid); tile++) {
        uint32_t without[TILE_CELLS], light[TILE_CELLS], curve[TILE_CELLS], codes[TILE_CELLS];
        const uint32_t *left = hist[tile];
        if (p->reference) {
            tile_reference(grid, left, padding ? padding[tile] : NULL, curve);
        } else {
            left = curve_exclude(p, left, tile_bars(grid, &frame->bars, tile), without);
            uint32_t *target = result->tile[tile].target, *smooth = result->tile[tile].smooth;
            if (f.weight)
                tile_target(&f, transfer_counts(p, &map, left, light), target);
            curve_smooth(p, f.light, target, before->tile[tile].target, f.weight, target);
            curve_smooth(p, f.light, target, before->tile[tile].smooth, f.alpha, smooth);
            curve_weaken(p, f.light, smooth, frame->strength, curve);
        }
        lumeq_tile_add(grid, tile, left, transfer_curve(p, &map, curve, codes), result, tables);
    }
}
