/* Scales chroma by the gain of the luma under it, and copies that of bars. */
#include <stdint.h>

#include "equalizer/cuda/chroma_parts.cuh"

#define THREADS 256

/* Blocks that a multiprocessor holds. */
#define BLOCKS_A_PROCESSOR (2048 / THREADS)

typedef struct ChromaWalk {
    LumeqCudaChroma chroma;
    int groups; /* of a row */
    int aligned;
    CurveLegal legal;
    TileGrid grid;
} ChromaWalk;

/* What a thread knows of the frame's samples. */
typedef struct ChromaRule {
    const CurveGain *gain;
    CurveLegal legal;
    uint32_t last;
    const CurveParams *params;
    const TileGrid *grid; /* with mode CLAHE */
    const TileTables *tables;
    Active active; /* in pixels of chroma */
} ChromaRule;

static __device__ __forceinline__ ChromaCodes codes_of(const ChromaRule &rule)
{
    return {rule.params->shift, rule.last};
}

/* `x`, `y`: of the first luma sample under the pixel, `sum` that of all of them. */
template <bool tiles>
static __device__ __forceinline__ CurveGain look_over(const ChromaRule &rule, uint32_t sum,
                                                      int area, int x, int y)
{
    const uint32_t mean = mean_of(sum, area);
    return tiles ? tile_gain(rule.grid, rule.tables, x, y, mean)
                 : rule.gain[mean >> (rule.params->depth - 8)];
}

/* A pixel: both of its components. */
static __device__ __forceinline__ void scale(const ChromaRule &rule, uint32_t *first,
                                             uint32_t *second, CurveGain over, int x, int y)
{
    if (!is_active(rule.active, x, y))
        return;
    const uint32_t add = rule.params->dither
                             ? curve_dither((uint32_t)(x - rule.active.left),
                                            (uint32_t)(y - rule.active.top), rule.params->frame)
                             : CURVE_ROUND;
    const int32_t a = (int32_t)code_of(codes_of(rule), *first);
    const int32_t b = (int32_t)code_of(codes_of(rule), *second);
    const uint32_t gain = curve_pixel_gain(over, a, b, rule.params->depth, &rule.legal);
    *first = curve_chroma(a, gain, add, &rule.legal) << rule.params->shift;
    *second = curve_chroma(b, gain, add, &rule.legal) << rule.params->shift;
}

/* Of any shape, sample by sample. */
template <typename Sample, bool tiles>
static __device__ void scale_pixel(const ChromaRule &rule, const LumeqCudaChroma &c, int x, int y)
{
    const CurveGain over = look_over<tiles>(rule, sum_luma<Sample>(codes_of(rule), c, x, y),
                                            c.sub_x + c.sub_y, x << c.sub_x, y << c.sub_y);
    uint32_t first = *component<Sample>(c.in, c, 0, x, y);
    uint32_t second = *component<Sample>(c.in, c, 1, x, y);
    scale(rule, &first, &second, over, x, y);
    *component<Sample>(c.out, c, 0, x, y) = (Sample)first;
    *component<Sample>(c.out, c, 1, x, y) = (Sample)second;
}

/* Over a whole group, from vectors of luma. */
template <typename Sample, int sub_x, int sub_y, bool tiles>
static __device__ __forceinline__ void look_over_group(const ChromaRule &rule,
                                                       const LumeqCudaPlane &l, int x, int y,
                                                       CurveGain over[GROUP])
{
    uint32_t sum[GROUP];
    sum_luma_group<Sample, sub_x, sub_y>(codes_of(rule), l, x, y, sum);
#pragma unroll
    for (int i = 0; i < GROUP; i++)
        over[i] = look_over<tiles>(rule, sum[i], sub_x + sub_y, (x + i) << sub_x, y << sub_y);
}

template <typename Sample, int step>
static __device__ __forceinline__ void scale_group(const ChromaRule &rule, const LumeqCudaChroma &c,
                                                   int x, int y, const CurveGain over[GROUP])
{
    typedef Run<Sample, GROUP * step> Samples;
    Samples samples[2];
    const int planes = step == 2 ? 1 : 2;
#pragma unroll
    for (int i = 0; i < planes; i++)
        samples[i] = ((const Samples *)(c.in[i].data + (int64_t)y * c.in[i].stride))[x / GROUP];
#pragma unroll
    for (int i = 0; i < GROUP; i++) {
        Sample *const one = &samples[0].v[i * step];
        Sample *const other = step == 2 ? one + 1 : &samples[1].v[i];
        uint32_t first = *one, second = *other;
        scale(rule, &first, &second, over[i], x + i, y);
        *one = (Sample)first;
        *other = (Sample)second;
    }
#pragma unroll
    for (int i = 0; i < planes; i++)
        ((Samples *)(c.out[i].data + (int64_t)y * c.out[i].stride))[x / GROUP] = samples[i];
}

