/* A kernel that leaves no room on the GPU for another, until it is told to end. */
#ifndef LUMEQ_TESTS_GPU_BUSY_H
#define LUMEQ_TESTS_GPU_BUSY_H

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

/* `go_on` is in mapped memory of the host: it ends when that is 0, or after a minute. */
cudaError_t busy_start(const volatile int *go_on, int processors, int threads_per_processor,
                       cudaStream_t stream);

/* Writes where there is no memory: error 700 for all that follows. */
cudaError_t busy_fault(cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
