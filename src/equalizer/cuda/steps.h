/* A step is the memory, the events and the stream for work on one frame. A frame in flight keeps
 * its step until lumeq_cuda_steps_leave(). Frames that are launched together use the stream and
 * events of the last frame's step. Threads: see LumeqBackend. */
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
    LumeqCudaDevice device; /* with early launches turned off */
    int early;              /* the device has early launches */
    LumeqCudaWait waits;    /* how calls wait for frames in flight */
    int timed;              /* the stages of frames in flight are timed */
    cudaEvent_t anchor;     /* recorded anchor_us after opening; times are relative to it */
    double anchor_us;
    LumeqCudaStep *unfetched; /* frames in flight to copy to the host after they are written */
    int opened;               /* `lock` exists */
    pthread_mutex_t lock;
    /* Guarded by `lock`: */
    LumeqCudaStep *first;
    double progress; /* when a step last finished, in seconds */
} LumeqCudaSteps;

/* Call it in the context. `steps` must be zeroed except for `waits` and `timed`; `home` and `loss`
 * must outlive it. Waits for the device's first work. Close `steps` even after a failure. */
cudaError_t lumeq_cuda_steps_open(LumeqCudaSteps *steps, const LumeqCudaHome *home,
                                  const LumeqCudaDevice *device, LumeqCudaLoss *loss);

/* Call it in the context or after the device is lost. Does not wait for a lost device. Does nothing
 * if `steps` is not open. */
void lumeq_cuda_steps_close(LumeqCudaSteps *steps);

/* See LumeqBackend. Call them in the context. */
int lumeq_cuda_steps_measure(LumeqCudaSteps *steps, const LumeqMeasureJob *job, void **pending);
int lumeq_cuda_steps_finish(LumeqCudaSteps *steps, void *pending, const LumeqCounts *counts,
                            int wait);
int lumeq_cuda_steps_apply(LumeqCudaSteps *steps, const LumeqApplyJob *job);
int lumeq_cuda_steps_place(LumeqCudaSteps *steps, const LumeqMeasureJob *job,
                           const LumeqFlight *flight, void **pending);
int lumeq_cuda_steps_begin(LumeqCudaSteps *steps, void *const *pendings, int count);
int lumeq_cuda_steps_write(LumeqCudaSteps *steps, const LumeqApplyJob *jobs, int count);
int lumeq_cuda_steps_land(LumeqCudaSteps *steps, void *pending, const LumeqCounts *counts, int wait,
                          double begin_us[LUMEQ_STAGES], double end_us[LUMEQ_STAGES]);
void lumeq_cuda_steps_leave(LumeqCudaSteps *steps, void *pending);

#endif
