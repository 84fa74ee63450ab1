/* Counts 16-bit samples with up to 1024 bins: 9 and 10 bits. */
#include <stdint.h>

#define THREADS 512
#include "equalizer/cuda/chunks.cuh"
#include "equalizer/cuda/measure.cuh"

#define KIND uint16_t, 1024, 4

extern "C" cudaError_t lumeq_cuda_load_count10(void)
{
    return load_measure<KIND>();
}

extern "C" cudaError_t lumeq_cuda_count10(const LumeqCudaDevice *device,
                                          const LumeqCudaCount *count, const LumeqCudaBatch *batch,
                                          cudaStream_t stream)
{
    return launch_measure<KIND>(device, count, batch, stream);
}
