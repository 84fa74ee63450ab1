/*
 * How the threads of a grid share a plane: in chunks of 16 aligned bytes, row by row, with
 * neighbouring chunks for neighbouring threads. The rest at both ends of a row is processed sample
 * by sample, with a warp per row. If rows have different alignments, there are no chunks.
 */
#ifndef LUMEQ_CUDA_CHUNKS_CUH
#define LUMEQ_CUDA_CHUNKS_CUH

#include <stdint.h>

#include "equalizer/cuda/active.cuh"
#include "equalizer/cuda/kernels.h"

#define CHUNK_BYTES 16

/* Before including this file, a .cu file defines THREADS, the size of its blocks. */

#define BATCH_BLOCKS 2 /* per multiprocessor, for all planes of a batch together */

/* For __launch_bounds__: 2 leaves half of the registers to the previous kernel, which may still
 * run. Devices of compute capability 11 and 12 hold too few threads for 2 blocks. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900 && __CUDA_ARCH__ < 1100
#define BLOCKS_BESIDE 2
#else
#define BLOCKS_BESIDE 1
#endif

/* A plane, and how a grid's threads walk over it. */
typedef struct Chunks {
    uint8_t *data;
    int stride, height;
    int start, per_row, end;  /* of a row: bytes before chunks, chunks, bytes in total */
    int step_rows, step_cols; /* from a thread's chunk to its next */
    int blocks;               /* the first `blocks` blocks of the grid walk */
} Chunks;

typedef struct ChunkPosition {
    int row, col;
} ChunkPosition;

static inline int aligned_alike(const LumeqCudaPlane *a, const LumeqCudaPlane *b)
{
    return ((uintptr_t)a->data - (uintptr_t)b->data) % CHUNK_BYTES == 0 &&
           a->stride % CHUNK_BYTES == 0 && b->stride % CHUNK_BYTES == 0;
}

/* Blocks per plane. A multiprocessor gets BATCH_BLOCKS of a batch, but one of a single plane, to
 * leave room for the next kernel. */
static inline int chunks_blocks(int processors, int count)
{
    const int blocks = count > 1 ? BATCH_BLOCKS * processors / count : processors;
    return blocks > 0 ? blocks : 1;
}

/* Plans the same walk over `plane` and `other`. Returns the number of blocks that walk. */
static inline unsigned chunks_share(Chunks *chunks, const LumeqCudaPlane *plane,
                                    const LumeqCudaPlane *other, int sample_size, int max_blocks)
{
    const int bytes = plane->width * sample_size;
    const int start = (int)(-(uintptr_t)plane->data % CHUNK_BYTES);
    const int in_chunks = aligned_alike(plane, other) && bytes > start;
    const int per_row = in_chunks ? (bytes - start) / CHUNK_BYTES : 0;
    const int has_ends = per_row * CHUNK_BYTES < bytes;

    const int64_t chunk_threads = (int64_t)per_row * plane->height;
    const int64_t end_threads = has_ends ? (int64_t)plane->height * 32 : 0;
    const int64_t most = chunk_threads > end_threads ? chunk_threads : end_threads;
    const int64_t wanted = (most + THREADS - 1) / THREADS;
    const int blocks = wanted < max_blocks ? (int)wanted : max_blocks;

    chunks->data = plane->data;
    chunks->stride = (int)plane->stride;
    chunks->height = plane->height;
    chunks->start = per_row ? start : 0;
    chunks->per_row = per_row;
    chunks->end = bytes;
    chunks->blocks = blocks;
    chunks->step_rows = per_row ? blocks * THREADS / per_row : 0;
    chunks->step_cols = per_row ? blocks * THREADS % per_row : 0;
    return (unsigned)blocks;
}

static __device__ __forceinline__ ChunkPosition chunk_first(const Chunks &chunks)
{
    const unsigned index = blockIdx.x * blockDim.x + threadIdx.x;
    ChunkPosition at;
    at.row = chunks.per_row ? (int)(index / (unsigned)chunks.per_row) : chunks.height;
    at.col = (int)index - at.row * chunks.per_row;
    return at;
}

static __device__ __forceinline__ bool chunk_is_there(const Chunks &chunks, ChunkPosition at)
{
    return at.row < chunks.height;
}

