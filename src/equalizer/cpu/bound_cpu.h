/* Limits the rise of luma over saturated colours. */
#ifndef LUMEQ_BOUND_CPU_H
#define LUMEQ_BOUND_CPU_H

#include "equalizer/backend.h"
#include "equalizer/cpu/kernels.h"

/* True if the table raises some code enough to matter; always true with tiles. */
int lumeq_bounds_luma(const LumeqApplyJob *job);

/* Bounds rows [y, end) of `out`'s luma by the luma and chroma of `in`, which is other memory. */
void lumeq_bound_luma(const LumeqKernels *kernels, const LumeqImage *in, const LumeqImage *out,
                      const CurveParams *params, int y, int end);

#endif
