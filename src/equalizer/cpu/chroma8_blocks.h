/*
 * chroma8 in blocks: plain loops without branches, which the compiler makes vectors of, as wide as
 * it is told that they are where this is included.
 */
#ifndef LUMEQ_CHROMA8_BLOCKS_H
#define LUMEQ_CHROMA8_BLOCKS_H

#include <string.h>

#include "equalizer/cpu/kernels.h"

#define CHROMA_BLOCK 64 /* pixels; a multiple of the dither's period, 8 */

/* What holds for a row. */
typedef struct ChromaRow {
    const CurveGain *over;
    uint32_t range;    /* of luma, in 256ths of codes */
    int32_t low, high; /* legal codes of chroma */
    int32_t add[CHROMA_BLOCK];
} ChromaRow;

/* Lanes of 32 bits. */
typedef struct ChromaBlock {
    uint32_t gain[CHROMA_BLOCK], from[CHROMA_BLOCK], to[CHROMA_BLOCK]; /* as CurveGain */
    uint32_t ends[CHROMA_BLOCK]; /* all ones: the gain ends at curve_within() */
} ChromaBlock;

static inline int32_t chroma_min(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

static inline int32_t chroma_max(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

/* Of the rows `a` and `b` over the block: the same one twice, where there is but one, gives its
 * mean alone. */
static inline void chroma_means(uint8_t *restrict mean, const uint8_t *a, const uint8_t *b)
{
    for (int i = 0; i < CHROMA_BLOCK; i++)
        mean[i] = (uint8_t)((a[2 * i] + a[2 * i + 1] + b[2 * i] + b[2 * i + 1] + 2) >> 2);
}

static inline void chroma_look_up(ChromaBlock *restrict block, const ChromaRow *row,
                                  const uint8_t *mean)
{
    uint32_t over[CHROMA_BLOCK][2]; /* gain and, in the upper half, from; to */
    for (int i = 0; i < CHROMA_BLOCK; i++)
        memcpy(over[i], &row->over[mean[i]], sizeof(over[i]));
    for (int i = 0; i < CHROMA_BLOCK; i++) {
        block->gain[i] = over[i][0] & 0xffff;
        block->from[i] = over[i][0] >> 16;
        block->to[i] = over[i][1] & 0xffff;
    }
    for (int i = 0; i < CHROMA_BLOCK; i++) {
        block->to[i] = block->to[i] < row->range ? block->to[i] : row->range;
        block->ends[i] =
            -(uint32_t)((block->gain[i] > CURVE_GAIN_ONE) & (block->from[i] <= row->range));
    }
}

/* Those of curve_within(). */
typedef struct ChromaLimit {
    uint32_t used, most;
} ChromaLimit;

static inline ChromaLimit chroma_limit(const ChromaBlock *block, const ChromaRow *row,
                                       const uint8_t *src, int i)
{
    const int32_t chroma = src[i] - 128;
    const uint32_t from = block->from[i], to = block->to[i];
    const uint32_t reach = (15u << 8) * (uint32_t)(chroma < 0 ? -chroma : chroma);
    const uint32_t room = 8 * (chroma > 0 ? row->range - from : from);
    return (ChromaLimit){reach < room ? reach : room, (chroma > 0 ? row->range - to : to) << 15};
}

/* most / used, rounded down: both are exact in float32, and the quotient, below 2^16 where it
 * counts, is at most rounded up to the next integer. */
static inline uint32_t chroma_quotient(ChromaLimit limit)
{
    const float used = (float)chroma_max((int32_t)limit.used, 1);
    const uint32_t q = (uint32_t)(int32_t)((float)(int32_t)limit.most / used);
    return q - (q * limit.used > limit.most);
}

/* Ends the gains where one component would leave R'G'B'. Few blocks have such colours, and only
 * those divide. */
static inline void chroma_end_gains(ChromaBlock *restrict block, const ChromaRow *row,
                                    const uint8_t *src)
{
    uint32_t beyond = 0;
    for (int i = 0; i < CHROMA_BLOCK; i++) {
        const ChromaLimit limit = chroma_limit(block, row, src, i);
        beyond |= -(uint32_t)(limit.used * block->gain[i] > limit.most) & block->ends[i];
    }
    if (!beyond)
        return;
    for (int i = 0; i < CHROMA_BLOCK; i++) {
        const ChromaLimit limit = chroma_limit(block, row, src, i);
        const uint32_t end = chroma_quotient(limit);
        const uint32_t taken =
            -(uint32_t)(limit.used * block->gain[i] > limit.most) & block->ends[i];
        block->gain[i] = (end & taken) | (block->gain[i] & ~taken);
    }
}

static inline void chroma_scale(uint8_t *restrict dst, const uint8_t *src, const ChromaBlock *block,
                                const ChromaRow *row)
{
    for (int i = 0; i < CHROMA_BLOCK; i++) {
        const int32_t code = src[i];
        const int32_t scaled = 128 + (((code - 128) * (int32_t)block->gain[i] + row->add[i]) >> 12);
        const int32_t high = chroma_max(code, row->high), low = chroma_min(code, row->low);
        dst[i] = (uint8_t)chroma_max(chroma_min(scaled, high), low);
    }
}

static inline void chroma_block(uint8_t *const dst[2], const uint8_t *const src[2],
                                const uint8_t *mean, const ChromaRow *row)
{
    ChromaBlock block;
    chroma_look_up(&block, row, mean);
    for (int i = 0; i < 2; i++)
        chroma_end_gains(&block, row, src[i]);
    for (int i = 0; i < 2; i++)
        chroma_scale(dst[i], src[i], &block, row);
}

/* The block that begins with pixel `x`, of `count` pixels, fewer than one has: in a copy, with the
 * luma's last column again where a pixel has half its columns. */
static inline void chroma_last_block(uint8_t *const to[2], const uint8_t *const from[2],
                                     const uint8_t *const luma[2], int columns, int count,
                                     const ChromaRow *row)
{
    uint8_t rows[2][2 * CHROMA_BLOCK] = {{0}}, mean[CHROMA_BLOCK];
    uint8_t in[2][CHROMA_BLOCK] = {{0}}, out[2][CHROMA_BLOCK];
    for (int i = 0; i < 2; i++) {
        memcpy(rows[i], luma[i], (size_t)columns);
        rows[i][columns] = rows[i][columns - 1];
        memcpy(in[i], from[i], (size_t)count);
    }
    chroma_means(mean, rows[0], rows[1]);
    chroma_block((uint8_t *[2]){out[0], out[1]}, (const uint8_t *[2]){in[0], in[1]}, mean, row);
    for (int i = 0; i < 2; i++)
        memcpy(to[i], out[i], (size_t)count);
}

static inline void chroma_row(uint8_t *const to[2], const uint8_t *const from[2],
                              const uint8_t *const luma[2], int columns, const ChromaRow *row)
{
    const int width = (columns + 1) / 2;
    for (int x = 0; x < width; x += CHROMA_BLOCK) {
        uint8_t mean[CHROMA_BLOCK], *const dst[2] = {to[0] + x, to[1] + x};
        const uint8_t *const src[2] = {from[0] + x, from[1] + x};
        const uint8_t *const over[2] = {luma[0] + 2 * x, luma[1] + 2 * x};
        if (columns - 2 * x < 2 * CHROMA_BLOCK) {
            chroma_last_block(dst, src, over, columns - 2 * x, width - x, row);
        } else {
            chroma_means(mean, over[0], over[1]);
            chroma_block(dst, src, mean, row);
        }
    }
}

/* What the blocks are made for: two planes, two columns of luma a pixel and one row of it or two,
 * one table for the picture. */
static inline int chroma_has_blocks(const LumeqChromaRows *r)
{
    return r->step == 1 && r->sub_x == 1 && r->sub_y <= 1 && !r->grid;
}

static inline void chroma8_in_blocks(const LumeqChromaRows *r, const CurveTable *table,
                                     const CurveParams *params)
{
    const CurveLegal legal = curve_legal(8, params->black != 0);
    ChromaRow row = {
        .over = table->gain, .range = legal.range, .low = legal.low, .high = legal.high};
    for (int y = 0; y < r->height; y++) {
        const uint8_t *from[2], *luma[2];
        uint8_t *to[2];
        for (int i = 0; i < 2; i++) {
            const int line = chroma_min((y << r->sub_y) + (i & r->sub_y), r->luma_height - 1);
            luma[i] = (const uint8_t *)r->luma + line * r->luma_stride;
            from[i] = (const uint8_t *)r->src[i] + y * r->src_stride[i];
            to[i] = (uint8_t *)r->dst[i] + y * r->dst_stride[i];
        }
        for (int i = 0; i < CHROMA_BLOCK; i++)
            row.add[i] = (int32_t)(params->dither ? curve_dither((uint32_t)i, (uint32_t)(r->y + y),
                                                                 params->frame)
                                                  : CURVE_ROUND)
                         << 4;
        chroma_row(to, from, luma, r->luma_width, &row);
    }
}

#endif
