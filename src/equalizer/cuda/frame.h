/* One frame's work between upload and download: which kernels, in which order. */
#ifndef LUMEQ_CUDA_FRAME_H
#define LUMEQ_CUDA_FRAME_H

#include "equalizer/backend.h"
#include "equalizer/cuda/clahe_kernels.h"
#include "equalizer/cuda/kernels.h"

/* What a frame has on the device besides its pictures. */
typedef struct LumeqCudaFrame {
    LumeqHistory result; /* the tiles' part: only with mode CLAHE */
    CurveTable table;
    TileTables tables;
} LumeqCudaFrame;

/* What the frames on one stream use in turns; zeroed before the first. */
typedef struct LumeqCudaShared {
    LumeqCudaCounters counters;
    TileCounters tile_counters;
} LumeqCudaShared;

/* On the device. */
typedef struct LumeqCudaHistory {
    const CurveResult *curve;
    const TileResult *tiles;
} LumeqCudaHistory;

/* Histogram and curve of `in` and, where the job writes, `out`; both pictures are on the device.
 * Waits for nothing. */
cudaError_t lumeq_cuda_equalize(const LumeqCudaDevice *device, const LumeqJob *job,
                                const LumeqImage *in, const LumeqImage *out,
                                LumeqCudaHistory before, LumeqCudaFrame *frame,
                                LumeqCudaShared *shared, cudaStream_t stream);

#endif
