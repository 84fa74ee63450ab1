/* CUB's histogram, for comparison. */
#ifndef LUMEQ_BENCH_CUB_H
#define LUMEQ_BENCH_CUB_H

#include <stddef.h>
#include <stdint.h>

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Counts samples in device memory: bytes, or 16-bit words if there are more than 256 bins. If
 * `temporary` is NULL, only stores its required size in bytes in *size. */
cudaError_t histogram_cub(void *temporary, size_t *size, const void *samples, uint32_t count,
                          int bins, uint32_t *counts, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
