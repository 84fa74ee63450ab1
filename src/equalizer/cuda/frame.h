/* Starts the kernels that work on frames between upload and download. Nothing here waits. */
#ifndef LUMEQ_CUDA_FRAME_H
#define LUMEQ_CUDA_FRAME_H

#include "equalizer/backend.h"
#include "equalizer/cuda/kernels.h"

/* Memory for the kernels of a frame with LumeqFlight.reference, besides its pictures. */
typedef struct LumeqCudaReference {
    LumeqCudaTally *tally, *host; /* see lumeq_cuda_reference() */
    CurveTable *table;
    /* In mode CLAHE: */
    TileCounters *counters;
    TileSums *sums; /* pinned */
    TileTables *tables;
} LumeqCudaReference;

/* True if the images have the same shape, and their planes the same strides and alignment. */
int lumeq_cuda_same_images(const LumeqImage *a, const LumeqImage *b);

/* True if the parameters differ only in members that a batch keeps for each frame, or that kernels
 * do not use. */
int lumeq_cuda_same_params(const CurveParams *a, const CurveParams *b);

/* In functions with a batch, `job` is the first frame's job, with its pictures on the device. */

/* Computes the histograms and tables of frames with LumeqFlight.reference. */
cudaError_t lumeq_cuda_find_curve(const LumeqCudaDevice *device, const LumeqMeasureJob *job,
                                  const LumeqCudaReference *parts, const LumeqCudaBatch *batch,
                                  cudaStream_t stream);

/* Computes all counts. Adds cells and tiles, if wanted, to job->counts, which the caller has zeroed
 * on the device. `host` gets the other counts. */
cudaError_t lumeq_cuda_measure(const LumeqCudaDevice *device, const LumeqMeasureJob *job,
                               LumeqCudaTally *tally, LumeqCudaTally *host,
                               const LumeqCudaBatch *batch, cudaStream_t stream);

/* Bits of an apply job's curve.lift: the planes that the filter writes. */
enum { LUMEQ_CUDA_LIFT_LUMA = 1, LUMEQ_CUDA_LIFT_CHROMA = 2 };

/* Writes frames with their curves. All data except the grid are on the device. Previous frames
 * are allowed only in a batch of one frame; only their luma is read. `out` has the layout of `in`.
 * `early`: the kernel for luma may start before the kernel that makes the table has ended. */
cudaError_t lumeq_cuda_apply_curve(const LumeqCudaDevice *device, const LumeqApplyJob *job,
                                   const LumeqCudaBatch *batch, int early, cudaStream_t stream);

/* Removes haze from a frame that lumeq_cuda_apply_curve() wrote. The job's table and bars are in
 * host memory, its pictures on the device. */
cudaError_t lumeq_cuda_clear_frame(const LumeqApplyJob *job, cudaStream_t stream);

#endif
