/*
 * Limits the rise of luma in saturated colours (curve_bounded()), in blocks that the compiler
 * vectorizes. Few samples need a bound, so each block is checked first.
 */
#ifndef LUMEQ_BOUND_LOOPS_H
#define LUMEQ_BOUND_LOOPS_H

#include <string.h>

#include "equalizer/cpu/kernels.h"

#define BOUND_BLOCK 64
#define BOUND_BLOCKS (4 * BOUND_BLOCK)

/* from, to: input and output luma above black; far: the larger chroma component above gray. All are
 * in 256ths of codes of 8 bits. */
typedef struct BoundBlock {
    int32_t from[BOUND_BLOCK], to[BOUND_BLOCK], far[BOUND_BLOCK];
} BoundBlock;

/* curve_bounded() without branches; samples up to black stay unchanged. The dividend is below 2^24,
 * so it is exact in float32. If the quotient is rounded up to the next integer, 1 is subtracted. */
static inline int32_t bound_one(int32_t from, int32_t to, int32_t far, int32_t range)
{
    const int32_t reach = 15 * far >> 3, kept = reach - (reach >> 3), soft = reach >> 1;
    const int32_t left = range - from - kept, room = left > 0 ? left : 0;
    const int32_t width = soft < room ? soft : room, part = width >> 4;
    const int32_t sum = ((to - from - (room - width)) >> 4) + part, beyond = sum > 1 ? sum : 1;
    const int32_t square = part * part;
    const int32_t q = (int32_t)((float)square / (float)beyond);
    const int32_t bounded = from + room - 16 * (q - (q * beyond > square));
    const int32_t least = bounded < to ? bounded : to;
    const int32_t taken = -(int32_t)((far > 0) & (from > 0) & (to > from) & (from < range) &
                                     (to + kept + soft > range));
    return (least & taken) | (to & ~taken);
}

/* The larger component of the input (`first`, `second`) or of the chroma without haze (`one`,
 * `other`), whichever is less. */
static inline int32_t bound_far(int32_t first, int32_t second, int32_t one, int32_t other)
{
    const int32_t far = first > second ? first : second, left = one > other ? one : other;
    return far < left ? far : left;
}

/* True if a sample of the block may need a bound: curve_bounded() does not change output luma that
 * is at least 3 * far below white. */
static inline int bound_any(const BoundBlock *block, int32_t range)
{
    int32_t any = 0;
    for (int i = 0; i < BOUND_BLOCK; i++)
        any |= -(int32_t)((block->far[i] > 0) & (block->to[i] + 3 * block->far[i] > range));
    return any;
}

/* The same test with 21/8 instead of 3, before a block is loaded, for planar chroma with half of
 * luma's columns. bound_any_blocks() compares the maxima of several blocks, bound_any_block() each
 * sample of a block. `wide` holds 21 times the distance from gray. */
#define DEFINE_BOUND_ANY(bits, wide)                                                               \
    static inline int bound_any_blocks##bits(const LumeqBoundRow *row, int x, int count)           \
    {                                                                                              \
        const uint##bits##_t *restrict first = (const uint##bits##_t *)row->chroma[0] + x / 2;     \
        const uint##bits##_t *restrict second = (const uint##bits##_t *)row->chroma[1] + x / 2;    \
        const uint##bits##_t *restrict out = (const uint##bits##_t *)row->out + x;                 \
        const int white = (int)((row->black + row->range) >> (16 - row->depth));                   \
        const int gray = 1 << (row->depth - 1);                                                    \
        uint##bits##_t far = 0, light = 0;                                                         \
        for (int i = 0; i < (count + 1) / 2; i++) {                                                \
            const uint##bits##_t farther = first[i] > second[i] ? first[i] : second[i];            \
            far = farther > far ? farther : far;                                                   \
        }                                                                                          \
        for (int i = 0; i < count; i++)                                                            \
            light = out[i] > light ? out[i] : light;                                               \
        const int above = (far >> row->in_shift) - gray;                                           \
        return above > 0 && 21 * above > 8 * (white - (light >> row->out_shift));                  \
    }                                                                                              \
                                                                                                   \
    static inline int bound_any_block##bits(const LumeqBoundRow *row, int x)                       \
    {                                                                                              \
        const uint##bits##_t *restrict first = (const uint##bits##_t *)row->chroma[0] + x / 2;     \
        const uint##bits##_t *restrict second = (const uint##bits##_t *)row->chroma[1] + x / 2;    \
        const uint##bits##_t *restrict out = (const uint##bits##_t *)row->out + x;                 \
        const wide white = (wide)((row->black + row->range) >> (16 - row->depth));                 \
        const wide gray = (wide)(1 << (row->depth - 1));                                           \
        uint##bits##_t far[BOUND_BLOCK / 2], light[BOUND_BLOCK / 2];                               \
        wide any = 0;                                                                              \
        for (int i = 0; i < BOUND_BLOCK / 2; i++) {                                                \
            far[i] = first[i] > second[i] ? first[i] : second[i];                                  \
            light[i] = out[2 * i] > out[2 * i + 1] ? out[2 * i] : out[2 * i + 1];                  \
        }                                                                                          \
        for (int i = 0; i < BOUND_BLOCK / 2; i++) {                                                \
            const wide above = (wide)((far[i] >> row->in_shift) - gray);                           \
            const wide left = (wide)(white - (light[i] >> row->out_shift));                        \
            const wide beyond = (wide)(21 * above - 8 * left);                                     \
            any |= (wide)(-(above > 0) & -(beyond > 0));                                           \
        }                                                                                          \
        return any;                                                                                \
    }

