/* Maps the samples of the active picture through a table, and copies the others. */
#include <stdint.h>

#define THREADS 512
#include "equalizer/cuda/chunks.cuh"
#include "equalizer/cuda/launch.cuh"

/* As many as registers hold: they are loaded while the histogram ends. */
#define CHUNKS_AT_ONCE 8

/*
 * A kind of table has: Memory, its copy in a block's shared memory; a function that fills it with
 * all threads of the block; and a lookup of samples, with the thread's own state.
 */

/* Position of a sample relative to the dither pattern's origin. */
typedef struct Place {
    uint32_t x, y;
} Place;

/* ---- 8 bits ------------------------------------------------------------------------------- */

#define BINS_8 256

/* Copies of the table in a block. With 32, each lane has its own copy and bank, without conflicts.
 */
#define LANE_TABLES 32

#define ENTRY_BYTES (LANE_TABLES * (int)sizeof(uint32_t))

/* `Entry`: the output sample for a code, or a node to be dithered. */
template <typename Entry> struct Codes8 {
    typedef uint8_t Sample;
    struct Memory {
        uint32_t tables[BINS_8 * LANE_TABLES]; /* for each code a word per lane */
        uint32_t packed[BINS_8 * sizeof(Entry) / 4];
    };
    const Memory *memory;
    uint32_t own;   /* offset of the thread's copy, in bytes */
    uint32_t frame; /* number of the dither pattern */
};

typedef Codes8<uint8_t> Rounded8;
typedef Codes8<uint32_t> Dithered8;

template <typename Entry>
static __device__ __forceinline__ void prepare(Codes8<Entry> *codes, const CurveParams &,
                                               uint32_t frame)
{
    codes->own = threadIdx.x % LANE_TABLES * (uint32_t)sizeof(uint32_t);
    codes->frame = frame;
    asm volatile("" : "+r"(codes->own));
}

/* One warp loads the table, because all warps would queue for the same cache lines. Then each warp
 * fills the words of its share of the codes. */
template <typename Entry, typename Memory>
static __device__ __forceinline__ void fill_lanes(Memory *memory, const uint32_t *from)
{
    const int words = BINS_8 * (int)sizeof(Entry) / 4, warps = THREADS / 32;
    const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
    if (warp == 0) {
#pragma unroll
        for (int i = 0; i < words; i += 32)
            memory->packed[i + lane] = __ldcg(from + i + lane);
    }
    __syncthreads();
#pragma unroll
    for (int code = warp; code < BINS_8; code += warps)
        memory->tables[code * LANE_TABLES + lane] = ((const Entry *)memory->packed)[code];
    __syncthreads();
}

static __device__ __forceinline__ void fill(Rounded8::Memory *memory, const CurveTable *table,
                                            const CurveParams &)
{
    fill_lanes<uint8_t>(memory, (const uint32_t *)table->codes8);
}

static __device__ __forceinline__ void fill(Dithered8::Memory *memory, const CurveTable *table,
                                            const CurveParams &)
{
    fill_lanes<uint32_t>(memory, table->nodes);
}

template <typename Entry>
static __device__ __forceinline__ uint32_t entry_at(const Codes8<Entry> &codes, uint32_t offset)
{
    return *(const uint32_t *)((const char *)codes.memory->tables + (codes.own | offset));
}

static __device__ __forceinline__ uint32_t finish(const Rounded8 &, uint32_t entry, Place)
{
    return entry;
}

static __device__ __forceinline__ uint32_t finish(const Dithered8 &codes, uint32_t entry, Place at)
{
    return (entry + curve_dither(at.x, at.y, codes.frame)) >> CURVE_NODE_BITS;
}

template <typename Entry>
static __device__ __forceinline__ uint32_t look_up_in(const Codes8<Entry> &codes, uint4 values,
                                                      int index, Place at)
{
    return finish(codes, entry_at(codes, chunk_sample<uint8_t, ENTRY_BYTES>(values, index)), at);
}

template <typename Entry>
static __device__ __forceinline__ uint32_t look_up_one(const Codes8<Entry> &codes, uint8_t sample,
                                                       Place at)
{
    return finish(codes, entry_at(codes, sample * ENTRY_BYTES), at);
}

/* ---- 9 to 12 bits ------------------------------------------------------------------------- */

