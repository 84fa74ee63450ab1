/* Exit codes. */
#ifndef LUMEQ_APP_RUN_END_H
#define LUMEQ_APP_RUN_END_H

#include "run/stop.h"

/* README.md in this folder explains them. */
enum {
    EXIT_DONE = 0,
    EXIT_USAGE = 1,
    EXIT_INPUT = 2,
    EXIT_OUTPUT = 3,
    EXIT_INTERRUPTED = 4,
    EXIT_DAMAGED = 5,
};

/* The state for progress_end(). */
static inline const char *run_end_state(int code)
{
    if (code == EXIT_INTERRUPTED)
        return "interrupted";
    return code == EXIT_DONE || code == EXIT_DAMAGED ? "done" : "failed";
}

#endif
