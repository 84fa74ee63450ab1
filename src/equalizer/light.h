/*
 * Manual brightness and gamma, applied to tones before equalization. Black and white stay; tones x
 * of the range become x^power, and these (1 + lift) x / (1 + lift x), or, for a negative lift, the
 * inverse of that.
 *
 * Integers give the same bits on all machines. Everything here is monotone: all terms of the series
 * are positive, and products and quotients are rounded down.
 */
#ifndef LUMEQ_LIGHT_H
#define LUMEQ_LIGHT_H

#include "equalizer/curve_types.h"

#define LIGHT_PLACE (1u << 30) /* the place of white */
#define LIGHT_LOG_BITS 26
#define LIGHT_LOG2_E_Q31 3098164009u /* log2(e) */
#define LIGHT_LN_2_Q30 744261118u    /* ln(2) */

CURVE_FN uint32_t light_times(uint32_t a, uint32_t b)
{
    return (uint32_t)((uint64_t)a * b >> 30);
}

/* log2 of 1..65536, by ln((1 + z) / (1 - z)) = 2 (z + z^3 / 3 + z^5 / 5 + ...). */
CURVE_FN uint32_t light_log2(uint32_t n)
{
    uint32_t whole = 0, sum = 0;
    while (n >> whole > 1)
        whole++;
    const uint32_t m = n << (30 - whole);
    const uint32_t z = curve_divide((uint64_t)(m - LIGHT_PLACE) << 30, m + LIGHT_PLACE);
    const uint32_t square = light_times(z, z);
    CURVE_ROLLED
    for (uint32_t k = 21; k <= 21; k -= 2)
        sum = light_times(sum, square) + LIGHT_PLACE / k;
    const uint64_t log = (uint64_t)light_times(z, sum) * LIGHT_LOG2_E_Q31 >> (60 - LIGHT_LOG_BITS);
    const uint32_t one = 1u << LIGHT_LOG_BITS;
    return (whole << LIGHT_LOG_BITS) + (log < one ? (uint32_t)log : one);
}

/* The place 2^-x. */
CURVE_FN uint32_t light_exp2(uint64_t x)
{
    const uint64_t whole = (x + (1u << LIGHT_LOG_BITS) - 1) >> LIGHT_LOG_BITS;
    if (whole > 31)
        return 0;
    const uint32_t part = (uint32_t)((whole << LIGHT_LOG_BITS) - x) << (30 - LIGHT_LOG_BITS);
    const uint32_t exponent = light_times(part, LIGHT_LN_2_Q30);
    uint32_t sum = LIGHT_PLACE;
    CURVE_ROLLED
    for (uint32_t k = 13; k; k--)
        sum = LIGHT_PLACE + light_times(sum, exponent) / k;
    return (sum < 2 * LIGHT_PLACE ? sum : 2 * LIGHT_PLACE) >> whole;
}

CURVE_FN int light_is_on(const CurveLight *light)
{
    return light->power || light->lift;
}

/* The place of the tone n / d, where d is 1..65536. */
CURVE_CALL uint32_t light_place(const CurveLight *light, uint32_t n, uint32_t d)
{
    if (!n || n >= d)
        return n ? LIGHT_PLACE : 0;
    uint32_t x;
    if (light->power)
        x = light_exp2((uint64_t)(light_log2(d) - light_log2(n)) * light->power >> 24);
    else
        x = curve_divide((uint64_t)n << 30, d);
    if (light->lift > 0) {
        const uint32_t a = (uint32_t)light->lift;
        x = curve_divide((uint64_t)(CURVE_LIGHT_ONE + a) * x, CURVE_LIGHT_ONE + light_times(a, x));
    } else if (light->lift < 0) {
        const uint32_t a = (uint32_t)-light->lift;
        x = curve_divide((uint64_t)CURVE_LIGHT_ONE * x, CURVE_LIGHT_ONE + a - light_times(a, x));
    }
    return x < LIGHT_PLACE ? x : LIGHT_PLACE;
}

CURVE_FN uint32_t light_code(const CurveParams *p, uint32_t n, uint32_t d)
{
    const uint64_t range = (uint64_t)(p->white - p->black) << 16;
    return ((uint32_t)p->black << 16) +
           (uint32_t)((range * light_place(&p->light, n, d) + LIGHT_PLACE / 2) >> 30);
}

/* A bin's first code before it is equalized, Q16. */
CURVE_FN uint32_t light_bin(const CurveParams *p, int bin)
{
    const int code = bin << p->fraction;
    if (!light_is_on(&p->light) || code <= p->black || code >= p->white)
        return (uint32_t)code << 16;
    return light_code(p, (uint32_t)(code - p->black), (uint32_t)(p->white - p->black));
}

#endif
