/*
 * Maps samples through the tables of the four surrounding tiles. A block works on rows of one piece
 * of the picture, whose samples all lie between the same four tiles.
 */
#include <stdint.h>

#define THREADS 256
#include "equalizer/cuda/chunks.cuh"
#include "equalizer/cuda/launch.cuh"
#include "equalizer/cuda/parts.cuh"

/* Blocks per multiprocessor: more than it holds at once, since blocks at the picture's edges have
 * less work. */
#define BLOCKS_A_PROCESSOR 8

/* For __launch_bounds__: as many as 40 registers per thread allow; compute capability 7.5 holds
 * fewer. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#define BLOCKS_AT_LEAST 4
#else
#define BLOCKS_AT_LEAST 6
#endif

/*
 * Each kind of samples defines an Entry, a code's nodes in the four tables. pack_entry() takes the
 * nodes in the order upper left, upper right, lower left, lower right. set_weights() prepares for a
 * position, next_weights() for the next sample of its row. value_of() returns 8 fraction bits.
 */

/* ---- 8 bits ------------------------------------------------------------------------------- */

typedef struct Video8 {
    typedef uint8_t Sample;
    typedef uint2 Entry; /* 16 bits each: upper and lower left, upper and lower right */
    enum { ENTRIES = TILE_CELLS };
    uint32_t phase, step;
    uint32_t rows; /* weights of the upper and the lower tables, for dp2a */
} Video8;

static __device__ __forceinline__ uint2 pack_entry(const Video8 *, const uint32_t nodes[4])
{
    return make_uint2(nodes[0] | nodes[2] << 16, nodes[1] | nodes[3] << 16);
}

static __device__ __forceinline__ void set_weights(Video8 *w, const TileGrid &grid, PartPosition at)
{
    const uint32_t weight = tile_weight(tile_phase(&grid.y, at.y));
    w->phase = tile_phase(&grid.x, at.x);
    w->step = 2 * grid.x.step;
    w->rows = (255 - weight) | weight << 8;
}

/* tile_lerp() of the halves. Two weights of 8 bits cannot add up to 256. They add up to 255, and
 * the lower half, for the upper tile, is added once more. */
static __device__ __forceinline__ uint32_t lerp_halves(uint32_t halves, uint32_t weights)
{
    return __dp2a_lo(halves, weights, (halves & 0xffff) + 128) >> 8;
}

static __device__ __forceinline__ uint32_t value_of(const Video8 &w, const uint2 *entries,
                                                    const CurveParams &, uint4 values, int index)
{
    const uint32_t offset = chunk_sample<uint8_t, sizeof(*entries)>(values, index);
    const uint2 entry = *(const uint2 *)((const char *)entries + offset);
    return tile_lerp(lerp_halves(entry.x, w.rows), lerp_halves(entry.y, w.rows),
                     tile_weight(w.phase));
}

/* ---- 9 to 16 bits ------------------------------------------------------------------------- */

typedef struct Video16 {
    typedef uint16_t Sample;
    typedef uint4 Entry;
    enum { ENTRIES = TILE_CELLS + 1 };
    uint32_t phase, step, weight;
} Video16;

static __device__ __forceinline__ uint4 pack_entry(const Video16 *, const uint32_t nodes[4])
{
    return make_uint4(nodes[0], nodes[1], nodes[2], nodes[3]);
}

static __device__ __forceinline__ void set_weights(Video16 *w, const TileGrid &grid,
                                                   PartPosition at)
{
    w->phase = tile_phase(&grid.x, at.x);
    w->step = 2 * grid.x.step;
    w->weight = tile_weight(tile_phase(&grid.y, at.y));
}

template <typename Video> static __device__ __forceinline__ void next_weights(Video *w)
{
    w->phase += w->step;
}

static __device__ __forceinline__ uint32_t value_of(const Video16 &w, const uint4 *entries,
                                                    const CurveParams &params, uint4 values,
                                                    int index)
{
    const Codes codes = {params.shift, (1u << params.depth) - 1};
    const uint32_t code = chunk_code<uint16_t, 1>(values, index, codes);
    const uint32_t cell = code >> params.fraction, part = code - (cell << params.fraction);
    const uint4 node = entries[cell], next = entries[cell + 1];
    const uint32_t left = tile_between(tile_lerp(node.x, node.z, w.weight),
                                       tile_lerp(next.x, next.z, w.weight), part, params.fraction);
    const uint32_t right = tile_between(tile_lerp(node.y, node.w, w.weight),
                                        tile_lerp(next.y, next.w, w.weight), part, params.fraction);
    return tile_lerp(left, right, tile_weight(w.phase));
}

