/* Runs tests over the variants of the CPU's kernels, for samples of any depth. */
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

/* A sample format; bins and tables follow from it. */
typedef struct Format {
    int depth, shift;
} Format;

static const Format formats[] = {{8, 0},  {9, 0},  {9, 7},  {10, 0}, {10, 6}, {11, 5}, {12, 0},
                                 {12, 4}, {13, 0}, {14, 0}, {14, 2}, {15, 1}, {16, 0}};

#define FORMATS ((int)(sizeof(formats) / sizeof(formats[0])))

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

/* In samples. */
static inline int any_stride(CheckRandom *random, int width)
{
    const int padding = check_below(random, 2) ? check_below(random, 40) : 0;
    return check_below(random, 2) ? width + padding : -(width + padding);
}

/* Added to the 8 fraction bits of a code: one half, or the dither's threshold. */
static inline uint32_t added_at(const CurveParams *p, int x, int y)
{
    return p->dither ? curve_dither((uint32_t)x, (uint32_t)y, p->frame) : 128;
}

#endif
