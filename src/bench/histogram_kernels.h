/* Launchers of the strategies' kernels, including CUB's. Pointers are to device memory. */
#ifndef LUMEQ_BENCH_HISTOGRAM_KERNELS_H
#define LUMEQ_BENCH_HISTOGRAM_KERNELS_H

#include <stddef.h>
#include <stdint.h>

#include <cuda_runtime_api.h>

#include "bench/strategies.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Samples without gaps between rows: bytes, or 16 bits with more than 256 bins. */
typedef struct HistogramSamples {
    const void *data;
    uint32_t count;
    int bins;
} HistogramSamples;

/* Adds the counts to `counts`; strategies from global to aggregated. */
cudaError_t histogram_count(HistogramKind kind, const HistogramSamples *samples, uint32_t *counts,
                            int device, cudaStream_t stream);

/* Writes the counts. If `temporary` is NULL, it only stores the size that it must have. */
cudaError_t histogram_cub(void *temporary, size_t *size, const HistogramSamples *samples,
                          uint32_t *counts, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
