/* The counts of a survey, without bars and noise. */
#include "equalizer/cuda/survey_group.cuh"

#define THREADS 256
#include "equalizer/cuda/survey_counts.cuh"

template <typename Sample>
static __global__ void __launch_bounds__(THREADS)
    profile_lines(const Luma luma, const BarsParams params, const Lines lines, uint8_t *columns,
                  uint8_t *rows)
{
    count_lines<Sample>(luma, params, lines, (int)blockIdx.x, columns, rows);
}

template <typename Sample>
static __global__ void __launch_bounds__(THREADS)
    noise_counts(const Luma now, const Luma before, const NoiseCodes codes, NoiseProfile *counts)
{
    count_noise<Sample>(now, before, codes, (int)blockIdx.x, (int)gridDim.x, counts);
}

template <typename Sample> static cudaError_t load(void)
{
    cudaFuncAttributes attributes;
    const cudaError_t error = cudaFuncGetAttributes(&attributes, profile_lines<Sample>);
    return error ? error : cudaFuncGetAttributes(&attributes, noise_counts<Sample>);
}

extern "C" cudaError_t lumeq_cuda_load_survey(void)
{
    const cudaError_t error = load<uint8_t>();
    return error ? error : load<uint16_t>();
}

extern "C" cudaError_t lumeq_cuda_profile(const LumeqCudaPlane *luma, const BarsParams *params,
                                          uint8_t *columns, uint8_t *rows, cudaStream_t stream)
{
    const Lines lines = lines_of(params);
    cudaLaunchConfig_t config = {};
    config.gridDim = (unsigned)(lines.column_blocks + lines.row_blocks);
    config.blockDim = THREADS;
    config.stream = stream;
    return cudaLaunchKernelEx(&config,
                              params->depth > 8 ? profile_lines<uint16_t> : profile_lines<uint8_t>,
                              luma_of(luma), *params, lines, columns, rows);
}

extern "C" cudaError_t lumeq_cuda_noise_counts(const LumeqCudaPlane *luma,
                                               const LumeqCudaPlane *before,
                                               const CurveParams *params, NoiseProfile *counts,
                                               cudaStream_t stream)
{
    const NoiseCodes codes = noise_codes(luma, before, params);
    cudaLaunchConfig_t config = {};
    config.gridDim = (unsigned)noise_blocks(&codes, 1);
    config.blockDim = THREADS;
    config.stream = stream;
    return cudaLaunchKernelEx(&config,
                              params->depth > 8 ? noise_counts<uint16_t> : noise_counts<uint8_t>,
                              luma_of(luma), luma_of(before), codes, counts);
}
