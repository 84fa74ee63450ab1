/* Threads that run a function over the bands of a picture. */
#ifndef LUMEQ_WORKERS_H
#define LUMEQ_WORKERS_H

#include <pthread.h>

typedef struct LumeqWorkers LumeqWorkers;

/* `threads`, 1..256, includes the caller of lumeq_workers_run(). NULL: out of memory or threads. */
LumeqWorkers *lumeq_workers_create(int threads);
/* In a forked process that has not started threads, only frees memory. */
void lumeq_workers_destroy(LumeqWorkers **workers);

/* Call this before locking `lock` for lumeq_workers_run(). In a forked process, it restarts as many
 * threads as it can and initializes `lock`, which the parent may have held. */
void lumeq_workers_after_fork(LumeqWorkers *workers, pthread_mutex_t *lock);

/* Calls band(context, i) once for each i in 0..bands-1, on all threads, and returns when all calls
 * are done. The caller then sees all writes of these calls. One caller at a time. */
void lumeq_workers_run(LumeqWorkers *workers, void (*band)(void *context, int index), void *context,
                       int bands);

#endif
