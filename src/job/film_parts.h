/* Cuts a film into parts: by time before it is measured, by its frames
 * afterwards. */
#ifndef LUMEQ_JOB_FILM_PARTS_H
#define LUMEQ_JOB_FILM_PARTS_H

#include "job/job_plan.h"
#include "media/input/source.h"
#include "run/measure_file.h"

/* The range, as in ReaderOptions, and the number of parts. `parts` 0: parts of `seconds`, or
 * `at_a_time` of them if those are not too short. */
typedef struct FilmListOptions {
    int64_t from_us, to_us, frames;
    int64_t parts;
    double seconds;
    int at_a_time; /* 0: it does not matter */
} FilmListOptions;

/* Lists parts of the same length in the plan, whose time base is set, with an estimate of how many
 * frames there are. The last part has no end. MEDIA_INPUT, MEDIA_OUTPUT. */
int film_list_make(JobPlan *plan, Source *source, const FilmListOptions *options,
                   MediaError *error);

/* The frames of a film that was measured. To be freed in any case. */
typedef struct FilmFrames {
    int64_t count, end; /* frames, and where the last one ends, in the time base */
    int64_t *pts;
    char *uncut;    /* not 0: no part begins with this frame */
    int64_t *first; /* after film_frames_cut(): where each part begins, and the end */
    int parts;
} FilmFrames;

/* Marks frames near damage as uncut: how a decoder conceals damage depends on where it began.
 * MEDIA_OUTPUT. */
int film_frames_read(FilmFrames *frames, MeasureFile *file, MediaError *error);

/* Allows cuts only where the number of the time changes, if the overlay depends on the first frame
 * that has a number. `shift`: the pts at which the output begins. */
void film_frames_keep_together(FilmFrames *frames, int64_t (*number)(int64_t time_us),
                               int64_t shift, AVRational base);

/* Cuts them into `parts` parts of about the same size, or fewer. MEDIA_OUTPUT. */
int film_frames_cut(FilmFrames *frames, int64_t parts, MediaError *error);

void film_frames_free(FilmFrames *frames);

#endif
