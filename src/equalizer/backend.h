/*
 * The seam between the front of the library and what computes: one table of functions.
 *
 * The front (equalizer.c) has checked every argument, keeps frames in order and turns parameters
 * and timestamps into a CurveParams. A backend may trust all of that. It is called by one thread at
 * a time, what allocates and frees memory apart.
 */
#ifndef LUMEQ_BACKEND_H
#define LUMEQ_BACKEND_H

#include <stddef.h>
#include <string.h>

#include "equalizer/curve.h"
#include "equalizer/noise.h"
#include "equalizer/tiles.h"
#include "lumeq/lumeq.h"

#define LUMEQ_MAX_SLOTS 8

/* How many planes there are. */
static inline int lumeq_planes(const LumeqImage *image)
{
    return !image->plane[1] ? 1 : !image->plane[2] ? 2 : 3;
}

/* Samples of a pixel that lie in turns in a plane. */
static inline int lumeq_step(const LumeqImage *image, int plane)
{
    return plane && !image->plane[2] ? 2 : 1;
}

/* Pixels in a row of a plane, and its rows. */
static inline int lumeq_width(const LumeqImage *image, int plane)
{
    return plane ? (image->width + (1 << image->chroma_x) - 1) >> image->chroma_x : image->width;
}

static inline int lumeq_height(const LumeqImage *image, int plane)
{
    return plane ? (image->height + (1 << image->chroma_y) - 1) >> image->chroma_y : image->height;
}

/* Bytes of this many pixels of a row. */
static inline ptrdiff_t lumeq_bytes(const LumeqImage *image, int plane, int pixels)
{
    return (ptrdiff_t)pixels * lumeq_step(image, plane) * (image->depth > 8 ? 2 : 1);
}

static inline ptrdiff_t lumeq_row_size(const LumeqImage *image, int plane)
{
    return lumeq_bytes(image, plane, lumeq_width(image, plane));
}

/* A part of the picture, whose left and top are multiples of 4. */
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

/* The luma that is counted. */
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

/* All that a frame leaves behind. */
typedef struct LumeqState {
    CurveResult curve;
    TileResult tiles; /* of mode CLAHE; else its first members are 0, and the others undefined */
} LumeqState;

/* Bytes of a result with this many bins. */
static inline size_t lumeq_result_size(uint32_t bins)
{
    return offsetof(CurveResult, bin) + bins * sizeof(CurveBin);
}

/* Bytes of the tiles' result that are defined. Without a mode CLAHE that is what says so, and with
 * the reference, which keeps no history, all but that. */
static inline size_t lumeq_tiles_size(const TileResult *tiles)
{
    const size_t count = tiles->depth ? (size_t)tiles->tiles_x * tiles->tiles_y : 0;
    return tiles->tiles_x ? offsetof(TileResult, smooth) + count * sizeof(tiles->smooth[0])
                          : offsetof(TileResult, hist_out);
}

static inline void lumeq_copy_state(LumeqState *to, const LumeqState *from)
{
    memcpy(&to->curve, &from->curve, lumeq_result_size(from->curve.bins));
    memcpy(&to->tiles, &from->tiles, lumeq_tiles_size(&from->tiles));
}

/* The frame is not one of mode CLAHE. */
static inline void lumeq_no_tiles(TileResult *tiles)
{
    tiles->tiles_x = tiles->tiles_y = tiles->depth = 0;
}

/* One frame's work. Lives in the front from submit until receive has answered it. */
typedef struct LumeqJob {
    LumeqFrame frame;    /* its sync and previous are there during submit only */
    LumeqImage previous; /* the frame before, for its noise; without a first plane: none is known */
    CurveParams curve;
    BarsParams bars;
    int clahe; /* luma is looked up by the tiles of `grid` */
    TileGrid grid;
    int write; /* how many planes are written; 0: measure only, out has no memory */
    /* History to start from instead of the one the last submitted frame left; NULL: that one. To be
     * read during submit. */
    const LumeqState *restore;

    /* Set by submit, also where it fails: the device writes the output by itself, and one that is
     * lost may still do so at any time. 0 at first. */
    int late;

    /* Filled by receive. */
    LumeqState result;
    double stage_begin_us[LUMEQ_STAGES], stage_end_us[LUMEQ_STAGES]; /* 0 where there is none */
} LumeqJob;

/* ---- step by step ------------------------------------------------------------------------- */

/* Columns and rows of cells that luma is summed up in. */
#define MEASURE_COLUMNS 16
#define MEASURE_ROWS 9
#define MEASURE_CELLS (MEASURE_COLUMNS * MEASURE_ROWS)

/* The first column, or row, of a cell; `size` behind the last one. */
static inline int measure_cell_start(int size, int cell, int cells)
{
    return (int)((int64_t)size * cell / cells);
}

/* What decides how much is counted of a frame, and of which codes. */
typedef struct MeasureShape {
    int32_t width, height, depth, shift, range;
    int32_t bins;
    int32_t tiles_x, tiles_y; /* of the grid that is counted; 0: none */
    int32_t reference;        /* that grid is the reference's, whose tiles are padded */
    LumeqRect meter;          /* as CurveParams has it */
} MeasureShape;

