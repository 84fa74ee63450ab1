/* A film in parts: --jobs and --resume take all steps with processes on this machine; the commands
 * plan, measure, segment and join take one each. */
#ifndef LUMEQ_APP_JOB_RUN_H
#define LUMEQ_APP_JOB_RUN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "app/options/options.h"

/* `stop`: see headless_run(). Returns the exit code. */
int job_run(const Options *options, atomic_int *stop);

/* The number of encoders to run at a time, at least 1: by --jobs, or as many as keep all cores
 * busy. `rows`: height of the pictures; 0: unknown. */
int job_run_at_a_time(const Options *options, int rows);

/* The GPU for process number `slot` by --devices, or that of --device. */
int job_run_device(const Options *options, int slot);

/* The commands, which are only recognized as the first argument; NULL at the end. */
extern const char *const job_words[];

/* True if the first argument is a command. */
bool job_is_command(int argc, char **argv);

/* Runs the command. `stop`: see headless_run(). Returns the exit code. */
int job_command(int argc, char **argv, atomic_int *stop);

/* ---- made ---- */

/* Identifies an input file as it is now, and everything in the options that decides what its output
 * is. */
uint32_t made_how(const Options *options, const char *input);

/* `code`: exit code of the run. Returns 0, or -1: the file system has no attributes, for example.
 */
int made_note(const char *output, uint32_t how, int code);

/* Returns the exit code of the run that made the output in this way; -1: another way, or it is not
 * known, or somebody changed the file since. */
int made_code(const char *output, uint32_t how);

#endif
