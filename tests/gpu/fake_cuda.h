/*
 * A fake CUDA that replaces the runtime and the kernels, to test error handling. Device memory is
 * host memory; work is done by the CPU backend when it is queued. Any call can fail, the device can
 * hang, and the clock is a fake one.
 */
#ifndef LUMEQ_TESTS_FAKE_CUDA_H
#define LUMEQ_TESTS_FAKE_CUDA_H

#include <cuda_runtime_api.h>
#include <stddef.h>

typedef struct FakeCuda {
    long calls;          /* CUDA calls so far */
    long fail_at;        /* number of the call that fails; 0: no failure */
    cudaError_t error;   /* its error */
    int sticky;          /* all later calls fail as well */
    int failed;          /* a call has failed */
    size_t memory;       /* bytes that the device has left; 0: enough */
    size_t total;        /* bytes that it reports; 0: enough */
    size_t pinned;       /* bytes of pinned host memory */
    int hangs;           /* work that is queued from now on never finishes */
    int mapped;          /* mapped textures */
    int copies_hang;     /* copies hang as well; with `late`, only kernels hang otherwise */
    int late;            /* copies to pinned memory behind hanging work are made when it wakes up */
    double stage_takes;  /* seconds from one event to the next */
    double now;          /* seconds */
    const void *foreign; /* memory of another context */
    long foreign_size;
    long checked;        /* pointers whose context was queried */
    void *context;       /* the caller's CUcontext for all work; NULL: the primary context */
    int pushed;          /* pushed contexts */
    long outside;        /* calls outside of `context` */
    int events, streams; /* existing ones */
    size_t on_device;    /* bytes of device memory in use */
    int batches;         /* launches for more than one frame */
} FakeCuda;

extern FakeCuda fake_cuda;

/* The device wakes up: it makes pending copies to pinned memory, from memory that has changed
 * meanwhile. */
void fake_cuda_wake(void);

/* Starts a new fake CUDA; frees what equalizers left on the last one. */
void fake_cuda_start(FakeCuda cuda);

#endif
