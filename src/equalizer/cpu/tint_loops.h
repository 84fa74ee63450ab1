/* Takes haze from written chroma and luma, in blocks that the compiler vectorizes. */
#ifndef LUMEQ_TINT_LOOPS_H
#define LUMEQ_TINT_LOOPS_H

#include <string.h>

#include "equalizer/cpu/kernels.h"

#define TINT_BLOCK 64

static inline int16_t most16(int16_t a, int16_t b)
{
    return a > b ? a : b;
}

static inline int16_t least16(int16_t a, int16_t b)
{
    return a < b ? a : b;
}

/* value * part / 2^16, rounded, for values of 8 bits. */
static inline int16_t tint_part(int16_t value, int16_t part)
{
    const int16_t upper = (int16_t)((int32_t)(int16_t)(value * 128) * part >> 16);
    return (int16_t)((upper + 64) >> 7);
}

/* haze_cleared() for codes of 8 bits, in lanes of 16. A factor of a half or more is negative there:
 * `whole` adds 1. */
static inline void tint_block8(uint8_t *restrict out, const int16_t *restrict luma, HazeTint haze,
                               int k, const LumeqTintRow *row)
{
    const int16_t tint = (int16_t)haze.of[k], lost = (int16_t)(uint16_t)haze.lost;
    const int16_t whole = haze.lost < 1 << 15 ? 0 : -1;
    (void)row;
    for (int i = 0; i < TINT_BLOCK; i++) {
        const int16_t off = (int16_t)(out[i] - 128);
        const int16_t more = least16(tint_part(luma[i], tint), most16(off, 0));
        const int16_t left = (int16_t)(off - most16(more, least16(off, 0)));
        const int16_t wide = (int16_t)(left + tint_part(left, lost) + (left & whole));
        const int16_t bound = least16(wide, most16(off, HAZE_PALE));
        out[i] = (uint8_t)(128 + most16(bound, least16(off, -HAZE_PALE)));
    }
}

static inline void tint_block16(uint16_t *restrict out, const int32_t *restrict luma, HazeTint haze,
                                int k, const LumeqTintRow *row)
{
    for (int i = 0; i < TINT_BLOCK; i++) {
        const int32_t code = out[i] >> row->out_shift;
        const int32_t cleared = haze_cleared(code, row->depth, luma[i], haze.of[k], haze.lost);
        out[i] = (uint16_t)(cleared << row->out_shift);
    }
}

