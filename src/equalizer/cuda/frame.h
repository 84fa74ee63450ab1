/* One frame's work between upload and download: which kernels, in which order. */
#ifndef LUMEQ_CUDA_FRAME_H
#define LUMEQ_CUDA_FRAME_H

#include "equalizer/backend.h"
#include "equalizer/cuda/clahe_kernels.h"
#include "equalizer/cuda/kernels.h"

/* What a frame has on the device besides its pictures; zeroed before the first that uses it. */
typedef struct LumeqCudaFrame {
    LumeqCudaSurvey survey;
    LumeqCudaCounters counters;
    TileCounters tile_counters; /* the tiles' parts: only with mode CLAHE */
    LumeqState result;
    CurveTable table;
    TileTables tables;
} LumeqCudaFrame;

/* On the device. */
typedef struct LumeqCudaHistory {
    const CurveResult *curve;
    const TileResult *tiles;
} LumeqCudaHistory;

/* Bars, noise, histogram and curve of `in`. `previous` is the frame before, without a plane where
 * none is known. The frames' follow each other on one stream. Waits for nothing. */
cudaError_t lumeq_cuda_find_curve(const LumeqCudaDevice *device, const LumeqJob *job,
                                  const LumeqImage *in, const LumeqImage *previous,
                                  LumeqCudaHistory before, LumeqCudaFrame *frame,
                                  cudaStream_t stream);

/* All that is counted of a frame, whose luma and counts are on the device; these and the tally are
 * zeroed before. Waits for nothing. */
cudaError_t lumeq_cuda_measure(const LumeqCudaDevice *device, const LumeqMeasureJob *job,
                               LumeqCudaTally *tally, cudaStream_t stream);

/* The output of a frame by its curve. All but the grid is on the device, the first planes of frames
 * before with it, and `out` is laid out like
 * `in`; `write` is how many of its planes are written. The report (NULL: none) is copied meanwhile.
 * `behind_curve`: the kernel in front of it on the stream is that of the frame's curve; then luma
 * starts early. Waits for nothing. */
cudaError_t lumeq_cuda_apply_curve(const LumeqCudaDevice *device, const LumeqApplyJob *job,
                                   const LumeqCudaReport *report, int behind_curve,
                                   cudaStream_t stream);

/* Where the job writes, `out` from `in`, what was found, and the frame before, if it has a plane;
 * and in any case the report (NULL: none), which here it does not hold up the next curve.
 * To be started after that on any stream: on another one the curve of the next frame may be found
 * meanwhile; on the same one (`behind_curve`) it is done sooner. Waits for nothing. */
cudaError_t lumeq_cuda_write(const LumeqCudaDevice *device, const LumeqJob *job,
                             const LumeqImage *in, const LumeqImage *previous,
                             const LumeqImage *out, LumeqCudaFrame *frame,
                             const LumeqCudaReport *report, int behind_curve, cudaStream_t stream);

#endif
