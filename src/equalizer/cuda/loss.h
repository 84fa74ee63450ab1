/* A device that has failed in mid-work. Such errors poison the process' use of it, and copies may
 * still be under way: nothing is called, freed or reused after it. Any thread. */
#ifndef LUMEQ_CUDA_LOSS_H
#define LUMEQ_CUDA_LOSS_H

#include <stdatomic.h>
#include <stddef.h>

#include <cuda_runtime_api.h>

typedef struct LumeqCudaLoss {
    int number; /* of the device */
    atomic_int lost;
    char text[256];
} LumeqCudaLoss;

int lumeq_cuda_is_lost(LumeqCudaLoss *loss);

/* Marks it as lost by `what`, unless it is already, and answers LUMEQ_ERR_GPU with the sentence
 * that tells why in `text`. cudaErrorNotReady: it makes no progress. */
int lumeq_cuda_lose(LumeqCudaLoss *loss, cudaError_t error, const char *what, char *text,
                    size_t text_size);

/* Errors after which no call succeeds: those that the CUDA runtime's documentation says leave the
 * process in an inconsistent state, and a device that is gone. Others that are as bad are seen when
 * the streams are waited for. */
int lumeq_cuda_is_loss(cudaError_t error);

#endif
