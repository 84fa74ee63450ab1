/* The histogram of samples of 16 bits, with codes of 9 to 16. */
#include <stdint.h>

#define CURVE_THREADS 1024
#include "equalizer/cuda/curve_group.cuh"

#define THREADS 1024 /* as for 8 bits */
#include "equalizer/cuda/chunks.cuh"
#include "equalizer/cuda/kernels.h"

/* Up to 10 bits, and deeper. Twice the tables gain nothing, and take longer to add up. */
#define FEW_BINS 1024
#define FEW_WARP_TABLES 4
#define MANY_WARP_TABLES 1

#include "equalizer/cuda/histogram.cuh"

#define FEW FEW_BINS, FEW_WARP_TABLES
#define MANY CURVE_BINS, MANY_WARP_TABLES

extern "C" cudaError_t lumeq_cuda_load_histogram16(void)
{
    cudaError_t error = load(histogram<uint16_t, FEW>);
    if (!error)
        error = load(histogram<uint16_t, MANY>);
    if (!error)
        error = load(counts<uint16_t, FEW>);
    return error ? error : load(counts<uint16_t, MANY>);
}

extern "C" cudaError_t lumeq_cuda_histogram16(const LumeqCudaDevice *device,
                                              const LumeqCudaPlane *src, const CurveParams *params,
                                              const CurveResult *before, CurveResult *result,
                                              CurveTable *table, const uint32_t *noise,
                                              LumeqCudaCounters *counters, cudaStream_t stream)
{
    return launch<uint16_t>(params->bins > FEW_BINS ? histogram<uint16_t, MANY>
                                                    : histogram<uint16_t, FEW>,
                            device, src, stream, *params, before, result, table, noise, counters);
}

extern "C" cudaError_t lumeq_cuda_counts16(const LumeqCudaDevice *device, const LumeqCudaPlane *src,
                                           int shift, int bins, uint32_t *hist,
                                           LumeqCudaCounters *counters, cudaStream_t stream)
{
    const Codes in_bins = {shift, (uint32_t)bins - 1};
    return launch<uint16_t>(bins > FEW_BINS ? counts<uint16_t, MANY> : counts<uint16_t, FEW>,
                            device, src, stream, in_bins, hist, counters);
}
