/* What the CPU does to samples. A kernel works on any rectangle, alignment and stride. */
#ifndef LUMEQ_KERNELS_H
#define LUMEQ_KERNELS_H

#include <stddef.h>
#include <stdint.h>

typedef struct LumeqKernels {
    /* Adds the counts of width x height samples to hist[256]. Stride in bytes, may be negative. */
    void (*histogram8)(uint32_t *hist, const void *src, ptrdiff_t stride, int width, int height);
    /* dst = table[src]; the two must not overlap, nothing outside the rectangle is written. */
    void (*apply8)(void *dst, ptrdiff_t dst_stride, const void *src, ptrdiff_t src_stride,
                   int width, int height, const void *table);
} LumeqKernels;

/* The reference in plain C. */
void lumeq_kernels_c(LumeqKernels *kernels);

#endif
