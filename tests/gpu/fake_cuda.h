/*
 * A made-up CUDA in the place of the runtime and of the kernels, for tests of what is done about
 * errors: memory of the device is the host's, work is done when it is handed in, by the CPU's
 * backend. Any call can be made to fail, and the device to hang. Time is made up, too.
 */
#ifndef LUMEQ_TESTS_FAKE_CUDA_H
#define LUMEQ_TESTS_FAKE_CUDA_H

#include <cuda_runtime_api.h>
#include <stddef.h>

typedef struct FakeCuda {
    long calls;        /* of CUDA, so far */
    long fail_at;      /* the call of that number fails; 0: none does */
    cudaError_t error; /* with this */
    int sticky;        /* and so do all that follow */
    int failed;        /* it has */
    size_t memory;     /* bytes that the device has left, 0: enough */
    size_t total;      /* that it says it has; 0: enough */
    size_t pinned;     /* bytes of the host that are pinned */
    int hangs;         /* work that is handed in from now on is not done ... */
    int mapped;        /* textures that are */
    int late;          /* copies into pinned memory that hang are made when it wakes up */
    double
        stage_takes; /* ... but for this: each event takes so many seconds after the one before */
    double now;      /* seconds */
    const void *foreign; /* memory of another context */
    long foreign_size;
    long checked;  /* pointers whose context was asked for */
    void *context; /* the caller's CUcontext that all is to be done in; NULL: the primary one */
    int pushed;    /* contexts that are */
    long outside;  /* calls out of `context` */
    int events, streams; /* that there are */
    size_t on_device;    /* bytes of its memory that are taken */
} FakeCuda;

extern FakeCuda fake_cuda;

/* What hung goes on: pinned memory that was to be copied to is written to, from what is not what it
 * was any more. */
void fake_cuda_wake(void);

/* A new one; what equalizers on the one before have left is freed. */
void fake_cuda_start(FakeCuda cuda);

#endif
