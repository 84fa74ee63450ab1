/* Kernels that count, the simplest first, their grids, and CUB. */
#include <stdint.h>

#include <cub/device/device_histogram.cuh>

#include "bench/histogram_kernels.h"

#define PIECE_BYTES 16 /* some strategies read this many at once */

#define THREADS 256

/* The tables of strategy shared-replicated fill shared memory, so only one block fits; it has the
 * most threads possible. */
#define REPLICATED_THREADS 1024

/* As many as shared memory has banks. */
#define MAX_COPIES 32u

/* A block's tables in shared memory. Groups of `sharers` threads use the `copies` tables
 * round-robin. Counters of a table are bin_step words apart, tables copy_step. */
typedef struct Tables {
    uint32_t bins, copies, sharers;
    uint32_t bin_step, copy_step;
} Tables;

typedef void Kernel(const void *data, uint32_t count, Tables tables, uint32_t *counts);

template <typename Sample> struct Piece {
    enum { samples = PIECE_BYTES / sizeof(Sample) };
};

/* Calls visit(value) for each sample of a piece; `left` samples remain. */
template <typename Sample, typename Visit>
static __device__ __forceinline__ void visit_piece(const Sample *piece, uint32_t left, Visit visit)
{
    const int per_word = 4 / sizeof(Sample), bits = 8 * sizeof(Sample);
    if (left < Piece<Sample>::samples) {
        for (uint32_t i = 0; i < left; i++)
            visit(piece[i]);
        return;
    }
    const uint4 v = __ldg((const uint4 *)piece);
#pragma unroll
    for (int i = 0; i < Piece<Sample>::samples; i++) {
        const int at = i / per_word;
        const uint32_t word = at == 0 ? v.x : at == 1 ? v.y : at == 2 ? v.z : v.w;
        visit(word >> (i % per_word * bits) & (0xffffffffu >> (32 - bits)));
    }
}

/* Calls visit(value) for this thread's samples; neighbouring threads take neighbouring ones. */
template <typename Sample, int at_once, typename Visit>
static __device__ __forceinline__ void for_each(const void *data, uint32_t count, Visit visit)
{
    const Sample *const samples = (const Sample *)data;
    const uint32_t units = count / at_once + (count % at_once != 0);
    for (uint32_t unit = blockIdx.x * blockDim.x + threadIdx.x; unit < units;
         unit += gridDim.x * blockDim.x)
        if (at_once == 1)
            visit(samples[unit]);
        else
            visit_piece(samples + unit * at_once, count - unit * at_once, visit);
}

template <typename Sample>
static __global__ void count_global(const void *data, uint32_t count, Tables, uint32_t *counts)
{
    for_each<Sample, 1>(data, count, [&](uint32_t value) { atomicAdd(&counts[value], 1u); });
}

/* Clears a block's tables and returns this thread's. */
static __device__ __forceinline__ uint32_t *own_table(uint32_t *shared, const Tables &tables)
{
    for (uint32_t i = threadIdx.x; i < tables.copies * tables.bins; i += blockDim.x)
        shared[i] = 0;
    __syncthreads();
    return shared + threadIdx.x / tables.sharers % tables.copies * tables.copy_step;
}

/* Adds up a block's tables. Threads begin with different copies, to avoid bank conflicts between
 * interleaved counters. */
static __device__ __forceinline__ void merge(uint32_t *counts, const uint32_t *shared,
                                             const Tables &tables)
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
static __global__ void __launch_bounds__(REPLICATED_THREADS)
    count_shared(const void *data, uint32_t count, Tables tables, uint32_t *counts)
{
    extern __shared__ uint32_t shared[];
    uint32_t *const own = own_table(shared, tables);
    for_each<Sample, at_once>(
        data, count, [&](uint32_t value) { atomicAdd(&own[value * tables.bin_step], 1u); });
    merge(counts, shared, tables);
}

