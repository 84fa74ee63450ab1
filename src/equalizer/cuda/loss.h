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
    pid_t process; /* process that opened the device; CUDA does not work in forked children */
    atomic_int lost;
    char text[256];
} LumeqCudaLoss;

int lumeq_cuda_is_lost(LumeqCudaLoss *loss);

/* Marks the device as lost while doing `what`, such as "measuring", unless it already is. Returns
 * LUMEQ_ERR_GPU with the reason as its text. cudaErrorNotReady: the device makes no progress. */
int lumeq_cuda_lose(LumeqCudaLoss *loss, cudaError_t error, const char *what);

/* Monotonic clock, in seconds. */
double lumeq_cuda_now(void);

typedef enum LumeqCudaWait {
    LUMEQ_CUDA_LOOK, /* do not wait */
    LUMEQ_CUDA_SPIN, /* poll, and sleep after 50 ms */
    LUMEQ_CUDA_NAP,  /* sleep */
} LumeqCudaWait;

/* Waits for an event, at most until 10 s after `since`. Returns cudaErrorNotReady if it is not
 * finished. cudaErrorNotReady does not remain in cudaGetLastError(). */
cudaError_t lumeq_cuda_await_event(cudaEvent_t event, double since, LumeqCudaWait wait);

/* True if the time limit for work that began at `since` is over. */
int lumeq_cuda_overdue(double since);

/* For a loop that waits since `begin` for work that began at `since`. Returns 0 if the loop should
 * end; otherwise sleeps if `wait` requires it. */
int lumeq_cuda_keep_waiting(double since, double begin, LumeqCudaWait wait);

#endif
