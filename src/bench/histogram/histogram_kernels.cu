/* Kernels that count, the simplest first. */
#include <stdint.h>

#include "bench/histogram/histogram_kernels.h"

typedef void Kernel(HistogramPlane plane, HistogramWalk walk, HistogramTables tables,
                    uint32_t *counts);

/* The largest block of any plan. */
#define MAX_THREADS 1024

#define SCAN_THREADS 1024
#define SCAN_EACH (HISTOGRAM_MAX_BINS / SCAN_THREADS)

template <typename Sample> struct Piece {
    enum { elements = HISTOGRAM_PIECE_BYTES / sizeof(Sample) };
};

/* Calls visit(value) for each element of a piece; `left` elements remain in the row. */
template <typename Sample, typename Visit>
static __device__ __forceinline__ void visit_piece(const Sample *piece, uint32_t left, Visit visit)
{
    const uint32_t most = Piece<Sample>::elements;
    const int per_word = 4 / sizeof(Sample), bits = 8 * sizeof(Sample);
    if (left < most || (uintptr_t)piece % HISTOGRAM_PIECE_BYTES) {
        for (uint32_t i = 0; i < min(left, most); i++)
            visit(piece[i]);
        return;
    }
    const uint4 v = __ldg((const uint4 *)piece);
#pragma unroll
    for (int i = 0; i < Piece<Sample>::elements; i++) {
        const int at = i / per_word;
        const uint32_t word = at == 0 ? v.x : at == 1 ? v.y : at == 2 ? v.z : v.w;
        visit(word >> (i % per_word * bits) & (0xffffffffu >> (32 - bits)));
    }
}

/* Calls visit(value) for the elements of this thread's units `first` to `last` - 1. */
template <typename Sample, int at_once, typename Visit>
static __device__ __forceinline__ void for_each(const HistogramPlane &plane,
                                                const HistogramWalk &walk, uint32_t first,
                                                uint32_t last, Visit visit)
{
    const uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x;
    const uint32_t step = walk.sectioned ? 1 : walk.threads;
    uint32_t unit = (walk.sectioned ? thread * walk.per_thread : thread) + first * step;
    for (uint32_t i = first; i < last && unit < walk.units; i++, unit += step) {
        const uint32_t row = plane.height == 1 ? 0 : unit / walk.per_row;
        const uint32_t x = (unit - row * walk.per_row) * at_once;
        const Sample *at = (const Sample *)(plane.data + row * plane.pitch) + x;
        if (at_once == 1)
            visit(*at);
        else
            visit_piece(at, plane.width - x, visit);
    }
}

template <typename Sample>
static __global__ void __launch_bounds__(MAX_THREADS)
    count_global(HistogramPlane plane, HistogramWalk walk, HistogramTables tables, uint32_t *counts)
{
    for_each<Sample, 1>(plane, walk, 0, walk.per_thread,
                        [&](uint32_t value) { atomicAdd(&counts[value], 1u); });
}

/* Volatile keeps the compiler from merging the additions, which would hide the race. */
template <typename Sample>
static __global__ void __launch_bounds__(MAX_THREADS)
    count_racy(HistogramPlane plane, HistogramWalk walk, HistogramTables tables, uint32_t *counts)
{
    volatile uint32_t *const seen = counts;
    for_each<Sample, 1>(plane, walk, 0, walk.per_thread,
                        [&](uint32_t value) { seen[value] = seen[value] + 1; });
}

static __device__ __forceinline__ void clear(uint32_t *words, uint32_t count)
{
    for (uint32_t i = threadIdx.x; i < count; i += blockDim.x)
        words[i] = 0;
    __syncthreads();
}

/* Returns this thread's table. */
static __device__ __forceinline__ uint32_t *own_table(uint32_t *shared,
                                                      const HistogramTables &tables)
{
    return shared + threadIdx.x / tables.sharers % tables.copies * tables.copy_step;
}

/* Adds up a block's tables. Threads begin with different copies, to avoid bank conflicts between
 * interleaved counters. */
