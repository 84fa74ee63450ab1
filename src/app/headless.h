/* A run without a window: read, equalize, write or throw away. */
#ifndef LUMEQ_APP_HEADLESS_H
#define LUMEQ_APP_HEADLESS_H

#include <stdatomic.h>

#include "app/options/options.h"
#include "app/progress.h"
#include "app/run_end.h"
#include "app/trial.h"
#include "media/input/source.h"
#include "media/output/writer.h"

/* Not 0, with a sentence: the source is a camera that went before all `frames` were there. */
int headless_camera_gone(const Source *source, int64_t frames, const Options *options, char *text,
                         size_t size);

/* Frames that a camera had no room for, as those before were not written yet; {0} at first. */
typedef struct Missed {
    int64_t frames;
    int64_t last_us; /* the camera's time of the frame before */
    int behind;      /* that one came out late */
} Missed;

/* After each frame, with its time in AV_TIME_BASE units. The source is a camera. */
void headless_count_missed(Missed *missed, const Source *source, int64_t time_us);

/* Warns of them where there are some; `why` ends the sentence: what they waited for. */
void headless_say_missed(const Missed *missed, const char *why);

/* Tells who asks for details how many frames were lost in the camera, where there is one and some
 * were: also those that it was kept waiting with. */
void headless_say_lost(const Source *source);

/* How progress is shown: --quiet leaves what nobody asked for out. */
ProgressStyle headless_progress(const Options *options);

/* The last line, where something is known to be lost: EXIT_DAMAGED with it, else EXIT_DONE.
 * `damage`: of the video, or ""; writer NULL: nothing is written. */
int headless_say_damage(const char *damage, const Writer *writer);

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
