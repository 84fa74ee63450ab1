/* A run without a window: read, equalize, write or throw away. */
#ifndef LUMEQ_APP_HEADLESS_H
#define LUMEQ_APP_HEADLESS_H

#include <stdatomic.h>

#include "app/options/options.h"
#include "app/progress.h"
#include "app/run_end.h"
#include "app/trial.h"

/* How progress is shown: --quiet leaves what nobody asked for out. */
ProgressStyle headless_progress(const Options *options);

/* What came of a run, for who sums up many. */
typedef struct RunResult {
    int64_t frames;
    double seconds;       /* of video */
    char why[1024];       /* what was said last, where the exit code is not EXIT_DONE */
    ProgressShare *share; /* set by the caller: is kept up meanwhile; or NULL */
    Trial *trial; /* set by the caller: nothing is kept of the output, and neither its end, its
                     progress nor why it failed is said; or NULL */
} RunResult;

/* `stop` is RUN_ON; a signal handler may make RUN_INTERRUPTED of it. Says what it has to say;
 * answers the exit code. `result` gets what there is to tell, or is NULL. */
int headless_run(const Options *options, atomic_int *stop, RunResult *result);

#endif
