/*
 * Launchers of the kernels: plain C functions that start kernels on a stream. Nothing here waits.
 *
 * All pointers to samples, states and tables are to device memory. Kernels accept any width, any
 * stride (also negative), and any alignment to whole samples.
 *
 * From compute capability 9 on, a kernel may start while the one before it on its stream still
 * runs, so that a frame is counted while the curve of the previous frame is computed. Results are
 * in order all the same. But kernels that are still queued on that stream must not write the
 * samples, or use the counters and results.
 */
#ifndef LUMEQ_CUDA_KERNELS_H
#define LUMEQ_CUDA_KERNELS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cuda_runtime_api.h>

#include "equalizer/curve.h"
#include "equalizer/lift_filter.h"
#include "equalizer/noise.h"
#include "equalizer/tiles.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Properties of a device that the launchers need. */
typedef struct LumeqCudaDevice {
    int processors;         /* streaming multiprocessors */
    int early_launches;     /* a kernel may start before the previous one has ended. Needs compute
                             * capability 9, and code compiled for it */
    int shared, shared_all; /* bytes of shared memory: most per block, per multiprocessor */
} LumeqCudaDevice;

/* A rectangle of samples. */
typedef struct LumeqCudaPlane {
    uint8_t *data;    /* first row */
    ptrdiff_t stride; /* bytes; within +- 2^31 */
    int width, height;
} LumeqCudaPlane;

/* Shared by the blocks of one histogram. Zero it before the first use; each kernel leaves it zeroed
 * for a later one. */
typedef struct LumeqCudaCounters {
    uint32_t hist[LUMEQ_MAX_BINS];
    uint32_t blocks_done;
} LumeqCudaCounters;

/*
 * A batch: frames of one shape that one launch processes. A launcher's other arguments are for the
 * first frame; its results, tables and counters are followed by those of the next after `distance`
 * bytes, and so on.
 */
typedef struct LumeqCudaBatch {
    int count;    /* 1..LUMEQ_MAX_BATCH */
    int together; /* no frame's curve depends on the one before; otherwise each continues from it */
    ptrdiff_t distance;
    struct LumeqCudaInBatch {
        ptrdiff_t in[3], out[3], previous; /* planes: distance from the first frame's, in bytes */
        uint32_t alpha, slow, frame;       /* as in CurveParams */
        int64_t step;                      /* as in BarsParams */
    } of[LUMEQ_MAX_BATCH];
} LumeqCudaBatch;

static inline LumeqCudaBatch lumeq_cuda_batch_of_one(const CurveParams *params, int64_t step)
{
    LumeqCudaBatch batch;
    batch.count = 1;
    batch.together = 1;
    batch.distance = 0;
    memset(&batch.of[0], 0, sizeof(batch.of[0]));
    batch.of[0].alpha = params->alpha;
    batch.of[0].slow = params->slow;
    batch.of[0].frame = params->frame;
    batch.of[0].step = step;
    return batch;
}

/* The first half of a curve, which waits in memory for the frame before. */
typedef struct LumeqCudaBegun {
    CurveMeasured seen;
    int32_t edges;                                      /* bars_edges() */
    uint32_t hist[LUMEQ_MAX_BINS], cum[LUMEQ_MAX_BINS]; /* of CurveWork */
    CurveBin now[LUMEQ_MAX_BINS];
    CurveScene scene; /* with a lift, as the next two */
    LiftChoice choice;
    uint32_t lifted[CURVE_CELLS]; /* codes, in w->hist */
} LumeqCudaBegun;

/* Query a device and load all kernels into the current context, which belongs to it. The first one
 * selects the device for the calling thread before. */
cudaError_t lumeq_cuda_prepare(LumeqCudaDevice *device, int number);
cudaError_t lumeq_cuda_load(LumeqCudaDevice *device, int number);
cudaError_t lumeq_cuda_code_version(int *version); /* compute capability of the code, e.g. 90 */
cudaError_t lumeq_cuda_load_histogram8(void);
cudaError_t lumeq_cuda_load_counts8(void);
cudaError_t lumeq_cuda_load_histogram10(void);
cudaError_t lumeq_cuda_load_histogram16(void);
cudaError_t lumeq_cuda_load_apply(void);
cudaError_t lumeq_cuda_load_survey(void);
cudaError_t lumeq_cuda_load_chroma(void);
cudaError_t lumeq_cuda_load_report(void);
cudaError_t lumeq_cuda_load_cells(void);
cudaError_t lumeq_cuda_load_convert(void);
cudaError_t lumeq_cuda_load_lift_luma(const LumeqCudaDevice *device);
cudaError_t lumeq_cuda_load_lift_chroma(void);

