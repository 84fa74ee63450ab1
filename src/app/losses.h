/* Losses of a run: damage of the input, and frames of a camera. */
#ifndef LUMEQ_APP_LOSSES_H
#define LUMEQ_APP_LOSSES_H

#include "app/options/options.h"
#include "media/input/source.h"
#include "media/output/writer.h"

/* Frames that came from a camera while it still waited for earlier ones to be written; {0} at
 * first. */
typedef struct Missed {
    int64_t frames;
    int64_t last_us; /* the camera's time of the previous frame */
    int behind;      /* that frame was written late */
} Missed;

/* After each frame, with its time in AV_TIME_BASE units. The source is a camera. */
void losses_count_missed(Missed *missed, const Source *source, int64_t time_us);

/* Warns if there are any; `why` ends the sentence: what they waited for. */
void losses_say_missed(const Missed *missed, const char *why);

/* Says with -v how many frames the camera lost by its driver's count, including those it had no
 * buffer for. */
void losses_say_lost(const Source *source);

/* Returns 1, with a sentence, if the source is a camera that went away before all `frames` were
 * there. */
int losses_camera_gone(const Source *source, int64_t frames, const Options *options, char *text,
                       size_t size);

/* The last line, if something is lost. Returns EXIT_DAMAGED after it, else EXIT_DONE. `damage`: of
 * the video, or ""; writer NULL: nothing is written. */
int losses_say_damage(const char *damage, const Writer *writer);

/* Adds the losses of other tracks to a text about the video. Writer NULL: adds nothing. */
void losses_add_tracks(char *text, size_t size, const Writer *writer);

#endif
