/* Waits for the GPU with a time limit: without progress for 10 seconds it is lost. */
#ifndef LUMEQ_CUDA_WAITING_H
#define LUMEQ_CUDA_WAITING_H

#include <cuda_runtime_api.h>

/* Monotonic clock, in seconds. */
double lumeq_cuda_now(void);

/* How to wait: not at all; by polling; or by polling with sleeps in between. */
typedef enum LumeqCudaWait {
    LUMEQ_CUDA_LOOK,
    LUMEQ_CUDA_SPIN,
    LUMEQ_CUDA_NAP,
} LumeqCudaWait;

/* Waits for an event. Returns cudaSuccess, cudaErrorNotReady (if this waits: not finished 10 s
 * after `since`) or another error. cudaErrorNotReady does not remain in cudaGetLastError(). */
cudaError_t lumeq_cuda_await_event(cudaEvent_t event, double since, LumeqCudaWait wait);

/* True if the time limit for work that began at `since` is over. */
int lumeq_cuda_overdue(double since);

/* For a loop that waits since `begin`, of this way of waiting: sleeps if it should, and returns 0
 * if it should not go on. */
int lumeq_cuda_keep_waiting(double since, double begin, LumeqCudaWait wait);

#endif
