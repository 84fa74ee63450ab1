/* Runs the steps that write a film in parts. --jobs and --resume run all steps, in processes on
 * this machine; the commands plan, measure, segment and join run one step each. */
#ifndef LUMEQ_APP_JOB_RUN_H
#define LUMEQ_APP_JOB_RUN_H

#include <stdatomic.h>
#include <stdbool.h>

#include "app/options/options.h"

/* `stop`: see headless_run(). Returns the exit code. */
int job_run(const Options *options, atomic_int *stop);

/* The number of encoders to run at once: --jobs or, if not given, as many as keep all cores busy,
 * but at least one for each GPU of --devices. `rows`: height of the pictures; 0: unknown. */
int job_run_at_a_time(const Options *options, int rows);

/* The GPU that --devices gives to process number `slot`; without --devices, the GPU of --device. */
int job_run_device(const Options *options, int slot);

/* The commands, which must be the first argument; NULL at the end. */
extern const char *const job_commands[];

/* True if the first argument is a command. */
bool job_is_command(int argc, char **argv);

/* Runs the command. `stop`: see headless_run(). Returns the exit code. */
int job_command(int argc, char **argv, atomic_int *stop);

#endif
