/* Scales unfiltered chroma by the gain of its luma, and copies bars. */
#include <stdint.h>

#define THREADS 256
#include "equalizer/cuda/chroma_scale.cuh"
#include "equalizer/cuda/launch.cuh"

#define BLOCKS_A_PROCESSOR (2048 / THREADS)

typedef struct ChromaWalk {
    LumeqCudaChroma chroma;
    int groups; /* per row */
    int aligned;
    CurveLegal legal;
    TileGrid grid;
} ChromaWalk;

/* Parameters of a frame, in a thread's registers. */
typedef struct ChromaRule {
    const CurveGain *gain;
    CurveLegal legal;
    const CurveParams *params;
    const TileGrid *grid; /* mode CLAHE only */
    const TileTables *tables;
    Active active; /* in chroma pixels */
} ChromaRule;

/* Returns the parameters of code_of(): constants for 8 bits. */
template <typename Sample>
static __device__ __forceinline__ ChromaCodes codes_of(const ChromaRule &rule)
{
    if (sizeof(Sample) == 1)
        return {0, UINT8_MAX};
    return {rule.params->shift, (1u << rule.params->depth) - 1};
}

/* Scales a pixel, if it is in the active picture. `sum`: the sum of the pixel's luma codes. */
template <typename Sample, bool tiles>
static __device__ __forceinline__ void scale(const ChromaRule &rule, uint32_t sum, int sub_x,
                                             int sub_y, int x, int y, Sample *first, Sample *second)
{
    if (!is_active(rule.active, x, y))
        return;
    const ChromaCodes codes = codes_of<Sample>(rule);
    const CurveParams *p = rule.params;
    const uint32_t mean = mean_of(sum, sub_x + sub_y);
    const CurveGain over = tiles ? tile_gain(rule.grid, rule.tables, x << sub_x, y << sub_y, mean)
                                 : rule.gain[sizeof(Sample) == 1 ? mean : mean >> (p->depth - 8)];
    const uint32_t add = p->dither ? curve_dither((uint32_t)(x - rule.active.left),
                                                  (uint32_t)(y - rule.active.top), p->frame)
                                   : CURVE_ROUND;
    const int32_t a = (int32_t)code_of(codes, *first), b = (int32_t)code_of(codes, *second);
    const uint32_t gain = curve_pixel_gain(over, a, b, p->depth, &rule.legal);
    *first = (Sample)(curve_chroma(a, gain, add, &rule.legal) << codes.shift);
    *second = (Sample)(curve_chroma(b, gain, add, &rule.legal) << codes.shift);
}

/* Scales pixels of any layout, sample by sample. */
template <typename Sample, bool tiles>
static __device__ void scale_pixel(const ChromaRule &rule, const LumeqCudaChroma &c, int x, int y)
{
    const uint32_t sum = sum_luma<Sample>(codes_of<Sample>(rule), c, x, y);
    Sample first = *component<Sample>(c.in, c, 0, x, y);
    Sample second = *component<Sample>(c.in, c, 1, x, y);
    scale<Sample, tiles>(rule, sum, c.sub_x, c.sub_y, x, y, &first, &second);
    *component<Sample>(c.out, c, 0, x, y) = first;
    *component<Sample>(c.out, c, 1, x, y) = second;
}

/* Scales a group, as a vector. The template parameters are the layout. */
template <typename Sample, bool tiles, int sub_x, int sub_y, int step>
static __device__ __forceinline__ void scale_group(const ChromaRule &rule, const LumeqCudaChroma &c,
                                                   int x, int y)
{
    ChromaGroup<Sample, step> group;
    uint32_t sum[GROUP];
    group.load(c.in, x, y);
    sum_luma_group<Sample, sub_x, sub_y>(codes_of<Sample>(rule), c.luma, x, y, sum);
#pragma unroll
    for (int i = 0; i < GROUP; i++)
        scale<Sample, tiles>(rule, sum[i], sub_x, sub_y, x + i, y, group.first(i), group.second(i));
    group.store(c.out, x, y);
}

