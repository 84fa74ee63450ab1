/*
 * Histogram and curve in one kernel. Each block counts into tables of its own in shared memory and
 * adds them to the common counters once; the block that is the last to do so computes the curve.
 *
 * A .cu file includes curve_group.cuh and chunks.cuh before it includes this header.
 */
#ifndef LUMEQ_CUDA_HISTOGRAM_CUH
#define LUMEQ_CUDA_HISTOGRAM_CUH

#include <stdint.h>

#include "equalizer/cuda/last_block.cuh"

/* Adds the block's tables to the counters. Answers whether all blocks have. */
template <int bins, int warp_tables>
static __device__ __forceinline__ bool merge(const uint32_t *tables, LumeqCudaCounters *counters)
{
    CURVE_EACH (bin, bins) {
        uint32_t sum = 0;
#pragma unroll
        for (int i = 0; i < warp_tables; i++)
            sum += tables[i * bins + bin];
        if (sum)
            atomicAdd(&counters->hist[bin], sum);
    }
    return is_last_block<curve_barrier>(&counters->blocks_done, gridDim.x);
}

/* Of a constant, unused: then the hardware merges lanes that hit one address. */
static __device__ __forceinline__ void count(uint32_t *tables, uint32_t offset)
{
    atomicAdd((uint32_t *)((char *)tables + offset), 1u);
}

template <typename Sample>
static __device__ __forceinline__ void count_chunk(uint32_t *tables, uint32_t own, uint4 value,
                                                   const Codes &bins)
{
#pragma unroll
    for (int i = 0; i < CHUNK_BYTES / (int)sizeof(Sample); i++)
        count(tables, own | chunk_code<Sample, sizeof(uint32_t)>(value, i, bins));
}

/* Counts the chunk at `at` while the thread's next one is on its way. */
template <typename Sample>
static __device__ __forceinline__ void count_one(uint32_t *tables, uint32_t own,
                                                 const Chunks &chunks, const Codes &bins,
                                                 ChunkPosition *at, uint4 *value)
{
    const uint4 now = *value;
    ChunkPosition next = *at;
    chunk_next(chunks, &next);
    if (chunk_is_there(chunks, next))
        *value = chunk_at(chunks, next);
    count_chunk<Sample>(tables, own, now, bins);
    *at = next;
}

static __device__ __forceinline__ void clear(uint32_t *tables, int words)
{
#pragma unroll
    for (int i = 0; i < words; i += THREADS)
        if (words % THREADS == 0 || i + (int)threadIdx.x < words)
            tables[i + threadIdx.x] = 0;
}

/*
 * Counts the block's share of a plane and adds it to the counters. Answers whether all blocks have:
 * then to the first CURVE_THREADS threads, which go on. `warp_tables`: tables of a block, one for
 * each so many-th warp.
 */
template <typename Sample, int bins, int warp_tables>
static __device__ __forceinline__ bool count_plane(uint32_t *tables, const Chunks &chunks,
                                                   const Codes &in_bins,
                                                   LumeqCudaCounters *counters)
{
    const int words = warp_tables * bins;
    /* Of the thread's table, in bytes. Opaque: else it is worked out again for each sample. */
    uint32_t own = threadIdx.x / 32 % warp_tables * bins * sizeof(*tables);
    asm volatile("" : "+r"(own));

#if __CUDA_ARCH__ >= 900
    /* The next kernel may start once all blocks are here: it fetches its samples, or counts them,
     * then waits for the end of this one. */
    cudaTriggerProgrammaticLaunchCompletion();
#endif

    ChunkPosition at = chunk_first(chunks);
    uint4 value = {};
    if (chunk_is_there(chunks, at))
        value = chunk_at(chunks, at);
    clear(tables, words); /* while it is on its way */
    __syncthreads();
    while (chunk_is_there(chunks, at))
        count_one<Sample>(tables, own, chunks, in_bins, &at, &value);
    for_each_at_ends<Sample>(chunks, [&](int row, int x) {
        const Sample sample = *(const Sample *)(chunks.data + (int64_t)row * chunks.stride + x);
        count(tables, own | code_of<Sample>(sample, in_bins) * (uint32_t)sizeof(*tables));
    });

    __syncthreads();
    return threadIdx.x < CURVE_THREADS && merge<bins, warp_tables>(tables, counters);
}

template <typename Sample, int bins, int warp_tables>
static __global__ void __launch_bounds__(THREADS, BLOCKS_BESIDE)
    histogram(const Chunks chunks, const CurveParams params, const CurveResult *before,
              CurveResult *result, CurveTable *table, const uint32_t *noise,
              LumeqCudaCounters *counters)
{
    __shared__ __align__(16) union {
        uint32_t tables[warp_tables * bins];
        CurveWork work; /* once they are no longer in use */
    } memory;
    const Codes in_bins = {params.shift + params.fraction, (uint32_t)params.bins - 1};
    if (count_plane<Sample, bins, warp_tables>(memory.tables, chunks, in_bins, counters))
        curve_run(params, counters->hist, before, result, table, noise, &memory.work);
}

/* The counts alone. */
template <typename Sample, int bins, int warp_tables>
static __global__ void __launch_bounds__(THREADS, BLOCKS_BESIDE)
    counts(const Chunks chunks, const Codes in_bins, uint32_t *hist, LumeqCudaCounters *counters)
{
    __shared__ __align__(16) uint32_t tables[warp_tables * bins];
    if (!count_plane<Sample, bins, warp_tables>(tables, chunks, in_bins, counters))
        return;
    curve_wait_for_kernel_before();
    CURVE_EACH (i, (int)in_bins.last + 1) {
        hist[i] = __ldcg(&counters->hist[i]);
        counters->hist[i] = 0;
    }
}

/* To be called before the first launch: a kernel is loaded only then, or when it is asked about. */
template <typename Kernel> static cudaError_t load(Kernel kernel)
{
    cudaFuncAttributes attributes;
    const cudaError_t error = cudaFuncGetAttributes(&attributes, kernel);
    return error ? error
                 : cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout,
                                        cudaSharedmemCarveoutMaxShared);
}

/* One kernel over a plane, with what it takes behind the chunks. It may start before the one in
 * front of it on the stream has ended. */
template <typename Sample, typename... Arguments>
static cudaError_t launch(void (*kernel)(const Chunks, Arguments...), const LumeqCudaDevice *device,
                          const LumeqCudaPlane *src, cudaStream_t stream, Arguments... arguments)
{
    Chunks chunks;
    cudaLaunchAttribute early = {};
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;

    cudaLaunchConfig_t config = {};
    config.gridDim = chunks_share(&chunks, src, src, sizeof(Sample), device->processors);
    config.blockDim = THREADS;
    config.stream = stream;
    config.attrs = &early;
    config.numAttrs = device->early_launches ? 1 : 0;
    return cudaLaunchKernelEx(&config, kernel, chunks, arguments...);
}

#endif
