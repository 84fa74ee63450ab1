/* A device is lost after a CUDA error other than lack of memory, or after 10 seconds without
 * progress. Its copies may still be in progress. So after a loss, CUDA is not called, and no memory
 * is freed or reused. Thread-safe. */
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

/* Marks the device as lost while doing `what`, such as "measuring", unless it is lost already.
 * Returns LUMEQ_ERR_GPU with the reason as its text. cudaErrorNotReady: no progress. */
int lumeq_cuda_lose(LumeqCudaLoss *loss, cudaError_t error, const char *what);

/* Monotonic clock, in seconds. */
double lumeq_cuda_now(void);

typedef enum LumeqCudaWait {
    LUMEQ_CUDA_LOOK, /* do not wait */
    LUMEQ_CUDA_SPIN, /* poll, and sleep after 50 ms */
    LUMEQ_CUDA_NAP,  /* sleep */
} LumeqCudaWait;

/* Waits for an event, at most until 10 s after `since`. Returns cudaErrorNotReady if the event is
 * still pending, but clears this error from cudaGetLastError(). */
cudaError_t lumeq_cuda_await_event(cudaEvent_t event, double since, LumeqCudaWait wait);

/* True if the time limit for work that began at `since` is over. */
int lumeq_cuda_overdue(double since);

/* Call it in a loop that began at `begin` to wait for work that began at `since`. Returns 0 if the
 * loop should end. Otherwise returns 1, after a sleep if `wait` requires it. */
int lumeq_cuda_keep_waiting(double since, double begin, LumeqCudaWait wait);

#endif
