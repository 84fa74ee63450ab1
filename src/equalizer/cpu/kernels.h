/* What the CPU does to samples. A kernel works on any rectangle, alignment and stride; those of 16
 * bits at even addresses. */
#ifndef LUMEQ_KERNELS_H
#define LUMEQ_KERNELS_H

#include <stddef.h>
#include <stdint.h>

#include "equalizer/curve.h"

/* Adds the counts of width x height samples to hist[bins]. Stride in bytes, may be negative. */
typedef void LumeqHistogramKernel(uint32_t *hist, const void *src, ptrdiff_t stride, int width,
                                  int height, const CurveParams *params);

/* Looks the samples of src up; the two must not overlap, nothing outside the rectangle is written.
 */
typedef void LumeqApplyKernel(void *dst, ptrdiff_t dst_stride, const void *src,
                              ptrdiff_t src_stride, int width, int height, const CurveTable *table,
                              const CurveParams *params);

/* Of the parameters a kernel looks at depth, shift, bins and fraction; one for 8 bits at none. */
typedef struct LumeqKernels {
    LumeqHistogramKernel *histogram8, *histogram16;
    LumeqApplyKernel *apply8, *apply16; /* depth 8, and 9 to 12 */
    LumeqApplyKernel *interpolate16;    /* depth 13 to 16 */
} LumeqKernels;

/* The reference in plain C. */
void lumeq_kernels_c(LumeqKernels *kernels);

#endif