typedef struct Codes16 {
    typedef uint16_t Sample;
    typedef struct Memory {
        uint4 packed[LUMEQ_MAX_BINS * sizeof(uint16_t) / sizeof(uint4)];
    } Memory;
    const Memory *memory;
    Codes codes;
} Codes16;

static __device__ __forceinline__ void prepare(Codes16 *table, const CurveParams &params, uint32_t)
{
    table->codes = {params.shift, (uint32_t)params.bins - 1};
}

static __device__ __forceinline__ void fill_vectors(uint4 *to, const void *from, int bytes)
{
    for (int i = (int)threadIdx.x; i < bytes / (int)sizeof(uint4); i += THREADS)
        to[i] = __ldcg((const uint4 *)from + i);
}

static __device__ __forceinline__ void fill(Codes16::Memory *memory, const CurveTable *table,
                                            const CurveParams &params)
{
    fill_vectors(memory->packed, table->codes16, params.bins * (int)sizeof(uint16_t));
    __syncthreads();
}

static __device__ __forceinline__ uint32_t look_up_one(const Codes16 &codes, uint32_t sample, Place)
{
    return ((const uint16_t *)codes.memory->packed)[code_of<uint16_t>(sample, codes.codes)];
}

/* ---- 13 to 16 bits, and dither ------------------------------------------------------------ */

typedef struct Nodes {
    typedef uint16_t Sample;
    typedef struct Memory {
        uint4 packed[LUMEQ_MAX_BINS * sizeof(uint32_t) / sizeof(uint4) + 1];
    } Memory;
    const Memory *memory;
    Codes codes;
    int fraction, dither;
    uint32_t frame;
} Nodes;

static __device__ __forceinline__ void prepare(Nodes *nodes, const CurveParams &params,
                                               uint32_t frame)
{
    nodes->codes = {params.shift, (1u << params.depth) - 1};
    nodes->fraction = params.fraction;
    nodes->dither = params.dither;
    nodes->frame = frame;
}

static __device__ __forceinline__ void fill(Nodes::Memory *memory, const CurveTable *table,
                                            const CurveParams &params)
{
    fill_vectors(memory->packed, table->nodes, params.bins * (int)sizeof(uint32_t));
    if (threadIdx.x == 0)
        ((uint32_t *)memory->packed)[params.bins] = __ldcg(&table->nodes[params.bins]);
    __syncthreads();
}

static __device__ __forceinline__ uint32_t look_up_one(const Nodes &nodes, uint32_t sample,
                                                       Place at)
{
    const uint32_t add = nodes.dither ? curve_dither(at.x, at.y, nodes.frame) : CURVE_ROUND;
    const uint32_t code = code_of<uint16_t>(sample, nodes.codes), bin = code >> nodes.fraction;
    const uint32_t *const node = (const uint32_t *)nodes.memory->packed + bin;
    return curve_between(node[0], node[1], code - (bin << nodes.fraction), nodes.fraction, add,
                         nodes.codes.last)
           << nodes.codes.shift;
}

/* For both kinds with 16 bits. */
template <typename Table>
static __device__ __forceinline__ uint32_t look_up_in(const Table &table, uint4 values, int index,
                                                      Place at)
{
    return look_up_one(table, chunk_sample<uint16_t, 1>(values, index), at);
}

/* ---- a plane ------------------------------------------------------------------------------- */

static __device__ __forceinline__ uint32_t pack(const uint32_t *samples, uint8_t)
{
    return __byte_perm(__byte_perm(samples[0], samples[1], 0x0040),
                       __byte_perm(samples[2], samples[3], 0x0040), 0x5410);
}

static __device__ __forceinline__ uint32_t pack(const uint32_t *samples, uint16_t)
{
    return __byte_perm(samples[0], samples[1], 0x5410);
}

/* Looks up all samples of a chunk. `at`: position of the first one. */
template <typename Table>
static __device__ __forceinline__ uint4 look_up_chunk(const Table &table, uint4 values, Place at)
{
    const int per_word = 4 / sizeof(typename Table::Sample);
    uint32_t word[4];
#pragma unroll
    for (int i = 0; i < 4; i++) {
        uint32_t samples[per_word];
#pragma unroll
        for (int j = 0; j < per_word; j++)
            samples[j] = look_up_in(table, values, i * per_word + j,
                                    {at.x + (uint32_t)(i * per_word + j), at.y});
        word[i] = pack(samples, typename Table::Sample());
    }
    return make_uint4(word[0], word[1], word[2], word[3]);
}

