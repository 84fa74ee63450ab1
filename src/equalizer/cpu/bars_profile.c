#include "equalizer/cpu/bars_profile.h"

#include <string.h>

typedef struct Blocks {
    int first[BARS_BLOCKS];
    int whole; /* complete blocks, which come first */
    int rest;  /* samples of the incomplete last block */
} Blocks;

static Blocks find_blocks(int width)
{
    Blocks blocks = {.whole = 0};
    for (int i = 0; i < bars_blocks(width); i++) {
        blocks.first[i] = bars_block(width, i);
        if (bars_block_size(width, i) == BARS_BLOCK)
            blocks.whole++;
        else
            blocks.rest = bars_block_size(width, i);
    }
    return blocks;
}

/* Counts the lit samples of a row's blocks. Each lane counts one position in all blocks, so its
 * count never exceeds BARS_BLOCKS. */
#define DEFINE_ROW(bits)                                                                           \
    static uint8_t row##bits(const uint##bits##_t *src, const Blocks *blocks, uint##bits##_t lit)  \
    {                                                                                              \
        typedef uint##bits##_t Lanes __attribute__((vector_size(BARS_BLOCK * sizeof(lit))));       \
        Lanes lanes = {0};                                                                         \
        int count = 0;                                                                             \
        for (int i = 0; i < blocks->whole; i++) {                                                  \
            Lanes block;                                                                           \
            memcpy(&block, src + blocks->first[i], sizeof(block));                                 \
            lanes -= (Lanes)(block >= lit);                                                        \
        }                                                                                          \
        for (int k = 0; k < BARS_BLOCK; k++)                                                       \
            count += lanes[k];                                                                     \
        for (int k = 0; k < blocks->rest; k++)                                                     \
            count += src[blocks->first[blocks->whole] + k] >= lit;                                 \
        return (uint8_t)count;                                                                     \
    }

#define DEFINE_COLUMNS(bits)                                                                       \
    static void columns##bits(uint8_t *counts, const uint##bits##_t *src, int count,               \
                              uint##bits##_t lit)                                                  \
    {                                                                                              \
        for (int x = 0; x < count; x++)                                                            \
            counts[x] = (uint8_t)(counts[x] + (src[x] >= lit));                                    \
    }

DEFINE_ROW(8)
DEFINE_ROW(16)
DEFINE_COLUMNS(8)
DEFINE_COLUMNS(16)

void lumeq_profile_rows(const BarsParams *p, uint8_t *lit_rows, const void *src, ptrdiff_t stride,
                        int from, int to)
{
    const uint32_t lit = bars_lit(p);
    const Blocks blocks = find_blocks(p->width);
    for (int y = from; y < to; y++) {
        const void *row = (const uint8_t *)src + y * stride;
        lit_rows[y] =
            p->depth > 8 ? row16(row, &blocks, (uint16_t)lit) : row8(row, &blocks, (uint8_t)lit);
    }
}

void lumeq_profile_columns(const BarsParams *p, uint8_t *lit_columns, const void *src,
                           ptrdiff_t stride, int from, int to)
{
    const uint32_t lit = bars_lit(p);
    uint8_t *counts = lit_columns + from;
    memset(counts, 0, (size_t)(to - from));
    for (int y = bars_first_row(p->height); y < p->height; y += bars_row_step(p->height)) {
        const uint8_t *row = (const uint8_t *)src + y * stride;
        if (p->depth > 8)
            columns16(counts, (const uint16_t *)row + from, to - from, (uint16_t)lit);
        else
            columns8(counts, row + from, to - from, (uint8_t)lit);
    }
}
