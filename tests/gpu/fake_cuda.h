/*
 * A fake CUDA that replaces the runtime and the kernels, to test error handling. Device memory is
 * host memory. The CPU backend does all work at once. Any call can fail, the device can hang, and
 * the clock is fake.
 */
#ifndef LUMEQ_TESTS_FAKE_CUDA_H
#define LUMEQ_TESTS_FAKE_CUDA_H

#include <cuda_runtime_api.h>
#include <stddef.h>

typedef struct FakeCuda {
    long calls;          /* number of CUDA calls so far */
    long fail_at;        /* number of the call that fails; 0: no failure */
    cudaError_t error;   /* the error that the failing call returns */
    int sticky;          /* all calls after `fail_at` fail as well */
    int failed;          /* a call has failed */
    size_t memory;       /* bytes of device memory; 0: no limit */
    size_t total;        /* bytes of device memory that CUDA reports; 0: SIZE_MAX */
    size_t pinned;       /* bytes of pinned host memory */
    int hangs;           /* work queued from now on takes `stage_takes` */
    int mapped;          /* number of mapped textures */
    int copies_hang;     /* with `late`: copies hang, too */
    int late;            /* with `hangs`: only kernels hang; copies await fake_cuda_wake() */
    double stage_takes;  /* seconds for each piece of work; 0: work never finishes */
    double now;          /* the fake clock, in seconds */
    const void *foreign; /* memory of another context */
    long foreign_size;
    long checked;        /* number of pointers whose context was queried */
    void *context;       /* the caller's CUcontext for all work; NULL: the primary context */
    int pushed;          /* number of pushed contexts */
    long outside;        /* number of calls while `context` was not current */
    int events, streams; /* numbers of existing objects */
    size_t on_device;    /* bytes of device memory in use */
    int batches;         /* number of launches for more than one frame */
} FakeCuda;

extern FakeCuda fake_cuda;

/* Ends a hang: pending copies to pinned memory write garbage, as if their source had changed. */
void fake_cuda_wake(void);

/* Starts with these settings, and frees all memory of the previous fake CUDA. */
void fake_cuda_start(FakeCuda cuda);

#endif
