/* Looks every sample of the active picture up in a table, and copies the others. */
#include <stdint.h>

/* As many chunks as registers hold: they are fetched while the histogram ends. */
#define THREADS 512
#define CHUNKS_AT_ONCE 8
#include "equalizer/cuda/chunks.cuh"
#include "equalizer/cuda/kernels.h"
#include "equalizer/cuda/report.cuh"

/*
 * A kind of table: what a block keeps of it in shared memory (Memory), how that is filled by all
 * threads of the block, and the output sample for a sample. What looks up is a thread's own.
 */

/* Of a sample, where the dither's pattern begins at (0, 0). */
typedef struct Place {
    uint32_t x, y;
} Place;

/* ---- 8 bits ------------------------------------------------------------------------------- */

#define BINS_8 256

/* Copies of the table in a block, for each so many-th lane: with 32, no two lanes of a warp ever
 * ask one bank for different words. */
#define LANE_TABLES 32

#define ENTRY_BYTES (LANE_TABLES * (int)sizeof(uint32_t))

/* `Entry` is what the table has for a code: the output sample, or a node that dither makes one of.
 */
template <typename Entry> struct Codes8 {
    typedef uint8_t Sample;
    struct Memory {
        uint32_t tables[BINS_8 * LANE_TABLES]; /* a word a code, of the first lane, the second .. */
        uint32_t packed[BINS_8 * sizeof(Entry) / 4];
    };
    const Memory *memory;
    uint32_t own;   /* of the thread's copy, in bytes */
    uint32_t frame; /* of the dither's pattern */
};

typedef Codes8<uint8_t> Rounded8;
typedef Codes8<uint32_t> Dithered8;

template <typename Entry>
static __device__ __forceinline__ void prepare(Codes8<Entry> *codes, const CurveParams &params)
{
    codes->own = threadIdx.x % LANE_TABLES * (uint32_t)sizeof(uint32_t);
    codes->frame = params.frame;
    asm volatile("" : "+r"(codes->own));
}

/* One warp fetches the table: all of them would wait in line for one place in the cache. Then each
 * fills the words of its share of the samples. */
