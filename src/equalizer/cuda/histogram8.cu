/* Histogram and curve of 8-bit samples. */
#include <stdint.h>

/* One thread per bin; other warps of the last block take no part in the curve. */
#define CURVE_THREADS 256
#define CURVE_BINS 256
#include "equalizer/cuda/survey_group.cuh"

#include "equalizer/cuda/curve_group.cuh"

#define THREADS 512 /* more would leave only 32 registers per thread for the curve */
#include "equalizer/cuda/chunks.cuh"
#include "equalizer/cuda/histogram.cuh"
#include "equalizer/cuda/kernels.h"

#define HISTOGRAM histogram<uint8_t, CURVE_BINS, 8>

extern "C" cudaError_t lumeq_cuda_code_version(int *version)
{
    cudaFuncAttributes attributes = {};
    const cudaError_t error = cudaFuncGetAttributes(&attributes, HISTOGRAM);
    *version = attributes.ptxVersion;
    return error;
}

extern "C" cudaError_t lumeq_cuda_load_histogram8(void)
{
    return load(HISTOGRAM);
}

HISTOGRAM_FUNCTION(extern "C", lumeq_cuda_histogram8, uint8_t, HISTOGRAM)
