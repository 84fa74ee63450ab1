/*
 * Threads that equalize frames by curves that are known: such frames do not depend on each other,
 * so a GPU uploads one while it computes another and downloads a third.
 */
#ifndef LUMEQ_RUN_APPLY_POOL_H
#define LUMEQ_RUN_APPLY_POOL_H

#include "run/planned_curves.h"

/* Frames in work at a time. */
#define APPLY_MOST 4

/* A frame in work. The curve and all frames are its owner's, and stay until the work is done. */
typedef struct ApplyWork {
    LumeqCurve *curve;
    const AVFrame *in;
    AVFrame *out;                    /* NULL: only the statistics are wanted */
    AVFrame *before[PLANNED_BEFORE]; /* the nearest first, or NULL */
    LumeqFrameStats *stats;
    int ret; /* the answer of planned_apply(), with the error */
    MediaError error;
    int is_done; /* the pool's */
} ApplyWork;

typedef struct ApplyPool ApplyPool;

/* `threads`: 0: the work is done by who starts it. NULL: out of memory, or no thread can be
 * started. `planned` outlives it. */
ApplyPool *apply_pool_create(const PlannedCurves *planned, int threads);

/* At most APPLY_MOST are started and not waited for; in any order. */
void apply_pool_start(ApplyPool *pool, ApplyWork *work);
void apply_pool_wait(ApplyPool *pool, ApplyWork *work);

/* No work is started. NULL is allowed inside. */
void apply_pool_close(ApplyPool **pool);

#endif