template <typename Entry, typename Memory>
static __device__ __forceinline__ void fill_lanes(Memory *memory, const uint32_t *from)
{
    const int words = BINS_8 * (int)sizeof(Entry) / 4, per_warp = BINS_8 / (THREADS / 32);
    static_assert(per_warp * (THREADS / 32) == BINS_8, "each warp fills as much");
    const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
    if (warp == 0) {
#pragma unroll
        for (int i = 0; i < words; i += 32)
            memory->packed[i + lane] = __ldcg(from + i + lane);
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < per_warp; i++) {
        const int code = warp * per_warp + i;
        if (lane < LANE_TABLES)
            memory->tables[code * LANE_TABLES + lane] = ((const Entry *)memory->packed)[code];
    }
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

static __device__ __forceinline__ void prepare(Codes16 *table, const CurveParams &params)
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

static __device__ __forceinline__ void prepare(Nodes *nodes, const CurveParams &params)
{
    nodes->codes = {params.shift, (1u << params.depth) - 1};
    nodes->fraction = params.fraction;
    nodes->dither = params.dither;
    nodes->frame = params.frame;
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

/* Of both kinds for 16 bits. */
template <typename Table>
static __device__ __forceinline__ uint32_t look_up_in(const Table &table, uint4 values, int index,
                                                      Place at)
{
    return look_up_one(table, chunk_sample<uint16_t, 1>(values, index), at);
}

/* ---- the kernel --------------------------------------------------------------------------- */

static __device__ __forceinline__ uint32_t pack(const uint32_t *samples, uint8_t)
{
    return __byte_perm(__byte_perm(samples[0], samples[1], 0x0040),
                       __byte_perm(samples[2], samples[3], 0x0040), 0x5410);
}

static __device__ __forceinline__ uint32_t pack(const uint32_t *samples, uint16_t)
{
    return __byte_perm(samples[0], samples[1], 0x5410);
}

/* `at`: of the first sample. */
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

/* Where this kernel started before the one in front of it had ended, which may make the table. */
static __device__ __forceinline__ void wait_for_kernel_before(void)
{
#if __CUDA_ARCH__ >= 900
    cudaGridDependencySynchronize();
#endif
}

template <typename Table>
static __device__ __forceinline__ void
apply_chunks(const Table &table, const Active &active, const Chunks &chunks, uint8_t *dst,
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

template <typename Table>
static __global__ void __launch_bounds__(THREADS, BLOCKS_BESIDE)
    apply(const Chunks chunks, uint8_t *dst, int dst_stride, const CurveTable *from,
          const BarsState *bars, const CurveParams params, const Report report)
{
    typedef typename Table::Sample Sample;
    __shared__ typename Table::Memory memory;
    __shared__ Active active;
    __shared__ bool lifted;
    Table table;
#if __CUDA_ARCH__ >= 900
    cudaTriggerProgrammaticLaunchCompletion();
#endif
    table.memory = &memory;
    prepare(&table, params);

    ChunkPosition at = chunk_first(chunks);
    uint4 values[CHUNKS_AT_ONCE];
    if (chunk_is_there(chunks, at))
        chunks_load(chunks, &at, values);
    wait_for_kernel_before();
    if (blockIdx.x == 0)
        make_report(report, (int)threadIdx.x, THREADS);
    if (threadIdx.x == 0) {
        find_active(&active, bars);
        lifted = params.lift && __ldcg(&from->lift.luma_on);
    }
    fill(&memory, from, params); /* and waits for all threads */
    if (lifted)
        return;
    while (chunk_is_there(chunks, at)) {
        apply_chunks(table, active, chunks, dst, dst_stride, &at, values);
        if (chunk_is_there(chunks, at))
            chunks_load(chunks, &at, values);
    }
    for_each_at_ends<Sample>(chunks, [&](int row, int x) {
        const Sample sample = *(const Sample *)(chunks.data + (int64_t)row * chunks.stride + x);
        const int column = x / (int)sizeof(Sample);
        const Place place = {(uint32_t)(column - active.left), (uint32_t)(row - active.top)};
        *(Sample *)(dst + (int64_t)row * dst_stride + x) =
            is_active(active, column, row) ? (Sample)look_up_one(table, sample, place) : sample;
    });
}

template <typename Table> static cudaError_t load(void)
{
    cudaFuncAttributes attributes;
    const cudaError_t error = cudaFuncGetAttributes(&attributes, apply<Table>);
    return error
               ? error
               : cudaFuncSetAttribute(apply<Table>, cudaFuncAttributePreferredSharedMemoryCarveout,
                                      cudaSharedmemCarveoutMaxShared);
}

extern "C" cudaError_t lumeq_cuda_load_apply(void)
{
    cudaError_t error = load<Rounded8>();
    if (!error)
        error = load<Dithered8>();
    if (!error)
        error = load<Codes16>();
    return error ? error : load<Nodes>();
}

template <typename Table>
static cudaError_t launch(const LumeqCudaDevice *device, const LumeqCudaPlane *dst,
                          const LumeqCudaPlane *src, const CurveTable *table, const BarsState *bars,
                          const CurveParams *params, const LumeqCudaReport *report,
                          cudaStream_t stream)
{
    Chunks chunks;
    cudaLaunchAttribute early = {};
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;

    cudaLaunchConfig_t config = {};
    config.gridDim =
        chunks_share(&chunks, src, dst, sizeof(typename Table::Sample), device->processors);
    config.blockDim = THREADS;
    config.stream = stream;
    config.attrs = &early;
    config.numAttrs = device->early_launches ? 1 : 0;
    return cudaLaunchKernelEx(&config, apply<Table>, chunks, dst->data, (int)dst->stride, table,
                              bars, *params, report_of(report));
}

extern "C" cudaError_t lumeq_cuda_apply(const LumeqCudaDevice *device, const LumeqCudaPlane *dst,
                                        const LumeqCudaPlane *src, const CurveTable *table,
                                        const BarsState *bars, const CurveParams *params,
                                        const LumeqCudaReport *report, cudaStream_t stream)
{
    const auto start = params->depth == 8 ? params->dither ? launch<Dithered8> : launch<Rounded8>
                       : curve_has_nodes(params) ? launch<Nodes>
                                                 : launch<Codes16>;
    return start(device, dst, src, table, bars, params, report, stream);
}
