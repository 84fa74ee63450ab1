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
    /* Clears samples between the middles of two cells. */                                         \
    static inline void clear_between##bits(uint##bits##_t *restrict out, const LumeqClearRow *row, \
                                           int at, int count, int cell)                            \
    {                                                                                              \
        const int step = (int)haze_step(row->width, MEASURE_COLUMNS);                              \
        const int depth = bits == 8 ? 8 : row->depth, shift = bits == 8 ? 0 : row->shift;          \
        const int32_t black = row->black, light = row->light, last = (1 << depth) - 1;             \
        const int32_t from = row->gain[cell], to = row->gain[cell + 1];                            \
        const int32_t start = at * step + step / 2 - (1 << 23) - (cell << 24);                     \
        for (int i = 0; i < count; i++) {                                                          \
            const int32_t place = start + i * step, above = place > 0 ? place : 0;                 \
            const int32_t part = (above < 1 << 24 ? above : 1 << 24) >> 16;                        \
            const int32_t code = out[i] >> shift, known = code < last ? code : last;               \
            const int32_t cleared = haze_lined(known, black, light, haze_gain(from, to, part));    \
            out[i] = (uint##bits##_t)(cleared << shift);                                           \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    static void clear##bits(const LumeqClearRow *row, int width)                                   \
    {                                                                                              \
        const uint32_t step = haze_step(row->width, MEASURE_COLUMNS);                              \
        for (int x = 0, end; x < width; x = end) {                                                 \
            const int at = row->at + x;                                                            \
            const int cell = haze_between(at, step, MEASURE_COLUMNS).cell;                         \
            const uint32_t next = ((uint32_t)(cell + 1) << 24) + (1u << 23) - step / 2;            \
            end = (int)((next + step - 1) / step) - row->at;                                       \
            end = cell == MEASURE_COLUMNS - 2 || end > width ? width : end;                        \
            clear_between##bits((uint##bits##_t *)row->out + x, row, at, end - x, cell);           \
        }                                                                                          \
    }

DEFINE_CLEAR(8)
DEFINE_CLEAR(16)

#endif