/* ---- OpenCV's CLAHE ------------------------------------------------------------------------- */

typedef struct Reference {
    typedef uint8_t Sample;
    typedef uchar4 Entry;
    enum { ENTRIES = TILE_CELLS };
    const TileAxis *axis;
    int x;
    float part_y;
} Reference;

static __device__ __forceinline__ uchar4 pack_entry(const Reference *, const uint32_t nodes[4])
{
    return make_uchar4((uint8_t)(nodes[0] >> 8), (uint8_t)(nodes[1] >> 8), (uint8_t)(nodes[2] >> 8),
                       (uint8_t)(nodes[3] >> 8));
}

static __device__ __forceinline__ void set_weights(Reference *w, const TileGrid &grid,
                                                   PartPosition at)
{
    w->axis = &grid.x;
    w->x = at.x;
    w->part_y = tile_part(&grid.y, at.y, (int)blockIdx.y);
}

static __device__ __forceinline__ void next_weights(Reference *w)
{
    w->x++;
}

static __device__ __forceinline__ uint32_t value_of(const Reference &w, const uchar4 *entries,
                                                    const CurveParams &, uint4 values, int index)
{
    const uchar4 entry = entries[chunk_sample<uint8_t, 1>(values, index)];
    const uint32_t codes[4] = {entry.x, entry.y, entry.z, entry.w};
    return tile_reference_code(codes, tile_part(w.axis, w.x, (int)blockIdx.x), w.part_y) << 8;
}

/* ---- the kernel --------------------------------------------------------------------------- */

/* Loads the tables of the four tiles. */
template <typename Kind>
static __device__ __forceinline__ void fill(typename Kind::Entry *entries, const TileGrid &grid,
                                            const TileTables *tables)
{
    const int first_x = __ldcg(&tables->inside.first_x), last_x = __ldcg(&tables->inside.last_x);
    const int first_y = __ldcg(&tables->inside.first_y), last_y = __ldcg(&tables->inside.last_y);
    const int left = tile_before((int)blockIdx.x, first_x, last_x);
    const int right = tile_after((int)blockIdx.x, first_x, last_x);
    const int upper = tile_before((int)blockIdx.y, first_y, last_y) * grid.x.tiles;
    const int lower = tile_after((int)blockIdx.y, first_y, last_y) * grid.x.tiles;
    for (int i = (int)threadIdx.x; i < Kind::ENTRIES; i += THREADS) {
        const uint32_t nodes[4] = {
            __ldcg(&tables->nodes[upper + left][i]), __ldcg(&tables->nodes[upper + right][i]),
            __ldcg(&tables->nodes[lower + left][i]), __ldcg(&tables->nodes[lower + right][i])};
        entries[i] = pack_entry((const Kind *)nullptr, nodes);
    }
    __syncthreads();
}

/* Packs samples from values that are already rounded or dithered. At 8 bits, values never exceed
 * the last code, so the second byte is the sample. */
static __device__ __forceinline__ uint32_t pack(const uint32_t *values, const CurveParams &,
                                                uint8_t)
{
    return __byte_perm(__byte_perm(values[0], values[1], 0x0051),
                       __byte_perm(values[2], values[3], 0x0051), 0x5410);
}

static __device__ __forceinline__ uint32_t pack(const uint32_t *values, const CurveParams &params,
                                                uint16_t)
{
    const uint32_t last = (1u << params.depth) - 1;
    return tile_code(values[0], 0, last) << params.shift | tile_code(values[1], 0, last)
                                                               << (params.shift + 16);
}

template <typename Kind, bool dithered>
static __device__ __forceinline__ uint4 look_up_chunk(const typename Kind::Entry *entries,
                                                      const TileGrid &grid, uint32_t frame,
                                                      const Active &active, PartPosition at,
                                                      uint4 samples)
{
    typedef typename Kind::Sample Sample;
    const int in_word = 4 / (int)sizeof(Sample);
    const CurveParams &params = grid.curve;
    uint32_t words[4];
    Kind weights;
    set_weights(&weights, grid, at);
#pragma unroll
    for (int i = 0; i < 4; i++) {
        uint32_t values[in_word];
#pragma unroll
        for (int j = 0; j < in_word; j++) {
            const int index = i * in_word + j;
            const uint32_t x = (uint32_t)(at.x + index - active.left);
            const uint32_t y = (uint32_t)(at.y - active.top);
            values[j] = value_of(weights, entries, params, samples, index) +
                        (dithered ? curve_dither(x, y, frame) : CURVE_ROUND);
            next_weights(&weights);
        }
        words[i] = pack(values, params, Sample());
    }
    return make_uint4(words[0], words[1], words[2], words[3]);
}

