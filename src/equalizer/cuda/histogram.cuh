/*
 * Histogram, survey and curve in one kernel; also the histogram only. Some blocks count into tables
 * in shared memory and then add them to common counters; other blocks count for the survey. The
 * block that finishes last evaluates the survey and computes the curve.
 *
 * Before including it, a .cu file includes survey_group.cuh, curve_group.cuh and chunks.cuh.
 */
#ifndef LUMEQ_CUDA_HISTOGRAM_CUH
#define LUMEQ_CUDA_HISTOGRAM_CUH

#include <stdint.h>

#include "equalizer/cuda/last_block.cuh"
#include "equalizer/cuda/survey.cuh"

/*
 * A block's tables. With one table per lane, each lane's table is in a bank of its own, so that
 * lanes never conflict, whatever the picture. If that does not fit there are fewer tables, one
 * after another, which are assigned to warps.
 */
template <int bins, int tables> struct Tables {
    static constexpr bool by_lane = tables == 32;
    static constexpr int words = bins * tables;
    static constexpr int scale =
        sizeof(uint32_t) * (by_lane ? tables : 1); /* bytes from one code's counter to the next */

    /* Offset of the thread's table, in bytes. */
    static __device__ __forceinline__ uint32_t own()
    {
        const uint32_t number = threadIdx.x / 32 % tables;
        return (by_lane ? threadIdx.x % 32 : number * bins) * (uint32_t)sizeof(uint32_t);
    }

    static __device__ __forceinline__ uint32_t sum(const uint32_t *counts, int bin)
    {
        uint32_t sum = 0;
#pragma unroll
        for (int i = 0; i < (by_lane ? 8 : tables); i++) {
            if (by_lane) { /* lanes start with different tables, to avoid bank conflicts */
                const uint4 four =
                    ((const uint4 *)counts)[bin * 8 + (int)(threadIdx.x + (unsigned)i) % 8];
                sum += four.x + four.y + four.z + four.w;
            } else {
                sum += counts[i * bins + bin];
            }
        }
        return sum;
    }
};

/* Adds the block's tables to the counters. Only the first CURVE_THREADS threads call it. */
template <int bins, int tables>
static __device__ __forceinline__ void merge(const uint32_t *counts, LumeqCudaCounters *counters)
{
    CURVE_EACH (bin, bins) {
        const uint32_t sum = Tables<bins, tables>::sum(counts, bin);
        if (sum)
            atomicAdd(&counters->hist[bin], sum);
    }
}

/* The addend is constant and the result unused, so the hardware merges lanes with equal addresses.
 */
static __device__ __forceinline__ void count(uint32_t *tables, uint32_t offset)
{
    atomicAdd((uint32_t *)((char *)tables + offset), 1u);
}

template <typename Sample, int scale>
static __device__ __forceinline__ void count_chunk(uint32_t *tables, uint32_t own, uint4 value,
                                                   const Codes &bins)
{
#pragma unroll
    for (int i = 0; i < CHUNK_BYTES / (int)sizeof(Sample); i++)
        count(tables, own | chunk_code<Sample, scale>(value, i, bins));
}

/* Counts the chunk at `at` while the thread's next chunk is being loaded. More loads in flight gain
 * nothing. */
template <typename Sample, int scale>
static __device__ __forceinline__ void count_one(uint32_t *tables, uint32_t own,
                                                 const Chunks &chunks, const Codes &bins,
                                                 ChunkPosition *at, uint4 *value)
{
    const uint4 now = *value;
    ChunkPosition next = *at;
    chunk_next(chunks, &next);
    if (chunk_is_there(chunks, next))
        *value = chunk_at(chunks, next);
    count_chunk<Sample, scale>(tables, own, now, bins);
    *at = next;
}

static __device__ __forceinline__ void clear(uint32_t *tables, int words)
{
    uint4 *const fours = (uint4 *)tables;
#pragma unroll
    for (int i = 0; i < words / 4; i += THREADS)
        if (words / 4 % THREADS == 0 || i + (int)threadIdx.x < words / 4)
            fours[i + threadIdx.x] = make_uint4(0, 0, 0, 0);
}

/* Counts the block's share of a plane in its tables. All threads call it; all have finished when it
 * returns. */
