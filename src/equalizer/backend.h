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

/* All that a frame leaves behind. */
typedef struct LumeqHistory {
    CurveResult curve;
    TileResult tiles; /* of mode CLAHE; else its first members are 0, and the others undefined */
} LumeqHistory;

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

static inline void lumeq_copy_history(LumeqHistory *to, const LumeqHistory *from)
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
    LumeqFrame frame;
    CurveParams curve;
    BarsParams bars;
    int clahe; /* luma is looked up by the tiles of `grid` */
    TileGrid grid;
    int write; /* how many planes are written; 0: measure only, out has no memory */
    /* History to start from instead of the one the last submitted frame left; NULL: that one. To be
     * read during submit. */
    const LumeqHistory *restore;

    /* Set by submit, also where it fails: the device writes the output by itself, and one that is
     * lost may still do so at any time. 0 at first. */
    int late;

    /* Filled by receive. */
    LumeqHistory result;
    double stage_begin_us[LUMEQ_STAGES], stage_end_us[LUMEQ_STAGES]; /* 0 where there is none */
} LumeqJob;

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
    void *(*alloc_host)(void *priv, size_t size);
    void (*free_host)(void *priv, void *memory);
    /* NULL, both: there is no device, and outputs of LUMEQ_MEMORY_CUDA are never submitted. */
    void *(*alloc_device)(void *priv, size_t size);
    void (*free_device)(void *priv, void *memory);
    /* Of the CUDA backend and its stub: lumeq_list_gpus(), `text` not NULL. */
    int (*list_gpus)(LumeqGpu *gpus, int count, char *text, size_t text_size);
    void (*close)(void *priv); /* accepts a half-open state; waits for jobs in flight */
} LumeqBackend;

extern const LumeqBackend lumeq_backend_cpu;
extern const LumeqBackend lumeq_backend_cuda; /* a stub that says so in builds without CUDA */

#endif
