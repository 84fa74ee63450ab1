/* Runs tests with each variant of the CPU kernels. */
#ifndef LUMEQ_TESTS_VARIANTS_H
#define LUMEQ_TESTS_VARIANTS_H

#include "backends.h"
#include "equalizer/cpu/kernels.h"

typedef struct Variant {
    const char *name;
    unsigned flags; /* required CPU features */
} Variant;

static const Variant variants[] = {
    {"c", 0},
    {"sse42", LUMEQ_CPU_SSE42},
    {"avx2", LUMEQ_CPU_AVX2},
    {"avx512", LUMEQ_CPU_AVX512},
    {"neon", LUMEQ_CPU_NEON},
};

#define VARIANTS ((int)(sizeof(variants) / sizeof(variants[0])))

static inline void for_each_variant(void (*test)(const char *name, const LumeqKernels *kernels))
{
    for (int i = 0; i < VARIANTS; i++) {
        if (variants[i].flags & ~lumeq_cpu_flags()) {
            printf("%s: skipped: not on this CPU\n", variants[i].name);
            continue;
        }
        LumeqKernels kernels;
        lumeq_kernels_init(&kernels, variants[i].flags);
        test(variants[i].name, &kernels);
    }
}

/* Defines a test that runs with the kernels of each variant. */
#define VARIANT_TEST(test)                                                                         \
    static void test##_by(const char *name, const LumeqKernels *kernels);                          \
    TEST(test)                                                                                     \
    {                                                                                              \
        for_each_variant(test##_by);                                                               \
    }                                                                                              \
    static void test##_by(const char *name, const LumeqKernels *kernels)

static inline CurveParams params_of(Format format, LumeqRange range)
{
    const int depth = format.depth, full = range == LUMEQ_RANGE_FULL;
    return (CurveParams){.depth = depth,
                         .shift = format.shift,
                         .bins = 1 << (depth - fraction_of(depth)),
                         .fraction = fraction_of(depth),
                         .black = full ? 0 : 16 << (depth - 8),
                         .white = full ? (1 << depth) - 1 : 235 << (depth - 8)};
}

static inline int sample_size(const CurveParams *p)
{
    return p->depth > 8 ? 2 : 1;
}

/* A random stride in samples, sometimes negative. */
static inline int any_stride(CheckRandom *random, int width)
{
    const int padding = check_below(random, 2) ? check_below(random, 40) : 0;
    return check_below(random, 2) ? width + padding : -(width + padding);
}

/* Rounding term for a code with 8 fraction bits: one half, or the dither's threshold. */
static inline uint32_t added_at(const CurveParams *p, int x, int y)
{
    return p->dither ? curve_dither((uint32_t)x, (uint32_t)y, p->frame) : 128;
}

/* Checks a variant's histogram and sum of codes against a plain loop. */
static inline void check_histogram(const char *name, const LumeqKernels *kernels,
                                   const CheckRect *src, const CurveParams *p)
{
    enum { EDGE = 16 };
    static uint32_t hist[EDGE + LUMEQ_MAX_BINS + EDGE], expected[EDGE + LUMEQ_MAX_BINS + EDGE];
    const int size = sample_size(p), width = src->width / size, words = EDGE + p->bins + EDGE;
    for (int i = 0; i < words; i++)
        hist[i] = expected[i] = 1000u + 7u * (unsigned)i; /* kernels add to existing counts */
    uint64_t expected_sum = 0;
    for (int y = 0; y < src->height; y++)
        for (int x = 0; x < src->width; x += size) {
            const int code = code_at(src, x, y, p->depth, p->shift);
            expected[EDGE + (code >> p->fraction)]++;
            expected_sum += (uint64_t)code;
        }
    (size == 2 ? kernels->histogram16 : kernels->histogram8)(hist + EDGE, src->pixels, src->stride,
                                                             width, src->height, p);
    CHECK(!memcmp(hist, expected, (size_t)words * sizeof(hist[0])),
          "%s: histogram of %dx%d, depth %d, shift %d, stride %td", name, width, src->height,
          p->depth, p->shift, src->stride);
    const uint64_t sum = (size == 2 ? kernels->sum16 : kernels->sum8)(src->pixels, src->stride,
                                                                      width, src->height, p);
    CHECK(sum == expected_sum, "%s: sum of %dx%d, depth %d, shift %d: %llu, not %llu", name, width,
          src->height, p->depth, p->shift, (unsigned long long)sum,
          (unsigned long long)expected_sum);
}

#endif
