/*
 * Counts the samples of a plane. Each block counts into tables in shared memory, and then adds them
 * to common counters.
 *
 * Before including this file, a .cu file defines THREADS and includes chunks.cuh.
 */
#ifndef LUMEQ_CUDA_COUNT_CUH
#define LUMEQ_CUDA_COUNT_CUH

#include <stdint.h>

#include "equalizer/cuda/block.cuh"
#include "equalizer/cuda/launch.cuh"

/*
 * A block's tables. With one table per lane, each table is in a bank of its own, so lanes never
 * conflict. Otherwise warps share the tables, which follow one another.
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

/* Adds the block's tables to the counters. */
template <int bins, int tables>
static __device__ __forceinline__ void merge(const uint32_t *counts, uint32_t *hist)
{
#pragma unroll
    for (int first = 0; first < bins; first += THREADS) {
        const int bin = first + (int)threadIdx.x;
        const uint32_t sum = bin < bins ? Tables<bins, tables>::sum(counts, bin) : 0;
        if (sum)
            atomicAdd(&hist[bin], sum);
    }
}

/* With a constant addend and no result, the hardware merges lanes with equal addresses. */
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

/* Counts the chunk at `at` while the thread's next chunk is being loaded. */
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

/* Counts the block's share of a plane in its tables, and then synchronizes the block. */
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

static __device__ __forceinline__ void block_barrier(void)
{
    __syncthreads();
}

/* Launches a kernel over the planes of a batch. `more`: additional blocks per plane. */
template <typename Sample, typename... Arguments>
static cudaError_t launch_over(void (*kernel)(const Chunks, Arguments...),
                               const LumeqCudaDevice *device, const LumeqCudaPlane *src, int count,
                               unsigned more, cudaStream_t stream, Arguments... arguments)
{
    Chunks chunks;
    const unsigned blocks =
        chunks_share(&chunks, src, src, sizeof(Sample), chunks_blocks(device->processors, count));
    const Launch how = {dim3(blocks + more, (unsigned)count), THREADS, 0, device->early_launches,
                        stream};
    return launch(how, kernel, chunks, arguments...);
}

#endif
