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
#include "lumeq/lumeq.h"

#define LUMEQ_MAX_SLOTS 8

/* Bytes of one row of luma. */
static inline ptrdiff_t lumeq_row_size(const LumeqImage *image)
{
    return (ptrdiff_t)image->width * (image->depth > 8 ? 2 : 1);
}

/* Bytes of a result with this many bins. */
static inline size_t lumeq_result_size(uint32_t bins)
{
    return offsetof(CurveResult, bin) + bins * sizeof(CurveBin);
}

static inline void lumeq_copy_result(CurveResult *to, const CurveResult *from)
{
    memcpy(to, from, lumeq_result_size(from->bins));
}

/* One frame's work. Lives in the front from submit until receive has answered it. */
typedef struct LumeqJob {
    LumeqFrame frame;
    CurveParams curve;
    int write; /* 0: measure only, out has no memory */
    /* History to start from instead of the one the last submitted frame left; NULL: that one. To be
     * read during submit. */
    const CurveResult *restore;

    /* Filled by receive. */
    CurveResult result;
    double stage_begin_us[LUMEQ_STAGES], stage_end_us[LUMEQ_STAGES]; /* 0 where there is none */
} LumeqJob;

typedef struct LumeqBackend {
    const char *name;
    const char *build_info; /* of the CUDA backend and its stub: lumeq_build_info() */
    size_t priv_size;
    int slots; /* jobs in flight at most, 1..LUMEQ_MAX_SLOTS */

    /* `priv` is zeroed memory of priv_size bytes. `text` gets one sentence, on success too. */
    int (*open)(void *priv, const LumeqConfig *config, char *text, size_t text_size);
    /* Takes the job or fails; fewer than `slots` are in flight. `text` is filled on failure. Only
     * the backend can tell whether a plane said to lie on the device does: ARGUMENT if not. */
    int (*submit)(void *priv, LumeqJob *job, char *text, size_t text_size);
    /* Finishes the oldest job. wait == 0: LUMEQ_ERR_AGAIN when it is not done yet. */
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
