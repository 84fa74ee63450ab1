/* lumeq plan, measure, segment and join: the steps of a film that is written in parts. */
#ifndef LUMEQ_APP_JOB_COMMANDS_H
#define LUMEQ_APP_JOB_COMMANDS_H

#include <stdatomic.h>

/* The words that are commands where they stand first; NULL at the end. */
extern const char *const job_words[];

/* Whether the first argument is one of these words. */
int job_is_command(int argc, char **argv);

/* Carries it out; `stop` as of headless_run(). Answers the exit code. */
int job_command(int argc, char **argv, atomic_int *stop);

#endif
