/* Progress of a run: a bar on a terminal, or JSON lines for programs. */
#ifndef LUMEQ_APP_PROGRESS_H
#define LUMEQ_APP_PROGRESS_H

#include <stdatomic.h>
#include <stdint.h>

typedef enum ProgressStyle {
    PROGRESS_AUTO, /* the bar if standard error is a terminal, else nothing */
    PROGRESS_BAR,
    PROGRESS_JSON,
    PROGRESS_NONE,
} ProgressStyle;

/* Progress in memory shared with another process; {0} at first. */
typedef struct ProgressShare {
    atomic_llong frames, time_us; /* finished video */
    atomic_int done;              /* finished share of all passes, in 1/PROGRESS_WHOLE */
} ProgressShare;

#define PROGRESS_WHOLE 100000

typedef struct Progress {
    ProgressStyle style;
    int64_t frames;  /* total; 0: unknown */
    double duration; /* in seconds; 0: unknown */
    int passes;      /* 1 or 2 */

    /* Updated by the run. */
    int64_t frame; /* frames sent to the encoder */
    int64_t held;  /* frames in the encoder */
    double time;   /* seconds of video of `frame` frames */
    int64_t bytes; /* written; -1: unknown */

    /* For several files at once, else 0. */
    int files, files_done;
    double files_share; /* finished share of all, 0..1 */

    ProgressShare *share; /* also updated; or NULL */

    int measuring; /* in the first of two passes, which writes nothing */
    /* Start of the run, start of the pass, last update: monotonic, in seconds. A run that has begun
     * earlier sets the first. */
    double started, began, shown;
} Progress;

void progress_start(Progress *progress);

/* Starts the second pass. */
void progress_second_pass(Progress *progress);

/* Shows the progress if the last update is long enough ago. */
void progress_update(Progress *progress);

/* Prints the last line, if it was started. `state`: "done", "interrupted" or "failed". */
void progress_end(Progress *progress, const char *state);

/* Seconds since the start. */
double progress_elapsed(const Progress *progress);

#endif
