/*
 * Launchers of the kernels: plain C functions that start kernels on a stream. Nothing here waits.
 *
 * All pointers to samples, states and tables are to device memory. Kernels accept any width, any
 * stride (also negative), and any alignment to whole samples.
 *
 * From compute capability 9 on, a kernel may start while the previous kernel on its stream still
 * runs. It reads samples at once, but waits for the tables of the previous kernel. So unfinished
 * kernels on the stream must not write these samples, or use the new kernel's counters and results.
 */
#ifndef LUMEQ_CUDA_KERNELS_H
#define LUMEQ_CUDA_KERNELS_H

#include <stddef.h>
#include <stdint.h>

#include <cuda_runtime_api.h>

#include "equalizer/curve_types.h"
#include "equalizer/haze.h"
#include "equalizer/lift_filter.h"
#include "equalizer/noise.h"
#include "equalizer/reference.h"
#include "equalizer/tiles.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Properties of a device that the launchers need. */
typedef struct LumeqCudaDevice {
    int processors;         /* streaming multiprocessors */
    int early_launches;     /* a kernel may start before the previous one has ended. Needs compute
                             * capability 9, and code compiled for it */
    int shared, shared_all; /* maximum bytes of shared memory: per block, per multiprocessor */
} LumeqCudaDevice;

typedef struct LumeqCudaPlane {
    uint8_t *data;    /* first row */
    ptrdiff_t stride; /* bytes; within +- 2^31 */
    int width, height;
} LumeqCudaPlane;

/* One component's samples in a plane. */
typedef struct LumeqCudaSamples {
    uint8_t *data;
    ptrdiff_t stride; /* bytes */
    int step;         /* distance between samples of the component, in samples */
} LumeqCudaSamples;

/* A frame of a batch: byte offsets from the first frame's memory to this frame's. */
typedef struct LumeqCudaInBatch {
    ptrdiff_t in[3], out[3], before; /* planes */
    ptrdiff_t device, host;          /* tables and counts; results for the host */
    uint32_t frame;                  /* as in CurveParams */
} LumeqCudaInBatch;

/* A batch: frames of one shape that one launch processes. A launcher's other arguments are for the
 * first frame. */
typedef struct LumeqCudaBatch {
    int count; /* 1..LUMEQ_MAX_BATCH */
    LumeqCudaInBatch of[LUMEQ_MAX_BATCH];
} LumeqCudaBatch;

/* Query a device, and load kernels into the current context, which belongs to the device. */
cudaError_t lumeq_cuda_load(LumeqCudaDevice *device, int number);
cudaError_t lumeq_cuda_load_count(int *version); /* compute capability of the code, e.g. 90 */
cudaError_t lumeq_cuda_load_reference(void);
cudaError_t lumeq_cuda_load_apply(void);
cudaError_t lumeq_cuda_load_clahe_histogram(void);
cudaError_t lumeq_cuda_load_clahe_apply(void);
cudaError_t lumeq_cuda_load_chroma(void);
cudaError_t lumeq_cuda_load_cells(void);
cudaError_t lumeq_cuda_load_clear(void);
cudaError_t lumeq_cuda_load_convert(void);
cudaError_t lumeq_cuda_load_lift_luma(const LumeqCudaDevice *device);
cudaError_t lumeq_cuda_load_lift_chroma(void);

/* Counts of a frame, as in LumeqCounts. Zero it before the first use. Each kernel leaves `hist` and
 * `noise` zeroed for the next kernel. */
typedef struct LumeqCudaTally {
    uint32_t hist[LUMEQ_MAX_BINS];
    NoiseProfile noise;
    uint32_t blocks_done;
    uint8_t lit[BARS_DIRECTIONS][(LUMEQ_MAX_SIDE + 16) / 16 * 16] __attribute__((aligned(16)));
    HazeCell haze[MEASURE_CELLS] __attribute__((aligned(16)));
} LumeqCudaTally;

/* A frame to count. */
typedef struct LumeqCudaCount {
    LumeqCudaPlane counted;     /* for histogram and haze: luma, or the metered part of it */
    int left, top;              /* of the metered part */
    LumeqCudaPlane luma;        /* for bars and noise; data NULL: no bars, noise or haze */
    LumeqCudaPlane before;      /* luma of the previous frame, for noise; data NULL: unknown */
    BarsParams bars;            /* `ignore`: rows and columns are not counted */
    LumeqCudaSamples chroma[2]; /* for the haze: Cb and Cr; data NULL: none */
    int sub_x, sub_y;           /* as in LumeqCudaChroma */
    const CurveParams *params;  /* format and bins; the last bin also counts higher codes */
    LumeqCudaTally *tally;      /* on the device */
    LumeqCudaTally *host;       /* pinned: gets the counts */
} LumeqCudaCount;

cudaError_t lumeq_cuda_count(const LumeqCudaDevice *device, const LumeqCudaCount *count,
                             const LumeqCudaBatch *batch, cudaStream_t stream);

/* Stores the histograms of a batch of 8-bit planes in host->hist, and OpenCV's curves in `table`.
 * `tally`, `host`: as in LumeqCudaCount. */
cudaError_t lumeq_cuda_reference(const LumeqCudaDevice *device, const LumeqCudaPlane *src,
                                 const CurveParams *params, LumeqCudaTally *tally,
                                 LumeqCudaTally *host, CurveTable *table,
                                 const LumeqCudaBatch *batch, cudaStream_t stream);

