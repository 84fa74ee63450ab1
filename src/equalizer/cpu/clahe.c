/* Mode CLAHE on the CPU: counts tiles, and maps rows in plain C. */
#include <string.h>

#include "equalizer/cpu/tile_rows.h"

static inline int at_most(int value, int limit)
{
    return value < limit ? value : limit;
}

void lumeq_clahe_count(const TileGrid *grid, int tile, const LumeqKernels *kernels, const void *src,
                       ptrdiff_t stride, uint32_t *hist, uint32_t *padding)
{
    const int column = tile % grid->x.tiles, line = tile / grid->x.tiles;
    const int left = tile_start(&grid->x, column), end_x = tile_start(&grid->x, column + 1);
    const int top = tile_start(&grid->y, line), end_y = tile_start(&grid->y, line + 1);
    const int right = at_most(end_x, grid->x.size), bottom = at_most(end_y, grid->y.size);
    const int deep = grid->curve.depth > 8;
    memset(hist, 0, TILE_CELLS * sizeof(*hist));
    if (right > left && bottom > top)
        (deep ? kernels->histogram16 : kernels->histogram8)(
            hist, (const uint8_t *)src + top * stride + (ptrdiff_t)left * (deep ? 2 : 1), stride,
            right - left, bottom - top, &grid->curve);
    if (!padding)
        return;
    memset(padding, 0, TILE_CELLS * sizeof(*padding));
    for (int y = top; y < end_y; y++) {
        const uint8_t *row = (const uint8_t *)src + tile_mirror(&grid->y, y) * stride;
        const int inside = y < grid->y.size ? right : left;
        for (int x = inside > left ? inside : left; x < end_x; x++)
            padding[row[tile_mirror(&grid->x, x)]]++;
    }
}

void lumeq_clahe_apply(const TileGrid *grid, const LumeqKernels *kernels, void *dst,
                       ptrdiff_t dst_stride, const void *src, ptrdiff_t src_stride, int left,
                       int right, int height, int y, const TileTables *tables)
{
    LumeqTileRowKernel *const row = grid->curve.reference   ? kernels->tile_row_reference
                                    : grid->curve.depth > 8 ? kernels->tile_row16
                                                            : kernels->tile_row8;
    uint8_t *to = dst;
    const uint8_t *from = src;
    for (int end = y + height; y < end; y++, to += dst_stride, from += src_stride)
        row(grid, tables, to, from, left, right, y);
}

static inline uint32_t look_up_8(const uint32_t *nodes, uint32_t code, int fraction)
{
    (void)fraction;
    return nodes[code];
}

static inline uint32_t look_up_16(const uint32_t *nodes, uint32_t code, int fraction)
{
    const uint32_t cell = code >> fraction;
    return tile_between(nodes[cell], nodes[cell + 1], code & ((1u << fraction) - 1), fraction);
}

#define DEFINE_ROW(bits)                                                                           \
    void lumeq_tile_row##bits(const TileGrid *grid, const TileTables *tables, void *dst,           \
                              const void *src, int left, int right, int y)                         \
    {                                                                                              \
        const CurveParams *p = &grid->curve;                                                       \
        const uint32_t last = (1u << p->depth) - 1;                                                \
        const uint##bits##_t *in = src;                                                            \
        uint##bits##_t *out = dst;                                                                 \
        TileRow row;                                                                               \
        tile_row_weigh(&row, grid, tables, y);                                                     \
        for (int piece = 0; piece <= grid->x.tiles; piece++) {                                     \
            TilePiece at = tile_piece_of(&row, grid, piece, left, right);                          \
            for (int x = at.start; x < at.end; x++, at.phase += at.step) {                         \
                const uint32_t sample = (uint32_t)in[x] >> p->shift;                               \
                const uint32_t code = sample < last ? sample : last;                               \
                const uint32_t value =                                                             \
                    tile_lerp(look_up_##bits(at.left, code, p->fraction),                          \
                              look_up_##bits(at.right, code, p->fraction), tile_weight(at.phase)); \
                const uint32_t add = p->dither                                                     \
                                         ? curve_dither((uint32_t)(x - row.inside.x),              \
                                                        (uint32_t)(y - row.inside.y), p->frame)    \
                                         : CURVE_ROUND;                                            \
                out[x] = (uint##bits##_t)(tile_code(value, add, last) << p->shift);                \
            }                                                                                      \
        }                                                                                          \
    }

DEFINE_ROW(8)
DEFINE_ROW(16)
