/* Maps the samples of the active picture through a table, and copies the others. */
#include <stdint.h>

#define THREADS 512
#include "equalizer/cuda/chunks.cuh"
#include "equalizer/cuda/launch.cuh"

/* Number of chunks that a thread loads before the table is ready: as many as the registers hold. */
#define CHUNKS_AT_ONCE 8

/* Position of a sample relative to the dither pattern's origin. */
typedef struct Place {
    uint32_t x, y;
} Place;

/* A block's table: output samples or, with dither or more than 12 bits, nodes of 32 bits. */
template <typename Type, typename EntryType> struct Table {
    typedef Type Sample;
    typedef EntryType Entry;
    static constexpr bool has_nodes = sizeof(Entry) == sizeof(uint32_t);
    static constexpr int most = sizeof(Sample) == 1 ? 256 : LUMEQ_MAX_BINS;
    union {
        uint4 vectors[most * sizeof(Entry) / sizeof(uint4)];
        Entry entries[most + has_nodes];
    };
};

/* Fills the table, with all threads of the block. */
template <typename Table>
static __device__ __forceinline__ void fill(Table *table, const CurveTable *from, int bins)
{
    const int vectors = bins * (int)sizeof(typename Table::Entry) / (int)sizeof(uint4);
    for (int i = (int)threadIdx.x; i < vectors; i += THREADS)
        table->vectors[i] = __ldcg((const uint4 *)from->codes8 + i);
    if (Table::has_nodes && threadIdx.x == 0)
        table->entries[bins] = __ldcg(&from->nodes[bins]);
    __syncthreads();
}

template <typename Table>
static __device__ __forceinline__ uint32_t look_up(const Table &table, const CurveParams &params,
                                                   uint32_t sample, Place at)
{
    typedef typename Table::Sample Sample;
    const Codes codes = {params.shift, (1u << params.depth) - 1};
    const uint32_t code = code_of<Sample>(sample, codes);
    if (!Table::has_nodes)
        return table.entries[code];
    const uint32_t add = params.dither ? curve_dither(at.x, at.y, params.frame) : CURVE_ROUND;
    const int fraction = sizeof(Sample) == 1 ? 0 : params.fraction;
    const uint32_t bin = code >> fraction;
    return curve_between(table.entries[bin], table.entries[bin + 1], code - (bin << fraction),
                         fraction, add, codes.last)
           << codes.shift;
}

static __device__ __forceinline__ uint32_t pack(const uint32_t *samples, uint8_t)
{
    return __byte_perm(__byte_perm(samples[0], samples[1], 0x0040),
                       __byte_perm(samples[2], samples[3], 0x0040), 0x5410);
}

static __device__ __forceinline__ uint32_t pack(const uint32_t *samples, uint16_t)
{
    return __byte_perm(samples[0], samples[1], 0x5410);
}

/* `at`: position of the chunk's first sample. */
template <typename Table>
static __device__ __forceinline__ uint4 look_up_chunk(const Table &table, const CurveParams &params,
                                                      uint4 values, Place at)
{
    typedef typename Table::Sample Sample;
    const int per_word = 4 / sizeof(Sample);
    uint32_t word[4];
#pragma unroll
    for (int i = 0; i < 4; i++) {
        uint32_t samples[per_word];
#pragma unroll
        for (int j = 0; j < per_word; j++)
            samples[j] = look_up(table, params, chunk_sample<Sample, 1>(values, i * per_word + j),
                                 {at.x + (uint32_t)(i * per_word + j), at.y});
        word[i] = pack(samples, Sample());
    }
    return make_uint4(word[0], word[1], word[2], word[3]);
}

template <typename Table>
static __device__ __forceinline__ void
look_up_chunks(const Table &table, const CurveParams &params, const Active &active,
               const Chunks &chunks, uint8_t *dst, int dst_stride, ChunkPosition *at,
               const uint4 values[CHUNKS_AT_ONCE])
{
    typedef typename Table::Sample Sample;
#pragma unroll
    for (int i = 0; i < CHUNKS_AT_ONCE; i++) {
        if (!chunk_is_there(chunks, *at))
            return;
        const int x = (chunks.start + at->col * CHUNK_BYTES) / (int)sizeof(Sample);
        const Place place = {(uint32_t)(x - active.left), (uint32_t)(at->row - active.top)};
        *(uint4 *)chunk_in(chunks, dst, dst_stride, *at) = keep_bars<Sample>(
            active, x, at->row, values[i], look_up_chunk(table, params, values[i], place));
        chunk_next(chunks, at);
    }
}

/*
 * Loads the chunk at `at` and the thread's next chunks. Hides `at` from the compiler, which would
 * otherwise keep the addresses of all chunks in registers that the samples need.
 */
