/* The kernels of a frame between upload and download, in order. Nothing here waits. */
#ifndef LUMEQ_CUDA_FRAME_H
#define LUMEQ_CUDA_FRAME_H

#include "equalizer/backend.h"
#include "equalizer/cuda/clahe_kernels.h"
#include "equalizer/cuda/kernels.h"

/* A frame's device memory besides its pictures. Zero it before the first use. */
typedef struct LumeqCudaFrame {
    LumeqCudaSurvey survey;
    LumeqCudaCounters counters;
    TileCounters tile_counters; /* like `tables`, only used in mode CLAHE */
    LumeqState result;
    CurveTable table;
    TileTables tables;
} LumeqCudaFrame;

/* Results of the previous frame, on the device. */
typedef struct LumeqCudaHistory {
    const CurveResult *curve;
    const TileResult *tiles;
} LumeqCudaHistory;

/* Computes bars, noise, histogram and curve of `in`. `previous` is the previous frame; plane[0] is
 * NULL if it is unknown. All frames use the same stream, in order. */
cudaError_t lumeq_cuda_find_curve(const LumeqCudaDevice *device, const LumeqJob *job,
                                  const LumeqImage *in, const LumeqImage *previous,
                                  LumeqCudaHistory before, LumeqCudaFrame *frame,
                                  cudaStream_t stream);

/* Computes all counts of a frame. Luma and counts are on the device; the caller has zeroed counts
 * and tally. */
cudaError_t lumeq_cuda_measure(const LumeqCudaDevice *device, const LumeqMeasureJob *job,
                               LumeqCudaTally *tally, cudaStream_t stream);

/* Writes a frame with its curve. All data are on the device, including the luma of previous frames;
 * only the grid is on the host. `out` has the layout of `in`; `write` is the number of its planes
 * to write. Copies the report as well (NULL: none). `behind_curve`: the kernel of the frame's curve
 * is the last one on the stream, so luma may start early. */
cudaError_t lumeq_cuda_apply_curve(const LumeqCudaDevice *device, const LumeqApplyJob *job,
                                   const LumeqCudaReport *report, int behind_curve,
                                   cudaStream_t stream);

/* Writes `out` from `in`, if the job writes, with the result of lumeq_cuda_find_curve() and the
 * previous frame, if it has a plane. Copies the report in any case (NULL: none). Queue it after
 * lumeq_cuda_find_curve(): on another stream the next frame's curve can be computed at the same
 * time; on the same stream (`behind_curve`) this frame finishes sooner. */
cudaError_t lumeq_cuda_write(const LumeqCudaDevice *device, const LumeqJob *job,
                             const LumeqImage *in, const LumeqImage *previous,
                             const LumeqImage *out, LumeqCudaFrame *frame,
                             const LumeqCudaReport *report, int behind_curve, cudaStream_t stream);

#endif
