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
    cudaError_t error;   /* the error that it returns */
    int sticky;          /* all later calls fail as well */
    int failed;          /* a call has failed */
    size_t memory;       /* bytes that the device has left; 0: enough */
    size_t total;        /* bytes that it reports; 0: enough */
    size_t pinned;       /* bytes of pinned host memory */
    int hangs;           /* work queued from now on takes `stage_takes`, or never finishes */
    int mapped;          /* mapped textures */
    int copies_hang;     /* with `late`: not only kernels hang, but also copies */
    int late;            /* copies to pinned memory behind hanging work are made when it wakes up */
    double stage_takes;  /* seconds that each piece of work takes if it hangs; 0: for ever */
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

/* The device wakes up and makes the pending copies to pinned memory. They write garbage, because
 * their source has changed meanwhile. */
void fake_cuda_wake(void);

/* Starts a new fake CUDA; frees memory that is left on the previous one. */
void fake_cuda_start(FakeCuda cuda);

#endif
