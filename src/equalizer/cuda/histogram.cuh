/*
 * Histogram and curve in one kernel. Each block counts into tables of its own in shared memory and
 * adds them to the common counters once; the block that is the last to do so computes the curve.
 *
 * A .cu file includes curve_group.cuh and chunks.cuh before it includes this header.
 */
#ifndef LUMEQ_CUDA_HISTOGRAM_CUH
#define LUMEQ_CUDA_HISTOGRAM_CUH

#include <stdint.h>

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
    __shared__ bool last;
    curve_barrier();
    if (threadIdx.x == 0) /* for the whole group: the barriers order its additions around this */
        last = count_block(&counters->blocks_done) == gridDim.x - 1;
    curve_barrier();
    return last;
}

/* Of a constant, unused: then the hardware merges lanes that hit one address. */
static __device__ __forceinline__ void count(uint32_t *tables, uint32_t offset)
{
    atomicAdd((uint32_t *)((char *)tables + offset), 1u);
}

template <typename Sample>
static __device__ __forceinline__ void
count_chunks(uint32_t *tables, uint32_t own, const Chunks &chunks, const Codes &bins,
             ChunkPosition *at, const uint4 values[CHUNKS_AT_ONCE])
{
#pragma unroll
    for (int i = 0; i < CHUNKS_AT_ONCE; i++) {
        if (!chunk_is_there(chunks, *at))
            return;
#pragma unroll
        for (int j = 0; j < CHUNK_BYTES / (int)sizeof(Sample); j++)
            count(tables, own | chunk_code<Sample, sizeof(uint32_t)>(values[i], j, bins));
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

/* `warp_tables`: tables of a block, one for each so many-th warp. */
template <typename Sample, int bins, int warp_tables>
static __global__ void __launch_bounds__(THREADS, BLOCKS_BESIDE)
    histogram(const Chunks chunks, const CurveParams params, const CurveResult *before,
              CurveResult *result, CurveTable *table, LumeqCudaCounters *counters)
{
    const int words = warp_tables * bins;
    __shared__ __align__(16) union {
        uint32_t tables[words];
        CurveWork work; /* once they are no longer in use */
    } memory;
    uint32_t *const tables = memory.tables;
    /* Of the thread's table, in bytes. Opaque: else it is worked out again for each sample. */
    uint32_t own = threadIdx.x / 32 % warp_tables * bins * sizeof(*tables);
    asm volatile("" : "+r"(own));

#if __CUDA_ARCH__ >= 900
    /* Apply may start once all blocks are here: it fetches its samples, then waits for the end. */
    cudaTriggerProgrammaticLaunchCompletion();
#endif

    const Codes in_bins = {params.shift + params.fraction, (uint32_t)params.bins - 1};
    ChunkPosition at = chunk_first(chunks);
    uint4 values[CHUNKS_AT_ONCE];
    if (chunk_is_there(chunks, at))
        chunks_load(chunks, &at, values);
    clear(tables, words); /* while they are on their way */
    __syncthreads();
    while (chunk_is_there(chunks, at)) {
        count_chunks<Sample>(tables, own, chunks, in_bins, &at, values);
        if (chunk_is_there(chunks, at))
            chunks_load(chunks, &at, values);
    }
    for_each_at_ends<Sample>(chunks, [&](int row, int x) {
        const Sample sample = *(const Sample *)(chunks.data + (int64_t)row * chunks.stride + x);
        count(tables, own | code_of<Sample>(sample, in_bins) * (uint32_t)sizeof(*tables));
    });

    __syncthreads();
    if (threadIdx.x >= CURVE_THREADS)
        return;
    if (merge<bins, warp_tables>(tables, counters))
        curve_run(params, counters->hist, before, result, table, &memory.work);
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

/* One kernel over a plane. */
template <typename Sample, typename Kernel>
static cudaError_t launch(Kernel kernel, const LumeqCudaDevice *device, const LumeqCudaPlane *src,
                          const CurveParams *params, const CurveResult *before, CurveResult *result,
                          CurveTable *table, LumeqCudaCounters *counters, cudaStream_t stream)
{
    Chunks chunks;
    cudaLaunchConfig_t config = {};
    config.gridDim = chunks_share(&chunks, src, src, sizeof(Sample), device->processors);
    config.blockDim = THREADS;
    config.stream = stream;
    return cudaLaunchKernelEx(&config, kernel, chunks, *params, before, result, table, counters);
}

#endif
