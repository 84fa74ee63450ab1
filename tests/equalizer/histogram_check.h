/* A variant's histogram of a rectangle against a plain loop. */
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
        hist[i] = expected[i] = 1000u + 7u * (unsigned)i; /* kernels add to what is there */
    for (int y = 0; y < src->height; y++)
        for (int x = 0; x < src->width; x += size)
            expected[EDGE + (code_at(src, x, y, p->depth, p->shift) >> p->fraction)]++;
    (size == 2 ? kernels->histogram16 : kernels->histogram8)(hist + EDGE, src->pixels, src->stride,
                                                             width, src->height, p);
    CHECK(!memcmp(hist, expected, (size_t)words * sizeof(hist[0])),
          "%s: histogram of %dx%d, depth %d, shift %d, stride %td", name, width, src->height,
          p->depth, p->shift, src->stride);
}

#endif
