/* Chroma of lifted frames: filters it, scales it by the gain of its luma, and copies bars. Works
 * like lift_luma.cu, with both components of a pixel in a word. */
#include <stdint.h>

#define THREADS 512
#include "equalizer/cuda/chroma_scale.cuh"
#include "equalizer/cuda/launch.cuh"
#include "equalizer/cuda/lift_tile.cuh"

/* Steps of a_trous. */
#define FIRST 4
#define SECOND 1

/* Blocks per multiprocessor, if there is enough shared memory. */
#define BLOCKS_A_PROCESSOR 2

/* Tile buffers: two for the filtered samples, used alternately, and one for their tolerance. */
#define TILES 3

typedef struct Shape {
    static constexpr int reach = FIRST + SECOND;
    static constexpr int width = 92, height = 44, in_word = 1;
    static constexpr int halo_y = reach, halo_x = (reach + GROUP - 1) / GROUP * GROUP;
    static constexpr int words = width + 2 * halo_x, pitch = words | 1;
    static constexpr int rows = height + 2 * halo_y;
    static constexpr int spare = 3; /* rows below the tile, for its last chains */
    static constexpr int size = pitch * (rows + spare);
} Shape;

typedef struct ChromaWork {
    LumeqCudaChroma chroma;
    int aligned; /* groups are aligned vectors, and a kernel for this layout exists */
    int fields, depth, shift;
    CurveLegal legal, legal_q6;
    CurveParams params;
    const CurveTable *table;
} ChromaWork;

/* Shared memory of a block besides tiles. */
typedef struct ChromaShared {
    CurveGain gain[CURVE_CELLS];
    uint16_t tolerance[LIFT_CODES];
    uint8_t dither[64];
    Active luma, active; /* the active picture in luma samples and in chroma pixels */
    int aligned;         /* groups are aligned vectors, and the picture begins with a whole group */
    int alone, pictures;
    LumeqCudaChroma picture[2]; /* the active picture, or its fields */
} ChromaShared;

/* ---- loading ------------------------------------------------------------------------------- */

/* Returns the format of samples: constants for 8 bits. */
template <typename Sample> LIFT_FN LiftCodes codes_of(const ChromaWork &work)
{
    const LiftCodes codes = {sizeof(Sample) == 1 ? 0 : work.shift,
                             sizeof(Sample) == 1 ? 8 : work.depth};
    return codes;
}

template <typename Sample> LIFT_FN ChromaCodes luma_codes(const ChromaWork &work)
{
    const LiftCodes codes = codes_of<Sample>(work);
    const ChromaCodes result = {codes.shift, (1u << codes.depth) - 1};
    return result;
}

/* Loads both samples of a pixel as Q6. */
template <typename Sample>
LIFT_FN uint32_t pixel_q6(const ChromaWork &work, uint32_t first, uint32_t second)
{
    const uint32_t samples = first | second << 16;
    const LiftCodes codes = codes_of<Sample>(work);
    return sizeof(Sample) == 1 ? samples * 64 : lift_q6(lift_codes(samples, codes), codes);
}

/* Returns a quarter of a pixel's tolerance and, in the upper half, its cell. */
template <typename Sample>
LIFT_FN uint32_t tolerance_of(const ChromaWork &work, const ChromaShared &shared, uint32_t sum,
                              int area)
{
    const uint32_t cell = mean_of(sum, area) >> (codes_of<Sample>(work).depth - 8);
    return shared.tolerance[cell] | cell << 16;
}

struct ChromaWeight {
    __device__ __forceinline__ uint32_t operator()(uint32_t word) const
    {
        return __byte_perm(word, 0, 0x1010);
    }
};

/* Loads a group of pixels, mirrored at the picture's edges. */
template <typename Sample, int sub_x, int sub_y, int step>
LIFT_FN void load_group(const ChromaWork &work, const ChromaShared &shared,
                        const LumeqCudaChroma &c, int x, int y, uint32_t pixels[GROUP],
                        uint32_t tolerances[GROUP])
{
    const int row = lift_mirror(y, c.height);
    if (shared.aligned && x >= 0 && x + GROUP <= c.width && (x + GROUP) << sub_x <= c.luma.width) {
        ChromaGroup<Sample, step> group;
        uint32_t sum[GROUP];
        group.load(c.in, x, row);
        sum_luma_group<Sample, sub_x, sub_y>(luma_codes<Sample>(work), c.luma, x, row, sum);
#pragma unroll
        for (int i = 0; i < GROUP; i++) {
            pixels[i] = pixel_q6<Sample>(work, *group.first(i), *group.second(i));
            tolerances[i] = tolerance_of<Sample>(work, shared, sum[i], sub_x + sub_y);
        }
        return;
    }
    for (int i = 0; i < GROUP; i++) {
        const int column = lift_mirror(x + i, c.width);
        pixels[i] = pixel_q6<Sample>(work, *component<Sample>(c.in, c, 0, column, row),
                                     *component<Sample>(c.in, c, 1, column, row));
        tolerances[i] = tolerance_of<Sample>(
            work, shared, sum_luma<Sample>(luma_codes<Sample>(work), c, column, row),
            c.sub_x + c.sub_y);
    }
}

