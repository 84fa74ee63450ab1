/* Luma over saturated colours, which rises no further than they allow. */
#ifndef LUMEQ_BOUND_CPU_H
#define LUMEQ_BOUND_CPU_H

#include "equalizer/backend.h"
#include "equalizer/cpu/kernels.h"

/* Whether some code of such a table is raised enough for it to matter; with tiles always. */
int lumeq_bounds_luma(const LumeqApplyJob *job);

/* Rows `y` to before `end` of the luma that `out` has, by the luma and chroma of `in`, which is not
 * the same memory. */
void lumeq_bound_luma(const LumeqKernels *kernels, const LumeqImage *in, const LumeqImage *out,
                      const CurveParams *params, int y, int end);

#endif
