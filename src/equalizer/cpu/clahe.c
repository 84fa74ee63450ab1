#include "equalizer/cpu/clahe.h"

#include <string.h>

static inline int at_most(int value, int limit)
{
    return value < limit ? value : limit;
}

typedef struct TileBounds {
    int left, right, top, bottom; /* the first sample and the one after the last */
} TileBounds;

static TileBounds bounds_of(const TileGrid *grid, int tile)
{
    const int x = tile % grid->x.tiles, y = tile / grid->x.tiles;
    return (TileBounds){tile_start(&grid->x, x), tile_start(&grid->x, x + 1),
                        tile_start(&grid->y, y), tile_start(&grid->y, y + 1)};
}

/* Counts the tile's samples inside the picture. */
static void count_inside(const TileGrid *grid, TileBounds at, const LumeqKernels *kernels,
                         const uint8_t *src, ptrdiff_t stride, uint32_t *hist)
{
    const int deep = grid->curve.depth > 8;
    const int right = at_most(at.right, grid->x.size), bottom = at_most(at.bottom, grid->y.size);
    memset(hist, 0, TILE_CELLS * sizeof(*hist));
    if (right > at.left && bottom > at.top)
        (deep ? kernels->histogram16 : kernels->histogram8)(
            hist, src + at.top * stride + (ptrdiff_t)at.left * (deep ? 2 : 1), stride,
            right - at.left, bottom - at.top, &grid->curve);
}

/* Counts the tile's samples in the reference's padding. */
static void count_padding(const TileGrid *grid, TileBounds at, const uint8_t *src, ptrdiff_t stride,
                          uint32_t *padding)
{
    memset(padding, 0, TILE_CELLS * sizeof(*padding));
    for (int y = at.top; y < at.bottom; y++) {
        const uint8_t *row = src + tile_mirror(&grid->y, y) * stride;
        const int inside = y < grid->y.size ? at_most(grid->x.size, at.right) : at.left;
        for (int x = inside > at.left ? inside : at.left; x < at.right; x++)
            padding[row[tile_mirror(&grid->x, x)]]++;
    }
}

void lumeq_clahe_count(const TileGrid *grid, int tile, const LumeqKernels *kernels, const void *src,
                       ptrdiff_t stride, uint32_t *hist, uint32_t *padding)
{
    const TileBounds at = bounds_of(grid, tile);
    count_inside(grid, at, kernels, src, stride, hist);
    if (padding)
        count_padding(grid, at, src, stride, padding);
}

void lumeq_clahe_tile(const TileGrid *grid, int tile, const LumeqKernels *kernels, const void *src,
                      ptrdiff_t stride, const CurveResult *frame, const TileResult *before,
                      TileResult *result, ClaheWork *work)
{
    uint32_t padding[TILE_CELLS];
    const int padded = grid->curve.reference;
    lumeq_clahe_count(grid, tile, kernels, src, stride, work->hist[tile], padded ? padding : NULL);
    lumeq_tile_find(grid, tile, padded ? padding : NULL, frame, before, result, work);
}

static void reference_row(const TileGrid *grid, uint8_t *out, const uint8_t *in, int y,
                          const TileTables *tables)
{
    const int row = tile_piece(&grid->y, y), tiles = grid->x.tiles, last_y = grid->y.tiles - 1;
    const uint32_t(*above)[TILE_NODES] = &tables->nodes[tile_before(row, 0, last_y) * tiles];
    const uint32_t(*below)[TILE_NODES] = &tables->nodes[tile_behind(row, 0, last_y) * tiles];
    const float part_y = tile_part(&grid->y, y, row);
    for (int piece = 0; piece <= tiles; piece++) {
        const int left = tile_before(piece, 0, tiles - 1), right = tile_behind(piece, 0, tiles - 1);
        for (int x = grid->x.piece[piece]; x < grid->x.piece[piece + 1]; x++) {
            const uint32_t codes[4] = {above[left][in[x]] >> 8, above[right][in[x]] >> 8,
                                       below[left][in[x]] >> 8, below[right][in[x]] >> 8};
            out[x] = (uint8_t)tile_reference_code(codes, tile_part(&grid->x, x, piece), part_y);
        }
    }
}

void lumeq_clahe_apply(const TileGrid *grid, const LumeqKernels *kernels, void *dst,
                       ptrdiff_t dst_stride, const void *src, ptrdiff_t src_stride, int left,
                       int right, int height, int y, const TileTables *tables)
{
    LumeqTileRowKernel *const row =
        grid->curve.depth > 8 ? kernels->tile_row16 : kernels->tile_row8;
    uint8_t *to = dst;
    const uint8_t *from = src;
    for (int end = y + height; y < end; y++, to += dst_stride, from += src_stride) {
        if (grid->curve.reference)
            reference_row(grid, to, from, y, tables);
        else
            row(grid, tables, to, from, left, right, y);
    }
}
