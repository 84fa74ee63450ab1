/* The histogram of 8-bit samples. */
#include <stdint.h>

/* A thread a bin: the other warps of the last block end before the curve begins. */
#define CURVE_THREADS 256
#define CURVE_BINS 256
#include "equalizer/cuda/curve_group.cuh"

/* Many warps, as counting waits for the tables; with more chunks registers would be short. */
#define THREADS 1024
#define CHUNKS_AT_ONCE 2
#include "equalizer/cuda/chunks.cuh"
#include "equalizer/cuda/histogram.cuh"
#include "equalizer/cuda/kernels.h"

#define WARP_TABLES 8

#define KERNEL histogram<uint8_t, CURVE_BINS, WARP_TABLES>

extern "C" cudaError_t lumeq_cuda_load_histogram8(void)
{
    return load(KERNEL);
}

extern "C" cudaError_t lumeq_cuda_histogram8(const LumeqCudaDevice *device,
                                             const LumeqCudaPlane *src, const CurveParams *params,
                                             const CurveResult *before, CurveResult *result,
                                             CurveTable *table, LumeqCudaCounters *counters,
                                             cudaStream_t stream)
{
    return launch<uint8_t>(KERNEL, device, src, params, before, result, table, counters, stream);
}