/* Adds the sums of luma codes to cells[MEASURE_CELLS], which the caller has zeroed. */
cudaError_t lumeq_cuda_cells(const LumeqCudaPlane *luma, int depth, int shift, uint64_t *cells,
                             cudaStream_t stream);

/* Maps samples of src through the table; copies samples of bars (NULL: no bars). The two planes
 * must not overlap. */
cudaError_t lumeq_cuda_apply(const LumeqCudaDevice *device, const LumeqCudaPlane *dst,
                             const LumeqCudaPlane *src, const CurveTable *table,
                             const BarsState *bars, const CurveParams *params,
                             const LumeqCudaBatch *batch, cudaStream_t stream);

/* Luma of a lifted frame. */
typedef struct LumeqCudaLift {
    LumeqCudaPlane in, out;
    LumeqCudaPlane previous[LIFT_PAST]; /* see LumeqApplyJob */
    int previous_count, fields;
} LumeqCudaLift;

/* Chroma and the luma that it belongs to. */
typedef struct LumeqCudaChroma {
    LumeqCudaPlane luma;
    LumeqCudaPlane luma_out;      /* data not NULL: luma is limited in saturated colours */
    LumeqCudaPlane in[2], out[2]; /* only data and stride are used */
    int planes;                   /* 1 or 2 */
    int step;                     /* interleaved samples per pixel: 1 or 2 */
    int width, height;            /* of chroma, in pixels */
    int sub_x, sub_y;             /* see LumeqImage.chroma_x, chroma_y */
    uint32_t range;               /* as in LumeqBoundRow */
    const TileGrid *grid;         /* in host memory: mode CLAHE; else NULL */
    const TileTables *tables;     /* of the grid */
    const BarsState *bars;        /* their samples are copied; NULL: no bars */
} LumeqCudaChroma;

/* Filters luma of lifted frames and maps it through the table. */
cudaError_t lumeq_cuda_lift_luma(const LumeqCudaDevice *device, const LumeqCudaLift *luma,
                                 const CurveTable *table, const BarsState *bars,
                                 const CurveParams *params, const LumeqCudaBatch *batch,
                                 cudaStream_t stream);

/* Scales chroma by the gain of the mean luma of each of its pixels, from the table or from the
 * tiles. */
cudaError_t lumeq_cuda_chroma(const LumeqCudaDevice *device, const LumeqCudaChroma *chroma,
                              const CurveTable *table, const CurveParams *params,
                              const LumeqCudaBatch *batch, cudaStream_t stream);

/* Like lumeq_cuda_chroma(), but filters chroma first. `fields`: see LumeqApplyJob. */
cudaError_t lumeq_cuda_lift_chroma(const LumeqCudaDevice *device, const LumeqCudaChroma *chroma,
                                   int fields, const CurveTable *table, const CurveParams *params,
                                   const LumeqCudaBatch *batch, cudaStream_t stream);

/* Removes haze from chroma of the active picture that other kernels have written. `white`: as in
 * LumeqTintRow. If luma_out has
 * data, also limits luma (curve_bounded_code()). */
cudaError_t lumeq_cuda_clear_haze(const LumeqCudaChroma *chroma, const CurveParams *params,
                                  int white, HazeTint tint, cudaStream_t stream);

/* Removes haze from luma. `out`: the part `active` of a frame of `width` x `height`. `white`: the
 * code where the lift ends. */
cudaError_t lumeq_cuda_clear_cells(const LumeqCudaPlane *out, LumeqRect active, int width,
                                   int height, const CurveParams *params, int white,
                                   const HazeClear *clear, cudaStream_t stream);

/* Copies a component with `width` samples of 1 or 2 bytes per row: sample >> down << up. */
cudaError_t lumeq_cuda_convert(const LumeqCudaSamples *to, const LumeqCudaSamples *from, int width,
                               int height, int sample_size, int down, int up, cudaStream_t stream);

/* Counters of mode CLAHE, shared by the blocks of a kernel. Zero it before the first use. Each
 * kernel leaves it zeroed for the next kernel on its stream. */
typedef struct TileCounters {
    uint32_t hist[TILES_MAX][TILE_CELLS];    /* of the picture */
    uint32_t padding[TILES_MAX][TILE_CELLS]; /* of the padding that the reference adds */
    uint32_t hist_out[TILE_CELLS], curve_sum[TILE_CELLS];
    uint32_t blocks_done[TILES_MAX]; /* of each tile */
    uint32_t tiles_done;
} TileCounters;

/* Computes `sums`, in pinned memory, and `tables` from the histograms of all tiles of `src`. The
 * grid is OpenCV's, and has the size of `src`. `inside`: the tiles that are used. */
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
 * not overlap. With early_launches, queue it right after the kernel that makes the tables. */
cudaError_t lumeq_cuda_clahe_apply(const LumeqCudaDevice *device, const LumeqCudaPlane *dst,
                                   const LumeqCudaPlane *src, const TileGrid *grid,
                                   const TileTables *tables, const BarsState *bars,
                                   const LumeqCudaBatch *batch, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#ifdef __CUDACC__
/* Converts a pointer to the first frame's tables or counts to another frame's. NULL stays NULL. */
template <typename Result>
static __device__ __forceinline__ Result *in_batch(Result *first, const LumeqCudaBatch &batch,
                                                   int frame)
{
    return first ? (Result *)((char *)first + batch.of[frame].device) : first;
}

/* The same for results in host memory. */
template <typename Result>
static __device__ __forceinline__ Result *host_in_batch(Result *first, const LumeqCudaBatch &batch,
                                                        int frame)
{
    return (Result *)((char *)first + batch.of[frame].host);
}
#endif

#endif
