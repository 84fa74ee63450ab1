/* The histogram of 8-bit samples without a curve, with as many threads as fit. */
#include <stdint.h>

#define CURVE_THREADS 256
#define CURVE_BINS 256
#include "equalizer/cuda/survey_group.cuh"

#include "equalizer/cuda/curve_group.cuh"

#define THREADS 1024
#include "equalizer/cuda/chunks.cuh"
#include "equalizer/cuda/histogram.cuh"
#include "equalizer/cuda/kernels.h"

#define COUNTS counts<uint8_t, CURVE_BINS, 32>

extern "C" cudaError_t lumeq_cuda_load_counts8(void)
{
    return load(COUNTS);
}

extern "C" cudaError_t lumeq_cuda_counts8(const LumeqCudaDevice *device, const LumeqCudaPlane *src,
                                          int, int, uint32_t *hist, LumeqCudaTally *tally,
                                          cudaStream_t stream)
{
    const Codes in_bins = {0, CURVE_BINS - 1};
    return launch_over<uint8_t>(COUNTS, device, src, 1, 0, stream, in_bins, hist, tally);
}