/* All that is counted of a frame. */
typedef struct LumeqCounts {
    uint32_t *hist;                  /* of the frame, or of what is metered: [bins] */
    uint64_t *cells;                 /* sums of codes, row by row: [MEASURE_CELLS] */
    uint8_t *lit[BARS_DIRECTIONS];   /* as BarsProfile.lit: [width], [height] */
    NoiseProfile *noise;             /* of nothing, where the frame before is not known */
    uint32_t (*tiles)[TILE_CELLS];   /* of each tile, what it has of the frame; NULL: none */
    uint32_t (*padding)[TILE_CELLS]; /* of each tile, what the reference adds; else NULL */
} LumeqCounts;

/* A frame to be measured. Lives until the work is finished. */
typedef struct LumeqMeasureJob {
    LumeqImage in, previous; /* previous: as LumeqJob's */
    CurveParams curve;       /* how samples are read and binned */
    BarsParams bars;         /* how lines are */
    int clahe;
    TileGrid grid;
    LumeqCounts counts;    /* to be filled; host memory of any kind */
    const LumeqSync *sync; /* NULL: none */
} LumeqMeasureJob;

/* A frame to be equalized by a curve. */
typedef struct LumeqApplyJob {
    LumeqImage in, out;
    LumeqImage previous[LIFT_PAST]; /* frames before, newest first */
    int previous_count;             /* that are there, 0..LIFT_PAST */
    int fields;                     /* as LumeqFrame.interlaced */
    int write;                      /* planes that are written: 1, or all of out's */
    CurveParams curve;
    const BarsState *bars;
    const CurveTable *table;
    int clahe;
    const TileGrid *grid;     /* with clahe */
    const TileTables *tables; /* the same, as many nodes as the grid has tiles */
    const LumeqSync *sync;
} LumeqApplyJob;

#define LUMEQ_BARS 4

/* What lies around the active picture of a frame of this size: answers how many parts. Above and
 * below it they are as wide as the frame. */
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
    const char *build_info; /* of the CUDA backend and its stub: lumeq_build_info() */
    size_t priv_size;
    int slots; /* jobs in flight at most, 1..LUMEQ_MAX_SLOTS */

    /* `priv` is zeroed memory of priv_size bytes. `text` gets one sentence, on success too. */
    int (*open)(void *priv, const LumeqConfig *config, char *text, size_t text_size);
    /* Takes the job or fails; fewer than `slots` are in flight. `text` is filled on failure. GPU:
     * the device is lost, and with it the jobs in flight. All others leave those as they are:
     * MEMORY and UNAVAILABLE, it cannot do this job; ARGUMENT, nobody can: a plane does not lie
     * where it is said to, which only the backend can tell. */
    int (*submit)(void *priv, LumeqJob *job, char *text, size_t text_size);
    /* Finishes the oldest job. wait == 0: LUMEQ_ERR_AGAIN when it is not done yet. GPU: the device
     * is lost, and with it all jobs in flight. */
    int (*receive)(void *priv, LumeqJob *job, int wait, char *text, size_t text_size);
    /*
     * Step by step; any thread at any time. Without sync they return when all is done. With sync,
     * which only a backend with alloc_device gets, measure returns at once and *pending is what
     * measure_finish takes, which fills the counts that are handed in then, in place of the job's.
     * Errors as for submit.
     */
    int (*measure)(void *priv, const LumeqMeasureJob *job, void **pending, char *text,
                   size_t text_size);
    int (*measure_finish)(void *priv, void *pending, const LumeqCounts *counts, int wait,
                          char *text, size_t text_size);
    int (*apply)(void *priv, const LumeqApplyJob *job, char *text, size_t text_size);
    void *(*alloc_host)(void *priv, size_t size);
    void (*free_host)(void *priv, void *memory);
    /* NULL, both: there is no device, and outputs of LUMEQ_MEMORY_CUDA are never submitted. */
    void *(*alloc_device)(void *priv, size_t size);
    void (*free_device)(void *priv, void *memory);
    /* lumeq_get_cuda(); NULL where there is no device. */
    int (*get_cuda)(void *priv, void **context, void **stream, char *text, size_t text_size);
    /* Of the CUDA backend and its stub: lumeq_list_gpus(), `text` not NULL. */
    int (*list_gpus)(LumeqGpu *gpus, int count, char *text, size_t text_size);
    /* The same of lumeq_memory_use(), and lumeq_reserve_device(), where bytes below 0 are released;
     * NULL, both: there is no device. */
    void (*memory_use)(int device, LumeqMemoryUse *use);
    int (*reserve)(int device, int64_t bytes);
    void (*close)(void *priv); /* accepts a half-open state; waits for jobs in flight */
} LumeqBackend;

/* A backend that is open. */
typedef struct LumeqWork {
    const LumeqBackend *backend;
    void *priv; /* NULL: none */
} LumeqWork;

extern const LumeqBackend lumeq_backend_cpu;
extern const LumeqBackend lumeq_backend_cuda; /* a stub that says so in builds without CUDA */

#endif
