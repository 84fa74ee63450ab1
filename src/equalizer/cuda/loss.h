/* A device is lost if a call on it failed, except for lack of memory, or if it made no progress for
 * 10 seconds. Copies may still be in progress, so after a loss CUDA is not called, and no memory is
 * freed or reused. Thread-safe. */
#ifndef LUMEQ_CUDA_LOSS_H
#define LUMEQ_CUDA_LOSS_H

#include <stdatomic.h>
#include <stddef.h>
#include <sys/types.h>

#include <cuda_runtime_api.h>

typedef struct LumeqCudaLoss {
    int number;    /* of the device */
    pid_t process; /* that opened the device; CUDA does not work in forked children */
    atomic_int lost;
    char text[256];
} LumeqCudaLoss;

int lumeq_cuda_is_lost(LumeqCudaLoss *loss);

/* Marks the device as lost while doing `what`, such as "measuring", unless it already is. Returns
 * LUMEQ_ERR_GPU with the reason as its text. cudaErrorNotReady: the device makes no progress. */
int lumeq_cuda_lose(LumeqCudaLoss *loss, cudaError_t error, const char *what);

/* Monotonic clock, in seconds. */
double lumeq_cuda_now(void);

/* How to wait: not at all; by polling, with sleeps after 50 ms; or with sleeps from the start. */
typedef enum LumeqCudaWait {
    LUMEQ_CUDA_LOOK,
    LUMEQ_CUDA_SPIN,
    LUMEQ_CUDA_NAP,
} LumeqCudaWait;

/* Waits for an event. Returns cudaSuccess, cudaErrorNotReady (not finished or, unless `wait` is
 * LUMEQ_CUDA_LOOK, not 10 s after `since`) or another error. cudaErrorNotReady does not remain in
 * cudaGetLastError(). */
cudaError_t lumeq_cuda_await_event(cudaEvent_t event, double since, LumeqCudaWait wait);

/* True if the time limit for work that began at `since` is over. */
int lumeq_cuda_overdue(double since);

/* For a loop that has waited since `begin`: returns 0 if it should end, otherwise sleeps if `wait`
 * requires it. */
int lumeq_cuda_keep_waiting(double since, double begin, LumeqCudaWait wait);

#endif
