/* Collects figures and losses during a run, and prints them at its end. */
#ifndef LUMEQ_APP_RUN_SUMMARY_H
#define LUMEQ_APP_RUN_SUMMARY_H

#include "app/decision.h"
#include "app/options/options.h"
#include "media/input/source.h"
#include "media/output/writer.h"
#include "run/run.h"

/* ---- figures of frames ---- */

/* A measure of flicker: the mean absolute difference of brightness (MABD) between neighbouring
 * frames, in 8-bit codes. Excludes cuts. */
typedef struct Pumping {
    double last_in, last_out; /* mean brightness of the previous frame */
    double sum_in, sum_out;
    int started;
    int64_t count; /* number of differences in each sum */
} Pumping;

/* Set `params` and the `options` that they come from; initialize the rest with 0. */
typedef struct RunFigures {
    const LumeqParams *params;
    const Options *options;
    char words[256]; /* description of the current frame */
    Decisions decisions;
    Pumping pumping;
    double noise_gain; /* maximum over all frames */
    int64_t filtered;  /* frames that the noise filter changed */
} RunFigures;

/* A sink that collects the figures, and sets Frame.words for frames that have histograms. Add it
 * before sinks that show these words. */
Sink figures_sink(RunFigures *figures);

/* Prints the noise gain with -v; with lookahead (`planned`), flicker with -v or --deflicker. */
void figures_say_details(const RunFigures *figures, int planned);

/* ---- losses ---- */

/* Counts the frames of a camera that were dropped while earlier frames waited to be written.
 * Initialize with {0}. */
typedef struct Missed {
    int64_t frames;
    int64_t last_us; /* the camera's time of the previous frame */
    int late;        /* the previous frame was written late */
    int losses;      /* source_losses() at the previous frame */
} Missed;

/* Call after each frame of a camera, with its time in AV_TIME_BASE units. */
void losses_count_missed(Missed *missed, const Source *source, int64_t time_us);

/* Warns if frames were dropped "while others waited to be" `why`, for example "encoded". */
void losses_say_missed(const Missed *missed, const char *why);

/* Logs with -v how many frames the camera's driver lost. */
void losses_say_lost(const Source *source);

/* Returns 1, with a sentence in `text`, if the source is a camera that disappeared before
 * --frames was reached. `frames`: number of frames so far. */
int losses_camera_gone(const Source *source, int64_t frames, const Options *options, char *text,
                       size_t size);

/* True if the source is a camera that came back with another size, format or rate. */
int losses_camera_changed(const Source *source);

/* Prints the losses of the video (`damage`: a text or "") and of other tracks. Returns EXIT_DONE if
 * nothing was lost, else EXIT_DAMAGED. `writer` may be NULL. */
int losses_say_damage(const char *damage, const Writer *writer);

/* Appends the losses of other tracks to a text. `writer` may be NULL. */
void losses_add_tracks(char *text, size_t size, const Writer *writer);

#endif
