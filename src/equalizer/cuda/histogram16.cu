/* The histogram of samples of 16 bits, with codes of 9 to 16. */
#include <stdint.h>

#define CURVE_THREADS 1024
#include "equalizer/cuda/curve_group.cuh"

/* As for 8 bits. */
#define THREADS 1024
#define CHUNKS_AT_ONCE 2
#include "equalizer/cuda/chunks.cuh"
#include "equalizer/cuda/kernels.h"

/* Up to 10 bits, and deeper. Twice the tables gain nothing, and take longer to add up. */
#define FEW_BINS 1024
#define FEW_WARP_TABLES 4
#define MANY_WARP_TABLES 1

#include "equalizer/cuda/histogram.cuh"

#define FEW histogram<uint16_t, FEW_BINS, FEW_WARP_TABLES>
#define MANY histogram<uint16_t, CURVE_BINS, MANY_WARP_TABLES>

extern "C" cudaError_t lumeq_cuda_load_histogram16(void)
{
    const cudaError_t error = load(FEW);
    return error ? error : load(MANY);
}

extern "C" cudaError_t lumeq_cuda_histogram16(const LumeqCudaDevice *device,
                                              const LumeqCudaPlane *src, const CurveParams *params,
                                              const CurveResult *before, CurveResult *result,
                                              CurveTable *table, LumeqCudaCounters *counters,
                                              cudaStream_t stream)
{
    return launch<uint16_t>(params->bins > FEW_BINS ? MANY : FEW, device, src, params, before,
                            result, table, counters, stream);
}
