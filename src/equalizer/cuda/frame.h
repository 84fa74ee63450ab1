/* The kernels of frames between upload and download, in order. Nothing here waits. */
#ifndef LUMEQ_CUDA_FRAME_H
#define LUMEQ_CUDA_FRAME_H

#include "equalizer/backend.h"
#include "equalizer/cuda/clahe_kernels.h"
#include "equalizer/cuda/kernels.h"

/* A frame's device memory besides its pictures. Zero it before the first use. */
typedef struct LumeqCudaFrame {
    LumeqCudaCounters counters;
    TileCounters tile_counters; /* like `tables`, only used in mode CLAHE */
    LumeqState result;
    CurveTable table;
    TileTables tables;
} LumeqCudaFrame;

/* A job and its pictures on the device. `out` has the layout of `in`. */
typedef struct LumeqCudaWork {
    const LumeqJob *job;
    LumeqImage in, out;
} LumeqCudaWork;

/* True if the second can be in a batch that begins with the first: the same shape, alignment and
 * parameters except for times. */
int lumeq_cuda_same_shape(const LumeqCudaWork *first, const LumeqCudaWork *other);

/* Computes histogram and curve of `count` frames of the reference, all of the same shape; `frames`:
 * their memory, one after another. */
cudaError_t lumeq_cuda_find_curve(const LumeqCudaDevice *device, const LumeqCudaWork *work,
                                  int count, LumeqCudaFrame *frames, cudaStream_t stream);

/* Computes all counts of a frame. Luma is on the device. `host` gets histogram, lines and noise;
 * cells and tiles of the job's counts, if wanted, are on the device, zeroed by the caller. */
cudaError_t lumeq_cuda_measure(const LumeqCudaDevice *device, const LumeqMeasureJob *job,
                               LumeqCudaTally *tally, LumeqCudaTally *host, cudaStream_t stream);

/* Writes a frame with its curve. All data are on the device, including the luma of previous frames;
 * only the grid is on the host. `out` has the layout of `in`; `write` is the number of its planes
 * to write. */
cudaError_t lumeq_cuda_apply_curve(const LumeqCudaDevice *device, const LumeqApplyJob *job,
                                   cudaStream_t stream);

/* Writes each `out` from `in`, if the jobs write, with the results of lumeq_cuda_find_curve().
 * Copies the report in any case (NULL: none). Queue it after lumeq_cuda_find_curve(): on another
 * stream the next curves can be computed at the same time; on the same stream (`behind_curve`, the
 * kernel of the curve is the last one on it) these frames finish sooner. */
cudaError_t lumeq_cuda_write(const LumeqCudaDevice *device, const LumeqCudaWork *work, int count,
                             LumeqCudaFrame *frames, const LumeqCudaReport *report,
                             int behind_curve, cudaStream_t stream);

#endif
