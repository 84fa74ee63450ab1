/* What tells of a frame's noise: a warp compares one block after the other with that of the frame
 * before; the block of threads that is the last to be done finds what the counts say. */
#include <stdint.h>

#define NOISE_FN static __host__ __device__ __forceinline__

#include "equalizer/cuda/kernels.h"
#include "equalizer/cuda/last_block.cuh"

#define THREADS 256
#define WARPS (THREADS / 32)

#define COUNTS ((int)(sizeof(NoiseProfile) / sizeof(uint32_t)))

static_assert(NOISE_BINS == 32, "each lane has a bin");

typedef struct Luma {
    const uint8_t *data;
    int64_t stride;
} Luma;

typedef struct Codes {
    NoiseRows rows;
    int depth, shift, black; /* black: of 8 bits */
} Codes;

template <typename Sample>
static __device__ __forceinline__ int code_at(const Luma &luma, const Codes &codes, int x, int y)
{
    const int code = ((const Sample *)(luma.data + y * luma.stride))[x];
    return sizeof(Sample) == 1 ? code : min(code >> codes.shift, (1 << codes.depth) - 1);
}

static __device__ __forceinline__ uint32_t warp_sum(uint32_t value)
{
    for (int lanes = 16; lanes; lanes /= 2)
        value += __shfl_xor_sync(~0u, value, lanes);
    return value;
}

template <typename Sample>
static __device__ __forceinline__ NoiseSums sum_block(const Luma &now, const Luma &before,
                                                      const Codes &codes, int left, int top)
{
    const int lane = (int)threadIdx.x % 32;
    NoiseSums s = {0, 0, 0};
#pragma unroll
    for (int i = lane; i < NOISE_BLOCK * NOISE_BLOCK; i += 32) {
        const int x = left + i % NOISE_BLOCK, y = top + i / NOISE_BLOCK;
        const int a = code_at<Sample>(now, codes, x, y), b = code_at<Sample>(before, codes, x, y);
        s.now += (uint32_t)a;
        s.before += (uint32_t)b;
        s.apart += (uint32_t)abs(a - b);
    }
    s.now = warp_sum(s.now);
    s.before = warp_sum(s.before);
    s.apart = warp_sum(s.apart);
    return s;
}

static __device__ __forceinline__ void count_block(NoiseProfile *counts, const NoiseSums &s,
                                                   const Codes &codes)
{
    const uint32_t level = noise_level(&s, codes.depth, codes.black);
    atomicAdd(&counts->blocks[level], 1);
    if (!s.apart)
        atomicAdd(&counts->repeated, 1);
    if (noise_is_still(&s, codes.depth))
        atomicAdd(&counts->still[level][noise_bin(&s, codes.depth)], 1);
}

/* What noise_of() answers, by a warp. */
static __device__ __forceinline__ uint32_t find_noise(const NoiseProfile *counts)
{
    const uint32_t lane = threadIdx.x % 32;
    uint32_t blocks[NOISE_LEVELS], all_blocks = 0, here = 0;
#pragma unroll
    for (int level = 0; level < NOISE_LEVELS; level++)
        all_blocks += blocks[level] = __ldcg(&counts->blocks[level]);
    const NoiseDark dark = noise_dark(blocks);
#pragma unroll
    for (int level = 0; level < NOISE_LEVELS; level++)
        if (level >= dark.from && level <= dark.to)
            here += __ldcg(&counts->still[level][lane]);
    uint32_t sum = here;
    for (int step = 1; step < 32; step *= 2) {
        const uint32_t left = __shfl_up_sync(~0u, sum, step);
        if (lane >= step)
            sum += left;
    }
    const uint32_t all = __shfl_sync(~0u, sum, 31);
    if (all < NOISE_LEAST || __ldcg(&counts->repeated) == all_blocks)
        return NOISE_UNKNOWN;
    const int bin = __ffs((int)__ballot_sync(~0u, 4 * sum >= all)) - 1;
    const uint32_t noise = noise_quartile(lane, all, sum - here, here ? here : 1);
    return __shfl_sync(~0u, noise, bin);
}

