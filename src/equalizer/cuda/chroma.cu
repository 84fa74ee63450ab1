/* Scales chroma that is not filtered by the gain of its luma, and copies bars. */
#include <stdint.h>

#define THREADS 256
#include "equalizer/cuda/chroma_scale.cuh"
#include "equalizer/cuda/launch.cuh"

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
    scale_plane<Sample, tiles, sub_x, sub_y, step>(rule, c, walk.groups, walk.aligned);
    if (c.luma_out.data && params.chroma && !params.reference && (tiles || is_raised(table->gain)))
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