template <typename Sample, int sub_x, int sub_y, int step>
LIFT_FN bool load_tile(const ChromaWork &work, const ChromaShared &shared, const LumeqCudaChroma &c,
                       const LiftPlace &place, uint32_t *tile, uint32_t *tolerances, uint32_t base)
{
    constexpr int groups = Shape::words / GROUP;
    uint32_t any = 0;
#pragma unroll 2
    for (int i = (int)threadIdx.x; i < groups * Shape::rows; i += THREADS) {
        const int row = i / groups, column = i % groups * GROUP, at = row * Shape::pitch + column;
        uint32_t pixels[GROUP], tolerance[GROUP];
        load_group<Sample, sub_x, sub_y, step>(work, shared, c, place.x + column, place.y + row,
                                               pixels, tolerance);
#pragma unroll
        for (int k = 0; k < GROUP; k++) {
            tile[at + k] = pixels[k] + base;
            tolerances[at + k] = tolerance[k];
            any |= tolerance[k] & 0xffff;
        }
    }
    return __syncthreads_or(any != 0);
}

/* ---- the result ---------------------------------------------------------------------------- */

/* Computes a component's sample from its values before and after the filter, in Q6. */
template <typename Sample>
LIFT_FN uint32_t scale_one(const ChromaWork &work, uint32_t source, uint32_t filtered,
                           uint32_t gain, uint32_t dither)
{
    const LiftCodes codes = codes_of<Sample>(work);
    const int depth = codes.depth;
    const int32_t more = ((int32_t)filtered - 8192) * (int32_t)gain +
                         (int32_t)((64 + (dither >> 1)) << (18 - depth));
    const int32_t scaled = work.legal.middle + (more >> (26 - depth));
    const int32_t code = (int32_t)(depth > 14 ? source << (depth - 14) : source >> (14 - depth));
    const int32_t high = max(code, work.legal.high), low = min(code, work.legal.low);
    return (uint32_t)max(min(scaled, high), low) << codes.shift;
}

/* Writes a pixel of the result from its word in Q6. */
template <typename Sample>
LIFT_FN void scale(const ChromaWork &work, const ChromaShared &shared, uint32_t word, uint32_t cell,
                   uint32_t dither, Sample *first, Sample *second)
{
    const uint32_t was = pixel_q6<Sample>(work, *first, *second);
    const uint32_t a = word & 0x3fff, b = word >> 16 & 0x3fff;
    const uint32_t gain =
        curve_pixel_gain(shared.gain[cell], (int32_t)a, (int32_t)b, 14, &work.legal_q6);
    *first = (Sample)scale_one<Sample>(work, was & 0xffff, a, gain, dither);
    *second = (Sample)scale_one<Sample>(work, was >> 16, b, gain, dither);
}

/* Writes a group of the result; `words` and `tolerances` point to its first pixel. */
template <typename Sample, int step>
LIFT_FN void write_group(const ChromaWork &work, const ChromaShared &shared,
                         const LumeqCudaChroma &c, const uint32_t *words,
                         const uint32_t *tolerances, uint32_t bias, int x, int y)
{
    const uint32_t thresholds = *(const uint32_t *)&shared.dither[y % 8 * 8 + x % 8];
    if (shared.aligned && x + GROUP <= c.width) {
        ChromaGroup<Sample, step> group;
        group.load(c.in, x, y);
#pragma unroll
        for (int i = 0; i < GROUP; i++)
            scale(work, shared, words[i] - bias, tolerances[i] >> 16, thresholds >> (8 * i) & 0xff,
                  group.first(i), group.second(i));
        group.store(c.out, x, y);
        return;
    }
    for (int i = 0; i < GROUP && x + i < c.width; i++) {
        Sample first = *component<Sample>(c.in, c, 0, x + i, y);
        Sample second = *component<Sample>(c.in, c, 1, x + i, y);
        scale(work, shared, words[i] - bias, tolerances[i] >> 16, thresholds >> (8 * i) & 0xff,
              &first, &second);
        *component<Sample>(c.out, c, 0, x + i, y) = first;
        *component<Sample>(c.out, c, 1, x + i, y) = second;
    }
}