/* Shared by the blocks of one survey; zeroed like LumeqCudaCounters. */
typedef struct LumeqCudaSurvey {
    BarsProfile lines;
    NoiseProfile noise;
} LumeqCudaSurvey;

/* Measurements of a frame besides its histogram: black bars, which depend on earlier frames, and
 * noise (noise_of()). */
typedef struct LumeqCudaSurveyJob {
    LumeqCudaPlane now, before; /* luma, also of the previous frame; data NULL: unknown */
    BarsParams bars;
    LumeqCudaSurvey *work;
} LumeqCudaSurveyJob;

/* Output of a histogram. */
typedef struct LumeqCudaCurve {
    CurveResult *result;
    CurveTable *table;
    LumeqCudaCounters *counters;
    LumeqCudaBegun *begun; /* for batches that are not together; otherwise NULL is enough */
} LumeqCudaCurve;

/* Computes the histograms of a batch's planes, and from them and `before`, the result of the frame
 * before the batch, all of the results and tables. A survey's bars and noise go into the result
 * first; survey NULL: they are already there. */
typedef cudaError_t LumeqCudaHistogram(const LumeqCudaDevice *device, const LumeqCudaPlane *src,
                                       const CurveParams *params, const CurveResult *before,
                                       const LumeqCudaCurve *curve,
                                       const LumeqCudaSurveyJob *survey,
                                       const LumeqCudaBatch *batch, cudaStream_t stream);
LumeqCudaHistogram lumeq_cuda_histogram8, lumeq_cuda_histogram10, lumeq_cuda_histogram16;

/* True if the histograms of the batch leave out the tables, so that no curve waits for the table of
 * the one before. */
static inline int lumeq_cuda_leaves_tables(const LumeqCudaBatch *batch)
{
    return batch->count > 1 && !batch->together;
}

/* Makes these tables, on any stream. */
typedef cudaError_t LumeqCudaMakeTables(const CurveParams *params, const LumeqCudaCurve *curve,
                                        const LumeqCudaBatch *batch, cudaStream_t stream);
LumeqCudaMakeTables lumeq_cuda_tables8, lumeq_cuda_tables10, lumeq_cuda_tables16;

/* Shared by the blocks of a histogram without a curve; zeroed like LumeqCudaCounters. */
typedef union LumeqCudaTally {
    unsigned long long bin[LUMEQ_MAX_BINS]; /* low 16 bits: number of additions; above: the sum */
    LumeqCudaCounters counters;             /* used instead with many bins */
} LumeqCudaTally;

/* Computes the histogram only: 256 bins for 8 bits, up to LUMEQ_MAX_BINS for deeper samples. The
 * bin is sample >> shift; larger values count in the last bin. */
typedef cudaError_t LumeqCudaCounts(const LumeqCudaDevice *device, const LumeqCudaPlane *src,
                                    int shift, int bins, uint32_t *hist, LumeqCudaTally *tally,
                                    cudaStream_t stream);
LumeqCudaCounts lumeq_cuda_counts8, lumeq_cuda_counts10, lumeq_cuda_counts16;

/* Computes for the bars which columns and rows of luma are lit. `columns` has an entry for each
 * column, `rows` one for each row. */
cudaError_t lumeq_cuda_profile(const LumeqCudaPlane *luma, const BarsParams *params,
                               uint8_t *columns, uint8_t *rows, cudaStream_t stream);

/* Adds the codes of luma to cells[MEASURE_CELLS], which the caller has zeroed. */
cudaError_t lumeq_cuda_cells(const LumeqCudaPlane *luma, int depth, int shift, uint64_t *cells,
                             cudaStream_t stream);

/* Adds the counts for noise_of() to `counts`, which the caller has zeroed. */
cudaError_t lumeq_cuda_noise_counts(const LumeqCudaPlane *luma, const LumeqCudaPlane *before,
                                    const CurveParams *params, NoiseProfile *counts,
                                    cudaStream_t stream);

/* A small copy from device memory to pinned host memory; addresses and size are multiples of 16
 * bytes. A kernel makes it, because a copy engine would finish large copies first. */
typedef struct LumeqCudaReport {
    void *host;
    const void *from;
    size_t size;
    ptrdiff_t distance; /* in a batch: bytes on the host from one frame's copy to the next */
} LumeqCudaReport;

/* Maps samples of src through the table; copies samples of bars (NULL: no bars). Copies the report
 * as well (NULL: none). The two planes must not overlap. */
