/*
 * Manual brightness and gamma. Black and white stay. A tone x, as a share of the range, becomes y =
 * x^power, and then (1 + lift) y / (1 + lift y), or, for a negative lift, the inverse of that.
 *
 * Integers give the same bits on all machines. Everything here is monotone: all terms of the series
 * are positive, and products and quotients are rounded down.
 */
#include "equalizer/rule/light.h"

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
