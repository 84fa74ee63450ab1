/* The CUDA context that a backend works in: the device's primary one, or one of the caller's. Any
 * thread. */
#ifndef LUMEQ_CUDA_CONTEXT_H
#define LUMEQ_CUDA_CONTEXT_H

#include <stddef.h>

#include <cuda_runtime_api.h>

typedef struct LumeqCudaHome {
    int number;    /* of the device */
    void *context; /* CUcontext of the caller's; NULL: the primary one */
} LumeqCudaHome;

/* Checks that the context can be worked in. 0, or an error with one sentence in `text`. */
int lumeq_cuda_home_check(const LumeqCudaHome *home, char *text, size_t text_size);

/* Makes the context current in this thread. Each one that succeeds is paired with a leave, which
 * puts the caller's back in its place; the primary one stays current. */
cudaError_t lumeq_cuda_enter(const LumeqCudaHome *home);
void lumeq_cuda_leave(const LumeqCudaHome *home);

/* The CUcontext that is worked in, the primary one, too. In the context. */
cudaError_t lumeq_cuda_context(const LumeqCudaHome *home, void **context);

/* What is queued on `stream` from now on comes after what is queued on `other`. In the context. */
cudaError_t lumeq_cuda_follow(cudaStream_t stream, cudaStream_t other);

/* Whether device memory belongs to a context other than the current one. */
int lumeq_cuda_is_foreign(const void *memory);

#endif
