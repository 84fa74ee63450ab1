/* Collects figures and losses during a run, and prints them at its end. */
#ifndef LUMEQ_APP_RUN_SUMMARY_H
#define LUMEQ_APP_RUN_SUMMARY_H

#include "app/decision.h"
#include "app/options/options.h"
#include "media/input/source.h"
#include "media/output/writer.h"
#include "run/run.h"

/* ---- figures of frames ---- */

/* Mean absolute difference of brightness (MABD) between neighbouring frames, without cuts, in 8-bit
 * codes: a measure of flicker. */
typedef struct Pumping {
    double last_in, last_out; /* means of the previous frame */
    double sum_in, sum_out;
    int started;
    int64_t count; /* number of differences in each sum */
} Pumping;

/* Set `params`, and the `options` that they were made from. The rest is 0. */
typedef struct RunFigures {
    const LumeqParams *params;
    const Options *options;
    char words[256]; /* description of the current frame */
    Decisions decisions;
    Pumping pumping;
    double noise_gain; /* maximum over all frames */
    int64_t filtered;  /* frames that the noise filter changed */
} RunFigures;

/* A sink that counts frames, and describes frames that have histograms. Add it before sinks that
 * show the description. */
Sink figures_sink(RunFigures *figures);

/* Prints figures with -v. With lookahead (`planned`), prints flicker with -v or --deflicker. */
void figures_say_details(const RunFigures *figures, int planned);

/* ---- losses ---- */

/* Frames of a camera that were dropped while earlier ones waited to be written. Initialize with
 * {0}. */
typedef struct Missed {
    int64_t frames;
    int64_t last_us; /* the camera's time of the previous frame */
    int late;        /* the previous frame was written late */
    int losses;      /* source_losses() at the previous frame */
} Missed;

/* Call after each frame of a camera, with its time in AV_TIME_BASE units. */
void losses_count_missed(Missed *missed, const Source *source, int64_t time_us);

/* Warns if frames were dropped. `why` completes "while others waited to be", such as "encoded". */
void losses_say_missed(const Missed *missed, const char *why);

/* Logs with -v how many frames the camera's driver lost. */
void losses_say_lost(const Source *source);

/* Returns 1, with a sentence in `text`, if the source is a camera that disappeared before
 * --frames was reached. `frames`: number of frames so far. */
int losses_camera_gone(const Source *source, int64_t frames, const Options *options, char *text,
                       size_t size);

/* True if the source is a camera that came back with another size, format or rate. */
int losses_camera_changed(const Source *source);

/* Prints what the video (`damage`, or "") and other tracks lost. Returns EXIT_DAMAGED, or EXIT_DONE
 * if they lost nothing. `writer` may be NULL. */
int losses_say_damage(const char *damage, const Writer *writer);

/* Appends the losses of other tracks to a text. `writer` may be NULL. */
void losses_add_tracks(char *text, size_t size, const Writer *writer);

#endif
