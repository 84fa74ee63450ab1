/*
 * The interface between the public functions and the backends that compute.
 *
 * The public functions (equalizer.c, context.c) check every argument, keep frames in order and turn
 * parameters and timestamps into a CurveParams. Backends do not check them again.
 */
#ifndef LUMEQ_BACKEND_H
#define LUMEQ_BACKEND_H

#include <stddef.h>
#include <string.h>

#include "equalizer/curve_types.h"
#include "equalizer/haze.h"
#include "equalizer/noise.h"
#include "equalizer/tiles.h"
#include "lumeq/lumeq.h"

/* Number of batches of frames in flight on a GPU: two batches are measured while one is written and
 * one is received. */
#define LUMEQ_FLIGHTS 4

static inline int lumeq_planes(const LumeqImage *image)
{
    return !image->plane[1] ? 1 : !image->plane[2] ? 2 : 3;
}

/* Number of interleaved samples per pixel of a plane. */
static inline int lumeq_step(const LumeqImage *image, int plane)
{
    return plane && !image->plane[2] ? 2 : 1;
}

/* Width and height of a plane in pixels. */
static inline int lumeq_width(const LumeqImage *image, int plane)
{
    return plane ? (image->width + (1 << image->chroma_x) - 1) >> image->chroma_x : image->width;
}

static inline int lumeq_height(const LumeqImage *image, int plane)
{
    return plane ? (image->height + (1 << image->chroma_y) - 1) >> image->chroma_y : image->height;
}

/* Size of `pixels` pixels of a row, in bytes. */
static inline ptrdiff_t lumeq_bytes(const LumeqImage *image, int plane, int pixels)
{
    return (ptrdiff_t)pixels * lumeq_step(image, plane) * (image->depth > 8 ? 2 : 1);
}

static inline ptrdiff_t lumeq_row_size(const LumeqImage *image, int plane)
{
    return lumeq_bytes(image, plane, lumeq_width(image, plane));
}

/* A part of the picture; part.x and part.y are multiples of 4. */
static inline LumeqImage lumeq_part(const LumeqImage *image, LumeqRect part)
{
    LumeqImage result = *image;
    for (int i = 0; i < lumeq_planes(image); i++) {
        const int x = i ? part.x >> image->chroma_x : part.x;
        const int y = i ? part.y >> image->chroma_y : part.y;
        result.plane[i] =
            (uint8_t *)image->plane[i] + y * image->stride[i] + lumeq_bytes(image, i, x);
    }
    result.width = part.width;
    result.height = part.height;
    return result;
}

static inline LumeqImage lumeq_metered(const LumeqImage *image, const CurveParams *params)
{
    const LumeqRect *m = &params->meter;
    LumeqImage result = *image;
    if (!m->width)
        return result;
    result.plane[0] =
        (uint8_t *)image->plane[0] + m->y * image->stride[0] + lumeq_bytes(image, 0, m->x);
    result.width = m->width;
    result.height = m->height;
    return result;
}

typedef struct LumeqState {
    CurveResult curve;
    TileResult tiles; /* outside mode CLAHE, tiles_x, tiles_y and depth are 0 and the rest is
                       * undefined */
} LumeqState;

static inline size_t lumeq_result_size(uint32_t bins)
{
    return offsetof(CurveResult, bin) + bins * sizeof(CurveBin);
}

/* Format of a frame's counts. */
typedef struct MeasureShape {
    int32_t width, height, depth, shift, range;
    int32_t bins;
    int32_t tiles_x, tiles_y; /* number of tiles; 0: tiles are not counted */
    int32_t reference;        /* the grid is OpenCV's, with padded tiles */
    LumeqRect meter;          /* as in CurveParams */
} MeasureShape;

typedef struct LumeqCounts {
    uint32_t *hist;                  /* histogram of the frame or of the metered region: [bins] */
    uint64_t *cells;                 /* sums of codes, cells row by row: [MEASURE_CELLS] */
    uint8_t *lit[BARS_DIRECTIONS];   /* lit samples by column and row (bars.h): [width], [height] */
    HazeCell *haze;                  /* [MEASURE_CELLS] */
    NoiseProfile *noise;             /* zero without a previous frame */
    uint32_t (*tiles)[TILE_CELLS];   /* histogram of each tile; NULL: no tiles */
    uint32_t (*padding)[TILE_CELLS]; /* histogram of each tile's padding; NULL: no padding */
    TileSums *sums; /* set instead of `tiles` and `padding` if LumeqFlight.reference is set */
} LumeqCounts;

/* A frame to measure. Backends copy the struct; the planes must stay valid until the work ends. */
typedef struct LumeqMeasureJob {
    LumeqImage in, previous; /* `previous`: to measure noise; plane[0] NULL: none */
    MeasureShape shape;      /* of the counts */
    CurveParams curve;       /* counting uses the sample format, bins and meter; the rest is for
                              * LumeqFlight.reference */
    BarsParams bars;         /* with bars.ignore, the profile (bars.h) is not counted */
    int clahe;               /* the mode is CLAHE, and `grid` is set */
    int chroma;              /* measure chroma, for the colour of haze */
    TileGrid grid;
    LumeqCounts counts;    /* output, in any host memory; `cells` is NULL if not wanted */
    const LumeqSync *sync; /* NULL: none */
} LumeqMeasureJob;

/* A frame in flight. Its pictures stay on the GPU from LumeqBackend.begin to LumeqBackend.leave. */
typedef struct LumeqFlight {
    LumeqImage out;
    int write;          /* number of planes to write: 0, 1 or all of out's */
    int reference;      /* the GPU measures, makes the curve and writes, without the host */
    int alone;          /* no other frame is in flight */
    const void *before; /* `pending` of the previous frame in flight, or NULL */
} LumeqFlight;

