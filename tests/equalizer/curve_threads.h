/* One curve by a group of threads, as a GPU computes it: what they do between two barriers is in
 * any order. */
#ifndef LUMEQ_CURVE_THREADS_H
#define LUMEQ_CURVE_THREADS_H

#include <stdint.h>

/*
 * curve_compute() of `params->bins` counts, and the bins stored. The pointers are to CurveParams,
 * CurveResult and CurveTable: here these have the group's definitions beside them. One call at a
 * time. 0, or an errno.
 */
int curve_by_threads(const void *params, const uint32_t *counts, const void *before, void *result,
                     void *table);

#endif
