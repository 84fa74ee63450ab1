/* A run without a window: reads and equalizes frames, and writes or discards them. */
#ifndef LUMEQ_APP_HEADLESS_H
#define LUMEQ_APP_HEADLESS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "app/options/options.h"
#include "app/progress.h"
#include "app/run_end.h"
#include "run/run.h"

/* The style of the progress display. --quiet turns PROGRESS_AUTO into PROGRESS_NONE. */
ProgressStyle headless_progress(const Options *options);

/* A run that writes nothing, to estimate a longer run. Initialize with {0} and `sink`. */
typedef struct Trial {
    Sink sink; /* gets each frame before the encoder does */
    /* Results; times are monotonic, in seconds. */
    double opened, ended; /* when the input was open, and when the output was complete */
    int64_t payload;      /* bytes of all video packets */
    int64_t written;      /* bytes that the output would have */
    bool no_frames;       /* the run failed because no frame could be decoded */
    bool is_damaged;      /* with no_frames: the input is damaged */
} Trial;

/* The result of a run, for callers that start several. */
typedef struct RunResult {
    int64_t frames;
    int is_changed;       /* a camera came back with another size, format or rate */
    double seconds;       /* of video */
    char why[1024];       /* the error, or the damage of the input; "" if neither */
    char summary[512];    /* stored instead of printed; "" after an error or with a camera */
    ProgressShare *share; /* set by the caller, updated during the run; or NULL */
    Trial *trial;         /* set by the caller: no file, progress, summary or errors; or NULL */
} RunResult;

/* `stop`: RUN_ON until a signal handler sets RUN_INTERRUPTED. Prints messages and returns the exit
 * code. `result` may be NULL. */
int headless_run(const Options *options, atomic_int *stop, RunResult *result);

#endif
