/*
 * Manual brightness and gamma. Black and white stay. A tone x, as a share of the range, becomes y =
 * x^power, and then (1 + lift) y / (1 + lift y). A negative lift inverts the positive lift.
 *
 * Integers give the same bits on all machines. Everything here is monotone: all terms of the series
 * are positive, and products and quotients are rounded down.
 */
#include "equalizer/rule/light.h"

/* Minimum number of usable cells to find a change of light. A cell is usable if its light is at
 * least EVEN_DARK, in 256ths of 8-bit codes above black, and at most 15/16 of the range. */
#define EVEN_CELLS 9
#define EVEN_DARK (4 << 8)

/* Limits of the factor for codes above black. */
#define EVEN_MOST (CURVE_ONE * 14 / 10)
#define EVEN_LEAST (CURVE_ONE * 7 / 10)

#define PLACE (1u << 30) /* 1.0 for a share of the range: white */
#define LOG_BITS 26
#define LOG2_E_Q31 3098164009u /* log2(e) */
#define LN_2_Q30 744261118u    /* ln(2) */

static uint32_t times(uint32_t a, uint32_t b)
{
    return (uint32_t)((uint64_t)a * b >> 30);
}

/* log2 of 1..65536, by ln((1 + z) / (1 - z)) = 2 (z + z^3 / 3 + z^5 / 5 + ...). */
static uint32_t log2_of(uint32_t n)
{
    uint32_t whole = 0, sum = 0;
    while (n >> whole > 1)
        whole++;
    const uint32_t m = n << (30 - whole);
    const uint32_t z = (uint32_t)(((uint64_t)(m - PLACE) << 30) / (m + PLACE));
    const uint32_t square = times(z, z);
    for (uint32_t k = 21; k <= 21; k -= 2)
        sum = times(sum, square) + PLACE / k;
    const uint64_t log = (uint64_t)times(z, sum) * LOG2_E_Q31 >> (60 - LOG_BITS);
    const uint32_t one = 1u << LOG_BITS;
    return (whole << LOG_BITS) + (log < one ? (uint32_t)log : one);
}

/* 2^-x as a share of the range; x has LOG_BITS fraction bits. */
static uint32_t exp2_of(uint64_t x)
{
    const uint64_t whole = (x + (1u << LOG_BITS) - 1) >> LOG_BITS;
    if (whole > 31)
        return 0;
    const uint32_t part = (uint32_t)((whole << LOG_BITS) - x) << (30 - LOG_BITS);
    const uint32_t exponent = times(part, LN_2_Q30);
    uint32_t sum = PLACE;
    for (uint32_t k = 13; k; k--)
        sum = PLACE + times(sum, exponent) / k;
    return (sum < 2 * PLACE ? sum : 2 * PLACE) >> whole;
}

uint32_t light_place(const CurveLight *light, uint32_t n, uint32_t d)
{
    if (!n || n >= d)
        return n ? PLACE : 0;
    uint64_t x = ((uint64_t)n << 30) / d;
    if (light->power)
        x = exp2_of((uint64_t)(log2_of(d) - log2_of(n)) * light->power >> 24);
    if (light->lift > 0) {
        const uint32_t a = (uint32_t)light->lift;
        x = (uint64_t)(CURVE_LIGHT_ONE + a) * x / (CURVE_LIGHT_ONE + times(a, (uint32_t)x));
    } else if (light->lift < 0) {
        const uint32_t a = (uint32_t)-light->lift;
        x = (uint64_t)CURVE_LIGHT_ONE * x / (CURVE_LIGHT_ONE + a - times(a, (uint32_t)x));
    }
    return x < PLACE ? (uint32_t)x : PLACE;
}

uint32_t light_code(const CurveParams *p, uint32_t n, uint32_t d)
{
    const uint64_t range = (uint64_t)(p->white - p->black) << 16;
    return ((uint32_t)p->black << 16) +
           (uint32_t)((range * light_place(&p->light, n, d) + PLACE / 2) >> 30);
}

uint32_t light_bin(const CurveParams *p, int bin)
{
    const int code = bin << p->fraction;
    if (!light_is_on(&p->light) || code <= p->black || code >= p->white)
        return (uint32_t)code << 16;
    return light_code(p, (uint32_t)(code - p->black), (uint32_t)(p->white - p->black));
}

void light_bins(const CurveParams *p, uint32_t *codes)
{
    const int bins = p->bins, shift = 16 + p->fraction;
    for (int i = 0; i < bins; i++)
        codes[i] = (uint32_t)i << shift;
    for (int i = 0; i < bins && light_is_on(&p->light); i++)
        codes[i] = light_bin(p, i);
}

