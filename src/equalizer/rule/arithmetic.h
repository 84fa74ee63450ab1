/*
 * Exact integer arithmetic that compilers turn into vectors: they have no vectors of 64-bit
 * divisions, but of doubles.
 */
#ifndef LUMEQ_ARITHMETIC_H
#define LUMEQ_ARITHMETIC_H

#include <stdint.h>
#include <string.h>

#include "equalizer/curve_types.h"

/* Compiles a function for AVX2 as well; the dynamic loader selects one when it loads the library.
 * Sanitizers are not ready by then. GCC exports the variants of functions that are not static, even
 * hidden ones: HIDE_VARIANTS stands before these. */
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

/* The value between both, `weight` (Q16) from the first to the second, rounded. High and low halves
 * apart: their weighted sums are below 2^32, so differences may wrap around. */
static inline uint32_t curve_lerp(uint32_t from, uint32_t to, uint32_t weight)
{
    const uint32_t high = (from >> 16 << 16) + ((to >> 16) - (from >> 16)) * weight;
    const uint32_t low = (from << 16) + ((to & 0xffff) - (from & 0xffff)) * weight;
    return high + ((low + CURVE_ONE / 2) >> 16);
}

/*
 * n / d, rounded down, for n below 2^50 and a quotient below 2^31; `inverse` is 1.0 / d. The added
 * half keeps a multiple of d away from the integer below it: n + 1/2 is at least 1 / (2d) from each
 * integer quotient, and the relative error of the product is at most 2^-52.
 */
static inline uint32_t curve_floor(double n, double inverse)
{
    return (uint32_t)(int32_t)((n + 0.5) * inverse);
}

/* n / d of integers, rounded down; n is below 2^50 and the quotient below 2^31. If it is not an
 * integer, it is 1 / n of itself from one, and rounded to 2^-53 of itself. */
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
 * rounds the estimate to the nearest integer, the low bits of the sum. It is the quotient or the
 * integer above, for which the remainder is negative. */
static inline uint32_t curve_scale(uint32_t n, CurveRatio ratio)
{
    const double sum = (double)(int32_t)n * ratio.value + 0x1p52;
    uint64_t bits;
    memcpy(&bits, &sum, sizeof(bits));
    const uint32_t q = (uint32_t)bits;
    return q - ((n * ratio.m - q * ratio.d) >> 31);
}

/* Inclusive prefix sums; returns the total. Sums up both halves at a time: each addition must wait
 * for the one before it. */
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
