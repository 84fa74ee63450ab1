#include "equalizer/cpu/clahe.h"

#include <string.h>

static inline int at_most(int value, int limit)
{
    return value < limit ? value : limit;
}

static inline int at_least(int value, int limit)
{
    return value > limit ? value : limit;
}

/* ---- tiles -------------------------------------------------------------------------------- */

typedef struct TileBounds {
    int left, right, top, bottom; /* the first sample and the one behind the last */
} TileBounds;

static TileBounds bounds_of(const TileGrid *grid, int tile)
{
    const int x = tile % grid->x.tiles, y = tile / grid->x.tiles;
    return (TileBounds){tile_start(&grid->x, x), tile_start(&grid->x, x + 1),
                        tile_start(&grid->y, y), tile_start(&grid->y, y + 1)};
}

/* Of the picture only. */
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

/* What the tile has of the reference's padding. */
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

/* ---- samples ------------------------------------------------------------------------------ */

/* A row's tables: of each column of tiles, weighted between the tiles above and below. */
typedef struct RowTables {
    TileInside inside;
    uint32_t nodes[LUMEQ_MAX_TILES][TILE_NODES];
} RowTables;

static void weight_along_y(const TileGrid *grid, const TileTables *tables, int y, RowTables *row)
{
    const TileInside *in = &tables->inside;
    const int piece = tile_piece(&grid->y, y), tiles = grid->x.tiles;
    const int upper = tile_before(piece, in->first_y, in->last_y);
    const int lower = tile_behind(piece, in->first_y, in->last_y);
    const uint32_t weight = tile_weight(tile_phase(&grid->y, y));
    row->inside = *in;
    for (int x = in->first_x; x <= in->last_x; x++) {
        const uint32_t *above = tables->nodes[upper * tiles + x];
        const uint32_t *below = tables->nodes[lower * tiles + x];
        for (int i = 0; i <= TILE_CELLS; i++)
            row->nodes[x][i] = tile_lerp(above[i], below[i], weight);
    }
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

/* The part of a row from `left` to before `right`, piece by piece. `add` is what is added to the
 * value of the sample at x. */
#define DEFINE_ROW(name, bits, add)                                                                \
    static void name(const TileGrid *grid, void *to, const void *from, int left_end,               \
                     int right_end, int y, const RowTables *row)                                   \
    {                                                                                              \
        const CurveParams *p = &grid->curve;                                                       \
        const uint32_t last = (1u << p->depth) - 1;                                                \
        const uint##bits##_t *in = from;                                                           \
        uint##bits##_t *out = to;                                                                  \
        (void)y;                                                                                   \
        for (int piece = 0; piece <= grid->x.tiles; piece++) {                                     \
            const TileInside *inside = &row->inside;                                               \
            const uint32_t *left =                                                                 \
                row->nodes[tile_before(piece, inside->first_x, inside->last_x)];                   \
            const uint32_t *right =                                                                \
                row->nodes[tile_behind(piece, inside->first_x, inside->last_x)];                   \
            const int start = at_least(grid->x.piece[piece], left_end);                            \
            const int end = at_most(grid->x.piece[piece + 1], right_end);                          \
            uint32_t phase = tile_phase(&grid->x, start);                                          \
            for (int x = start; x < end; x++, phase += 2 * grid->x.step) {                         \
                const uint32_t sample = (uint32_t)in[x] >> p->shift;                               \
                const uint32_t code = sample < last ? sample : last;                               \
                const uint32_t value =                                                             \
                    tile_lerp(look_up_##bits(left, code, p->fraction),                             \
                              look_up_##bits(right, code, p->fraction), tile_weight(phase));       \
                out[x] = (uint##bits##_t)(tile_code(value, add, last) << p->shift);                \
            }                                                                                      \
        }                                                                                          \
    }

#define DITHERED                                                                                   \
    curve_dither((uint32_t)(x - row->inside.x), (uint32_t)(y - row->inside.y), p->frame)

DEFINE_ROW(row8, 8, CURVE_ROUND)
DEFINE_ROW(row16, 16, CURVE_ROUND)
DEFINE_ROW(dithered8, 8, DITHERED)
DEFINE_ROW(dithered16, 16, DITHERED)

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

static void video_row(const TileGrid *grid, void *out, const void *in, int left, int right, int y,
                      const TileTables *tables, RowTables *row)
{
    weight_along_y(grid, tables, y, row);
    if (grid->curve.depth == 8)
        (grid->curve.dither ? dithered8 : row8)(grid, out, in, left, right, y, row);
    else
        (grid->curve.dither ? dithered16 : row16)(grid, out, in, left, right, y, row);
}

void lumeq_clahe_apply(const TileGrid *grid, void *dst, ptrdiff_t dst_stride, const void *src,
                       ptrdiff_t src_stride, int left, int right, int height, int y,
                       const TileTables *tables)
{
    uint8_t *to = dst;
    const uint8_t *from = src;
    RowTables row = {0};
    for (int end = y + height; y < end; y++, to += dst_stride, from += src_stride) {
        if (grid->curve.reference)
            reference_row(grid, to, from, y, tables);
        else
            video_row(grid, to, from, left, right, y, tables, &row);
    }
}
