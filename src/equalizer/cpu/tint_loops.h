/* Takes haze from chroma, in blocks that the compiler vectorizes. */
#ifndef LUMEQ_TINT_LOOPS_H
#define LUMEQ_TINT_LOOPS_H

#include "equalizer/cpu/kernels.h"

#define TINT_BLOCK 64

#define DEFINE_TINT(bits)                                                                          \
    /* Luma above black under the pixels from `x` on. */                                           \
    static inline void tint_luma##bits(int32_t *restrict luma, const LumeqTintRow *row, int x,     \
                                       int count)                                                  \
    {                                                                                              \
        const int sub = row->sub_x, first = x << sub, last = row->luma_width - 1 - first;          \
        const int shift = row->in_shift, most = (1 << row->depth) - 1;                             \
        for (int k = 0; k < 2; k++) {                                                              \
            const uint##bits##_t *restrict a = (const uint##bits##_t *)row->luma[k] + first;       \
            for (int i = 0; i < count; i++) {                                                      \
                const int next = (i << sub) + sub < last ? (i << sub) + sub : last;                \
                const int32_t one = a[i << sub] >> shift, other = a[next] >> shift;                \
                luma[i] =                                                                          \
                    (k ? luma[i] : 0) + (one < most ? one : most) + (other < most ? other : most); \
            }                                                                                      \
        }                                                                                          \
        for (int i = 0; i < count; i++) {                                                          \
            const int32_t above = ((luma[i] + 2) >> 2) - row->black;                               \
            luma[i] = above > 0 ? above : 0;                                                       \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    static void tint##bits(const LumeqTintRow *row, int width)                                     \
    {                                                                                              \
        const int shift = row->out_shift, step = row->step, depth = bits == 8 ? 8 : row->depth;    \
        const int32_t lost = row->tint.lost;                                                       \
        for (int x = 0; x < width; x += TINT_BLOCK) {                                              \
            const int count = width - x < TINT_BLOCK ? width - x : TINT_BLOCK;                     \
            int32_t luma[TINT_BLOCK];                                                              \
            tint_luma##bits(luma, row, x, count);                                                  \
            for (int k = 0; k < 2; k++) {                                                          \
                uint##bits##_t *restrict out = (uint##bits##_t *)row->out[k] + x * step;           \
                const int32_t tint = row->tint.of[k];                                              \
                for (int i = 0; i < count; i++) {                                                  \
                    const int32_t code = out[i * step] >> shift;                                   \
                    const int32_t cleared = haze_cleared(code, depth, luma[i], tint, lost);        \
                    out[i * step] = (uint##bits##_t)(cleared << shift);                            \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
    }

DEFINE_TINT(8)
DEFINE_TINT(16)

#endif
