/*
 * Histogram and curve in one kernel. Each block counts into tables of its own in shared memory and
 * adds them to the common counters once; the block that is the last to do so computes the curve.
 */
#include <stdint.h>

#include "lumeq/lumeq.h"

/* The group that computes the curve: the first threads of the last block, one a bin. */
#define CURVE_THREADS 256
#define CURVE_WARPS (CURVE_THREADS / 32)

#define CURVE_FN static __device__ __forceinline__
#define CURVE_EACH(i, n) if (const int i = (int)threadIdx.x; i < (n))
#define CURVE_ROLLED _Pragma("unroll 1")

/* A barrier of the group: the other warps of the block have ended. */
CURVE_FN void curve_barrier(void)
{
    asm volatile("bar.sync 1, %0;" ::"n"(CURVE_THREADS) : "memory");
}

/* scratch is aligned to 16 bytes. */
CURVE_FN uint32_t curve_sum(uint32_t value, uint32_t *scratch)
{
#if __CUDA_ARCH__ >= 800
    value = __reduce_add_sync(~0u, value);
#else
    for (int lanes = 16; lanes; lanes /= 2)
        value += __shfl_xor_sync(~0u, value, lanes);
#endif
    if (threadIdx.x % 32 == 0)
        scratch[threadIdx.x / 32] = value;
    curve_barrier();
    static_assert(CURVE_WARPS == 8, "two vectors hold what the warps have summed up");
    const uint4 a = ((const uint4 *)scratch)[0], b = ((const uint4 *)scratch)[1];
    return a.x + a.y + a.z + a.w + b.x + b.y + b.z + b.w;
}

CURVE_FN uint32_t curve_any(uint32_t condition)
{
    uint32_t any;
    asm volatile("{ .reg .pred mine, any;\n"
                 "setp.ne.u32 mine, %1, 0;\n"
                 "bar.red.or.pred any, 1, %2, mine;\n"
                 "selp.u32 %0, 1, 0, any; }"
                 : "=r"(any)
                 : "r"(condition), "n"(CURVE_THREADS)
                 : "memory");
    return any;
}

/* n is at most CURVE_THREADS. */
CURVE_FN void curve_scan(uint32_t *values, int n, uint32_t *scratch)
{
    const int thread = (int)threadIdx.x, warp = thread / 32, lane = thread % 32;
    uint32_t sum = thread < n ? values[thread] : 0;
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
        const uint32_t left = __shfl_up_sync(~0u, sum, step);
        if (lane >= step)
            sum += left;
    }
    if (lane == 31)
        scratch[warp] = sum;
    curve_barrier();
#pragma unroll
    for (int i = 0; i < CURVE_WARPS - 1; i++)
        if (i < warp)
            sum += scratch[i];
    if (thread < n)
        values[thread] = sum;
    curve_barrier();
}

#include "equalizer/curve.h"

/* Many warps, as counting waits for the tables; with more chunks registers would be short. */
#define THREADS 1024
#define CHUNKS_AT_ONCE 2
#include "equalizer/cuda/chunks.cuh"
#include "equalizer/cuda/kernels.h"

/* Tables of a block: one for each so many-th warp, and in it for each so many-th lane. */
#define WARP_TABLES 8
#define LANE_TABLES 1

static_assert(LUMEQ_MAX_BINS <= CURVE_THREADS, "the curve's group has one thread a bin");

typedef struct CurveMemory {
    CurveWork work;
    CurveState before;
    CurveResult result;
} CurveMemory;

/* Copies a structure of 32-bit fields with all threads of the curve's group. */
template <typename T> static __device__ __forceinline__ void copy_words(T *to, const T *from)
{
#pragma unroll
    for (int i = 0; i < (int)(sizeof(T) / sizeof(uint32_t)); i += CURVE_THREADS)
        if (const int k = i + (int)threadIdx.x; k < (int)(sizeof(T) / sizeof(uint32_t)))
            ((uint32_t *)to)[k] = ((const uint32_t *)from)[k];
}

/* Adds one, back to zero after the last block; answers what was there. All that the blocks before
 * wrote before their addition is seen after this one. */
static __device__ __forceinline__ uint32_t count_block(uint32_t *blocks_done)
{
    uint32_t before;
    asm volatile("atom.acq_rel.gpu.global.inc.u32 %0, [%1], %2;"
                 : "=r"(before)
                 : "l"(blocks_done), "r"(gridDim.x - 1)
                 : "memory");
    return before;
}

/* Adds the block's tables to the counters. Answers whether all blocks have. */
template <int bins>
static __device__ __forceinline__ bool merge(const uint32_t *tables, LumeqCudaCounters *counters)
{
    CURVE_EACH (bin, bins) {
        uint32_t sum = 0;
#pragma unroll
        for (int i = 0; i < WARP_TABLES; i++)
#pragma unroll
            for (int lane = 0; lane < LANE_TABLES; lane++)
                sum += tables[(i * bins + bin) * LANE_TABLES + (lane + bin) % LANE_TABLES];
        if (sum)
            atomicAdd(&counters->hist[bin], sum);
    }
    __shared__ bool last;
    curve_barrier();
    if (threadIdx.x == 0) /* for the whole group: the barriers order its additions around this */
        last = count_block(&counters->blocks_done) == gridDim.x - 1;
    curve_barrier();
    return last;
}