#define DEFINE_TINT(bits, Sum)                                                                     \
    /* Adds a row of luma over each pixel. */                                                      \
    static inline __attribute__((always_inline)) void tint_add##bits(                              \
        Sum *restrict luma, const uint##bits##_t *restrict from, int sub, int shift, int last)     \
    {                                                                                              \
        for (int i = 0; i < TINT_BLOCK; i++)                                                       \
            for (int u = 0; u < 1 << sub; u++) {                                                   \
                const int code = from[(i << sub) + u] >> shift;                                    \
                luma[i] = (Sum)(luma[i] + (code < last ? code : last));                            \
            }                                                                                      \
    }                                                                                              \
                                                                                                   \
    /* The means of luma under a block, from black on. */                                          \
    static inline void tint_luma##bits(Sum luma[TINT_BLOCK], const LumeqTintRow *row, int x)       \
    {                                                                                              \
        const int sub = row->sub_x, area = sub + row->sub_y, first = x << sub;                     \
        const int shift = bits == 8 ? 0 : row->in_shift, columns = row->luma_width - first;        \
        const int last = bits == 8 ? 255 : (1 << row->depth) - 1;                                  \
        const Sum half = 1 << area >> 1;                                                           \
        memset(luma, 0, TINT_BLOCK * sizeof(*luma));                                               \
        for (int k = 0; k < 1 << row->sub_y; k++) {                                                \
            const uint##bits##_t *from = (const uint##bits##_t *)row->luma[k] + first;             \
            uint##bits##_t rest[TINT_BLOCK << 2];                                                  \
            if (columns < TINT_BLOCK << sub) {                                                     \
                for (int i = 0; i < TINT_BLOCK << sub; i++)                                        \
                    rest[i] = from[i < columns ? i : columns - 1];                                 \
                from = rest;                                                                       \
            }                                                                                      \
            if (sub == 1) /* a constant, for vectors */                                            \
                tint_add##bits(luma, from, 1, shift, last);                                        \
            else                                                                                   \
                tint_add##bits(luma, from, sub, shift, last);                                      \
        }                                                                                          \
        for (int i = 0; i < TINT_BLOCK; i++) {                                                     \
            const Sum above = (Sum)(((Sum)(luma[i] + half) >> area) - row->black);                 \
            luma[i] = above > 0 ? above : 0;                                                       \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    static void tint##bits(const LumeqTintRow *row, int width)                                     \
    {                                                                                              \
        const int step = row->step;                                                                \
        for (int x = 0; x < width; x += TINT_BLOCK) {                                              \
            const int count = width - x < TINT_BLOCK ? width - x : TINT_BLOCK;                     \
            Sum luma[TINT_BLOCK];                                                                  \
            tint_luma##bits(luma, row, x);                                                         \
            for (int k = 0; k < 2; k++) {                                                          \
                uint##bits##_t *const out = (uint##bits##_t *)row->out[k] + x * step;              \
                uint##bits##_t some[TINT_BLOCK] = {0};                                             \
                for (int i = 0; i < count; i++)                                                    \
                    some[i] = out[i * step];                                                       \
                tint_block##bits(some, luma, row->tint, k, row);                                   \
                for (int i = 0; i < count; i++)                                                    \
                    out[i * step] = some[i];                                                       \
            }                                                                                      \
        }                                                                                          \
    }

DEFINE_TINT(8, int16_t)
DEFINE_TINT(16, int32_t)

/* The place of a sample between the middles of two cells, in 256ths. */
static inline int32_t clear_part(const LumeqClearRow *row, int at, int cell)
{
    const uint32_t step = haze_step(row->width, MEASURE_COLUMNS), half = 1u << 23;
    const int32_t place = (int32_t)((uint32_t)at * step + step / 2 - half - ((uint32_t)cell << 24));
    const int32_t above = place > 0 ? place : 0;
    return (above < 1 << 24 ? above : 1 << 24) >> 16;
}

/* haze_lined() for codes of 8 bits, in lanes of 16. */
static inline void clear_block8(uint8_t *restrict out, const int16_t *restrict gain, int16_t black,
                                int16_t light)
{
    for (int i = 0; i < TINT_BLOCK; i++) {
        const int16_t code = out[i];
        const int16_t far = (int16_t)(most16((int16_t)(light - code), 0) << 5);
        const int16_t less = (int16_t)((((int32_t)far * gain[i] >> 14) + 1) >> 1);
        const int16_t above = (int16_t)(most16((int16_t)(code - black), 0) * HAZE_LEFT);
        const int16_t least = (int16_t)(black + (above >> 8));
        const int16_t kept = most16((int16_t)(code - less), least);
        out[i] = (uint8_t)(code > black ? kept : code);
    }
}

/* Clears samples between the middles of two cells. */
static inline void clear_between8(uint8_t *out, const LumeqClearRow *row, int at, int count,
                                  int cell)
{
    const int32_t from = row->gain[cell], to = row->gain[cell + 1];
    for (int x = 0; x < count; x += TINT_BLOCK) {
        const int left = count - x < TINT_BLOCK ? count - x : TINT_BLOCK;
        int16_t gain[TINT_BLOCK];
        uint8_t rest[TINT_BLOCK] = {0}, *const block = left < TINT_BLOCK ? rest : out + x;
        for (int i = 0; i < TINT_BLOCK; i++)
            gain[i] = (int16_t)haze_gain(from, to, clear_part(row, at + x + i, cell));
        if (left < TINT_BLOCK)
            memcpy(rest, out + x, (size_t)left);
        clear_block8(block, gain, (int16_t)row->black, (int16_t)row->light);
        if (left < TINT_BLOCK)
            memcpy(out + x, rest, (size_t)left);
    }
}

static inline void clear_between16(uint16_t *restrict out, const LumeqClearRow *row, int at,
                                   int count, int cell)
{
    const int depth = row->depth, shift = row->shift, black = row->black;
    const int32_t light = row->light, last = (1 << depth) - 1;
    const int32_t from = row->gain[cell], to = row->gain[cell + 1];
    for (int i = 0; i < count; i++) {
        const int32_t code = out[i] >> shift, known = code < last ? code : last;
        const int32_t gain = haze_gain(from, to, clear_part(row, at + i, cell));
        out[i] = (uint16_t)(haze_lined(known, black, light, gain) << shift);
    }
}

#define DEFINE_CLEAR(bits)                                                                         \
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
