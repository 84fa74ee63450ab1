/*
 * How the threads of a block share a part of a plane. The part may begin and end at any sample.
 * Threads take it row by row, in chunks of 16 bytes; neighbouring threads take neighbouring chunks.
 * A row's first and last chunk may have samples outside of the part.
 *
 * Before including this file, a .cu file defines THREADS and includes chunks.cuh.
 */
#ifndef LUMEQ_CUDA_PARTS_CUH
#define LUMEQ_CUDA_PARTS_CUH

#include <stdint.h>

typedef struct PartPlane {
    uint8_t *data;
    int stride, width;
    int aligned; /* chunks are aligned vectors */
    int before;  /* number of samples of a row's first chunk that lie before the row */
} PartPlane;

typedef struct Part {
    int left, right, top, bottom; /* `right` and `bottom` are exclusive */
    int start, chunks;            /* of a row: first sample of the first chunk, number of chunks */
} Part;

typedef struct PartPosition {
    int x, y; /* a chunk's first sample */
} PartPosition;

/* Describes a plane so that its chunks begin at the same samples as those of `other`. */
static inline PartPlane part_plane(const LumeqCudaPlane *plane, const LumeqCudaPlane *other,
                                   int sample_size)
{
    PartPlane p;
    p.data = plane->data;
    p.stride = (int)plane->stride;
    p.width = plane->width;
    p.aligned = aligned_alike(plane, other);
    p.before = p.aligned ? (int)((uintptr_t)plane->data % CHUNK_BYTES) / sample_size : 0;
    return p;
}

template <typename Sample>
static __device__ __forceinline__ Part part_of(const PartPlane &plane, int left, int right, int top,
                                               int bottom)
{
    const int in_chunk = CHUNK_BYTES / (int)sizeof(Sample);
    const int first = (left + plane.before) / in_chunk;
    Part part = {left, right, top, bottom, first * in_chunk - plane.before, 0};
    if (right > left && bottom > top)
        part.chunks = (right - 1 + plane.before) / in_chunk - first + 1;
    return part;
}

template <typename Sample>
static __device__ __forceinline__ PartPosition part_first(const Part &part)
{
    PartPosition at = {0, part.bottom};
    if (part.chunks) {
        const int row = (int)threadIdx.x / part.chunks, col = (int)threadIdx.x % part.chunks;
        at.x = part.start + col * (CHUNK_BYTES / (int)sizeof(Sample));
        at.y = part.top + row;
    }
    return at;
}

static __device__ __forceinline__ bool part_has(const Part &part, PartPosition at)
{
    return at.y < part.bottom;
}

/* From a thread's chunk to the thread's next chunk. */
typedef struct PartStep {
    int x, y, row; /* `row`: samples in a row's chunks */
} PartStep;

template <typename Sample> static __device__ __forceinline__ PartStep part_step(const Part &part)
{
    const int in_chunk = CHUNK_BYTES / (int)sizeof(Sample), chunks = max(part.chunks, 1);
    const PartStep step = {THREADS % chunks * in_chunk, THREADS / chunks, chunks * in_chunk};
    return step;
}

static __device__ __forceinline__ void part_next(const Part &part, const PartStep &step,
                                                 PartPosition *at)
{
    at->x += step.x;
    at->y += step.y;
    if (at->x >= part.start + step.row) {
        at->x -= step.row;
        at->y++;
    }
}

/* True if sample `index` of the chunk is in the part. */
static __device__ __forceinline__ bool part_holds(const Part &part, PartPosition at, int index)
{
    return at.x + index >= part.left && at.x + index < part.right;
}

template <typename Sample>
static __device__ __forceinline__ bool part_holds_all(const Part &part, PartPosition at)
{
    return at.x >= part.left && at.x + CHUNK_BYTES / (int)sizeof(Sample) <= part.right;
}

/* Loads a chunk; samples outside of the part are undefined. */
template <typename Sample>
static __device__ __forceinline__ uint4 part_load(const PartPlane &plane, const Part &part,
                                                  PartPosition at)
{
    const int in_chunk = CHUNK_BYTES / (int)sizeof(Sample), in_word = 4 / (int)sizeof(Sample);
    const Sample *from = (const Sample *)(plane.data + (int64_t)at.y * plane.stride) + at.x;
    if (plane.aligned && at.x >= 0 && at.x + in_chunk <= plane.width)
        return *(const uint4 *)from;
    uint32_t words[4] = {0, 0, 0, 0};
#pragma unroll
    for (int i = 0; i < in_chunk; i++)
        if (part_holds(part, at, i))
            words[i / in_word] |= (uint32_t)from[i] << (i % in_word * 8 * (int)sizeof(Sample));
    return make_uint4(words[0], words[1], words[2], words[3]);
}

/* Writes the samples of a chunk that are in the part. */
template <typename Sample>
static __device__ __forceinline__ void part_store(const PartPlane &plane, const Part &part,
                                                  PartPosition at, uint4 values)
{
    Sample *to = (Sample *)(plane.data + (int64_t)at.y * plane.stride) + at.x;
    if (plane.aligned && part_holds_all<Sample>(part, at)) {
        *(uint4 *)to = values;
        return;
    }
#pragma unroll
    for (int i = 0; i < CHUNK_BYTES / (int)sizeof(Sample); i++)
        if (part_holds(part, at, i))
            to[i] = (Sample)chunk_sample<Sample, 1>(values, i);
}

#endif