template <typename Sample, int step>
LIFT_FN void write_tile(const ChromaWork &work, const ChromaShared &shared,
                        const LumeqCudaChroma &c, const LiftPlace &place, const uint32_t *tile,
                        const uint32_t *tolerances, uint32_t bias)
{
    constexpr int groups = Shape::width / GROUP;
    for (int i = (int)threadIdx.x; i < groups * Shape::height; i += THREADS) {
        const int row = Shape::halo_y + i / groups, column = Shape::halo_x + i % groups * GROUP;
        const int x = place.x + column, y = place.y + row, at = row * Shape::pitch + column;
        if (x < c.width && y < c.height)
            write_group<Sample, step>(work, shared, c, tile + at, tolerances + at, bias, x, y);
    }
    __syncthreads();
}

/* ---- the kernel ---------------------------------------------------------------------------- */

template <typename Sample, int sub_x, int sub_y, int step>
LIFT_FN void filter_tile(const ChromaWork &work, const ChromaShared &shared,
                         const LumeqCudaChroma &c, const LiftPlace &place, uint32_t *memory)
{
    uint32_t *const tile = memory, *const other = memory + Shape::size;
    uint32_t *const tolerances = memory + 2 * Shape::size;
    const ChromaWeight weight;
    const uint32_t base = lift_both(shared.alone ? LIFT_BASE(6) : LIFT_BASE(4));
    const bool any =
        load_tile<Sample, sub_x, sub_y, step>(work, shared, c, place, tile, tolerances, base);
    if (any && shared.alone) {
        lift_step<Shape, uint32_t, 3, 2>(place, tile, other, tolerances, weight);
        lift_step<Shape, uint32_t, 1, 1>(place, tile, other, tolerances, weight);
        lift_step<Shape, uint32_t, 1, 0>(place, tile, other, tolerances, weight);
    } else if (any) {
        lift_step<Shape, uint32_t, FIRST, SECOND>(place, tile, other, tolerances, weight);
        lift_step<Shape, uint32_t, SECOND, 0>(place, tile, other, tolerances, weight);
    }
    write_tile<Sample, step>(work, shared, c, place, tile, tolerances,
                             any ? lift_both(LIFT_BASE(0)) : base);
}

/* Runs in one thread. Not inlined, because its loops would move all planes out of registers. */
static __device__ __noinline__ void find_pictures(const ChromaWork &work,
                                                  const LumeqCudaBatch &batch, int frame,
                                                  int sample_size, ChromaShared *shared)
{
    const LumeqCudaChroma c = chroma_in_batch(work.chroma, batch, frame);
    lift_find_active(&shared->luma, c.bars, c.luma.width, c.luma.height);
    shared->active = active_chroma(shared->luma, c.sub_x, c.sub_y);
    shared->aligned = work.aligned && shared->active.left % GROUP == 0;
    const int fields = work.fields && shared->luma.bottom - shared->luma.top > 1;
    shared->pictures = 1 + fields;
    for (int i = 0; i < shared->pictures; i++) {
        LumeqCudaChroma *const picture = &shared->picture[i];
        *picture = c;
        picture->luma = lift_picture(c.luma, shared->luma, sample_size, fields, i);
        for (int k = 0; k < c.planes; k++) {
            picture->in[k] = lift_picture(c.in[k], shared->active, c.step * sample_size, fields, i);
            picture->out[k] =
                lift_picture(c.out[k], shared->active, c.step * sample_size, fields, i);
        }
        picture->width = picture->in[0].width;
        picture->height = picture->in[0].height;
    }
}

LIFT_FN void prepare(const ChromaWork &work, const CurveTable &table, const LumeqCudaBatch &batch,
                     int frame, int sample_size, ChromaShared *shared)
{
    load_gains(shared->gain, table.gain, 14, work.legal_q6);
    for (int i = (int)threadIdx.x; i < CURVE_CELLS; i += THREADS)
        shared->tolerance[i] = table.lift.chroma[i];
    lift_fill_dither(shared->dither, batch.of[frame].frame);
    if (threadIdx.x == 0) {
        shared->alone = table.lift.alone;
        find_pictures(work, batch, frame, sample_size, shared);
    }
    __syncthreads();
}

