/* Counts 16-bit samples with more bins: 11 to 16 bits. */
#include <stdint.h>

#define THREADS 1024
#include "equalizer/cuda/chunks.cuh"
#include "equalizer/cuda/measure.cuh"

#define KIND uint16_t, LUMEQ_MAX_BINS, 1

extern "C" cudaError_t lumeq_cuda_load_count16(void)
{
    return load_measure<KIND>();
}

extern "C" cudaError_t lumeq_cuda_count16(const LumeqCudaDevice *device,
                                          const LumeqCudaCount *count, const LumeqCudaBatch *batch,
                                          cudaStream_t stream)
{
    return launch_measure<KIND>(device, count, batch, stream);
}