/* `found` NULL: the counts are what is wanted. */
template <typename Sample>
static __global__ void __launch_bounds__(THREADS)
    count_noise(const Luma now, const Luma before, const Codes codes, NoiseProfile *counts,
                uint32_t *blocks_done, uint32_t *found, uint32_t *on_host)
{
    __shared__ union {
        NoiseProfile profile;
        uint32_t counts[COUNTS];
    } own;
    __shared__ bool last;
    for (int i = (int)threadIdx.x; i < COUNTS; i += THREADS)
        own.counts[i] = 0;
    __syncthreads();
    const int blocks = codes.rows.rows * codes.rows.columns;
    const int warp = (int)(blockIdx.x * WARPS + threadIdx.x / 32);
    for (int i = warp; i < blocks; i += (int)gridDim.x * WARPS) {
        const int row = i / codes.rows.columns, column = i % codes.rows.columns;
        const NoiseSums s = sum_block<Sample>(now, before, codes, column * NOISE_BLOCK,
                                              noise_line(&codes.rows, row));
        if (threadIdx.x % 32 == 0)
            count_block(&own.profile, s, codes);
    }
    __syncthreads();
    for (int i = (int)threadIdx.x; i < COUNTS; i += THREADS)
        if (own.counts[i])
            atomicAdd((uint32_t *)counts + i, own.counts[i]);
    if (!found)
        return;
    __syncthreads();
    if (threadIdx.x == 0)
        last = is_last_block(blocks_done, gridDim.x);
    __syncthreads();
    if (!last)
        return;
    if (threadIdx.x < 32) {
        const uint32_t noise = find_noise(counts);
        if (threadIdx.x == 0)
            *found = noise;
        if (threadIdx.x == 0 && on_host)
            *on_host = noise;
    }
    __syncthreads();
    for (int i = (int)threadIdx.x; i < COUNTS; i += THREADS)
        ((uint32_t *)counts)[i] = 0;
}

extern "C" cudaError_t lumeq_cuda_load_noise(void)
{
    cudaFuncAttributes attributes;
    const cudaError_t error = cudaFuncGetAttributes(&attributes, count_noise<uint8_t>);
    return error ? error : cudaFuncGetAttributes(&attributes, count_noise<uint16_t>);
}

static cudaError_t launch(const LumeqCudaPlane *luma, const LumeqCudaPlane *before,
                          const CurveParams *params, NoiseProfile *counts, uint32_t *blocks_done,
                          uint32_t *found, uint32_t *on_host, cudaStream_t stream)
{
    const Luma now = {luma->data, luma->stride}, was = {before->data, before->stride};
    Codes codes = {noise_rows(luma->width, luma->height), params->depth, params->shift,
                   params->black >> (params->depth - 8)};
    if (!was.data)
        codes.rows.rows = 0;
    const int blocks = codes.rows.rows * codes.rows.columns;
    cudaLaunchConfig_t config = {};
    config.gridDim = (unsigned)(blocks / WARPS + 1);
    config.blockDim = THREADS;
    config.stream = stream;
    return cudaLaunchKernelEx(&config,
                              params->depth > 8 ? count_noise<uint16_t> : count_noise<uint8_t>, now,
                              was, codes, counts, blocks_done, found, on_host);
}

extern "C" cudaError_t lumeq_cuda_noise_counts(const LumeqCudaPlane *luma,
                                               const LumeqCudaPlane *before,
                                               const CurveParams *params, NoiseProfile *counts,
                                               cudaStream_t stream)
{
    return launch(luma, before, params, counts, NULL, NULL, NULL, stream);
}

extern "C" cudaError_t lumeq_cuda_noise(const LumeqCudaPlane *luma, const LumeqCudaPlane *before,
                                        const CurveParams *params, LumeqCudaNoise *work,
                                        uint32_t *noise, uint32_t *on_host, cudaStream_t stream)
{
    return launch(luma, before, params, &work->counts, &work->blocks_done, noise, on_host, stream);
}