cudaError_t lumeq_cuda_apply(const LumeqCudaDevice *device, const LumeqCudaPlane *dst,
                             const LumeqCudaPlane *src, const CurveTable *table,
                             const BarsState *bars, const CurveParams *params,
                             const LumeqCudaReport *report, const LumeqCudaBatch *batch,
                             cudaStream_t stream);

/* Luma that may be lifted. */
typedef struct LumeqCudaLift {
    LumeqCudaPlane in, out;
    LumeqCudaPlane previous[LIFT_PAST]; /* see LumeqApplyJob */
    int previous_count, fields;
} LumeqCudaLift;

/* Chroma and the luma that it belongs to. */
typedef struct LumeqCudaChroma {
    LumeqCudaPlane luma;
    LumeqCudaPlane luma_out;      /* with data: luma is bounded over saturated colours */
    LumeqCudaPlane in[2], out[2]; /* only data and stride are used */
    int planes;                   /* 1 or 2 */
    int step;                     /* interleaved samples per pixel: 1 or 2 */
    int width, height;            /* of chroma, in pixels */
    int sub_x, sub_y;             /* see LumeqImage.chroma_x, chroma_y */
    const TileGrid *grid;         /* in host memory: mode CLAHE; else NULL */
    const TileTables *tables;     /* of the grid */
    const BarsState *bars;        /* their samples are copied; NULL: no bars */
    int with_luma;                /* lumeq_cuda_lift_luma() also scales chroma, if the frame is not
                                   * filtered; set it to lumeq_cuda_with_luma() */
} LumeqCudaChroma;

/* Maps luma through the table; filters it first if the table says that the frame is lifted.
 * `chroma`: the argument of the lumeq_cuda_lift_chroma() that follows, or without planes. With
 * `with_luma` this scales chroma as well, if the table says that nothing is filtered. */
cudaError_t lumeq_cuda_lift_luma(const LumeqCudaDevice *device, const LumeqCudaLift *luma,
                                 const LumeqCudaChroma *chroma, const CurveTable *table,
                                 const BarsState *bars, const CurveParams *params,
                                 const LumeqCudaReport *report, const LumeqCudaBatch *batch,
                                 cudaStream_t stream);

/* True if lumeq_cuda_lift_luma() can scale chroma as well: 4:2:0, all planes aligned to vectors. */
int lumeq_cuda_with_luma(const LumeqCudaLift *luma, const LumeqCudaChroma *chroma, int depth);

/* Scales chroma by the gain of the mean luma of each of its pixels, from the table or from the
 * tiles. */
cudaError_t lumeq_cuda_chroma(const LumeqCudaDevice *device, const LumeqCudaChroma *chroma,
                              const CurveTable *table, const CurveParams *params,
                              const LumeqCudaBatch *batch, cudaStream_t stream);

/* The same for frames that may be lifted: filters chroma first if the table says so, and does
 * nothing if lumeq_cuda_lift_luma() has already scaled it. Queue it after lumeq_cuda_lift_luma() on
 * the same stream. Without tiles. `fields`: see LumeqApplyJob. */
cudaError_t lumeq_cuda_lift_chroma(const LumeqCudaDevice *device, const LumeqCudaChroma *chroma,
                                   int fields, const CurveTable *table, const CurveParams *params,
                                   const LumeqCudaBatch *batch, cudaStream_t stream);

/* One component's samples in a plane. */
typedef struct LumeqCudaSamples {
    uint8_t *data;
    ptrdiff_t stride; /* bytes */
    int step;         /* samples from one to the next */
} LumeqCudaSamples;

/* Copies a component with `width` samples of 1 or 2 bytes per row: sample >> down << up. */
cudaError_t lumeq_cuda_convert(const LumeqCudaSamples *to, const LumeqCudaSamples *from, int width,
                               int height, int sample_size, int down, int up, cudaStream_t stream);

/* Makes the copy of a report with a kernel of its own. */
cudaError_t lumeq_cuda_report(const LumeqCudaReport *report, const LumeqCudaBatch *batch,
                              cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#ifdef __CUDACC__
/* In place of a batch: a frame alone. Its kernels have no code for others. */
typedef struct LumeqCudaAlone {
} LumeqCudaAlone;

/* A pointer to results of a frame of the batch, from that of the first frame; NULL stays NULL. */
template <typename Result>
static __device__ __forceinline__ Result *in_batch(Result *first, const LumeqCudaBatch &batch,
                                                   int frame)
{
    return first ? (Result *)((char *)first + frame * batch.distance) : first;
}

template <typename Result>
static __device__ __forceinline__ Result *in_batch(Result *first, const LumeqCudaAlone &, int)
{
    return first;
}
#endif

#endif
