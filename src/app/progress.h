/* Progress of a run: a bar on a terminal, or JSON lines for programs. */
#ifndef LUMEQ_APP_PROGRESS_H
#define LUMEQ_APP_PROGRESS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef enum ProgressStyle {
    PROGRESS_AUTO, /* the bar if standard error is a terminal, else nothing */
    PROGRESS_BAR,
    PROGRESS_JSON,
    PROGRESS_NONE,
} ProgressStyle;

/* Progress in memory shared with another process. Initialize with {0}. */
typedef struct ProgressShare {
    atomic_llong frames, time_us; /* finished video */
    atomic_int done;              /* finished share of the run, in 1/PROGRESS_WHOLE */
} ProgressShare;

#define PROGRESS_WHOLE 100000

typedef struct Progress {
    ProgressStyle style;
    int64_t frames;  /* total; 0: unknown */
    double duration; /* in seconds; 0: unknown */

    /* Updated by the run. */
    int64_t frame; /* frames sent to the encoder */
    int64_t held;  /* frames in the encoder */
    double time;   /* duration of `frame` frames, in seconds */
    int64_t bytes; /* written; -1: unknown */

    bool has_share;        /* `finished` is used, not the share of frames or time */
    double finished;       /* 0..1 */
    int files, files_done; /* for several files at once, else 0 */

    ProgressShare *share; /* also updated; or NULL */

    /* Monotonic times in seconds. progress_start() sets `started` unless the caller has set it. */
    double started, shown; /* start of the run; last update */
} Progress;

void progress_start(Progress *progress);

/* Shows the progress if the last update is long enough ago. */
void progress_update(Progress *progress);

/* Removes the bar, or prints the last JSON line of a started run. `state`: "done", "interrupted" or
 * "failed". */
void progress_end(Progress *progress, const char *state);

/* Seconds since the start. */
double progress_elapsed(const Progress *progress);

#endif