static __device__ __forceinline__ void chunks_load(const Chunks &chunks, ChunkPosition *at,
                                                   uint4 values[CHUNKS_AT_ONCE])
{
    ChunkPosition next = *at;
#pragma unroll
    for (int i = 0; i < CHUNKS_AT_ONCE; i++) {
        if (!chunk_is_there(chunks, next))
            next = *at; /* any valid chunk; it is not used */
        values[i] = chunk_at(chunks, next);
        chunk_next(chunks, &next);
    }
    asm volatile("" : "+r"(at->row), "+r"(at->col));
}

/* A thread's first chunks, loaded before the table is ready. */
typedef struct LookupStart {
    ChunkPosition at;
    uint4 values[CHUNKS_AT_ONCE];
} LookupStart;

static __device__ __forceinline__ void look_up_start(const Chunks &chunks, LookupStart *start)
{
    start->at = chunk_first(chunks);
    if (chunk_is_there(chunks, start->at))
        chunks_load(chunks, &start->at, start->values);
}

/* All threads of the block call it. */
template <typename Table>
static __device__ __forceinline__ void
look_up_plane(Table *table, const Chunks &chunks, uint8_t *dst, int dst_stride,
              const CurveTable *from, const CurveParams &params, const Active &active,
              LookupStart *start)
{
    typedef typename Table::Sample Sample;
    fill(table, from, params.bins); /* synchronizes the block, also for `active` */
    while (chunk_is_there(chunks, start->at)) {
        look_up_chunks(*table, params, active, chunks, dst, dst_stride, &start->at, start->values);
        if (chunk_is_there(chunks, start->at))
            chunks_load(chunks, &start->at, start->values);
    }
    for_each_at_ends<Sample>(chunks, [&](int row, int x) {
        const Sample sample = *(const Sample *)(chunks.data + (int64_t)row * chunks.stride + x);
        const int column = x / (int)sizeof(Sample);
        const Place place = {(uint32_t)(column - active.left), (uint32_t)(row - active.top)};
        *(Sample *)(dst + (int64_t)row * dst_stride + x) =
            is_active(active, column, row) ? (Sample)look_up(*table, params, sample, place)
                                           : sample;
    });
}

/* The frames of a batch are side by side in the grid's second dimension. */
template <typename Table>
static __global__ void __launch_bounds__(THREADS, BLOCKS_BESIDE)
    apply(const __grid_constant__ Chunks all_chunks, uint8_t *dst, int dst_stride,
          const CurveTable *from, const BarsState *bars,
          const __grid_constant__ CurveParams all_params,
          const __grid_constant__ LumeqCudaBatch batch)
{
    __shared__ Table table;
    __shared__ Active active;
    const int frame = (int)blockIdx.y;
    Chunks chunks = all_chunks;
    CurveParams params = all_params;
    LookupStart start;
    chunks.data += batch.of[frame].in[0];
    dst += batch.of[frame].out[0];
    params.frame = batch.of[frame].frame;
    from = in_batch(from, batch, frame);
    bars = in_batch(bars, batch, frame);
    let_next_kernel_start();
    look_up_start(chunks, &start);
    wait_for_kernel_before(); /* that kernel may make the table */
    if (threadIdx.x == 0)
        find_active(&active, bars);
    look_up_plane(&table, chunks, dst, dst_stride, from, params, active, &start);
}

extern "C" cudaError_t lumeq_cuda_load_apply(void)
{
    return load_with_shared(apply<Table<uint8_t, uint8_t>>, apply<Table<uint8_t, uint32_t>>,
                            apply<Table<uint16_t, uint16_t>>, apply<Table<uint16_t, uint32_t>>);
}

template <typename Table>
static cudaError_t start(const LumeqCudaDevice *device, const LumeqCudaPlane *dst,
                         const LumeqCudaPlane *src, const CurveTable *table, const BarsState *bars,
                         const CurveParams *params, const LumeqCudaBatch *batch,
                         cudaStream_t stream)
{
    Chunks chunks;
    const unsigned blocks = chunks_share(&chunks, src, dst, sizeof(typename Table::Sample),
                                         chunks_blocks(device->processors, batch->count));
    const Launch how = {dim3(blocks, (unsigned)batch->count), THREADS, 0, device->early_launches,
                        stream};
    return launch(how, apply<Table>, chunks, dst->data, (int)dst->stride, table, bars, *params,
                  *batch);
}

extern "C" cudaError_t lumeq_cuda_apply(const LumeqCudaDevice *device, const LumeqCudaPlane *dst,
                                        const LumeqCudaPlane *src, const CurveTable *table,
                                        const BarsState *bars, const CurveParams *params,
                                        const LumeqCudaBatch *batch, cudaStream_t stream)
{
    const auto kind = curve_has_nodes(params) ? params->depth == 8
                                                    ? start<Table<uint8_t, uint32_t>>
                                                    : start<Table<uint16_t, uint32_t>>
                      : params->depth == 8 ? start<Table<uint8_t, uint8_t>>
                                              : start<Table<uint16_t, uint16_t>>;
    return kind(device, dst, src, table, bars, params, batch, stream);
}
