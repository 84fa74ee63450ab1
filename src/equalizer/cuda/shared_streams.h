/* The CUDA streams for frames in flight that all backends in a context share, if they ask for it.
 * Thread-safe. */
#ifndef LUMEQ_CUDA_SHARED_STREAMS_H
#define LUMEQ_CUDA_SHARED_STREAMS_H

#include "equalizer/cuda/cuda_context.h"

#define LUMEQ_CUDA_STREAMS 2

typedef struct LumeqCudaStreams {
    struct LumeqCudaStreams *next; /* in the list of shared ones */
    LumeqCudaHome home;
    int users;
    int lost; /* a user has lost the device: the streams are abandoned, and get no new users */
    cudaStream_t stream[LUMEQ_CUDA_STREAMS];
} LumeqCudaStreams;

/* Joins the shared streams of the context; the first user creates them. *streams is NULL on
 * failure. Call it in the context. */
cudaError_t lumeq_cuda_streams_open(LumeqCudaStreams **streams, const LumeqCudaHome *home);

/* Leaves the streams; the last user destroys them. None of the caller's work may be in flight. With
 * `lost` they are abandoned; else call it in the context. */
void lumeq_cuda_streams_close(LumeqCudaStreams **streams, int lost);

#endif