DEFINE_BOUND_ANY(8, int16_t)
DEFINE_BOUND_ANY(16, int32_t)

#define DEFINE_BOUND(bits)                                                                         \
    static inline void bound_load##bits(BoundBlock *restrict block, const LumeqBoundRow *row,      \
                                        const uint##bits##_t *restrict in,                         \
                                        const uint##bits##_t *restrict out, int x, int count)      \
    {                                                                                              \
        const uint##bits##_t *first = row->chroma[0], *second = row->chroma[1];                    \
        const uint##bits##_t *one = row->left[0], *other = row->left[1];                           \
        const int step = row->step, next = row->left_step;                                         \
        const int up = 16 - row->depth, black = (int)row->black;                                   \
        const int32_t gray = 1 << (row->depth - 1), unit = 1 << up;                                \
        for (int i = 0; i < count; i++) {                                                          \
            block->from[i] = (in[i] >> row->in_shift << up) - black;                               \
            block->to[i] = (out[i] >> row->out_shift << up) - black;                               \
        }                                                                                          \
        if (row->sub_x == 1 && step == 1 && next == 1 && count == BOUND_BLOCK) {                   \
            for (int i = 0; i < BOUND_BLOCK / 2; i++) {                                            \
                const int32_t far = bound_far(                                                     \
                    first[x / 2 + i] >> row->in_shift, second[x / 2 + i] >> row->in_shift,         \
                    one[x / 2 + i] >> row->left_shift, other[x / 2 + i] >> row->left_shift);       \
                block->far[2 * i] = block->far[2 * i + 1] = (far - gray) * unit;                   \
            }                                                                                      \
            return;                                                                                \
        }                                                                                          \
        for (int i = 0; i < count; i++) {                                                          \
            const int column = (x + i) >> row->sub_x, at = column * step, then = column * next;    \
            const int32_t far =                                                                    \
                bound_far(first[at] >> row->in_shift, second[at] >> row->in_shift,                 \
                          one[then] >> row->left_shift, other[then] >> row->left_shift);           \
            block->far[i] = (far - gray) * unit;                                                   \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    static void bound##bits(const LumeqBoundRow *row, int width)                                   \
    {                                                                                              \
        const int32_t range = (int32_t)row->range;                                                 \
        const int up = 16 - row->depth, black = (int)row->black, half = 1 << up >> 1;              \
        for (int x = 0; x < width; x += BOUND_BLOCK) {                                             \
            const int count = width - x < BOUND_BLOCK ? width - x : BOUND_BLOCK;                   \
            const uint##bits##_t *in = (const uint##bits##_t *)row->in + x;                        \
            uint##bits##_t *out = (uint##bits##_t *)row->out + x;                                  \
            const int planar = row->sub_x == 1 && row->step == 1;                                  \
            if (planar && x % BOUND_BLOCKS == 0 &&                                                 \
                !bound_any_blocks##bits(row, x,                                                    \
                                        width - x < BOUND_BLOCKS ? width - x : BOUND_BLOCKS)) {    \
                x += BOUND_BLOCKS - BOUND_BLOCK;                                                   \
                continue;                                                                          \
            }                                                                                      \
            if (planar && count == BOUND_BLOCK && !bound_any_block##bits(row, x))                  \
                continue;                                                                          \
            uint##bits##_t bounded[BOUND_BLOCK];                                                   \
            BoundBlock block = {{0}, {0}, {0}};                                                    \
            bound_load##bits(&block, row, in, out, x, count);                                      \
            if (!bound_any(&block, range))                                                         \
                continue;                                                                          \
            for (int i = 0; i < BOUND_BLOCK; i++) {                                                \
                const int32_t to = bound_one(block.from[i], block.to[i],                           \
                                             block.far[i] > 0 ? block.far[i] : 0, range);          \
                bounded[i] = (uint##bits##_t)((black + to + half) >> up << row->out_shift);        \
            }                                                                                      \
            memcpy(out, bounded, (size_t)count * sizeof(*out));                                    \
        }                                                                                          \
    }

DEFINE_BOUND(8)
DEFINE_BOUND(16)

#endif