template <typename Sample, int bins, int tables>
static __device__ __forceinline__ void count_plane(uint32_t *counts, const Chunks &chunks,
                                                   const Codes &in_bins)
{
    typedef Tables<bins, tables> T;
    /* Opaque, to keep the compiler from computing it again for each sample. */
    uint32_t own = T::own();
    asm volatile("" : "+r"(own));

    ChunkPosition at = chunk_first(chunks);
    uint4 value = {};
    if (chunk_is_there(chunks, at))
        value = chunk_at(chunks, at);
    clear(counts, T::words); /* while the first chunk is loading */
    __syncthreads();
    while (chunk_is_there(chunks, at))
        count_one<Sample, T::scale>(counts, own, chunks, in_bins, &at, &value);
    for_each_at_ends<Sample>(chunks, [&](int row, int x) {
        const Sample sample = *(const Sample *)(chunks.data + (int64_t)row * chunks.stride + x);
        count(counts, own | code_of<Sample>(sample, in_bins) * (uint32_t)T::scale);
    });
    __syncthreads();
}

/* Lets the next kernel start when all blocks have come here. It loads or counts its samples, then
 * waits for the end of this kernel. */
static __device__ __forceinline__ void let_next_kernel_start(void)
{
#if __CUDA_ARCH__ >= 900
    cudaTriggerProgrammaticLaunchCompletion();
#endif
}

static __device__ __forceinline__ void block_barrier(void)
{
    __syncthreads();
}

/* True in the last block to finish counting. All threads call it. */
static __device__ __forceinline__ bool all_is_counted(LumeqCudaCounters *counters)
{
    return is_last_block<block_barrier>(&counters->blocks_done, gridDim.x);
}

/* Computes the frame's curve and bars from the counters, and clears these. Begins with values of
 * this frame only, because the previous frame may not be finished. */
static __device__ __forceinline__ void find_curve(const CurveParams &params, uint32_t *counts,
                                                  const CurveResult *before, CurveResult *result,
                                                  CurveTable *table, const SurveyWork &survey,
                                                  CurveWork *work)
{
    __shared__ BarsState bars;
    CurveBin was[CURVE_TURNS], now[CURVE_TURNS];
    curve_load(params, counts, now);
    const int edges =
        survey.shared && !survey.bars.ignore && bars_edges(&survey.bars, &survey.shared->lines);
    const CurveMeasured seen = curve_begin(&params, now, work);
    curve_recall(params, before, was);
    if (survey.shared)
        survey_bars(survey, edges, &before->bars, &bars, result);
    curve_finish(&params, seen, survey.shared ? &bars : &result->bars, before, was, result, now,
                 table, work);
    curve_store(params, result, now);
}

template <typename Sample, int bins, int tables>
static __global__ void __launch_bounds__(THREADS, BLOCKS_BESIDE)
    histogram(const __grid_constant__ Chunks chunks, const __grid_constant__ CurveParams params,
              const CurveResult *before, CurveResult *result, CurveTable *table,
              const __grid_constant__ SurveyWork survey, LumeqCudaCounters *counters)
{
    __shared__ __align__(16) union {
        uint32_t counts[Tables<bins, tables>::words];
        CurveWork work; /* after the tables are no longer used */
    } memory;
    const Codes in_bins = {params.shift + params.fraction, (uint32_t)params.bins - 1};
    const int block = (int)blockIdx.x;
    let_next_kernel_start();
    if (block < chunks.blocks) {
        count_plane<Sample, bins, tables>(memory.counts, chunks, in_bins);
        if (threadIdx.x < CURVE_THREADS)
            merge<bins, tables>(memory.counts, counters);
    } else {
        survey_count<Sample>(survey, block - chunks.blocks);
    }
    if (!all_is_counted(counters))
        return;
    /* The last warp takes no part in the curve, unless all warps do. */
    if (survey.shared && threadIdx.x / 32 == WARPS - 1)
        survey_noise(survey, result);
    if (threadIdx.x < CURVE_THREADS)
        find_curve(params, counters->hist, before, result, table, survey, &memory.work);
}

/* ---- the counts alone ---- */

/* With more bins than this most of a block's counts are 0: it adds only the others to common
 * counters, and the last block reads them all. */
#define TALLY_BINS 1024

#define ADDED_BITS 16 /* low bits of a tally's bin: number of blocks that have added to it */

/* Position of a bin in the tally. Groups of 32 bytes are spread over all the memory, because
 * atomics on addresses close together are serialized. */
template <int bins>
static __device__ __forceinline__ unsigned long long *tally_bin(LumeqCudaTally *tally, int bin)
{
    return &tally->bin[bin / 4 * (4 * (LUMEQ_MAX_BINS / bins)) + bin % 4];
}

