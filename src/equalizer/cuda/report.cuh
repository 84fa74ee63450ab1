/* Copies results to the host with threads. */
#ifndef LUMEQ_CUDA_REPORT_CUH
#define LUMEQ_CUDA_REPORT_CUH

#include <stdint.h>

#include "equalizer/cuda/kernels.h"

typedef struct Report {
    uint4 *to;
    const uint4 *from;
    int vectors;
    int64_t distance, host_distance; /* in a batch */
} Report;

/* NULL: nothing to copy. */
static inline Report report_of(const LumeqCudaReport *report, const LumeqCudaBatch *batch)
{
    const Report none = {NULL, NULL, 0, 0, 0};
    if (!report)
        return none;
    const Report r = {(uint4 *)report->host, (const uint4 *)report->from,
                      (int)(report->size / sizeof(uint4)), batch->distance, report->distance};
    return r;
}

/* Copies the share of a thread, for a frame of the batch. */
static __device__ __forceinline__ void make_report(const Report &report, int frame, int thread,
                                                   int threads)
{
    uint4 *const to = (uint4 *)((char *)report.to + frame * report.host_distance);
    const uint4 *const from = (const uint4 *)((const char *)report.from + frame * report.distance);
    for (int i = thread; i < report.vectors; i += threads)
        to[i] = __ldcg(&from[i]);
}

#endif