static __device__ __forceinline__ void merge(uint32_t *counts, const uint32_t *shared,
                                             const HistogramTables &tables)
{
    __syncthreads();
    for (uint32_t bin = threadIdx.x; bin < tables.bins; bin += blockDim.x) {
        uint32_t sum = 0, copy = threadIdx.x % tables.copies;
        for (uint32_t i = 0; i < tables.copies; i++) {
            sum += shared[bin * tables.bin_step + copy * tables.copy_step];
            copy = copy + 1 == tables.copies ? 0 : copy + 1;
        }
        if (sum)
            atomicAdd(&counts[bin], sum);
    }
}

template <typename Sample, int at_once>
static __global__ void __launch_bounds__(MAX_THREADS)
    count_shared(HistogramPlane plane, HistogramWalk walk, HistogramTables tables, uint32_t *counts)
{
    extern __shared__ uint32_t shared[];
    clear(shared, tables.copies * tables.bins);
    uint32_t *const own = own_table(shared, tables);
    for_each<Sample, at_once>(plane, walk, 0, walk.per_thread, [&](uint32_t value) {
        atomicAdd(&own[value * tables.bin_step], 1u);
    });
    merge(counts, shared, tables);
}

/* Adds a run of equal values at once, when it ends. */
template <typename Sample>
static __global__ void __launch_bounds__(MAX_THREADS)
    count_runs(HistogramPlane plane, HistogramWalk walk, HistogramTables tables, uint32_t *counts)
{
    extern __shared__ uint32_t shared[];
    uint32_t run_value = 0, run_length = 0;
    clear(shared, tables.copies * tables.bins);
    uint32_t *const own = own_table(shared, tables);
    for_each<Sample, Piece<Sample>::elements>(plane, walk, 0, walk.per_thread, [&](uint32_t value) {
        if (value != run_value) {
            if (run_length)
                atomicAdd(&own[run_value * tables.bin_step], run_length);
            run_value = value;
            run_length = 0;
        }
        run_length++;
    });
    if (run_length)
        atomicAdd(&own[run_value * tables.bin_step], run_length);
    merge(counts, shared, tables);
}

/* Offset of a thread's byte counter in the row of each bin. The 32 lanes of a warp have a word
 * each, and so a bank each; the bytes of a word belong to four warps. */
static __device__ __forceinline__ uint32_t byte_of_thread(void)
{
    return (threadIdx.x & ~127u) | (threadIdx.x & 31) << 2 | (threadIdx.x >> 5 & 3);
}

/* Adds up and clears a quarter of a bin's row. Four threads work on a bin; the lanes of a warp use
 * different banks. */
static __device__ __forceinline__ uint32_t flush_bytes(uint32_t *words)
{
    const uint32_t per_row = HISTOGRAM_BYTE_THREADS / 4;
    const uint32_t bin = threadIdx.x / 4, quarter = threadIdx.x % 4;
    uint32_t sum = 0;
    for (uint32_t i = 0; i < per_row / 4; i++) {
        const uint32_t at = bin * per_row + ((i + bin) * 4 + quarter) % per_row;
        sum = __dp4a(words[at], 0x01010101u, sum);
        words[at] = 0;
    }
    return sum;
}

/* Counts without atomics in rounds so short that no byte counter overflows. */
template <typename Sample>
static __global__ void __launch_bounds__(HISTOGRAM_BYTE_THREADS)
    count_bytes(HistogramPlane plane, HistogramWalk walk, HistogramTables tables, uint32_t *counts)
{
    extern __shared__ uint32_t shared[];
    uint8_t *const own = (uint8_t *)shared + byte_of_thread();
    const uint32_t round = 255 / Piece<Sample>::elements, bin = threadIdx.x / 4;
    uint32_t sum = 0;
    clear(shared, tables.bins * HISTOGRAM_BYTE_THREADS / 4);
    for (uint32_t first = 0; first < walk.per_thread; first += round) {
        for_each<Sample, Piece<Sample>::elements>(
            plane, walk, first, min(first + round, walk.per_thread),
            [&](uint32_t value) { own[value * HISTOGRAM_BYTE_THREADS]++; });
        __syncthreads();
        if (bin < tables.bins)
            sum += flush_bytes(shared);
        __syncthreads();
    }
    if (sum)
        atomicAdd(&counts[bin], sum);
}

