/*
 * Exact integer arithmetic that compilers can vectorize. Divisions use doubles, because there are
 * no vector divisions of 64-bit integers.
 */
#ifndef LUMEQ_ARITHMETIC_H
#define LUMEQ_ARITHMETIC_H

#include <stdint.h>
#include <string.h>

#include "equalizer/curve_types.h"

/* ALSO_AVX2 compiles a function for AVX2 as well. The dynamic loader selects a variant before
 * sanitizers are ready, so builds with sanitizers have no variants. GCC exports the variants of
 * functions that are not static, even of hidden functions. HIDE_VARIANTS before a function prevents
 * this. */
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__OPTIMIZE__) && !defined(__clang__) &&   \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define ALSO_AVX2 __attribute__((target_clones("avx2", "default")))
#define HIDE_VARIANTS(name) __asm__(".hidden " #name "\n.hidden " #name ".resolver");
#else
#define ALSO_AVX2
#define HIDE_VARIANTS(name)
#endif

static inline uint32_t least_of(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static inline uint32_t most_of(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

/* The number from -most to `most` that is nearest to `value`. */
static inline int32_t limited(int32_t value, int32_t most)
{
    return value > most ? most : value < -most ? -most : value;
}

/* Interpolates from `from` to `to` by `weight` (Q16), rounded. Computes the high and the low 16
 * bits separately, so that each weighted sum is below 2^32. Negative differences wrap around; the
 * sums are still right. */
static inline uint32_t curve_lerp(uint32_t from, uint32_t to, uint32_t weight)
{
    const uint32_t high = (from >> 16 << 16) + ((to >> 16) - (from >> 16)) * weight;
    const uint32_t low = (from << 16) + ((to & 0xffff) - (from & 0xffff)) * weight;
    return high + ((low + CURVE_ONE / 2) >> 16);
}

/* n / d, rounded down, for n below 2^50 and a quotient below 2^31; `inverse` is 1.0 / d. Without
 * the added half, rounding errors could turn a multiple of d into the integer below. */
static inline uint32_t curve_floor(double n, double inverse)
{
    return (uint32_t)(int32_t)((n + 0.5) * inverse);
}

/* n / d of integers, rounded down; n is below 2^50 and the quotient below 2^31. The rounding error
 * of the division is too small to reach the next integer. */
static inline uint32_t curve_quotient(double n, double d)
{
    return (uint32_t)(int32_t)(n / d);
}

/* The share n / d, Q16, for n below 2^31; `inverse` is 1.0 / d. */
static inline uint32_t curve_part(uint32_t n, double inverse)
{
    return curve_floor((double)(int32_t)n * CURVE_ONE, inverse);
}

/* A fraction m / d, for curve_scale(). */
typedef struct CurveRatio {
    uint32_t m, d; /* m modulo 2^32; d below 2^31 */
    double value;
} CurveRatio;

static inline CurveRatio curve_ratio(uint64_t m, uint32_t d)
{
    return (CurveRatio){(uint32_t)m, d, (double)m / d};
}

/* n * m / d, rounded down, for n below 2^31, m below 2^53 and a quotient below 2^32. Adding 2^52
 * rounds the estimate to an integer in the low bits of the sum. This integer is the quotient or one
 * more; if it is one more, the remainder is negative. */
static inline uint32_t curve_scale(uint32_t n, CurveRatio ratio)
{
    const double sum = (double)(int32_t)n * ratio.value + 0x1p52;
    uint64_t bits;
    memcpy(&bits, &sum, sizeof(bits));
    const uint32_t q = (uint32_t)bits;
    return q - ((n * ratio.m - q * ratio.d) >> 31);
}

/* Inclusive prefix sums; returns the total. Sums both halves in one loop: each addition must wait
 * for the previous one in its half, but not for the other half. */
static inline uint32_t curve_scan(const uint32_t *values, int n, uint32_t *sums)
{
    const int half = n / 2;
    uint32_t first = 0, second = 0;
    for (int i = 0; i < half; i++) {
        sums[i] = first += values[i];
        sums[half + i] = second += values[half + i];
    }
    for (int i = half; i < 2 * half; i++)
        sums[i] += first;
    first += second;
    if (n % 2)
        sums[n - 1] = first += values[n - 1];
    return first;
}

#endif
