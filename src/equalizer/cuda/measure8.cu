/* Counts 8-bit samples. */
#include <stdint.h>

#define THREADS 1024
#include "equalizer/cuda/chunks.cuh"
#include "equalizer/cuda/measure.cuh"

#define KIND uint8_t, 256, 32 /* a table for each lane */

extern "C" cudaError_t lumeq_cuda_load_count8(void)
{
    return load_measure<KIND>();
}

extern "C" cudaError_t lumeq_cuda_count8(const LumeqCudaDevice *device, const LumeqCudaCount *count,
                                         const LumeqCudaBatch *batch, cudaStream_t stream)
{
    return launch_measure<KIND>(device, count, batch, stream);
}

extern "C" cudaError_t lumeq_cuda_code_version(int *version)
{
    cudaFuncAttributes attributes = {};
    const cudaError_t error = cudaFuncGetAttributes(&attributes, measure<KIND>);
    *version = attributes.ptxVersion;
    return error;
}
