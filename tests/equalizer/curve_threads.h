/* One curve by a group of threads, like on a GPU: the order between two barriers is arbitrary. */
#ifndef LUMEQ_CURVE_THREADS_H
#define LUMEQ_CURVE_THREADS_H

#include <stdint.h>

/*
 * curve_compute() for `params->bins` counts, with the stored bins. The pointers are to CurveParams,
 * CurveResult and CurveTable, which have the group's definitions here. One call at a time. Returns
 * 0 or an errno.
 */
int curve_by_threads(const void *params, const uint32_t *counts, const void *before, void *result,
                     void *table);

#endif
