/*
 * A fake CUDA that replaces the runtime and the kernels, to test error handling. Device memory is
 * host memory; the CPU backend does all work when it is queued. Any call can fail, the device can
 * hang, and the clock is fake.
 */
#ifndef LUMEQ_TESTS_FAKE_CUDA_H
#define LUMEQ_TESTS_FAKE_CUDA_H

#include <cuda_runtime_api.h>
#include <stddef.h>

typedef struct FakeCuda {
    long calls;          /* CUDA calls so far */
    long fail_at;        /* number of the call that fails; 0: no failure */
    cudaError_t error;   /* the error that this call returns */
    int sticky;          /* all later calls fail as well */
    int failed;          /* a call has failed */
    size_t memory;       /* bytes of device memory; 0: no limit */
    size_t total;        /* bytes of device memory that CUDA reports; 0: SIZE_MAX */
    size_t pinned;       /* bytes of pinned host memory */
    int hangs;           /* work queued from now on takes `stage_takes`, or never finishes */
    int mapped;          /* mapped textures */
    int copies_hang;     /* with `late`: copies hang as well */
    int late;            /* only kernels hang; copies to the host after them wait for the wake-up */
    double stage_takes;  /* with `hangs`: seconds for each piece of work; 0: for ever */
    double now;          /* the fake clock, in seconds */
    const void *foreign; /* memory of another context */
    long foreign_size;
    long checked;        /* pointers whose context was queried */
    void *context;       /* the caller's CUcontext for all work; NULL: the primary context */
    int pushed;          /* pushed contexts */
    long outside;        /* calls while `context` was not current */
    int events, streams; /* numbers of existing objects */
    size_t on_device;    /* bytes of device memory in use */
    int batches;         /* launches for more than one frame */
} FakeCuda;

extern FakeCuda fake_cuda;

/* Wakes the device up. Pending copies to pinned memory then write garbage, as if their source had
 * changed. */
void fake_cuda_wake(void);

/* Starts a new fake CUDA, and frees all memory of the previous one. */
void fake_cuda_start(FakeCuda cuda);

#endif
