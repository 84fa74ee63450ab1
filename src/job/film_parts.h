/* Cuts a film into parts: by time before it is measured, by its frames afterwards. */
#ifndef LUMEQ_JOB_FILM_PARTS_H
#define LUMEQ_JOB_FILM_PARTS_H

#include "job/job_plan.h"
#include "job/part_files.h"
#include "lumeq/lumeq.h"
#include "media/input/source.h"
#include "run/input.h"

/* The range, as in InputOptions, and the number of parts. `parts` 0: parts of `seconds`, or
 * `at_a_time` of them if those are not too short. */
typedef struct FilmListOptions {
    int64_t from_us, to_us, frames;
    int64_t parts;
    double seconds;
    int at_a_time; /* parts that are measured at a time; 0: any number */
    int timed;     /* not 0: packets without times are an error; else the film is one part */
} FilmListOptions;

/* Lists parts of the same length in the plan, whose time base is set, and estimates how many frames
 * there are. The last part has no end. MEDIA_INPUT, MEDIA_OUTPUT. */
int film_list_make(JobPlan *plan, Source *source, const FilmListOptions *options,
                   MediaError *error);

/* The frames of a film that was measured. {0} is empty. */
typedef struct FilmFrames {
    MeasuredFrame *all;
    int64_t count;
} FilmFrames;

/* Adds the frames of a file of measures, up to `most` in all. MEDIA_OUTPUT. */
int film_frames_add(FilmFrames *frames, const RecordFile *file, int64_t most, MediaError *error);

/* Replaces the plan's parts by up to `wanted` parts of about the same number of frames. They begin
 * far from damage: how a decoder conceals it depends on where decoding began. `start`:
 * source_start() of the film. `number`: parts begin where this number of the output's time changes,
 * for an overlay that shows the first frame of each; NULL: anywhere. MEDIA_OUTPUT. */
int film_frames_cut(const FilmFrames *frames, JobPlan *plan, int64_t wanted, int64_t start,
                    int64_t (*number)(int64_t time_us), MediaError *error);

void film_frames_free(FilmFrames *frames);

/* ---- part reader ---- */

typedef struct PartPlace {
    /* Opens the film, whose tracks are those of one run. */
    int (*open)(void *opaque, Source **source, MediaError *error);
    void *opaque;
    InputOptions options; /* as in one run, but without copies; the span is set here */
    LumeqContext *context;
    const LumeqParams *params;

    /* Results, for part_reader_close(). */
    Source *source;
    Input *input;       /* has started; the part's first frame comes next */
    AVFrame *before[3]; /* the frames before that, the nearest first, or NULL */
    InputSpan span;
} PartPlace;

/* Where to begin after a number of failed tries; see InputSpan.seek_us. */
int64_t part_seek_again(const JobPart *part, int tries);

/* Close the place in any case. MEDIA_INPUT, also if the source was stopped. */
int part_reader_open(PartPlace *place, const JobPlan *plan, const JobPart *part, MediaError *error);

void part_reader_close(PartPlace *place);

#endif