/* Adds a run of equal values at once, when it ends. */
template <typename Sample>
static __global__ void count_runs(const void *data, uint32_t count, Tables tables, uint32_t *counts)
{
    extern __shared__ uint32_t shared[];
    uint32_t run_value = 0, run_length = 0;
    uint32_t *const own = own_table(shared, tables);
    for_each<Sample, Piece<Sample>::samples>(data, count, [&](uint32_t value) {
        if (value != run_value) {
            if (run_length)
                atomicAdd(&own[run_value], run_length);
            run_value = value;
            run_length = 0;
        }
        run_length++;
    });
    if (run_length)
        atomicAdd(&own[run_value], run_length);
    merge(counts, shared, tables);
}

template <typename Sample> static Kernel *kernel_of(HistogramKind kind)
{
    switch (kind) {
    case HISTOGRAM_GLOBAL: return count_global<Sample>;
    case HISTOGRAM_SHARED_REPLICATED: return count_shared<Sample, Piece<Sample>::samples>;
    case HISTOGRAM_AGGREGATED: return count_runs<Sample>;
    default: return count_shared<Sample, 1>;
    }
}

extern "C" cudaError_t histogram_count(HistogramKind kind, const HistogramSamples *samples,
                                       uint32_t *counts, int device, cudaStream_t stream)
{
    Kernel *const kernel =
        samples->bins > 256 ? kernel_of<uint16_t>(kind) : kernel_of<uint8_t>(kind);
    const uint32_t bins = (uint32_t)samples->bins, table = bins * sizeof(uint32_t);
    Tables tables = {bins, 1, 1, 1, 0};
    uint32_t threads = THREADS, count = samples->count;
    int processors = 0, most = 0, residents = 0;
    cudaError_t error = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    if (!error)
        error = cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
    if (error)
        return error;
    if (kind == HISTOGRAM_SHARED_WARP) {
        while (threads > 32 && threads / 32 * table > (uint32_t)most)
            threads /= 2;
        tables = {bins, threads / 32, 32, 1, bins};
    } else if (kind == HISTOGRAM_SHARED_REPLICATED) { /* a bin's counters in neighbouring banks */
        threads = REPLICATED_THREADS;
        tables.copies = tables.bin_step = min(MAX_COPIES, (uint32_t)most / table);
        tables.copy_step = 1;
    }
    const size_t shared = kind == HISTOGRAM_GLOBAL ? 0 : tables.copies * table;
    uint32_t blocks = count / threads + 1; /* of global: one sample per thread */
    if (shared) {
        error = cudaFuncSetAttribute((const void *)kernel,
                                     cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared);
        if (!error)
            error = cudaFuncSetAttribute((const void *)kernel,
                                         cudaFuncAttributePreferredSharedMemoryCarveout,
                                         cudaSharedmemCarveoutMaxShared);
        if (!error)
            error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&residents, (const void *)kernel,
                                                                  (int)threads, shared);
        blocks = min(blocks, (uint32_t)(residents * processors));
    }
    if (error)
        return error;
    kernel<<<blocks, threads, shared, stream>>>(samples->data, count, tables, counts);
    return cudaGetLastError();
}

template <typename Sample>
static cudaError_t count_cub(void *temporary, size_t *size, const HistogramSamples *samples,
                             uint32_t *counts, cudaStream_t stream)
{
    return cub::DeviceHistogram::HistogramEven(temporary, *size, (const Sample *)samples->data,
                                               counts, samples->bins + 1, 0, samples->bins,
                                               (int)samples->count, stream);
}

extern "C" cudaError_t histogram_cub(void *temporary, size_t *size, const HistogramSamples *samples,
                                     uint32_t *counts, cudaStream_t stream)
{
    return samples->bins > 256 ? count_cub<uint16_t>(temporary, size, samples, counts, stream)
                               : count_cub<uint8_t>(temporary, size, samples, counts, stream);
}
