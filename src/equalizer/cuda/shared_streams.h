/* The CUDA streams that frames in a row go through: a backend's own, or those that all backends of
 * the process share that ask for it and work in the same context. Any thread. */
#ifndef LUMEQ_CUDA_SHARED_STREAMS_H
#define LUMEQ_CUDA_SHARED_STREAMS_H

#include "equalizer/cuda/cuda_context.h"

#define LUMEQ_CUDA_STREAMS 4

typedef struct LumeqCudaStreams {
    struct LumeqCudaStreams *next; /* of those that are shared */
    LumeqCudaHome home;
    int users;
    int lost; /* the device is, for one of them: nobody calls anything, and nobody joins */
    cudaStream_t stream[LUMEQ_CUDA_STREAMS];
} LumeqCudaStreams;

/* In the context. `shares`: not 0: those of the others, if there are some. On failure *streams is
 * NULL. */
cudaError_t lumeq_cuda_streams_open(LumeqCudaStreams **streams, const LumeqCudaHome *home,
                                    int shares);

/* In the context, unless it is `lost`: its streams are left alone then. Nothing of the caller's is
 * under way on them. The last user closes them. */
void lumeq_cuda_streams_close(LumeqCudaStreams **streams, int lost);

#endif
