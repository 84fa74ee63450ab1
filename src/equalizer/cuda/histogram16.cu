/* Histogram and curve of 16-bit samples with 9 to 16 bits. */
#include <stdint.h>

#define CURVE_THREADS 1024
#include "equalizer/cuda/survey_group.cuh"

#include "equalizer/cuda/curve_group.cuh"

#define THREADS 1024
#include "equalizer/cuda/chunks.cuh"
#include "equalizer/cuda/histogram.cuh"
#include "equalizer/cuda/kernels.h"

#define TABLES 1

/* Most bins for histogram10.cu. */
#define FEW_BINS 1024

#define HISTOGRAM(Batch) histogram<uint16_t, CURVE_BINS, TABLES, Batch>
#define COUNTS counts<uint16_t, CURVE_BINS, TABLES>

extern "C" cudaError_t lumeq_cuda_load_histogram16(void)
{
    cudaError_t error;
    LOAD_HISTOGRAM(error, HISTOGRAM);
    return error ? error : load(COUNTS);
}

HISTOGRAM_FUNCTIONS(static, histogram_many, tables_many, uint16_t, HISTOGRAM)

extern "C" cudaError_t lumeq_cuda_tables16(const CurveParams *params, const LumeqCudaCurve *curve,
                                           const LumeqCudaBatch *batch, cudaStream_t stream)
{
    LumeqCudaMakeTables *const make = params->bins > FEW_BINS ? tables_many : lumeq_cuda_tables10;
    return make(params, curve, batch, stream);
}

extern "C" cudaError_t lumeq_cuda_histogram16(const LumeqCudaDevice *device,
                                              const LumeqCudaPlane *src, const CurveParams *params,
                                              const CurveResult *before,
                                              const LumeqCudaCurve *curve,
                                              const LumeqCudaSurveyJob *survey,
                                              const LumeqCudaBatch *batch, cudaStream_t stream)
{
    LumeqCudaHistogram *const histogram =
        params->bins > FEW_BINS ? histogram_many : lumeq_cuda_histogram10;
    return histogram(device, src, params, before, curve, survey, batch, stream);
}

extern "C" cudaError_t lumeq_cuda_counts16(const LumeqCudaDevice *device, const LumeqCudaPlane *src,
                                           int shift, int bins, uint32_t *hist,
                                           LumeqCudaTally *tally, cudaStream_t stream)
{
    const Codes in_bins = {shift, (uint32_t)bins - 1};
    return bins > FEW_BINS
               ? launch_over<uint16_t>(COUNTS, device, src, 1, 0, stream, in_bins, hist, tally)
               : lumeq_cuda_counts10(device, src, shift, bins, hist, tally, stream);
}
