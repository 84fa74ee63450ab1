/*
 * Parts made by processes of this program, several at a time: what one of them does wrong, the
 * others do not notice. A part that fails is made once more. They end with the process that started
 * them.
 */
#ifndef LUMEQ_JOB_PART_WORKERS_H
#define LUMEQ_JOB_PART_WORKERS_H

#include <stdatomic.h>
#include <stdint.h>

#include "media/error.h"

#define WORKER_ARGUMENTS 24

typedef struct PartWorkers {
    const int *parts; /* their numbers */
    int count;
    int jobs; /* at a time */
    /* Fills in the arguments behind the program's name, NULL at the end, for a part that is made in
     * slot 0..jobs - 1. What they point to has to last until the next call. */
    void (*arguments)(void *opaque, int part, int slot, const char *arguments[WORKER_ARGUMENTS]);
    /* Whether a process that failed in a slot, with `line` as its last word, did so for what will
     * be otherwise when it is tried again: that does not count. */
    int (*is_forgiven)(void *opaque, int slot, const char *line);
    /* So many frames are done of the parts of this run; often. */
    void (*done)(void *opaque, int64_t frames);
    void *opaque;
    void (*note)(const char *line); /* takes the first line that a process which succeeded said */
    const atomic_int *stop;         /* not 0: they are told to end */
} PartWorkers;

/* Until all are made, one cannot be, or it is told to stop, which is no error. The workers' exit
 * code and last line become the error. */
int part_workers_run(const PartWorkers *workers, MediaError *error);

/* Cores that this process may use, of those that are there: at least 1. */
int part_workers_cores(void);

#endif
