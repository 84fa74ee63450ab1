/* How far a run is: a bar on a terminal, or JSON lines for programs. */
#ifndef LUMEQ_APP_PROGRESS_H
#define LUMEQ_APP_PROGRESS_H

#include <stdatomic.h>
#include <stdint.h>

typedef enum ProgressStyle {
    PROGRESS_AUTO, /* the bar where standard error is a terminal, else nothing */
    PROGRESS_BAR,
    PROGRESS_JSON,
    PROGRESS_NONE,
} ProgressStyle;

/* How far a run is, in memory that another process shares; {0} at first. */
typedef struct ProgressShare {
    atomic_llong frames, time_us; /* of video that is done */
    atomic_int done;              /* of all passes, in 1/PROGRESS_WHOLE */
} ProgressShare;

#define PROGRESS_WHOLE 100000

typedef struct Progress {
    ProgressStyle style;
    int64_t frames;  /* in all, 0 = unknown */
    double duration; /* of the part, in seconds, 0 = unknown */
    int passes;      /* over all of it: 1 or 2 */

    /* Kept up by the run. */
    int64_t frame; /* done, but for those that the encoder holds */
    int64_t held;
    double time;   /* seconds of video that `frame` frames are */
    int64_t bytes; /* written, -1 = unknown */

    /* Of several files at a time; 0: it is of one. */
    int files, files_done;
    double files_share; /* that is done of all, 0..1 */

    ProgressShare *share; /* is kept up, too; or NULL */

    int measuring; /* not 0: this is the first of two passes, which writes nothing */
    /* Seconds on the monotonic clock: of the run, of the pass, of the last look. */
    double started, began, shown;
} Progress;

void progress_start(Progress *progress);

/* The first pass has ended, or is left out: nothing is done of the second one yet. */
void progress_second_pass(Progress *progress);

/* Shows it when the last time is long enough ago. */
void progress_update(Progress *progress);

/* The last line; state: "done", "interrupted" or "failed". */
void progress_end(Progress *progress, const char *state);

/* Seconds since the start. */
double progress_elapsed(const Progress *progress);

#endif
