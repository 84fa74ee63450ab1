/* Histogram and curve of 16-bit samples with up to 1024 bins: 9 and 10 bits. */
#include <stdint.h>

#define CURVE_THREADS 512
#define CURVE_BINS 1024
#include "equalizer/cuda/survey_group.cuh"

#include "equalizer/cuda/curve_group.cuh"

#define THREADS 512 /* see histogram8.cu */
#include "equalizer/cuda/chunks.cuh"
#include "equalizer/cuda/histogram.cuh"
#include "equalizer/cuda/kernels.h"

#define TABLES 4 /* twice as many gain nothing, and take longer to add up */

#define HISTOGRAM(Batch) histogram<uint16_t, CURVE_BINS, TABLES, Batch>
#define COUNTS counts<uint16_t, CURVE_BINS, TABLES>

extern "C" cudaError_t lumeq_cuda_load_histogram10(void)
{
    cudaError_t error;
    LOAD_HISTOGRAM(error, HISTOGRAM);
    return error ? error : load(COUNTS);
}

HISTOGRAM_FUNCTIONS(extern "C", lumeq_cuda_histogram10, lumeq_cuda_tables10, uint16_t, HISTOGRAM)

extern "C" cudaError_t lumeq_cuda_counts10(const LumeqCudaDevice *device, const LumeqCudaPlane *src,
                                           int shift, int bins, uint32_t *hist,
                                           LumeqCudaTally *tally, cudaStream_t stream)
{
    const Codes in_bins = {shift, (uint32_t)bins - 1};
    return launch_over<uint16_t>(COUNTS, device, src, 1, 0, stream, in_bins, hist, tally);
}