template <typename Table>
static __device__ __forceinline__ void
look_up_chunks(const Table &table, const Active &active, const Chunks &chunks, uint8_t *dst,
               int dst_stride, ChunkPosition *at, const uint4 values[CHUNKS_AT_ONCE])
{
    typedef typename Table::Sample Sample;
#pragma unroll
    for (int i = 0; i < CHUNKS_AT_ONCE; i++) {
        if (!chunk_is_there(chunks, *at))
            return;
        const int x = (chunks.start + at->col * CHUNK_BYTES) / (int)sizeof(Sample);
        const Place place = {(uint32_t)(x - active.left), (uint32_t)(at->row - active.top)};
        *(uint4 *)chunk_in(chunks, dst, dst_stride, *at) = keep_bars<Sample>(
            active, x, at->row, values[i], look_up_chunk(table, values[i], place));
        chunk_next(chunks, at);
    }
}

/*
 * Loads the chunk at `at` and the thread's next ones. `at` becomes opaque, to keep the compiler
 * from holding addresses of all chunks in registers, which the samples need.
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

/* Call it in all threads of the block. It synchronizes the block before it reads `active`. `frame`:
 * number of the dither pattern. */
template <typename Table>
static __device__ __forceinline__ void
look_up_plane(typename Table::Memory *memory, const Chunks &chunks, uint8_t *dst, int dst_stride,
              const CurveTable *from, const CurveParams &params, uint32_t frame,
              const Active &active, LookupStart *start)
{
    typedef typename Table::Sample Sample;
    Table table;
    table.memory = memory;
    prepare(&table, params, frame);
    fill(memory, from, params); /* synchronizes the block */
    while (chunk_is_there(chunks, start->at)) {
        look_up_chunks(table, active, chunks, dst, dst_stride, &start->at, start->values);
        if (chunk_is_there(chunks, start->at))
            chunks_load(chunks, &start->at, start->values);
    }
    for_each_at_ends<Sample>(chunks, [&](int row, int x) {
        const Sample sample = *(const Sample *)(chunks.data + (int64_t)row * chunks.stride + x);
        const int column = x / (int)sizeof(Sample);
        const Place place = {(uint32_t)(column - active.left), (uint32_t)(row - active.top)};
        *(Sample *)(dst + (int64_t)row * dst_stride + x) =
            is_active(active, column, row) ? (Sample)look_up_one(table, sample, place) : sample;
    });
}

/* The frames of a batch are side by side in the grid's second dimension. */
template <typename Table>
static __global__ void __launch_bounds__(THREADS, BLOCKS_BESIDE)
    apply(const __grid_constant__ Chunks all_chunks, uint8_t *dst, int dst_stride,
          const CurveTable *from, const BarsState *bars, const __grid_constant__ CurveParams params,
          const __grid_constant__ LumeqCudaBatch batch)
{
    __shared__ typename Table::Memory memory;
    __shared__ Active active;
    const int frame = (int)blockIdx.y;
    Chunks chunks = all_chunks;
    LookupStart start;
    chunks.data += batch.of[frame].in[0];
    dst += batch.of[frame].out[0];
    from = in_batch(from, batch, frame);
    bars = in_batch(bars, batch, frame);
    let_next_kernel_start();
    look_up_start(chunks, &start);
    wait_for_kernel_before(); /* it may make the table */
    if (threadIdx.x == 0)
        find_active(&active, bars);
    look_up_plane<Table>(&memory, chunks, dst, dst_stride, from, params, batch.of[frame].frame,
                         active, &start);
}

extern "C" cudaError_t lumeq_cuda_load_apply(void)
{
    return load_with_shared(apply<Rounded8>, apply<Dithered8>, apply<Codes16>, apply<Nodes>);
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
    const auto kind = params->depth == 8 ? params->dither ? start<Dithered8> : start<Rounded8>
                      : curve_has_nodes(params) ? start<Nodes>
                                                : start<Codes16>;
    return kind(device, dst, src, table, bars, params, batch, stream);
}