template <typename Sample, int sub_x, int sub_y, int step>
LIFT_FN void filter(const ChromaWork &work, const LumeqCudaChroma &planes, const CurveTable &table,
                    const LumeqCudaBatch &batch, int frame, ChromaShared *shared, uint32_t *memory)
{
    prepare(work, table, batch, frame, sizeof(Sample), shared);
    int i = (int)blockIdx.x;
    for (int k = 0; k < shared->pictures; k++) {
        const LumeqCudaChroma &c = shared->picture[k];
        const int count = lift_tiles<Shape>(c.width, c.height);
        for (; i < count; i += (int)gridDim.x)
            filter_tile<Sample, sub_x, sub_y, step>(
                work, *shared, c, lift_place<Shape>(c.width, c.height, i), memory);
        i -= count;
    }
    Active samples = shared->active;
    samples.left *= planes.step;
    samples.right *= planes.step;
#pragma unroll
    for (int k = 0; k < 2; k++)
        if (k < planes.planes)
            lift_copy_bars<Sample>(planes.out[k], planes.in[k], samples, planes.width * planes.step,
                                   planes.height);
}

/* Template parameters describe the layout if groups are vectors. The kernel may start before the
 * kernel for luma has ended, because at first it needs only the table. */
template <typename Sample, int sub_x, int sub_y, int step>
static __global__ void __launch_bounds__(THREADS, BLOCKS_A_PROCESSOR)
    lift_chroma(const __grid_constant__ ChromaWork work,
                const __grid_constant__ LumeqCudaBatch batch)
{
    extern __shared__ uint32_t memory[];
    __shared__ ChromaShared shared;
    const int frame = (int)blockIdx.y;
    const LumeqCudaChroma chroma = chroma_in_batch(work.chroma, batch, frame);
    const CurveTable &table = *in_batch(work.table, batch, frame);
    filter<Sample, sub_x, sub_y, step>(work, chroma, table, batch, frame, &shared, memory);
    wait_for_kernel_before(); /* so this kernel ends after the kernel for luma */
    if (chroma.luma_out.data && work.params.chroma && is_raised(&table))
        bound_plane<Sample>(chroma, work.params);
}

typedef void ChromaKernel(const ChromaWork, const LumeqCudaBatch);

template <typename Sample> static ChromaKernel *choose(int layout)
{
    return choose_layout(layout,
                         [](auto l) { return lift_chroma<Sample, l.sub_x, l.sub_y, l.step>; });
}

#define MEMORY (TILES * Shape::size * sizeof(uint32_t))

extern "C" cudaError_t lumeq_cuda_load_lift_chroma(void)
{
    cudaError_t error = cudaSuccess;
    for (int layout = 0; layout < CHROMA_LAYOUTS && !error; layout++) {
        error = lift_allow(choose<uint8_t>(layout), MEMORY);
        if (!error)
            error = lift_allow(choose<uint16_t>(layout), MEMORY);
    }
    return error;
}

extern "C" cudaError_t lumeq_cuda_lift_chroma(const LumeqCudaDevice *device,
                                              const LumeqCudaChroma *chroma, int fields,
                                              const CurveTable *table, const CurveParams *params,
                                              const LumeqCudaBatch *batch, cudaStream_t stream)
{
    const int layout = layout_of(chroma);
    ChromaKernel *const kernel =
        params->depth > 8 ? choose<uint16_t>(layout) : choose<uint8_t>(layout);
    ChromaWork work = {};
    work.chroma = *chroma;
    for (int i = 0; i < chroma->planes; i++) {
        work.chroma.in[i].width = work.chroma.out[i].width = chroma->width;
        work.chroma.in[i].height = work.chroma.out[i].height = chroma->height;
    }
    work.aligned = layout < CHROMA_LAYOUTS && all_aligned(chroma, params->depth);
    work.fields = fields;
    work.depth = params->depth;
    work.shift = params->shift;
    work.legal = curve_legal(params->depth, params->black != 0);
    work.legal_q6 = curve_legal(14, params->black != 0);
    work.params = *params;
    work.table = table;

    /* One block per tile, or as many as the device holds. */
    const int64_t tiles = (int64_t)((chroma->width + Shape::width - 1) / Shape::width) *
                          ((chroma->height + Shape::height - 1) / Shape::height + 1);
    const int64_t all = (int64_t)device->processors * BLOCKS_A_PROCESSOR;
    const int64_t most = all > batch->count ? all / batch->count : 1;
    const Launch how = {dim3((unsigned)(tiles < most ? tiles : most), (unsigned)batch->count),
                        THREADS, MEMORY, device->early_launches, stream};
    return launch(how, kernel, work, *batch);
}