/* The grid's dimensions: columns of pieces, rows of pieces, groups of `rows` rows of each frame. */
template <typename Kind, bool dithered>
static __global__ void __launch_bounds__(THREADS, BLOCKS_AT_LEAST)
    clahe_apply(const __grid_constant__ PartPlane first_dst,
                const __grid_constant__ PartPlane first_src, const __grid_constant__ TileGrid grid,
                int rows, const BarsState *bars, const TileTables *tables,
                const __grid_constant__ LumeqCudaBatch batch)
{
    typedef typename Kind::Sample Sample;
    __shared__ Active active;
    __shared__ __align__(16) typename Kind::Entry entries[Kind::ENTRIES];
    const int *const column = grid.x.piece + blockIdx.x, *const row = grid.y.piece + blockIdx.y;
    const int frame = (int)blockIdx.z % batch.count;
    const int top = row[0] + (int)blockIdx.z / batch.count * rows;
    PartPlane dst = first_dst, src = first_src;
    dst.data += batch.of[frame].out[0];
    src.data += batch.of[frame].in[0];
    const Part part = part_of<Sample>(src, column[0], column[1], top, min(row[1], top + rows));
    if (!part.chunks)
        return;

    const PartStep step = part_step<Sample>(part);
    PartPosition next = part_first<Sample>(part);
    uint4 values = make_uint4(0, 0, 0, 0);
    if (part_has(part, next))
        values = part_load<Sample>(src, part, next);
    wait_for_kernel_before(); /* that kernel may make the tables */
    if (threadIdx.x == 0)
        find_active(&active, in_batch(bars, batch, frame));
    fill<Kind>(entries, grid, in_batch(tables, batch, frame)); /* synchronizes the block */
    while (part_has(part, next)) {
        const PartPosition at = next;
        const uint4 now = values;
        part_next(part, step, &next);
        if (part_has(part, next))
            values = part_load<Sample>(src, part, next);
        const uint4 looked =
            look_up_chunk<Kind, dithered>(entries, grid, batch.of[frame].frame, active, at, now);
        part_store<Sample>(dst, part, at, keep_bars<Sample>(active, at.x, at.y, now, looked));
    }
}

extern "C" cudaError_t lumeq_cuda_load_clahe_apply(void)
{
    return load_with_shared(clahe_apply<Video8, false>, clahe_apply<Video8, true>,
                            clahe_apply<Video16, false>, clahe_apply<Video16, true>,
                            clahe_apply<Reference, false>);
}

static int longest_piece(const TileAxis *axis)
{
    int longest = 0;
    for (int i = 0; i <= axis->tiles; i++)
        if (axis->piece[i + 1] - axis->piece[i] > longest)
            longest = axis->piece[i + 1] - axis->piece[i];
    return longest;
}

template <typename Kind, bool dithered>
static cudaError_t start(const LumeqCudaDevice *device, const LumeqCudaPlane *dst,
                         const LumeqCudaPlane *src, const TileGrid *grid, const TileTables *tables,
                         const BarsState *bars, const LumeqCudaBatch *batch, cudaStream_t stream)
{
    const int size = (int)sizeof(typename Kind::Sample);
    const int columns = grid->x.tiles + 1, blocks = device->processors * BLOCKS_A_PROCESSOR;
    const int rows = (int)(((int64_t)grid->y.size * columns * batch->count + blocks - 1) / blocks);
    const int groups = (longest_piece(&grid->y) + rows - 1) / rows;
    const Launch how = {dim3((unsigned)columns, (unsigned)grid->y.tiles + 1,
                             (unsigned)groups * (unsigned)batch->count),
                        THREADS, 0, device->early_launches, stream};
    return launch(how, clahe_apply<Kind, dithered>, part_plane(dst, src, size),
                  part_plane(src, dst, size), *grid, rows, bars, tables, *batch);
}

extern "C" cudaError_t lumeq_cuda_clahe_apply(const LumeqCudaDevice *device,
                                              const LumeqCudaPlane *dst, const LumeqCudaPlane *src,
                                              const TileGrid *grid, const TileTables *tables,
                                              const BarsState *bars, const LumeqCudaBatch *batch,
                                              cudaStream_t stream)
{
    const CurveParams *p = &grid->curve;
    const auto kind = p->reference    ? start<Reference, false>
                      : p->depth == 8 ? p->dither ? start<Video8, true> : start<Video8, false>
                      : p->dither ? start<Video16, true>
                                      : start<Video16, false>;
    return kind(device, dst, src, grid, tables, p->reference ? NULL : bars, batch, stream);
}
