/* A backend's CUDA context: the device's primary context or the caller's. Thread-safe. */
#ifndef LUMEQ_CUDA_CONTEXT_H
#define LUMEQ_CUDA_CONTEXT_H

#include <stddef.h>

#include <cuda_runtime_api.h>

typedef struct LumeqCudaHome {
    int number;    /* of the device */
    void *context; /* the caller's CUcontext; NULL: the primary context */
} LumeqCudaHome;

/* Checks that the context can be used. Returns 0, or an error with its text. */
int lumeq_cuda_home_check(const LumeqCudaHome *home);

/* Makes the context current in this thread. After success, call lumeq_cuda_leave(). If the context
 * is the caller's, this restores the thread's previous context; a primary context stays current. */
cudaError_t lumeq_cuda_enter(const LumeqCudaHome *home);
void lumeq_cuda_leave(const LumeqCudaHome *home);

/* Stores the backend's CUcontext. Call it after lumeq_cuda_enter(). */
cudaError_t lumeq_cuda_context(const LumeqCudaHome *home, void **context);

/* Makes `stream` wait for the work queued on `other` so far. Call it after lumeq_cuda_enter(). */
cudaError_t lumeq_cuda_follow(cudaStream_t stream, cudaStream_t other);

/* True if device memory is known to belong to a context other than the current one. */
int lumeq_cuda_is_foreign(const void *memory);

#endif
