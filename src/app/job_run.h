/* A film in parts: --jobs and --resume, which take all steps by processes of this machine; and
 * lumeq plan, measure, segment and join, which take one. */
#ifndef LUMEQ_APP_JOB_RUN_H
#define LUMEQ_APP_JOB_RUN_H

#include <stdatomic.h>

#include "app/options/options.h"

/* `stop` as of headless_run(). Says what it has to say; answers the exit code. */
int job_run(const Options *options, atomic_int *stop);

/* How many encoders are to run at a time, by --jobs: as many as asked for; auto: as many as have a
 * use for all cores, with pictures of so many rows (0: unknown). At least 1. */
int job_run_at_a_time(const Options *options, int rows);

/* --devices: the GPU of the one that runs in a place from 0 on, or that of --device. */
int job_run_device(const Options *options, int slot);

/* The words that are commands where they stand first; NULL at the end. */
extern const char *const job_words[];

/* Whether the first argument is one of these words. */
int job_is_command(int argc, char **argv);

/* Carries it out; `stop` as of headless_run(). Answers the exit code. */
int job_command(int argc, char **argv, atomic_int *stop);

#endif
