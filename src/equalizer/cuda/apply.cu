/* Looks every sample up in a table. */
#include <stdint.h>

/* As many chunks as registers hold: they are fetched while the histogram ends. */
#define THREADS 512
#define CHUNKS_AT_ONCE 8
#include "equalizer/cuda/chunks.cuh"
#include "equalizer/cuda/kernels.h"

/* Copies of the table in a block, for each so many-th lane: with 32, no two lanes of a warp ever
 * ask one bank for different words. */
#define LANE_TABLES 32

#define ENTRY_BYTES (LANE_TABLES * (int)sizeof(uint32_t))

/* A block's copies of the table: a word a sample, that of the first lane, the second ... */
static __device__ __forceinline__ uint32_t look_up(const uint32_t *tables, uint32_t offset)
{
    return *(const uint32_t *)((const char *)tables + offset);
}

static __device__ __forceinline__ uint32_t pack(const uint32_t *samples, uint8_t)
{
    return __byte_perm(__byte_perm(samples[0], samples[1], 0x0040),
                       __byte_perm(samples[2], samples[3], 0x0040), 0x5410);
}

template <typename Sample>
static __device__ __forceinline__ uint4 look_up_chunk(const uint32_t *tables, uint32_t own,
                                                      uint4 values)
{
    const int per_word = 4 / sizeof(Sample);
    uint32_t word[4];
#pragma unroll
    for (int i = 0; i < 4; i++) {
        uint32_t samples[per_word];
#pragma unroll
        for (int j = 0; j < per_word; j++)
            samples[j] =
                look_up(tables, own | chunk_sample<Sample, ENTRY_BYTES>(values, i * per_word + j));
        word[i] = pack(samples, Sample());
    }
    return make_uint4(word[0], word[1], word[2], word[3]);
}

/* Where this kernel started before the histogram had ended: waits for that, and so for the table.
 */
static __device__ __forceinline__ void wait_for_histogram(void)
{
#if __CUDA_ARCH__ >= 900
    cudaGridDependencySynchronize();
#endif
}

/* One warp fetches the table: all of them would wait in line for one place in the cache. Then each
 * fills the words of its share of the samples. */
template <typename Sample, int bins>
static __device__ __forceinline__ void fill(uint32_t *tables, const LumeqCudaTable *table)
{
    const int per_word = 4 / sizeof(Sample), per_warp = bins / (THREADS / 32);
    static_assert(per_warp * (THREADS / 32) == bins, "each warp fills as much");
    __shared__ uint32_t packed[bins / per_word];
    const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
    if (warp == 0) {
#pragma unroll
        for (int i = 0; i < bins / per_word; i += 32)
            packed[i + lane] = __ldcg(&table->words[i + lane]);
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < per_warp; i++) {
        const int code = warp * per_warp + i;
        if (lane < LANE_TABLES)
            tables[code * LANE_TABLES + lane] = ((const Sample *)packed)[code];
    }
    __syncthreads();
}

template <typename Sample>
static __device__ __forceinline__ void
apply_chunks(const uint32_t *tables, uint32_t own, const Chunks &chunks, uint8_t *dst,
             int dst_stride, ChunkPosition *at, const uint4 values[CHUNKS_AT_ONCE])
{
#pragma unroll
    for (int i = 0; i < CHUNKS_AT_ONCE; i++) {
        if (!chunk_is_there(chunks, *at))
            return;
        *(uint4 *)chunk_in(chunks, dst, dst_stride, *at) =
            look_up_chunk<Sample>(tables, own, values[i]);
        chunk_next(chunks, at);
    }
}

template <typename Sample, int bins>
static __global__ void __launch_bounds__(THREADS, BLOCKS_BESIDE)
    apply(const Chunks chunks, uint8_t *dst, int dst_stride, const LumeqCudaTable *table)
{
    __shared__ uint32_t tables[bins * LANE_TABLES];
    uint32_t own = threadIdx.x % LANE_TABLES * sizeof(*tables); /* of the thread's copy, in bytes */
    asm volatile("" : "+r"(own));

    ChunkPosition at = chunk_first(chunks);
    uint4 values[CHUNKS_AT_ONCE];
    if (chunk_is_there(chunks, at))
        chunks_load(chunks, &at, values);
    wait_for_histogram();
    fill<Sample, bins>(tables, table);
    while (chunk_is_there(chunks, at)) {
        apply_chunks<Sample>(tables, own, chunks, dst, dst_stride, &at, values);
        if (chunk_is_there(chunks, at))
            chunks_load(chunks, &at, values);
    }
    for_each_at_ends<Sample>(chunks, [&](int row, int x) {
        const Sample code = *(const Sample *)(chunks.data + (int64_t)row * chunks.stride + x);
        *(Sample *)(dst + (int64_t)row * dst_stride + x) =
            (Sample)look_up(tables, own | code * ENTRY_BYTES);
    });
}

extern "C" cudaError_t lumeq_cuda_load_apply(void)
{
    cudaFuncAttributes attributes;
    const cudaError_t error = cudaFuncGetAttributes(&attributes, apply<uint8_t, 256>);
    return error ? error
                 : cudaFuncSetAttribute(apply<uint8_t, 256>,
                                        cudaFuncAttributePreferredSharedMemoryCarveout,
                                        cudaSharedmemCarveoutMaxShared);
}

extern "C" cudaError_t lumeq_cuda_apply8(const LumeqCudaDevice *device, const LumeqCudaPlane *dst,
                                         const LumeqCudaPlane *src, const LumeqCudaTable *table,
                                         cudaStream_t stream)
{
    Chunks chunks;
    cudaLaunchAttribute early = {};
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;

    cudaLaunchConfig_t config = {};
    config.gridDim = chunks_share(&chunks, src, dst, 1, device->processors);
    config.blockDim = THREADS;
    config.stream = stream;
    config.attrs = &early;
    config.numAttrs = device->early_launches ? 1 : 0;
    return cudaLaunchKernelEx(&config, apply<uint8_t, 256>, chunks, dst->data, (int)dst->stride,
                              table);
}
