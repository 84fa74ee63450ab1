/* Tasks in child processes, several at a time: a crash or a lost GPU affects one task only. */
#ifndef LUMEQ_APP_TASK_POOL_H
#define LUMEQ_APP_TASK_POOL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "app/progress.h"
#include "media/process.h"

/* A task's process sends this when it ends. Hostile media may have taken over the process: texts
 * end and numbers are within limits, but nothing else is certain. */
typedef struct TaskAnswer {
    int64_t frames;
    double seconds;    /* of video */
    char why[1024];    /* of an exit code that is not EXIT_DONE */
    char summary[512]; /* in one line, or "" */
    char notes[1024];  /* lines */
} TaskAnswer;

typedef struct TaskSlot {
    Process process;
    int task; /* -1: idle */
    TaskAnswer answer;
} TaskSlot;

typedef struct TaskPool {
    int jobs; /* at a time */
    /* Returns the number of the next task; -1: none is left. */
    int (*next)(void *opaque);
    /* Does a task in its process. Returns the exit code. `slot`: 0..jobs - 1. */
    int (*run)(void *opaque, int task, int slot, ProgressShare *share, TaskAnswer *answer);
    /* `code`: of run(), or -1: the process failed. False: nothing more is started, and the other
     * processes get SIGTERM. */
    bool (*end)(void *opaque, int task, int code, const TaskAnswer *answer);
    /* Called several times a second. See task_pool_progress(). */
    void (*look)(void *opaque);
    void *opaque;
    const atomic_int *stop; /* not 0: as if end() returned false */

    TaskSlot *slots;
    ProgressShare *shares; /* by slot, in memory shared with the processes */
    int starting;          /* slot of the process that is being started */
} TaskPool;

/* Does all tasks. Forks, so no other thread may be running. Returns 0; -1: out of memory. */
int task_pool_run(TaskPool *pool);

/* Adds the progress of the task in a slot. Returns its finished share, 0..1; -1: the slot is idle.
 */
double task_pool_progress(const TaskPool *pool, int slot, int64_t *frames, double *seconds);

#endif
