/*
 * What the GPU does to samples: plain C functions that start kernels on a stream.
 *
 * All pointers to samples, states and tables are to device memory. A kernel works on any rectangle:
 * any width and stride, negative ones included, any alignment that its samples have by nature.
 * Nothing waits here.
 *
 * From compute capability 9 on a kernel may start while the one in front of it on its stream still
 * runs, so that a frame is counted while the curve of the one before is computed. Results are in
 * order all the same; but samples must not be written, and counters and results not be in use, by
 * kernels that are still queued before it on that stream.
 */
#ifndef LUMEQ_CUDA_KERNELS_H
#define LUMEQ_CUDA_KERNELS_H

#include <stddef.h>
#include <stdint.h>

#include <cuda_runtime_api.h>

#include "equalizer/curve.h"
#include "equalizer/lift_filter.h"
#include "equalizer/noise.h"
#include "equalizer/tiles.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What the launchers need to know of a device. */
typedef struct LumeqCudaDevice {
    int processors;     /* streaming multiprocessors */
    int early_launches; /* a kernel may start while the one before it ends: compute capability 9,
                           and code for it, not for an earlier one that the driver has translated */
    int shared, shared_all; /* bytes of shared memory: of a block at most, of a multiprocessor */
} LumeqCudaDevice;

/* A rectangle of samples. */
typedef struct LumeqCudaPlane {
    uint8_t *data;    /* first row */
    ptrdiff_t stride; /* bytes; within +- 2^31 */
    int width, height;
} LumeqCudaPlane;

/* What the blocks of one histogram share. Zeroed before the first; each leaves it zero for another
 * one that is queued once this has ended. */
typedef struct LumeqCudaCounters {
    uint32_t hist[LUMEQ_MAX_BINS];
    uint32_t blocks_done;
} LumeqCudaCounters;

/* Finds out about a device and loads the kernels into the current context, which is one of it. The
 * first selects the device for the calling thread before. */
cudaError_t lumeq_cuda_prepare(LumeqCudaDevice *device, int number);
cudaError_t lumeq_cuda_load(LumeqCudaDevice *device, int number);
cudaError_t lumeq_cuda_code_version(int *version); /* that the kernels were compiled for: 90 */
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

/* What the blocks of one survey share; as LumeqCudaCounters. */
typedef struct LumeqCudaSurvey {
    BarsProfile lines;
    NoiseProfile noise;
} LumeqCudaSurvey;

/* What a frame's luma is to tell besides its histogram: its bars, from those before it, and its
 * noise, by noise_of(). */
typedef struct LumeqCudaSurveyJob {
    LumeqCudaPlane now, before; /* luma, and that of the frame before: no samples where none is */
    BarsParams bars;
    LumeqCudaSurvey *work;
} LumeqCudaSurveyJob;

/* The histogram of samples and, from it and `before`, all of `result` and `table`. The survey's
 * bars and noise go into the result first; NULL: they are there. One for depth 8, one for those
 * above. */
typedef cudaError_t LumeqCudaHistogram(const LumeqCudaDevice *device, const LumeqCudaPlane *src,
                                       const CurveParams *params, const CurveResult *before,
                                       CurveResult *result, CurveTable *table,
                                       const LumeqCudaSurveyJob *survey,
                                       LumeqCudaCounters *counters, cudaStream_t stream);
LumeqCudaHistogram lumeq_cuda_histogram8, lumeq_cuda_histogram10, lumeq_cuda_histogram16;

/* What the blocks that do nothing but count share. Zeroed before the first; they leave it zero for
 * others, which are queued once they have ended. */
typedef union LumeqCudaTally {
    unsigned long long bin[LUMEQ_MAX_BINS]; /* 16 bits of how often was added, and above what */
    LumeqCudaCounters counters;             /* instead, with many bins */
} LumeqCudaTally;

/* The counts alone, as many as there are bins: 256 of 8 bits, LUMEQ_MAX_BINS at most of deeper
 * samples. A bin is what is left of those above their lowest `shift` bits; what is beyond counts as
 * the last. */
typedef cudaError_t LumeqCudaCounts(const LumeqCudaDevice *device, const LumeqCudaPlane *src,
                                    int shift, int bins, uint32_t *hist, LumeqCudaTally *tally,
                                    cudaStream_t stream);
LumeqCudaCounts lumeq_cuda_counts8, lumeq_cuda_counts10, lumeq_cuda_counts16;

/* The profile alone: `columns` and `rows` have as many entries as the luma. */
cudaError_t lumeq_cuda_profile(const LumeqCudaPlane *luma, const BarsParams *params,
                               uint8_t *columns, uint8_t *rows, cudaStream_t stream);