/* ---- changes of light ---- */

uint32_t light_limited(uint32_t factor)
{
    return factor < EVEN_LEAST ? EVEN_LEAST : factor > EVEN_MOST ? EVEN_MOST : factor;
}

/* Stores the relative changes of light from `from` to `to`, of cells that are usable in `to`, Q16.
 * Returns the number of these cells. */
static size_t find_changes(const CurveParams *p, const uint32_t *from, const uint32_t *to,
                           int32_t *changes)
{
    const int32_t black = p->black >> (p->depth - 8) << 8;
    const int32_t range = (p->white >> (p->depth - 8) << 8) - black;
    size_t count = 0;
    for (int i = 0; i < MEASURE_CELLS; i++) {
        const int32_t a = (int32_t)from[i] - black, b = (int32_t)to[i] - black;
        if (b >= EVEN_DARK && b <= range - range / 16)
            changes[count++] =
                (int32_t)(((uint32_t)b << 16) / (uint32_t)(a > b / 8 ? a : b / 8) - CURVE_ONE);
    }
    return count;
}

uint32_t light_gain(const CurveParams *p, const uint32_t *before, const uint32_t *now,
                    size_t percent)
{
    int32_t changes[MEASURE_CELLS];
    const size_t count = find_changes(p, now, before, changes);
    const size_t out = count < MEASURE_CELLS * 9 / 10 ? 38 : percent;
    const int32_t back = count < EVEN_CELLS ? 0 : haze_common(changes, count, out, 0);
    return (uint32_t)(((uint64_t)CURVE_ONE << 16) / (uint64_t)((int64_t)CURVE_ONE + back));
}

uint32_t light_factor(const CurveParams *p, uint32_t share, const uint32_t *then,
                      const uint32_t *before, const uint32_t *now, uint32_t alpha, int32_t *change)
{
    const int32_t one = CURVE_ONE;
    int32_t changes[MEASURE_CELLS];
    const size_t count = find_changes(p, now, then, changes);
    if (count < EVEN_CELLS)
        return CURVE_ONE;
    const uint64_t gain = before ? light_gain(p, before, now, 45) : CURVE_ONE;
    const int32_t since =
        (int32_t)light_limited((uint32_t)(((uint64_t)(one + *change) << 16) / gain)) - one;
    const uint32_t common = light_limited((uint32_t)(one + haze_common(changes, count, 33, 0)));
    *change = since + (int32_t)(((int64_t)common - one - since) * alpha / one);
    return light_limited(
        (uint32_t)(one + (int64_t)haze_common(changes, count, 20, *change) * share / one));
}

uint64_t light_read(const CurveParams *p, const uint32_t *curve, uint64_t code)
{
    const int bits = 16 + p->fraction;
    const uint64_t black = (uint64_t)p->black << 16, white = (uint64_t)p->white << 16;
    const uint64_t i = code >> bits, rest = code & ((UINT64_C(1) << bits) - 1);
    const uint64_t from = curve[i];
    const uint64_t to = i + 1 < (uint64_t)p->bins ? curve[i + 1] : (i + 1) << bits;
    const uint64_t value = from + ((to > from ? to - from : 0) * rest >> bits);
    return value < black ? black : value < white ? value : white;
}

/* Multiplies x, a code above black, by `even`, up to a knee where x or the result is 7/8 of the
 * range. Above the knee, a line leads to white. */
static uint64_t evened(uint64_t x, uint64_t range, uint32_t even)
{
    const uint64_t high = range - range / 8;
    const uint64_t knee = even > CURVE_ONE ? (high << 16) / even : high;
    if (x <= knee)
        return x * even >> 16;
    const uint64_t at_knee = knee * even >> 16;
    return at_knee + (uint64_t)((x - knee) >> 8) * (range - at_knee) / ((range - knee) >> 8);
}

void light_even(const CurveParams *p, uint32_t even, const uint32_t *curve, uint32_t *to)
{
    const uint64_t black = (uint64_t)p->black << 16, white = (uint64_t)p->white << 16;
    const uint64_t range = white - black;
    for (int i = 0; i < p->bins; i++) {
        const uint64_t code = (uint64_t)i << (16 + p->fraction);
        to[i] = curve[i];
        if (code > black && code < white) {
            const uint64_t x = evened(code - black, range, even);
            to[i] = (uint32_t)light_read(p, curve, black + (x < range ? x : range));
        }
    }
}
