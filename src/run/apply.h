/*
 * Equalizes frames by their curves. Such frames do not depend on each other, so that a GPU uploads
 * one while it computes another and downloads a third.
 */
#ifndef LUMEQ_RUN_APPLY_H
#define LUMEQ_RUN_APPLY_H

#include "run/run_frame.h"

/* Equalizes a frame into its `out` by its `curve` and `previous`, and fills its statistics.
 * `writes`: false: only the latter. 0, EQUALIZER_LOST, or MEDIA_INPUT. Any thread. */
int apply_frame(LumeqContext *context, Frame *frame, int writes, MediaError *error);

/* Maximum number of frames in work. */
#define APPLY_MOST 4

typedef struct ApplyPool ApplyPool;

/* `threads`: 0: apply_pool_start() does the work itself. NULL: out of memory, or no thread can be
 * started. */
ApplyPool *apply_pool_create(LumeqContext *context, int threads, int writes);

/* Begins apply_frame(). At most APPLY_MOST frames may be started and not waited for.
 * apply_pool_wait() returns its result, with the first error of any frame. */
void apply_pool_start(ApplyPool *pool, Frame *frame);
int apply_pool_wait(ApplyPool *pool, Frame *frame, MediaError *error);

/* No frame may be in work. *pool may be NULL. */
void apply_pool_close(ApplyPool **pool);

#endif
