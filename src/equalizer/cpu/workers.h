/* Threads that run a function over the bands of a picture. */
#ifndef LUMEQ_WORKERS_H
#define LUMEQ_WORKERS_H

typedef struct LumeqWorkers LumeqWorkers;

/* `threads` includes the caller of lumeq_workers_run(), 1..256. NULL: out of memory or threads. */
LumeqWorkers *lumeq_workers_create(int threads);
void lumeq_workers_destroy(LumeqWorkers **workers);

/*
 * Calls band(context, 0..bands-1), each once, on all threads, and returns when all are done; what a
 * band wrote is then visible to the caller. One caller at a time.
 */
void lumeq_workers_run(LumeqWorkers *workers, void (*band)(void *context, int index), void *context,
                       int bands);

#endif