/* Template parameters describe the layout if groups are vectors (walk.aligned). */
template <typename Sample, bool tiles, int sub_x, int sub_y, int step>
static __global__ void __launch_bounds__(THREADS)
    scale_chroma(const __grid_constant__ ChromaWalk walk, const CurveTable *table,
                 const __grid_constant__ CurveParams all_params,
                 const __grid_constant__ LumeqCudaBatch batch)
{
    __shared__ CurveGain gains[CURVE_CELLS];
    __shared__ Active active;
    const int frame = (int)blockIdx.y;
    const LumeqCudaChroma c = chroma_in_batch(walk.chroma, batch, frame);
    CurveParams params = all_params;
    params.frame = batch.of[frame].frame;
    table = in_batch(table, batch, frame);
    if (threadIdx.x == 0)
        find_active(&active, c.bars);
    load_gains(gains, table->gain, params.depth, walk.legal);
    __syncthreads();

    const ChromaRule rule = {gains,      walk.legal, &params,
                             &walk.grid, c.tables,   active_chroma(active, c.sub_x, c.sub_y)};
    const int first = (int)(blockIdx.x * THREADS + threadIdx.x), all = (int)gridDim.x * THREADS;
    const int rows = all / walk.groups, columns = all % walk.groups;
    int y = first / walk.groups, column = first % walk.groups;
    while (y < c.height) {
        const int x = column * GROUP, end = min(x + GROUP, c.width);
        if (walk.aligned && x + GROUP <= c.width && (x + GROUP) << sub_x <= c.luma.width)
            scale_group<Sample, tiles, sub_x, sub_y, step>(rule, c, x, y);
        else
            for (int k = x; k < end; k++)
                scale_pixel<Sample, tiles>(rule, c, k, y);
        y += rows;
        column += columns;
        if (column >= walk.groups) {
            column -= walk.groups;
            y++;
        }
    }
    if (c.luma_out.data && params.chroma && !params.reference && (tiles || is_raised(table)))
        bound_plane<Sample>(c, params);
}

typedef void ChromaKernel(const ChromaWalk, const CurveTable *, const CurveParams,
                          const LumeqCudaBatch);

template <typename Sample> static ChromaKernel *choose(int layout, bool tiles)
{
    return tiles ? choose_layout(
                       layout,
                       [](auto l) { return scale_chroma<Sample, true, l.sub_x, l.sub_y, l.step>; })
                 : choose_layout(layout, [](auto l) {
                       return scale_chroma<Sample, false, l.sub_x, l.sub_y, l.step>;
                   });
}

extern "C" cudaError_t lumeq_cuda_load_chroma(void)
{
    cudaError_t error = cudaSuccess;
    for (int layout = 0; layout < CHROMA_LAYOUTS; layout++)
        for (int tiles = 0; tiles < 2; tiles++)
            error = error ? error
                          : load(choose<uint8_t>(layout, tiles), choose<uint16_t>(layout, tiles));
    return error;
}

extern "C" cudaError_t lumeq_cuda_chroma(const LumeqCudaDevice *device,
                                         const LumeqCudaChroma *chroma, const CurveTable *table,
                                         const CurveParams *params, const LumeqCudaBatch *batch,
                                         cudaStream_t stream)
{
    const int layout = layout_of(chroma), tiles = chroma->grid != NULL;
    ChromaKernel *const kernel =
        params->depth > 8 ? choose<uint16_t>(layout, tiles) : choose<uint8_t>(layout, tiles);
    ChromaWalk walk = {};
    walk.chroma = *chroma;
    if (chroma->grid)
        walk.grid = *chroma->grid;
    walk.groups = (chroma->width + GROUP - 1) / GROUP;
    walk.aligned = layout < CHROMA_LAYOUTS && all_aligned(chroma, params->depth);
    walk.legal = curve_legal(params->depth, params->black != 0);

    const int64_t wanted = ((int64_t)walk.groups * chroma->height + THREADS - 1) / THREADS;
    const int64_t all = (int64_t)device->processors * BLOCKS_A_PROCESSOR;
    const int64_t most = all > batch->count ? all / batch->count : 1;
    const Launch how = {dim3((unsigned)(wanted < most ? wanted : most), (unsigned)batch->count),
                        THREADS, 0, 0, stream};
    return launch(how, kernel, walk, table, *params, *batch);
}
