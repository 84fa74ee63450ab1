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

#define HISTOGRAM(Batch) histogram<uint8_t, CURVE_BINS, 8, Batch>

extern "C" cudaError_t lumeq_cuda_code_version(int *version)
{
    cudaFuncAttributes attributes = {};
    const cudaError_t error = cudaFuncGetAttributes(&attributes, HISTOGRAM(LumeqCudaAlone));
    *version = attributes.ptxVersion;
    return error;
}

extern "C" cudaError_t lumeq_cuda_load_histogram8(void)
{
    cudaError_t error;
    LOAD_HISTOGRAM(error, HISTOGRAM);
    return error;
}

HISTOGRAM_FUNCTIONS(extern "C", lumeq_cuda_histogram8, lumeq_cuda_tables8, uint8_t, HISTOGRAM)
