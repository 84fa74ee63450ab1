/* Removes haze from output chroma and luma, in blocks that the compiler vectorizes. */
#ifndef LUMEQ_TINT_LOOPS_H
#define LUMEQ_TINT_LOOPS_H

#include "equalizer/cpu/kernels.h"
#include "equalizer/cpu/kernels_common.h"

#define TINT_BLOCK 64

/* haze_cleared() in lanes of 16 bits. `room`: 15 - bits. If `lost` is 0.5 or more, its lane has
 * lost - 1, and `whole` adds the missing 1. */
#define DEFINE_TINT_LANES(bits, Sample, room)                                                      \
    /* value * part / 2^16 + more / 2^room, rounded down. */                                       \
    static inline int16_t tint_part##bits(int16_t value, int16_t part, int16_t more)               \
    {                                                                                              \
        const int16_t upper = (int16_t)((int32_t)(int16_t)(value * (1 << room)) * part >> 16);     \
        const int16_t sum = (int16_t)(upper + more);                                               \
        return (int16_t)(sum >> room);                                                             \
    }                                                                                              \
    static inline void tint_block##bits(Sample *restrict out, const int16_t *restrict luma,        \
                                        HazeTint haze, int k, const LumeqTintRow *row)             \
    {                                                                                              \
        const int16_t middle = 1 << (bits - 1), pale = HAZE_PALE << (bits - 8);                    \
        const int16_t tint = (int16_t)haze.of[k], lost = (int16_t)(uint16_t)haze.lost;             \
        const int16_t half = 1 << room >> 1, base = (int16_t)(haze.base[k] + half);                \
        const int16_t whole = haze.lost < 1 << 15 ? 0 : -1;                                        \
        (void)row;                                                                                 \
        for (int i = 0; i < TINT_BLOCK; i++) {                                                     \
            const int16_t off = (int16_t)(out[i] - middle);                                        \
            const int16_t more = least(tint_part##bits(luma[i], tint, base), most(off, 0));        \
            const int16_t left = (int16_t)(off - most(more, least(off, 0)));                       \
            const int16_t wide =                                                                   \
                (int16_t)(left + tint_part##bits(left, lost, half) + (left & whole));              \
            const int16_t bound = least(wide, most(off, pale));                                    \
            out[i] = (Sample)(middle + most(bound, least(off, (int16_t)-pale)));                   \
        }                                                                                          \
    }

DEFINE_TINT_LANES(8, uint8_t, 7)
DEFINE_TINT_LANES(10, uint16_t, 5)

static inline void tint_block16(uint16_t *restrict out, const int32_t *restrict luma, HazeTint haze,
                                int k, const LumeqTintRow *row)
{
    for (int i = 0; i < TINT_BLOCK; i++) {
        const int32_t code = out[i] >> row->out_shift;
        const int32_t cleared = haze_cleared(code, row->depth, luma[i], haze, k);
        out[i] = (uint16_t)(cleared << row->out_shift);
    }
}

#define DEFINE_TINT(bits, Sample, Sum)                                                             \
    /* Adds a row of luma to the sum of each chroma sample. */                                     \
    static inline __attribute__((always_inline)) void tint_add##bits(                              \
        Sum *restrict luma, const Sample *restrict from, int sub, int shift, int last)             \
    {                                                                                              \
        for (int i = 0; i < TINT_BLOCK; i++)                                                       \
            for (int u = 0; u < 1 << sub; u++) {                                                   \
                const int code = from[(i << sub) + u] >> shift;                                    \
                luma[i] = (Sum)(luma[i] + (code < last ? code : last));                            \
            }                                                                                      \
    }                                                                                              \
                                                                                                   \
    /* The mean luma of each chroma sample of a block, minus black, at least 0. */                 \
    static inline void tint_luma##bits(Sum luma[TINT_BLOCK], const LumeqTintRow *row, int x)       \
    {                                                                                              \
        const int sub = row->sub_x, area = sub + row->sub_y, first = x << sub;                     \
        const int shift = bits < 16 ? 0 : row->in_shift, columns = row->luma_width - first;        \
        const int last = (1 << (bits < 16 ? bits : row->depth)) - 1;                               \
        const Sum half = 1 << area >> 1;                                                           \
        memset(luma, 0, TINT_BLOCK * sizeof(*luma));                                               \
        for (int k = 0; k < 1 << row->sub_y; k++) {                                                \
            const Sample *from = (const Sample *)row->luma[k] + first;                             \
            Sample rest[TINT_BLOCK << 2];                                                          \
            if (columns < TINT_BLOCK << sub) {                                                     \
                for (int i = 0; i < TINT_BLOCK << sub; i++)                                        \
                    rest[i] = from[i < columns ? i : columns - 1];                                 \
                from = rest;                                                                       \
            }                                                                                      \
            if (sub == 1) /* a constant, so that it is vectorized */                               \
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
    static inline void tint_keep##bits(Sample *restrict out, const Sample *restrict was,           \
                                       const Sum *restrict luma, const LumeqTintRow *row)          \
    {                                                                                              \
        const int depth = bits < 16 ? bits : row->depth, shift = bits < 16 ? 0 : row->out_shift;   \
        for (int i = 0; i < TINT_BLOCK; i++)                                                       \
            out[i] =                                                                               \
                (Sample)(haze_kept(was[i] >> shift, out[i] >> shift, luma[i], row->white, depth)   \
                         << shift);                                                                \
    }                                                                                              \
                                                                                                   \
    static void tint##bits(const LumeqTintRow *row, int width)                                     \
    {                                                                                              \
        const int step = row->step, shifts = row->in_shift | row->out_shift;                       \
        if (bits == 16 && row->depth == 10 && !shifts) {                                           \
            tint10(row, width);                                                                    \
            return;                                                                                \
        }                                                                                          \
        for (int x = 0; x < width; x += TINT_BLOCK) {                                              \
            const int count = width - x < TINT_BLOCK ? width - x : TINT_BLOCK;                     \
            Sum luma[TINT_BLOCK];                                                                  \
            tint_luma##bits(luma, row, x);                                                         \
            for (int k = 0; k < 2; k++) {                                                          \
                Sample *const out = (Sample *)row->out[k] + x * step;                              \
                Sample some[TINT_BLOCK], was[TINT_BLOCK];                                          \
                if (step == 1 && count == TINT_BLOCK && !row->white) {                             \
                    tint_block##bits(out, luma, row->tint, k, row);                                \
                    continue;                                                                      \
                }                                                                                  \
                memset(some, 0, sizeof(some));                                                     \
                for (int i = 0; i < count; i++)                                                    \
                    some[i] = out[i * step];                                                       \
                memcpy(was, some, sizeof(was));                                                    \
                tint_block##bits(some, luma, row->tint, k, row);                                   \
                if (row->white)                                                                    \
                    tint_keep##bits(some, was, luma, row);                                         \
                for (int i = 0; i < count; i++)                                                    \
                    out[i * step] = some[i];                                                       \
            }                                                                                      \
        }                                                                                          \
    }

static LumeqTintKernel tint10;

DEFINE_TINT(8, uint8_t, int16_t)
DEFINE_TINT(10, uint16_t, int16_t)
DEFINE_TINT(16, uint16_t, int32_t)

#define CLEAR_SAMPLES 512 /* number of samples whose gains are found together */
#define CLEAR_STEP 16     /* lanes of 16 bits */

/* Finds the gains of `count` samples from `x` on, followed by a block of zeros. */
static inline void find_clear_gains(int16_t gain[CLEAR_SAMPLES + TINT_BLOCK],
                                    const LumeqClearRow *row, int x, int count)
{
    const uint32_t step = haze_step(row->width, MEASURE_COLUMNS), half = 1u << 23;
    for (int i = 0, end; i < count; i = end) {
        const int at = row->at + x + i;
        const int cell = haze_between(at, step, MEASURE_COLUMNS).cell;
        const uint32_t next = ((uint32_t)(cell + 1) << 24) + half - step / 2;
        const uint32_t start = (uint32_t)at * step + step / 2 - half - ((uint32_t)cell << 24);
        const int16_t from = (int16_t)row->gain[cell];
        const int16_t rise = (int16_t)((row->gain[cell + 1] - row->gain[cell]) * 8);
        end = (int)((next + step - 1) / step) - row->at - x;
        end = cell == MEASURE_COLUMNS - 2 || end > count ? count : end;
        const int whole = i + (end - i + CLEAR_STEP - 1) / CLEAR_STEP * CLEAR_STEP;
        for (int k = i; k < whole; k++) {
            const int32_t place = (int32_t)(start + (uint32_t)(k - i) * step);
            const int32_t above = place > 0 ? place : 0;
            gain[k] = (int16_t)((above < 1 << 24 ? above : 1 << 24) >> 16 << 5);
        }
        for (int k = i; k < whole; k++)
            gain[k] = (int16_t)(from + (int16_t)((int32_t)rise * gain[k] >> 16));
    }
    memset(gain + count, 0, TINT_BLOCK * sizeof(*gain));
}

/* value * part / 2^15, rounded. */
static inline int16_t clear_part(int16_t value, int16_t part)
{
    return (int16_t)((((int32_t)value * part >> 14) + 1) >> 1);
}

/* haze_lined() and haze_lifted() in lanes of 16 bits. */
#define DEFINE_CLEAR_LANES(bits, Sample)                                                           \
    static inline void clear_block##bits(Sample *restrict out, const int16_t *restrict gain,       \
                                         const LumeqClearRow *row)                                 \
    {                                                                                              \
        const int16_t black = (int16_t)row->black, light = (int16_t)row->light;                    \
        const int16_t range = (int16_t)row->range, lift = (int16_t)row->lift;                      \
        const Sample last = (1 << bits) - 1;                                                       \
        for (int i = 0; i < TINT_BLOCK; i++) {                                                     \
            const int16_t code = (int16_t)(bits == 8 || out[i] < last ? out[i] : last);            \
            const int16_t less =                                                                   \
                clear_part((int16_t)(most((int16_t)(light - code), 0) << 5), gain[i]);             \
            const int16_t above = most((int16_t)(code - black), 0);                                \
            const int16_t kept = (int16_t)((int32_t)above * (HAZE_LEFT << 8) >> 16);               \
            const int16_t cleared = most((int16_t)(above - less), kept);                           \
            const int16_t left = most((int16_t)(range - cleared), 0);                              \
            const int16_t product =                                                                \
                clear_part((int16_t)(cleared << (15 - bits)), (int16_t)(left << (15 - bits)));     \
            const int16_t more = (int16_t)(clear_part(product, lift) + (1 << (13 - bits)));        \
            out[i] = (Sample)(code > black ? black + cleared + (more >> (14 - bits)) : code);      \
        }                                                                                          \
    }

DEFINE_CLEAR_LANES(8, uint8_t)
DEFINE_CLEAR_LANES(10, uint16_t)

static inline void clear_block16(uint16_t *restrict out, const int16_t *restrict gain,
                                 const LumeqClearRow *row)
{
    const int32_t shift = row->shift, last = (1 << row->depth) - 1;
    for (int i = 0; i < TINT_BLOCK; i++) {
        const int32_t code = out[i] >> shift, known = code < last ? code : last;
        out[i] = (uint16_t)(haze_lifted(haze_lined(known, row->black, row->light, gain[i]),
                                        row->black, row->range, row->lift, row->depth)
                            << shift);
    }
}

#define DEFINE_CLEAR(bits, Sample)                                                                 \
    static void clear##bits(const LumeqClearRow *row, int width)                                   \
    {                                                                                              \
        if (bits == 16 && row->depth == 10 && !row->shift) {                                       \
            clear10(row, width);                                                                   \
            return;                                                                                \
        }                                                                                          \
        int16_t gain[CLEAR_SAMPLES + TINT_BLOCK];                                                  \
        for (int x = 0; x < width; x += TINT_BLOCK) {                                              \
            const int at = x % CLEAR_SAMPLES, left = width - x;                                    \
            Sample *const out = (Sample *)row->out + x;                                            \
            if (at == 0)                                                                           \
                find_clear_gains(gain, row, x, left < CLEAR_SAMPLES ? left : CLEAR_SAMPLES);       \
            if (left >= TINT_BLOCK) {                                                              \
                clear_block##bits(out, gain + at, row);                                            \
            } else {                                                                               \
                Sample rest[TINT_BLOCK] = {0};                                                     \
                memcpy(rest, out, (size_t)left * sizeof(*rest));                                   \
                clear_block##bits(rest, gain + at, row);                                           \
                memcpy(out, rest, (size_t)left * sizeof(*rest));                                   \
            }                                                                                      \
        }                                                                                          \
    }

static LumeqClearKernel clear10;

DEFINE_CLEAR(8, uint8_t)
DEFINE_CLEAR(10, uint16_t)
DEFINE_CLEAR(16, uint16_t)

#endif
