/* Rows in mode CLAHE in plain C: the reference. */
#include "equalizer/cpu/tile_rows.h"

#include "equalizer/cpu/kernels.h"

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
