/* How far a run is: a bar on a terminal, or JSON lines for programs. */
#ifndef LUMEQ_APP_PROGRESS_H
#define LUMEQ_APP_PROGRESS_H

#include <stdint.h>

typedef enum ProgressStyle {
    PROGRESS_AUTO, /* the bar where standard error is a terminal, else nothing */
    PROGRESS_BAR,
    PROGRESS_JSON,
    PROGRESS_NONE,
} ProgressStyle;

typedef struct Progress {
    ProgressStyle style;
    int64_t frames;  /* in all, 0 = unknown */
    double duration; /* of the part, in seconds, 0 = unknown */

    /* Kept up by the run. */
    int64_t frame; /* done */
    double time;   /* seconds of video done */
    int64_t bytes; /* written, -1 = unknown */

    double started, shown; /* seconds on the monotonic clock */
} Progress;

void progress_start(Progress *progress);

/* Shows it when the last time is long enough ago. */
void progress_update(Progress *progress);

/* The last line; state: "done", "interrupted" or "failed". */
void progress_end(Progress *progress, const char *state);

/* Seconds since the start. */
double progress_elapsed(const Progress *progress);

#endif
