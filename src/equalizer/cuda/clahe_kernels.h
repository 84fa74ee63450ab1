/* Mode CLAHE on the GPU: launchers as in kernels.h. */
#ifndef LUMEQ_CUDA_CLAHE_KERNELS_H
#define LUMEQ_CUDA_CLAHE_KERNELS_H

#include "equalizer/cuda/kernels.h"
#include "equalizer/tiles.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Shared by the blocks of one grid. Zero it before the first use; each kernel leaves it zeroed for
 * the next one on its stream. */
typedef struct TileCounters {
    uint32_t hist[TILES_MAX][TILE_CELLS];    /* of the picture */
    uint32_t padding[TILES_MAX][TILE_CELLS]; /* of the padding that the reference adds */
    uint32_t hist_out[TILE_CELLS], curve_sum[TILE_CELLS];
    uint32_t blocks_done[TILES_MAX]; /* of each tile */
    uint32_t tiles_done;
} TileCounters;

cudaError_t lumeq_cuda_load_clahe_histogram(void);
cudaError_t lumeq_cuda_load_clahe_apply(void);

/* Computes the histograms of all tiles of `src`, which has the size of the grid, a reference one;
 * then from them `sums`, in pinned memory, and `tables`. `inside`: the tiles that are used. */
cudaError_t lumeq_cuda_clahe_reference(const LumeqCudaDevice *device, const LumeqCudaPlane *src,
                                       const TileGrid *grid, const TileInside *inside,
                                       TileSums *sums, TileTables *tables, TileCounters *counters,
                                       const LumeqCudaBatch *batch, cudaStream_t stream);

/* Adds the histograms of all tiles to `hist` and, for a reference grid, to `padding`; the caller
 * has zeroed both. */
cudaError_t lumeq_cuda_clahe_counts(const LumeqCudaDevice *device, const LumeqCudaPlane *src,
                                    const TileGrid *grid, uint32_t (*hist)[TILE_CELLS],
                                    uint32_t (*padding)[TILE_CELLS], cudaStream_t stream);

/* Maps samples of src through the tables; copies samples of bars (NULL: no bars). The planes must
 * not overlap. Queue it right after the histogram that makes the tables: it may start early. */
cudaError_t lumeq_cuda_clahe_apply(const LumeqCudaDevice *device, const LumeqCudaPlane *dst,
                                   const LumeqCudaPlane *src, const TileGrid *grid,
                                   const TileTables *tables, const BarsState *bars,
                                   const LumeqCudaBatch *batch, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
