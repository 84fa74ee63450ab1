/* Copies results to the host with threads. */
#ifndef LUMEQ_CUDA_REPORT_CUH
#define LUMEQ_CUDA_REPORT_CUH

#include <stdint.h>

#include "equalizer/cuda/kernels.h"

typedef struct Report {
    uint4 *to;
    const uint4 *from;
    int vectors;
} Report;

/* NULL: nothing to copy. */
static inline Report report_of(const LumeqCudaReport *report)
{
    const Report none = {NULL, NULL, 0};
    if (!report)
        return none;
    const Report r = {(uint4 *)report->host, (const uint4 *)report->from,
                      (int)(report->size / sizeof(uint4))};
    return r;
}

/* Copies the share of a thread. */
static __device__ __forceinline__ void make_report(const Report &report, int thread, int threads)
{
    for (int i = thread; i < report.vectors; i += threads)
        report.to[i] = __ldcg(&report.from[i]);
}

#endif