static __device__ __forceinline__ void chunk_next(const Chunks &chunks, ChunkPosition *at)
{
    at->row += chunks.step_rows;
    at->col += chunks.step_cols;
    if (at->col >= chunks.per_row) {
        at->col -= chunks.per_row;
        at->row++;
    }
}

/* Address of the chunk in a plane with equally aligned rows. */
static __device__ __forceinline__ uint8_t *chunk_in(const Chunks &chunks, uint8_t *data, int stride,
                                                    ChunkPosition at)
{
    return data + (int64_t)at.row * stride + (chunks.start + at.col * CHUNK_BYTES);
}

static __device__ __forceinline__ uint4 chunk_at(const Chunks &chunks, ChunkPosition at)
{
    return *(const uint4 *)chunk_in(chunks, chunks.data, chunks.stride, at);
}

/* A 16-bit sample's code, or bin, is sample >> shift, at most `last`. 8-bit samples are codes. */
typedef struct Codes {
    int shift;
    uint32_t last;
} Codes;

template <typename Sample>
static __device__ __forceinline__ uint32_t code_of(uint32_t sample, Codes c)
{
    return sizeof(Sample) == 1 ? sample : min(sample >> c.shift, c.last);
}

/* Sample `index` of a chunk times `scale`, a power of two. With constants, this takes one shift and
 * one AND. */
template <typename Sample, int scale>
static __device__ __forceinline__ uint32_t chunk_sample(uint4 v, int index)
{
    const int per_word = 4 / sizeof(Sample), bits = 8 * sizeof(Sample);
    const int i = index / per_word, shift = index % per_word * bits;
    const uint32_t word = i == 0 ? v.x : i == 1 ? v.y : i == 2 ? v.z : v.w;
    int up = 0;
    for (int s = scale; s > 1; s /= 2)
        up++;
    return (shift >= up ? word >> (shift - up) : word << (up - shift)) & (((1u << bits) - 1) << up);
}

/* The code of sample `index` times `scale`: the offset of its entry in a table. */
template <typename Sample, int scale>
static __device__ __forceinline__ uint32_t chunk_code(uint4 v, int index, Codes codes)
{
    if (sizeof(Sample) == 1)
        return chunk_sample<Sample, scale>(v, index);
    return code_of<Sample>(chunk_sample<Sample, 1>(v, index), codes) * scale;
}

/* Combines a chunk that begins with sample (x, y): new values in the active picture, old ones
 * elsewhere. */
template <typename Sample>
static __device__ __forceinline__ uint4 keep_bars(const Active &active, int x, int y, uint4 was,
                                                  uint4 now)
{
    const int in_chunk = CHUNK_BYTES / (int)sizeof(Sample), in_word = 4 / (int)sizeof(Sample);
    if (is_active_row(active, y) && x >= active.left && x + in_chunk <= active.right)
        return now;
    const uint32_t old[4] = {was.x, was.y, was.z, was.w};
    uint32_t words[4] = {now.x, now.y, now.z, now.w};
#pragma unroll
    for (int i = 0; i < in_chunk; i++) {
        const uint32_t mask = (sizeof(Sample) == 1 ? 0xffu : 0xffffu)
                              << (i % in_word * 8 * (int)sizeof(Sample));
        if (!is_active(active, x + i, y))
            words[i / in_word] = (words[i / in_word] & ~mask) | (old[i / in_word] & mask);
    }
    return make_uint4(words[0], words[1], words[2], words[3]);
}

/* Calls visit(row, first byte) for each of this thread's samples outside of chunks. */
template <typename Sample, typename Visit>
static __device__ __forceinline__ void for_each_at_ends(const Chunks &chunks, Visit visit)
{
    const int in_chunks = chunks.per_row * CHUNK_BYTES;
    if (in_chunks == chunks.end)
        return;
    const int lane = (int)(threadIdx.x % 32 * sizeof(Sample));
    for (int row = (int)((blockIdx.x * blockDim.x + threadIdx.x) / 32); row < chunks.height;
         row += chunks.blocks * (int)(blockDim.x / 32))
        for (int i = lane; i < chunks.end - in_chunks; i += (int)(32 * sizeof(Sample)))
            visit(row, i < chunks.start ? i : i + in_chunks);
}

#endif
