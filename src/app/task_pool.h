/* Runs tasks in child processes, several at a time, so that a crash or a lost GPU affects only one
 * task. */
#ifndef LUMEQ_APP_TASK_POOL_H
#define LUMEQ_APP_TASK_POOL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "app/progress.h"
#include "media/process.h"

/* A task's process sends this when it ends. Do not trust it: hostile media may control the process.
 * The pool only ensures that texts are terminated and that numbers are within limits. */
typedef struct TaskAnswer {
    int64_t frames;
    double seconds;    /* of video */
    char why[1024];    /* reason for an exit code other than EXIT_DONE */
    char summary[512]; /* in one line, or "" */
    char notes[1024];  /* messages, one per line */
} TaskAnswer;

typedef struct TaskSlot {
    Process process;
    int task; /* -1: idle */
    TaskAnswer answer;
} TaskSlot;

typedef struct TaskPool {
    int jobs; /* maximum number of tasks at a time */
    /* Returns the number of the next task; -1: none is left. */
    int (*next)(void *opaque);
    /* Called in a child process: does a task. Returns the exit code. `slot`: 0..jobs - 1. */
    int (*run)(void *opaque, int task, int slot, ProgressShare *share, TaskAnswer *answer);
    /* Called when a task has ended. `code`: what run() returned; -1: its process failed. If this
     * returns false, no more tasks start, and the running ones get SIGTERM. */
    bool (*end)(void *opaque, int task, int code, const TaskAnswer *answer);
    /* Called several times a second; may call task_pool_progress(). */
    void (*look)(void *opaque);
    void *opaque;
    const atomic_int *stop; /* not 0: same effect as if end() returned false */

    TaskSlot *slots;
    ProgressShare *shares; /* by slot, in memory shared with the processes */
    int starting;          /* slot of the process that is being started */
} TaskPool;

/* Does all tasks. Forks, so no other thread may be running. Returns 0; -1: out of memory. */
int task_pool_run(TaskPool *pool);

/* Adds the progress of the task in a slot to *frames and *seconds. Returns the finished share of
 * the task, 0..1; -1: the slot is idle. */
double task_pool_progress(const TaskPool *pool, int slot, int64_t *frames, double *seconds);

#endif
