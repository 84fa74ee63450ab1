/* A kernel that fills the whole GPU until the test ends it. */
#ifndef LUMEQ_TESTS_GPU_BUSY_H
#define LUMEQ_TESTS_GPU_BUSY_H

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Ends when `go_on`, in mapped host memory, is 0, or after a minute. */
cudaError_t busy_start(const volatile int *go_on, int processors, int threads_per_processor,
                       cudaStream_t stream);

/* Writes to an invalid address: all later calls fail with error 700. */
cudaError_t busy_fault(cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