static __device__ __forceinline__ void compute_curve(const CurveParams &params,
                                                     const CurveState *before, CurveResult *result,
                                                     LumeqCudaTable *table,
                                                     LumeqCudaCounters *counters)
{
    __shared__ __align__(16) CurveMemory memory;
    CURVE_EACH (i, params.bins) {
        memory.result.hist[i] = __ldcg(&counters->hist[i]);
        counters->hist[i] = 0;
    }
    copy_words(&memory.before, before);
    curve_barrier();
    curve_compute(&params, memory.result.hist, &memory.before, &memory.result, table->codes,
                  &memory.work);
    curve_barrier();
    copy_words(result, &memory.result);
}

#define ENTRY_BYTES (LANE_TABLES * (int)sizeof(uint32_t))

/* Of a constant, unused: then the hardware merges lanes that hit one address. */
static __device__ __forceinline__ void count(uint32_t *tables, uint32_t offset)
{
    atomicAdd((uint32_t *)((char *)tables + offset), 1u);
}

template <typename Sample>
static __device__ __forceinline__ void count_chunks(uint32_t *tables, uint32_t own,
                                                    const Chunks &chunks, ChunkPosition *at,
                                                    const uint4 values[CHUNKS_AT_ONCE])
{
#pragma unroll
    for (int i = 0; i < CHUNKS_AT_ONCE; i++) {
        if (!chunk_is_there(chunks, *at))
            return;
#pragma unroll
        for (int j = 0; j < CHUNK_BYTES / (int)sizeof(Sample); j++)
            count(tables, own | chunk_sample<Sample, ENTRY_BYTES>(values[i], j));
        chunk_next(chunks, at);
    }
}

static __device__ __forceinline__ void clear(uint32_t *tables, int words)
{
#pragma unroll
    for (int i = 0; i < words; i += THREADS)
        if (words % THREADS == 0 || i + (int)threadIdx.x < words)
            tables[i + threadIdx.x] = 0;
}

template <typename Sample, int bins>
static __global__ void __launch_bounds__(THREADS, BLOCKS_BESIDE)
    histogram(const Chunks chunks, const CurveParams params, const CurveState *before,
              CurveResult *result, LumeqCudaTable *table, LumeqCudaCounters *counters)
{
    const int words = WARP_TABLES * LANE_TABLES * bins;
    __shared__ uint32_t tables[words];
    /* Of the thread's table, in bytes. Opaque: else it is worked out again for each sample. */
    uint32_t own =
        (threadIdx.x / 32 % WARP_TABLES * bins * LANE_TABLES + threadIdx.x % LANE_TABLES) *
        sizeof(*tables);
    asm volatile("" : "+r"(own));

#if __CUDA_ARCH__ >= 900
    /* Apply may start once all blocks are here: it fetches its samples, then waits for the end. */
    cudaTriggerProgrammaticLaunchCompletion();
#endif

    ChunkPosition at = chunk_first(chunks);
    uint4 values[CHUNKS_AT_ONCE];
    if (chunk_is_there(chunks, at))
        chunks_load(chunks, &at, values);
    clear(tables, words); /* while they are on their way */
    __syncthreads();
    while (chunk_is_there(chunks, at)) {
        count_chunks<Sample>(tables, own, chunks, &at, values);
        if (chunk_is_there(chunks, at))
            chunks_load(chunks, &at, values);
    }
    for_each_at_ends<Sample>(chunks, [&](int row, int x) {
        const Sample code = *(const Sample *)(chunks.data + (int64_t)row * chunks.stride + x);
        count(tables, own | code * ENTRY_BYTES);
    });

    __syncthreads();
    if (threadIdx.x >= CURVE_THREADS)
        return;
    if (merge<bins>(tables, counters))
        compute_curve(params, before, result, table, counters);
}

extern "C" cudaError_t lumeq_cuda_load_histogram(void)
{
    cudaFuncAttributes attributes;
    const cudaError_t error = cudaFuncGetAttributes(&attributes, histogram<uint8_t, 256>);
    return error ? error
                 : cudaFuncSetAttribute(histogram<uint8_t, 256>,
                                        cudaFuncAttributePreferredSharedMemoryCarveout,
                                        cudaSharedmemCarveoutMaxShared);
}

extern "C" cudaError_t lumeq_cuda_histogram8(const LumeqCudaDevice *device,
                                             const LumeqCudaPlane *src, const CurveParams *params,
                                             const CurveState *before, CurveResult *result,
                                             LumeqCudaTable *table, LumeqCudaCounters *counters,
                                             cudaStream_t stream)
{
    Chunks chunks;
    cudaLaunchConfig_t config = {};
    config.gridDim = chunks_share(&chunks, src, src, 1, device->processors);
    config.blockDim = THREADS;
    config.stream = stream;
    return cudaLaunchKernelEx(&config, histogram<uint8_t, 256>, chunks, *params, before, result,
                              table, counters);
}
