/* Scales chroma that is not filtered by the gain of its luma, and copies bars. */
#include <stdint.h>

#define THREADS 256
#include "equalizer/cuda/bound.cuh"
#include "equalizer/cuda/chroma_scale.cuh"

/* Blocks per multiprocessor. */
#define BLOCKS_A_PROCESSOR (2048 / THREADS)

typedef struct ChromaWalk {
    LumeqCudaChroma chroma;
    int groups; /* per row */
    int aligned;
    CurveLegal legal;
    TileGrid grid;
} ChromaWalk;

/* Template parameters describe the layout if groups are vectors: walk.aligned. */
template <typename Sample, bool tiles, int sub_x, int sub_y, int step>
static __global__ void __launch_bounds__(THREADS)
    scale_chroma(const __grid_constant__ ChromaWalk walk, const CurveTable *table,
                 const __grid_constant__ CurveParams params,
                 const __grid_constant__ LumeqCudaBatch batch)
{
    __shared__ CurveGain gains[CURVE_CELLS];
    __shared__ Active active;
    const int frame = (int)blockIdx.y;
    const LumeqCudaChroma c = chroma_in_batch(walk.chroma, batch, frame);
    table = in_batch(table, batch, frame);
    if (threadIdx.x == 0)
        find_active(&active, c.bars);
    load_gains(gains, table->gain, params.depth, walk.legal);
    __syncthreads();

    const ChromaRule rule = {gains,
                             walk.legal,
                             (1u << params.depth) - 1,
                             &params,
                             &walk.grid,
                             c.tables,
                             active_chroma(active, c.sub_x, c.sub_y),
                             batch.of[frame].frame};
    scale_plane<Sample, tiles, sub_x, sub_y, step>(rule, c, walk.groups, (int)gridDim.x,
                                                   walk.aligned);
#if __CUDA_ARCH__ >= 900
    cudaGridDependencySynchronize();
#endif
    if (c.luma_out.data && params.chroma && !params.reference && (tiles || is_raised(table->gain)))
        bound_plane<Sample>(c, params);
}

typedef void ChromaKernel(const ChromaWalk, const CurveTable *, const CurveParams,
                          const LumeqCudaBatch);

/* Returns the kernel for a layout. Other layouts get a kernel without vectors, and *known is 0. */
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
                                         const CurveParams *params, const LumeqCudaBatch *batch,
                                         cudaStream_t stream)
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
    const int64_t all = (int64_t)device->processors * BLOCKS_A_PROCESSOR;
    const int64_t most = all > batch->count ? all / batch->count : 1;
    cudaLaunchAttribute early = {};
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3((unsigned)(wanted < most ? wanted : most), (unsigned)batch->count);
    config.blockDim = THREADS;
    config.stream = stream;
    config.attrs = &early;
    config.numAttrs = device->early_launches ? 1 : 0;
    return cudaLaunchKernelEx(&config, kernel, walk, table, *params, *batch);
}