/* The shape is known to the compiler where vectors are: walk.aligned. */
template <typename Sample, bool tiles, int sub_x, int sub_y, int step>
static __global__ void __launch_bounds__(THREADS)
    scale_chroma(const __grid_constant__ ChromaWalk walk, const CurveTable *table,
                 const __grid_constant__ CurveParams params)
{
    __shared__ CurveGain gains[CURVE_CELLS];
    __shared__ Active active;
    const LumeqCudaChroma &c = walk.chroma;
#if __CUDA_ARCH__ >= 900
    cudaTriggerProgrammaticLaunchCompletion();
#endif
    if (!tiles && params.lift && __ldcg(&table->lift.chroma_on))
        return;
    if (threadIdx.x == 0)
        find_active(&active, c.bars);
    for (int i = (int)threadIdx.x; i < CURVE_CELLS; i += THREADS)
        gains[i] = table->gain[i];
    __syncthreads();

    const ChromaRule rule = {gains,
                             walk.legal,
                             (1u << params.depth) - 1,
                             &params,
                             &walk.grid,
                             c.tables,
                             active_chroma(active, c.sub_x, c.sub_y)};
    const int64_t all = (int64_t)walk.groups * c.height;
    for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i < all;
         i += (int64_t)gridDim.x * THREADS) {
        const int y = (int)(i / walk.groups), x = (int)(i - (int64_t)y * walk.groups) * GROUP;
        const bool whole = x + GROUP <= c.width && (x + GROUP) << sub_x <= c.luma.width;
        if (walk.aligned && whole) {
            CurveGain over[GROUP];
            look_over_group<Sample, sub_x, sub_y, tiles>(rule, c.luma, x, y, over);
            scale_group<Sample, step>(rule, c, x, y, over);
        } else {
            for (int k = x; k < min(x + GROUP, c.width); k++)
                scale_pixel<Sample, tiles>(rule, c, k, y);
        }
    }
}

typedef void ChromaKernel(const ChromaWalk, const CurveTable *, const CurveParams);

/* Of shapes that no kernel is made for, one that does without vectors: *known is 0. */
template <typename Sample, bool tiles>
static ChromaKernel *choose_shape(const LumeqCudaChroma *c, int *known)
{
    const int shape = c->sub_x << 8 | c->sub_y << 4 | c->step;
    *known = 1;
    switch (shape) {
    case 0x111: return scale_chroma<Sample, tiles, 1, 1, 1>;
    case 0x112: return scale_chroma<Sample, tiles, 1, 1, 2>;
    case 0x101: return scale_chroma<Sample, tiles, 1, 0, 1>;
    case 0x102: return scale_chroma<Sample, tiles, 1, 0, 2>;
    case 0x001: return scale_chroma<Sample, tiles, 0, 0, 1>;
    default: *known = 0; return scale_chroma<Sample, tiles, 0, 0, 1>;
    }
}

static ChromaKernel *choose(const LumeqCudaChroma *c, int depth, int *known)
{
    if (depth > 8)
        return c->grid ? choose_shape<uint16_t, true>(c, known)
                       : choose_shape<uint16_t, false>(c, known);
    return c->grid ? choose_shape<uint8_t, true>(c, known) : choose_shape<uint8_t, false>(c, known);
}

static cudaError_t load(int depth, const TileGrid *grid)
{
    static const int shapes[][3] = {{1, 1, 1}, {1, 1, 2}, {1, 0, 1}, {1, 0, 2}, {0, 0, 1}};
    cudaError_t error = cudaSuccess;
    for (const int *shape : shapes) {
        LumeqCudaChroma chroma = {};
        cudaFuncAttributes attributes;
        int known;
        chroma.sub_x = shape[0];
        chroma.sub_y = shape[1];
        chroma.step = shape[2];
        chroma.grid = grid;
        if (!error)
            error = cudaFuncGetAttributes(&attributes, choose(&chroma, depth, &known));
    }
    return error;
}

extern "C" cudaError_t lumeq_cuda_load_chroma(void)
{
    const TileGrid grid = {};
    cudaError_t error = load(8, NULL);
    if (!error)
        error = load(8, &grid);
    if (!error)
        error = load(16, NULL);
    return error ? error : load(16, &grid);
}

extern "C" cudaError_t lumeq_cuda_chroma(const LumeqCudaDevice *device,
                                         const LumeqCudaChroma *chroma, const CurveTable *table,
                                         const CurveParams *params, cudaStream_t stream)
{
    int known;
    ChromaKernel *const kernel = choose(chroma, params->depth, &known);
    ChromaWalk walk = {};
    walk.chroma = *chroma;
    if (chroma->grid)
        walk.grid = *chroma->grid;
    walk.groups = (chroma->width + GROUP - 1) / GROUP;
    walk.aligned = known && all_aligned(chroma, params->depth);
    walk.legal = curve_legal(params->depth, params->black != 0);

    const int64_t wanted = ((int64_t)walk.groups * chroma->height + THREADS - 1) / THREADS;
    const int64_t most = (int64_t)device->processors * BLOCKS_A_PROCESSOR;
    cudaLaunchConfig_t config = {};
    config.gridDim = (unsigned)(wanted < most ? wanted : most);
    config.blockDim = THREADS;
    config.stream = stream;
    return cudaLaunchKernelEx(&config, kernel, walk, table, *params);
}
