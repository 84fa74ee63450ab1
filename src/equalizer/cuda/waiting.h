/* Waiting for the GPU, but not for ever: what makes no progress for 10 seconds is lost. */
#ifndef LUMEQ_CUDA_WAITING_H
#define LUMEQ_CUDA_WAITING_H

#include <cuda_runtime_api.h>

/* Seconds of a clock that never goes back. */
double lumeq_cuda_now(void);

/* How to wait: not at all; with an eye on it all the time; or with naps between the looks. */
typedef enum LumeqCudaWait {
    LUMEQ_CUDA_LOOK,
    LUMEQ_CUDA_SPIN,
    LUMEQ_CUDA_NAP,
} LumeqCudaWait;

/*
 * Whether all before the event, or all on the stream, is done: cudaSuccess, cudaErrorNotReady or
 * CUDA's error. Who waits, and is answered cudaErrorNotReady: it was not done at `since` + 10 s.
 * Leaves no error behind for cudaGetLastError() that it does not answer.
 */
cudaError_t lumeq_cuda_await_event(cudaEvent_t event, double since, LumeqCudaWait wait);
cudaError_t lumeq_cuda_await_stream(cudaStream_t stream, double since);

/* Whether what has not been done since then is lost. */
int lumeq_cuda_overdue(double since);

#endif
