/* Takes haze from written chroma and luma, in blocks that the compiler vectorizes. */
#ifndef LUMEQ_TINT_LOOPS_H
#define LUMEQ_TINT_LOOPS_H

#include "equalizer/cpu/kernels.h"

#define TINT_BLOCK 64

#define DEFINE_TINT(bits)                                                                          \
    /* Adds column number `u` of the luma under each pixel from `x` on. */                         \
    static inline void tint_add##bits(int32_t *restrict luma, const LumeqTintRow *row, int x,      \
                                      int count, int line, int sub, int u)                         \
    {                                                                                              \
        const uint##bits##_t *restrict from = (const uint##bits##_t *)row->luma[line];             \
        const int shift = bits == 8 ? 0 : row->in_shift, last = row->luma_width - 1;               \
        const int32_t most = (1 << row->depth) - 1;                                                \
        int whole = (last - u - (x << sub) + (1 << sub)) >> sub;                                   \
        whole = whole < 0 ? 0 : whole < count ? whole : count;                                     \
        for (int i = 0; i < whole; i++) {                                                          \
            const int32_t code = from[((x + i) << sub) + u] >> shift;                              \
            luma[i] += code < most ? code : most;                                                  \
        }                                                                                          \
        for (int i = whole; i < count; i++) {                                                      \
            const int32_t code = from[last] >> shift;                                              \
            luma[i] += code < most ? code : most;                                                  \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    static void tint##bits(const LumeqTintRow *row, int width)                                     \
    {                                                                                              \
        const int shift = row->out_shift, step = row->step, depth = bits == 8 ? 8 : row->depth;    \
        const int area = row->sub_x + row->sub_y, half = 1 << area >> 1;                           \
        const int32_t lost = row->tint.lost;                                                       \
        for (int x = 0; x < width; x += TINT_BLOCK) {                                              \
            const int count = width - x < TINT_BLOCK ? width - x : TINT_BLOCK;                     \
            int32_t luma[TINT_BLOCK] = {0};                                                        \
            for (int k = 0; k < 1 << row->sub_y; k++)                                              \
                for (int u = 0; u < 1 << row->sub_x; u++)                                          \
                    if (row->sub_x == 1) /* a constant, for vectors */                             \
                        tint_add##bits(luma, row, x, count, k, 1, u);                              \
                    else                                                                           \
                        tint_add##bits(luma, row, x, count, k, row->sub_x, u);                     \
            for (int i = 0; i < count; i++) {                                                      \
                const int32_t above = ((luma[i] + half) >> area) - row->black;                     \
                luma[i] = above > 0 ? above : 0;                                                   \
            }                                                                                      \
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

#define DEFINE_CLEAR(bits)                                                                         \
    static void clear##bits(const LumeqClearRow *row, int width)                                   \
    {                                                                                              \
        const uint32_t step = haze_step(row->width, MEASURE_COLUMNS);                              \
        const int depth = bits == 8 ? 8 : row->depth, shift = bits == 8 ? 0 : row->shift;          \
        const int32_t black = row->black, light = row->light, last = (1 << depth) - 1;             \
        uint##bits##_t *restrict out = row->out;                                                   \
        for (int x = 0; x < width; x += TINT_BLOCK) {                                              \
            const int count = width - x < TINT_BLOCK ? width - x : TINT_BLOCK;                     \
            int32_t gain[TINT_BLOCK];                                                              \
            for (int i = 0; i < count; i++) {                                                      \
                const HazePlace place = haze_between(row->at + x + i, step, MEASURE_COLUMNS);      \
                gain[i] = haze_gain(row->gain[place.cell], row->gain[place.cell + 1], place.part); \
            }                                                                                      \
            for (int i = 0; i < count; i++) {                                                      \
                const int32_t code = out[x + i] >> shift, at = code < last ? code : last;          \
                out[x + i] = (uint##bits##_t)(haze_lined(at, black, light, gain[i]) << shift);     \
            }                                                                                      \
        }                                                                                          \
    }

DEFINE_CLEAR(8)
DEFINE_CLEAR(16)

#endif
