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

/* More share what there is to look at: each adds its counts to the same ones. */
#define MOST_BLOCKS 256

typedef struct Luma {
    const uint8_t *data;
    int64_t stride;
} Luma;

typedef struct Codes {
    NoiseRows rows;
    int depth, shift, black; /* black: of 8 bits */
    int vectors;             /* half a line of a block can be read at once */
} Codes;

template <typename Sample>
static __device__ __forceinline__ int code_at(const Luma &luma, const Codes &codes, int x, int y)
{
    const int code = ((const Sample *)(luma.data + y * luma.stride))[x];
    return sizeof(Sample) == 1 ? code : min(code >> codes.shift, (1 << codes.depth) - 1);
}

static __device__ __forceinline__ uint32_t warp_sum(uint32_t value)
{
#if __CUDA_ARCH__ >= 800
    return __reduce_add_sync(~0u, value);
#else
    for (int lanes = 16; lanes; lanes /= 2)
        value += __shfl_xor_sync(~0u, value, lanes);
    return value;
#endif
}

/* Four samples of 8 bits, or two of more. */
template <typename Sample>
static __device__ __forceinline__ void add_word(NoiseSums *s, uint32_t now, uint32_t before,
                                                const Codes &codes)
{
    if (sizeof(Sample) == 1) {
        s->now = __dp4a(now, 0x01010101u, s->now);
        s->before = __dp4a(before, 0x01010101u, s->before);
        s->apart += __vsadu4(now, before);
    } else {
#pragma unroll
        for (int bits = 0; bits < 32; bits += 16) {
            const int most = (1 << codes.depth) - 1;
            const int a = min((int)(now >> bits & 0xffff) >> codes.shift, most);
            const int b = min((int)(before >> bits & 0xffff) >> codes.shift, most);
            s->now += (uint32_t)a;
            s->before += (uint32_t)b;
            s->apart += (uint32_t)abs(a - b);
        }
    }
}

/* Half a line of the block: that of the lane. */
template <typename Sample>
static __device__ __forceinline__ void add_vectors(NoiseSums *s, const Luma &now,
                                                   const Luma &before, const Codes &codes, int left,
                                                   int top)
{
    const int lane = (int)threadIdx.x % 32, x = left + lane % 2 * (NOISE_BLOCK / 2);
    const int64_t y = top + lane / 2, at = x * (int)sizeof(Sample);
    if (sizeof(Sample) == 1) {
        const uint2 a = *(const uint2 *)(now.data + y * now.stride + at);
        const uint2 b = *(const uint2 *)(before.data + y * before.stride + at);
        add_word<Sample>(s, a.x, b.x, codes);
        add_word<Sample>(s, a.y, b.y, codes);
    } else {
        const uint4 a = *(const uint4 *)(now.data + y * now.stride + at);
        const uint4 b = *(const uint4 *)(before.data + y * before.stride + at);
        add_word<Sample>(s, a.x, b.x, codes);
        add_word<Sample>(s, a.y, b.y, codes);
        add_word<Sample>(s, a.z, b.z, codes);
        add_word<Sample>(s, a.w, b.w, codes);
    }
}

template <typename Sample>
static __device__ __forceinline__ NoiseSums sum_block(const Luma &now, const Luma &before,
                                                      const Codes &codes, int left, int top)
{
    const int lane = (int)threadIdx.x % 32;
    NoiseSums s = {0, 0, 0};
    if (codes.vectors) {
        add_vectors<Sample>(&s, now, before, codes, left, top);
    } else {
#pragma unroll
        for (int i = lane; i < NOISE_BLOCK * NOISE_BLOCK; i += 32) {
            const int x = left + i % NOISE_BLOCK, y = top + i / NOISE_BLOCK;
            const int a = code_at<Sample>(now, codes, x, y);
            const int b = code_at<Sample>(before, codes, x, y);
            s.now += (uint32_t)a;
            s.before += (uint32_t)b;
            s.apart += (uint32_t)abs(a - b);
        }
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
#if __CUDA_ARCH__ >= 900
    /* The next frame's bars may be found while this one's noise is. */
    cudaTriggerProgrammaticLaunchCompletion();
#endif
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
#if __CUDA_ARCH__ >= 900
    /* What waits for this kernel waits for the one in front of it, too. */
    cudaGridDependencySynchronize();
#endif
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

static int has_vectors(const LumeqCudaPlane *plane, int depth)
{
    const uintptr_t bytes = NOISE_BLOCK / 2 * (depth > 8 ? sizeof(uint16_t) : 1);
    return (uintptr_t)plane->data % bytes == 0 && (uintptr_t)plane->stride % bytes == 0;
}

static cudaError_t launch(const LumeqCudaPlane *luma, const LumeqCudaPlane *before,
                          const CurveParams *params, NoiseProfile *counts, uint32_t *blocks_done,
                          uint32_t *found, uint32_t *on_host, int early, cudaStream_t stream)
{
    const Luma now = {luma->data, luma->stride}, was = {before->data, before->stride};
    Codes codes = {noise_rows(luma->width, luma->height), params->depth, params->shift,
                   params->black >> (params->depth - 8),
                   has_vectors(luma, params->depth) && has_vectors(before, params->depth)};
    if (!was.data)
        codes.rows.rows = 0;
    const int blocks = codes.rows.rows * codes.rows.columns;
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;

    cudaLaunchConfig_t config = {};
    config.gridDim = (unsigned)(blocks / WARPS < MOST_BLOCKS ? blocks / WARPS + 1 : MOST_BLOCKS);
    config.blockDim = THREADS;
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = early ? 1 : 0;
    return cudaLaunchKernelEx(&config,
                              params->depth > 8 ? count_noise<uint16_t> : count_noise<uint8_t>, now,
                              was, codes, counts, blocks_done, found, on_host);
}

extern "C" cudaError_t lumeq_cuda_noise_counts(const LumeqCudaPlane *luma,
                                               const LumeqCudaPlane *before,
                                               const CurveParams *params, NoiseProfile *counts,
                                               cudaStream_t stream)
{
    return launch(luma, before, params, counts, NULL, NULL, NULL, 0, stream);
}

extern "C" cudaError_t lumeq_cuda_noise(const LumeqCudaDevice *device, const LumeqCudaPlane *luma,
                                        const LumeqCudaPlane *before, const CurveParams *params,
                                        LumeqCudaNoise *work, uint32_t *noise, uint32_t *on_host,
                                        cudaStream_t stream)
{
    return launch(luma, before, params, &work->counts, &work->blocks_done, noise, on_host,
                  device->early_launches, stream);
}