/* Adds the codes of luma up in cells, which are zeroed before: [MEASURE_CELLS]. */
cudaError_t lumeq_cuda_cells(const LumeqCudaPlane *luma, int depth, int shift, uint64_t *cells,
                             cudaStream_t stream);

/* What is counted of the noise alone; the counts are zeroed before. */
cudaError_t lumeq_cuda_noise_counts(const LumeqCudaPlane *luma, const LumeqCudaPlane *before,
                                    const CurveParams *params, NoiseProfile *counts,
                                    cudaStream_t stream);

/* What is to be copied from device memory to pinned memory of the host, both aligned to 16 bytes,
 * whole 16 of them: by a kernel, since while large copies are under way a small one would have to
 * wait for its turn. */
typedef struct LumeqCudaReport {
    void *host;
    const void *from;
    size_t size;
} LumeqCudaReport;

/* Looks the samples of src up, but those of bars, which are copied; NULL: there are none. Copies
 * the report, too; NULL: there is none. The two planes must not overlap. */
cudaError_t lumeq_cuda_apply(const LumeqCudaDevice *device, const LumeqCudaPlane *dst,
                             const LumeqCudaPlane *src, const CurveTable *table,
                             const BarsState *bars, const CurveParams *params,
                             const LumeqCudaReport *report, cudaStream_t stream);

/* Luma that may be lifted. */
typedef struct LumeqCudaLift {
    LumeqCudaPlane in, out;
    LumeqCudaPlane previous[LIFT_PAST]; /* as LumeqApplyJob's */
    int previous_count, fields;
} LumeqCudaLift;

/* Chroma and the luma over it. */
typedef struct LumeqCudaChroma {
    LumeqCudaPlane luma;
    LumeqCudaPlane luma_out;      /* bounded over saturated colours when it is there */
    LumeqCudaPlane in[2], out[2]; /* of them data and stride are looked at */
    int planes;                   /* 1 or 2 */
    int step;                     /* samples of a pixel that lie in turns: 1 or 2 */
    int width, height;            /* in pixels of chroma */
    int sub_x, sub_y;             /* as LumeqImage.chroma_x, chroma_y */
    const TileGrid *grid;         /* on the host: with mode CLAHE, else NULL */
    const TileTables *tables;     /* the grid's */
    const BarsState *bars;        /* what they have is copied; NULL: there are none */
    int with_luma;                /* lumeq_cuda_lift_luma() scales what is not filtered: only if
                                   * lumeq_cuda_with_luma() says that it can */
} LumeqCudaChroma;

/* Looks luma up that may be lifted: filters it first where the table says that it is. `chroma`:
 * what lumeq_cuda_lift_chroma() is called for next, without planes if it is not. With `with_luma`
 * it is scaled here, if the table says that nothing of the frame is filtered. */
cudaError_t lumeq_cuda_lift_luma(const LumeqCudaDevice *device, const LumeqCudaLift *luma,
                                 const LumeqCudaChroma *chroma, const CurveTable *table,
                                 const BarsState *bars, const CurveParams *params,
                                 const LumeqCudaReport *report, cudaStream_t stream);

/* Whether chroma can be scaled with luma: 4:2:0, with vectors in all planes. */
int lumeq_cuda_with_luma(const LumeqCudaLift *luma, const LumeqCudaChroma *chroma, int depth);

/* Scales it by the gain of the mean of the luma under each of its pixels: the table's, or what the
 * tiles make of that. */
cudaError_t lumeq_cuda_chroma(const LumeqCudaDevice *device, const LumeqCudaChroma *chroma,
                              const CurveTable *table, const CurveParams *params,
                              cudaStream_t stream);

/* The same over luma that may be lifted: filters it first where the table says so, and leaves alone
 * what lumeq_cuda_lift_luma() has done. Without tiles.
 * `fields` as LumeqApplyJob's. On the stream it follows lumeq_cuda_lift_luma(). */
cudaError_t lumeq_cuda_lift_chroma(const LumeqCudaDevice *device, const LumeqCudaChroma *chroma,
                                   int fields, const CurveTable *table, const CurveParams *params,
                                   cudaStream_t stream);

/* The samples of one component in a plane. */
typedef struct LumeqCudaSamples {
    uint8_t *data;
    ptrdiff_t stride; /* bytes */
    int step;         /* samples from one to the next */
} LumeqCudaSamples;

/* Copies a component, of which `width` samples of 1 or 2 bytes are in a row, and drops `down` bits
 * of each at its lower end and puts `up` there. */
cudaError_t lumeq_cuda_convert(const LumeqCudaSamples *to, const LumeqCudaSamples *from, int width,
                               int height, int sample_size, int down, int up, cudaStream_t stream);

/* Starts a kernel that does it. */
cudaError_t lumeq_cuda_report(const LumeqCudaReport *report, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
