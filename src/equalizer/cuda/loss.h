/* A device that failed while it was working. Further calls would fail, and copies may still be in
 * progress: after a loss nothing is called, freed or reused. Thread-safe. */
#ifndef LUMEQ_CUDA_LOSS_H
#define LUMEQ_CUDA_LOSS_H

#include <stdatomic.h>
#include <stddef.h>
#include <sys/types.h>

#include <cuda_runtime_api.h>

typedef struct LumeqCudaLoss {
    int number;    /* of the device */
    pid_t process; /* CUDA works in no process that it forks */
    atomic_int lost;
    char text[256];
} LumeqCudaLoss;

int lumeq_cuda_is_lost(LumeqCudaLoss *loss);

/* Marks the device as lost because of `what`, unless it already is. Returns LUMEQ_ERR_GPU with the
 * reason as its text. cudaErrorNotReady means that it makes no progress. */
int lumeq_cuda_lose(LumeqCudaLoss *loss, cudaError_t error, const char *what);

/* True for errors after which no call succeeds: those that leave the process in an inconsistent
 * state according to CUDA's documentation, and a missing device. Other fatal errors show when the
 * streams are waited for. */
int lumeq_cuda_is_loss(cudaError_t error);

#endif