/* Adds the block's tables to the tally. The thread whose addition to a bin is the last one gets the
 * total from it, so that no block has to wait and read back the sums. */
template <int bins, int tables>
static __device__ __forceinline__ void add_to_tally(const uint32_t *counts, int last,
                                                    uint32_t *hist, LumeqCudaTally *tally)
{
    unsigned long long all[CURVE_TURNS];
    CURVE_EACH (bin, last + 1) {
        const unsigned long long sum = Tables<bins, tables>::sum(counts, bin);
        const unsigned long long own = sum << ADDED_BITS | 1;
        CURVE_OWN(all, bin) = own + atomicAdd(tally_bin<bins>(tally, bin), own);
    }
    CURVE_EACH (bin, last + 1) {
        if ((CURVE_OWN(all, bin) & ((1 << ADDED_BITS) - 1)) == gridDim.x) {
            curve_wait_for_kernel_before();
            hist[bin] = (uint32_t)(CURVE_OWN(all, bin) >> ADDED_BITS);
            *tally_bin<bins>(tally, bin) = 0;
        }
    }
}

/* Moves the counters to the result, and clears them. */
static __device__ __forceinline__ void take_counts(LumeqCudaCounters *counters, int last,
                                                   uint32_t *hist)
{
    curve_wait_for_kernel_before();
    CURVE_EACH (i, last + 1) {
        hist[i] = __ldcg(&counters->hist[i]);
        counters->hist[i] = 0;
    }
}

template <typename Sample, int bins, int tables>
static __global__ void __launch_bounds__(THREADS, BLOCKS_BESIDE)
    counts(const Chunks chunks, const Codes in_bins, uint32_t *hist, LumeqCudaTally *tally)
{
    __shared__ __align__(16) uint32_t own[Tables<bins, tables>::words];
    const int last = (int)in_bins.last;
    let_next_kernel_start();
    count_plane<Sample, bins, tables>(own, chunks, in_bins);
    if (bins <= TALLY_BINS) {
        if (threadIdx.x < CURVE_THREADS)
            add_to_tally<bins, tables>(own, last, hist, tally);
        return;
    }
    if (threadIdx.x < CURVE_THREADS)
        merge<bins, tables>(own, &tally->counters);
    if (all_is_counted(&tally->counters) && threadIdx.x < CURVE_THREADS)
        take_counts(&tally->counters, last, hist);
}

/* Loads a kernel, which CUDA otherwise does at its first launch. */
template <typename Kernel> static cudaError_t load(Kernel kernel)
{
    cudaFuncAttributes attributes;
    const cudaError_t error = cudaFuncGetAttributes(&attributes, kernel);
    return error ? error
                 : cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout,
                                        cudaSharedmemCarveoutMaxShared);
}

/* Launches a kernel over a plane, with `arguments` after the chunks, and with `more` blocks. It may
 * start before the previous kernel on the stream has ended. */
template <typename Sample, typename... Arguments>
static cudaError_t launch(void (*kernel)(const Chunks, Arguments...), const LumeqCudaDevice *device,
                          const LumeqCudaPlane *src, unsigned more, cudaStream_t stream,
                          Arguments... arguments)
{
    Chunks chunks;
    cudaLaunchAttribute early = {};
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;

    cudaLaunchConfig_t config = {};
    config.gridDim = chunks_share(&chunks, src, src, sizeof(Sample), device->processors) + more;
    config.blockDim = THREADS;
    config.stream = stream;
    config.attrs = &early;
    config.numAttrs = device->early_launches ? 1 : 0;
    return cudaLaunchKernelEx(&config, kernel, chunks, arguments...);
}

/* Defines a function of kernels.h for a sample type. */
#define HISTOGRAM_FUNCTION(linkage, name, Sample, kernel)                                          \
    linkage cudaError_t name(                                                                      \
        const LumeqCudaDevice *device, const LumeqCudaPlane *src, const CurveParams *params,       \
        const CurveResult *before, CurveResult *result, CurveTable *table,                         \
        const LumeqCudaSurveyJob *survey, LumeqCudaCounters *counters, cudaStream_t stream)        \
    {                                                                                              \
        const SurveyWork work = survey_of(survey, params);                                         \
        return launch<Sample>(kernel, device, src, survey_blocks(&work), stream, *params, before,  \
                              result, table, work, counters);                                      \
    }

#endif
