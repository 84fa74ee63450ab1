#include "equalizer/tiles.h"

#include <string.h>

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

void lumeq_tile_find(const TileGrid *grid, int tile, const uint32_t *padding,
                     const CurveResult *frame, const TileResult *before, TileResult *result,
                     ClaheWork *work)
{
    const int has_history = tile_has_history(grid, before);
    CurveBin was[TILE_CELLS] = {0}, now[TILE_CELLS] = {0};
    CurveWork curve; /* clearing all of it would take a third of the time */
    memset(curve.cum, 0, TILE_CELLS * sizeof(curve.cum[0]));
    for (int i = 0; i < TILE_CELLS; i++) {
        now[i].hist = work->hist[tile][i] + (padding ? padding[i] : 0);
        if (has_history)
            was[i].smooth = before->smooth[tile][i];
    }
    tile_curve(grid, tile, frame, has_history, was, now, &curve);
    for (int i = 0; i < TILE_CELLS; i++) {
        if (now[i].hist < work->hist[tile][i])
            work->hist[tile][i] = now[i].hist; /* without bars */
        result->smooth[tile][i] = now[i].smooth;
        work->tables.nodes[tile][i] = tile_node(now[i].curve);
    }
    work->tables.nodes[tile][TILE_CELLS] = tile_last_node(grid->curve.depth);
}

void lumeq_tile_sum(const TileGrid *grid, const BarsState *bars, TileResult *result,
                    ClaheWork *work)
{
    work->tables.inside = tile_inside(grid, bars);
    result->tiles_x = (uint32_t)grid->x.tiles;
    result->tiles_y = (uint32_t)grid->y.tiles;
    result->depth = grid->curve.reference ? 0 : (uint32_t)grid->curve.depth;
    result->white = (uint32_t)grid->curve.white;
    memset(result->hist_out, 0, sizeof(result->hist_out));
    memset(result->curve_sum, 0, sizeof(result->curve_sum));
    for (int tile = 0; tile < tile_count(grid); tile++)
        for (int i = 0; i < TILE_CELLS; i++) {
            const uint32_t node = work->tables.nodes[tile][i];
            result->curve_sum[i] += node;
            result->hist_out[tile_cell_out(node, grid->curve.fraction)] += work->hist[tile][i];
        }
}
