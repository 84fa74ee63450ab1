/* A context: the backend that was opened, and the CPU backend, which takes over from a lost GPU. */
#ifndef LUMEQ_CONTEXT_H
#define LUMEQ_CONTEXT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#include "equalizer/backend.h"
#include "equalizer/last_error.h"
#include "lumeq/lumeq.h"

struct LumeqContext {
    LumeqConfig config;
    /* A lost GPU stays open: other threads may still be using it. */
    LumeqWork first, cpu;
    pthread_mutex_t lock; /* held while `cpu` is opened */
    atomic_int lost;      /* the GPU of `first` is lost */
    atomic_int warned;    /* the log has the warning that the CPU takes over */
};

/* Copies the caller's sync to `to`, checks it and points *sync to the copy. NULL stays NULL. */
int lumeq_take_sync(LumeqSync *to, const LumeqSync **sync, const LumeqBackend *backend);

/* Returns the CPU backend; the first call opens it. NULL: out of memory or threads. Any thread. */
const LumeqWork *lumeq_context_cpu(LumeqContext *context);

#endif
