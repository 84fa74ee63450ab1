/* A variant's histogram of a rectangle, and the sum of its codes, against a plain loop. */
#ifndef LUMEQ_TESTS_HISTOGRAM_CHECK_H
#define LUMEQ_TESTS_HISTOGRAM_CHECK_H

#include "variants.h"

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
