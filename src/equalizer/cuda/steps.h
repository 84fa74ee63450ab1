/* Work step by step: frames measured and equalized one by one, by any threads at any time. Each has
 * memory and an event of its own; nothing waits for the host but where it says so. */
#ifndef LUMEQ_CUDA_STEPS_H
#define LUMEQ_CUDA_STEPS_H

#include <pthread.h>
#include <stddef.h>

#include "equalizer/backend.h"
#include "equalizer/cuda/cuda_context.h"
#include "equalizer/cuda/kernels.h"
#include "equalizer/cuda/loss.h"

typedef struct LumeqCudaStep LumeqCudaStep;

typedef struct LumeqCudaSteps {
    const LumeqCudaHome *home;
    LumeqCudaLoss *loss;
    LumeqCudaDevice device;
    int opened; /* there is a lock */
    pthread_mutex_t lock;
    /* Guarded by it: */
    LumeqCudaStep *first;
    double progress; /* when one was seen to be done last, in seconds */
} LumeqCudaSteps;

/* Zeroed before. MEMORY. `home` and `loss` live longer. */
int lumeq_cuda_steps_open(LumeqCudaSteps *steps, const LumeqCudaHome *home,
                          const LumeqCudaDevice *device, LumeqCudaLoss *loss);

/* In the context. Waits for what is under way; where the device is lost, only forgets it. Accepts
 * what is not open. */
void lumeq_cuda_steps_close(LumeqCudaSteps *steps);

/* As in LumeqBackend, each in the context. */
int lumeq_cuda_steps_measure(LumeqCudaSteps *steps, const LumeqMeasureJob *job, void **pending,
                             char *text, size_t text_size);
int lumeq_cuda_steps_finish(LumeqCudaSteps *steps, void *pending, const LumeqCounts *counts,
                            int wait, char *text, size_t text_size);
int lumeq_cuda_steps_apply(LumeqCudaSteps *steps, const LumeqApplyJob *job, char *text,
                           size_t text_size);

#endif