/* A frame to equalize with a curve. */
typedef struct LumeqApplyJob {
    LumeqImage in, out;
    LumeqImage previous[LIFT_PAST]; /* newest first */
    int previous_count;             /* 0..LIFT_PAST */
    int fields;                     /* as in LumeqFrame.interlaced */
    int write;                      /* number of planes to write: 1 or all of out's */
    CurveParams curve;
    const BarsState *bars;
    const CurveTable *table;
    int clahe;
    const TileGrid *grid;     /* with clahe */
    const TileTables *tables; /* with clahe; nodes of the grid's tiles */
    const LumeqSync *sync;
    void *flight; /* `pending` of this frame if it is in flight; else NULL */
} LumeqApplyJob;

/* A conversion of colours. If out.data is NULL, `in` is converted to the planes. Otherwise the
 * planes are converted to `out`, and the fourth channel, if any, is copied from `in` to `out`. */
typedef struct LumeqPixelsJob {
    LumeqPixels in, out;
    LumeqImage planes;
} LumeqPixelsJob;

#define LUMEQ_BARS 4

/* Finds the bars around the active picture `a` of a frame, and returns their number. Bars above and
 * below the picture span the frame's width. */
static inline int lumeq_find_bars(const LumeqRect *a, int width, int height,
                                  LumeqRect bars[LUMEQ_BARS])
{
    const int right = a->x + a->width, bottom = a->y + a->height;
    const LumeqRect all[LUMEQ_BARS] = {
        {0, 0, width, a->y},
        {0, bottom, width, height - bottom},
        {0, a->y, a->x, a->height},
        {right, a->y, width - right, a->height},
    };
    int count = 0;
    for (int i = 0; i < LUMEQ_BARS; i++)
        if (all[i].width > 0 && all[i].height > 0)
            bars[count++] = all[i];
    return count;
}

typedef struct LumeqBackend {
    const char *name;
    const char *build_info; /* for lumeq_build_info(); set in the CUDA backend and its stub */
    size_t priv_size;

    /* `priv` is zeroed memory of priv_size bytes. On success, `text` gets the device's name. All
     * functions except `reserve` set lumeq_error_text() with every error other than AGAIN. */
    int (*open)(void *priv, const LumeqConfig *config, char *text, size_t text_size);
    /*
     * Single frames; any thread at any time. Without sync, `measure` and `apply` return when the
     * job is done. With sync (only if there is alloc_device), `measure` sets *pending without
     * waiting for the counts. `measure_finish` stores the counts in its argument, not in the job.
     * With wait == 0, it returns AGAIN while the GPU is busy. Error GPU: the device and all pending
     * jobs are lost. Error MEMORY, or ARGUMENT (a plane is not in the memory that the caller
     * states): the job has not been started.
     */
    int (*measure)(void *priv, const LumeqMeasureJob *job, void **pending);
    int (*measure_finish)(void *priv, void *pending, const LumeqCounts *counts, int wait);
    int (*apply)(void *priv, const LumeqApplyJob *job);
    /*
     * Frames in flight; one thread at a time. All NULL in a backend without a device. `place`
     * checks a frame and allocates its memory. `begin` starts to measure frames, together if they
     * have the same shape. After measure_finish, `write` starts to write frames with their curves.
     * `land` finishes a frame and sets its stage times. With LumeqFlight.reference, `land` follows
     * `begin` directly, and sets `hist` and `sums` of `counts`; otherwise `counts` is NULL. `leave`
     * frees a frame's memory. Frames leave in order, each after the next frame has landed.
     *
     * Only `measure_finish`, `land` and copies of planes in pageable memory wait. A device may
     * resume after it counts as lost. Even then, it writes to planes in host memory only for frames
     * with sync. `place` has the errors listed above; later calls return only AGAIN and GPU.
     */
    int (*place)(void *priv, const LumeqMeasureJob *job, const LumeqFlight *flight, void **pending);
    int (*begin)(void *priv, void *const *pendings, int count);
    int (*write)(void *priv, const LumeqApplyJob *jobs, int count);
    int (*land)(void *priv, void *pending, const LumeqCounts *counts, int wait,
                double begin_us[LUMEQ_STAGES], double end_us[LUMEQ_STAGES]);
    void (*leave)(void *priv, void *pending);
    /* Set in the CPU backend. priv NULL: uses only the calling thread. */
    void (*convert)(void *priv, const LumeqPixelsJob *job);
    void *(*alloc_host)(void *priv, size_t size);
    void (*free_host)(void *priv, void *memory);
    /* Both NULL: there is no device, and no image is in LUMEQ_MEMORY_CUDA. */
    void *(*alloc_device)(void *priv, size_t size);
    void (*free_device)(void *priv, void *memory);
    /* lumeq_get_cuda(); NULL if there is no device. */
    int (*get_cuda)(void *priv, void **context, void **stream);
    /* lumeq_list_gpus(); set in the CUDA backend and its stub. */
    int (*list_gpus)(LumeqGpu *gpus, int count);
    /* lumeq_memory_use() and lumeq_reserve_device(); set in the CUDA backend. Negative bytes
     * release a reservation. Both NULL: there is no device. */
    void (*memory_use)(int device, LumeqMemoryUse *use);
    int (*reserve)(int device, int64_t bytes);
    void (*close)(void *priv); /* accepts a half-open state; waits for jobs in flight */
} LumeqBackend;

typedef struct LumeqWork {
    const LumeqBackend *backend;
    void *priv; /* NULL: not open */
} LumeqWork;

extern const LumeqBackend lumeq_backend_cpu;
extern const LumeqBackend lumeq_backend_cuda; /* a stub in builds without CUDA */

#endif