static __global__ void saturate(uint32_t *counts, uint32_t bins, uint32_t limit)
{
    const uint32_t bin = blockIdx.x * blockDim.x + threadIdx.x;
    if (bin < bins)
        counts[bin] = min(counts[bin], limit);
}

/* Inclusive scan over the block. `sums` has an element per warp. */
static __device__ uint32_t scan_block(uint32_t value, uint32_t *sums)
{
    const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (uint32_t i = 1; i < 32; i *= 2) {
        const uint32_t before = __shfl_up_sync(0xffffffffu, value, i);
        if (lane >= i)
            value += before;
    }
    if (lane == 31)
        sums[warp] = value;
    __syncthreads();
    for (uint32_t i = 0; i < warp; i++)
        value += sums[i];
    return value;
}

/* Runs in one block; each thread has SCAN_EACH neighbouring bins. */
static __global__ void __launch_bounds__(SCAN_THREADS)
    cumulate(uint32_t *sums, const uint32_t *counts, uint32_t bins)
{
    __shared__ uint32_t warp_sums[SCAN_THREADS / 32];
    uint32_t own[SCAN_EACH], sum = 0;
    const uint32_t first = threadIdx.x * SCAN_EACH;
#pragma unroll
    for (uint32_t i = 0; i < SCAN_EACH; i++)
        own[i] = sum += first + i < bins ? counts[first + i] : 0;
    const uint32_t before = scan_block(sum, warp_sums) - sum;
#pragma unroll
    for (uint32_t i = 0; i < SCAN_EACH; i++)
        if (first + i < bins)
            sums[first + i] = before + own[i];
}

template <typename Sample> static Kernel *kernel_of(HistogramKind kind)
{
    switch (kind) {
    case HISTOGRAM_GLOBAL:
    case HISTOGRAM_GLOBAL_STRIDE: return count_global<Sample>;
    case HISTOGRAM_RACY: return count_racy<Sample>;
    case HISTOGRAM_SHARED:
    case HISTOGRAM_SHARED_WARP: return count_shared<Sample, 1>;
    case HISTOGRAM_SHARED_REPLICATED: return count_shared<Sample, Piece<Sample>::elements>;
    case HISTOGRAM_AGGREGATED: return count_runs<Sample>;
    case HISTOGRAM_PER_THREAD: return count_bytes<Sample>;
    default: return NULL;
    }
}

static const void *kernel_for(const HistogramPlan *plan)
{
    return (const void *)(plan->sample_size == 1   ? kernel_of<uint8_t>(plan->kind)
                          : plan->sample_size == 2 ? kernel_of<uint16_t>(plan->kind)
                                                   : kernel_of<uint32_t>(plan->kind));
}

extern "C" cudaError_t histogram_residents(const HistogramPlan *plan, int *blocks)
{
    const void *kernel = kernel_for(plan);
    cudaError_t error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                             (int)plan->shared);
    if (!error && plan->shared)
        error = cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout,
                                     cudaSharedmemCarveoutMaxShared);
    return error ? error
                 : cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, kernel, (int)plan->threads,
                                                                 plan->shared);
}

extern "C" cudaError_t histogram_count(const HistogramPlan *plan, const HistogramPlane *plane,
                                       uint32_t *counts, cudaStream_t stream)
{
    HistogramPlane p = *plane;
    HistogramWalk walk = plan->walk;
    HistogramTables tables = plan->tables;
    void *arguments[] = {&p, &walk, &tables, &counts};
    return cudaLaunchKernel(kernel_for(plan), dim3(plan->blocks), dim3(plan->threads), arguments,
                            plan->shared, stream);
}

extern "C" cudaError_t histogram_saturate(uint32_t *counts, int bins, uint32_t limit,
                                          cudaStream_t stream)
{
    const unsigned threads = 256;
    const unsigned blocks = ((unsigned)bins + threads - 1) / threads;
    saturate<<<blocks, threads, 0, stream>>>(counts, (uint32_t)bins, limit);
    return cudaGetLastError();
}

extern "C" cudaError_t histogram_cumulate(uint32_t *sums, const uint32_t *counts, int bins,
                                          cudaStream_t stream)
{
    cumulate<<<1, SCAN_THREADS, 0, stream>>>(sums, counts, (uint32_t)bins);
    return cudaGetLastError();
}
