/* Mode CLAHE on the GPU: launchers as in kernels.h. */
#ifndef LUMEQ_CUDA_CLAHE_KERNELS_H
#define LUMEQ_CUDA_CLAHE_KERNELS_H

#include "equalizer/cuda/kernels.h"
#include "equalizer/tiles.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What the blocks of one grid share. Zeroed before the first; each leaves it zero for the next one
 * on its stream. */
typedef struct TileCounters {
    uint32_t hist[TILES_MAX][TILE_CELLS];    /* of the picture */
    uint32_t padding[TILES_MAX][TILE_CELLS]; /* of what the reference adds to it */
    uint32_t hist_out[TILE_CELLS], curve_sum[TILE_CELLS];
    uint32_t blocks_done[TILES_MAX]; /* of each tile */
    uint32_t tiles_done;
} TileCounters;

cudaError_t lumeq_cuda_load_clahe_histogram(void);
cudaError_t lumeq_cuda_load_clahe_apply(void);

/* The histograms of all tiles of `src`, which is as large as the grid, and from them, `before` and
 * the whole picture's result `frame`, all of `result` and `tables`. To be started right behind the
 * histogram that makes `frame`: it may begin while that still runs. */
cudaError_t lumeq_cuda_clahe_histogram(const LumeqCudaDevice *device, const LumeqCudaPlane *src,
                                       const TileGrid *grid, const CurveResult *frame,
                                       const TileResult *before, TileResult *result,
                                       TileTables *tables, TileCounters *counters,
                                       cudaStream_t stream);

/* The counts alone, of all tiles, added to `hist` and, with a reference's grid, `padding`, which
 * are zeroed before. */
cudaError_t lumeq_cuda_clahe_counts(const LumeqCudaDevice *device, const LumeqCudaPlane *src,
                                    const TileGrid *grid, uint32_t (*hist)[TILE_CELLS],
                                    uint32_t (*padding)[TILE_CELLS], cudaStream_t stream);

/* Looks the samples of src up, but those of bars, which are copied; NULL: there are none. The two
 * planes must not overlap. To be started right behind the
 * histogram that makes the tables: it may begin while that still runs. */
cudaError_t lumeq_cuda_clahe_apply(const LumeqCudaDevice *device, const LumeqCudaPlane *dst,
                                   const LumeqCudaPlane *src, const TileGrid *grid,
                                   const TileTables *tables, const BarsState *bars,
                                   cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
