/* Opens the film of a job, as a single run would open it, and executes the job's steps. */
#ifndef LUMEQ_APP_JOB_FILM_H
#define LUMEQ_APP_JOB_FILM_H

#include <stdbool.h>

#include "app/engine.h"
#include "app/options/options.h"
#include "app/progress.h"
#include "job/job_plan.h"
#include "media/output/writer.h"
#include "run/input.h"

typedef struct JobFilm {
    Options options;
    TextList argv; /* options points into it */
    atomic_int *stop;
    JobPlan plan;
    Engine engine;
    WriterOptions writer_options;
    Writer *writer;
    Source *source;
    InputOptions video;
    OptionsInput input;
    LumeqParams params;
    Progress progress;
    MediaError error;
    bool local; /* --jobs or --resume runs all steps on this machine */
    bool made;  /* --resume found the complete output of an earlier run with these options */
} JobFilm;

/* Prints the versions of the program and its libraries, which must be the same for all steps. */
void job_program(char *text, size_t size);

/* Reads the plan at `path`. Parses its options, then the step's (`argv`). The caller zeroes the
 * film except `stop`, and closes it even after a failure. */
int job_film_read(JobFilm *film, const char *path, int argc, char **argv);

/* Opens equalizer, input and writer. Sets film->writer_options, except `whole` and `whole_opaque`,
 * which the caller may set before. `take` gets the encoded packets, as in WriterOptions; NULL: the
 * writer writes them to the output. */
int job_film_open(JobFilm *film, int (*take)(void *opaque, const AVPacket *, MediaError *error),
                  void *opaque);

/* Updates the parameters after the plan's depth was chosen. */
void job_film_deepen(JobFilm *film);

/* Opens the input once more; the caller closes it. */
int job_film_source(void *film, Source **source, MediaError *error);

/* Decodes the first frame, which the caller frees. *zero: see input_zero(). */
int job_film_first(JobFilm *film, AVFrame **first, int64_t *zero);

/* Opens the writer's encoder for frames like the first one. */
int job_film_open_encoder(JobFilm *film, const AVFrame *first);

/* Reports a finished part; `what`: "measured " or "". */
void job_film_say_part(const JobFilm *film, int part, int64_t frames, const char *what);

void job_film_close(JobFilm *film);

/* ---- steps ---- */

/* Each step reads the files of earlier steps, and writes a complete result or nothing. Steps return
 * 0 or a fault, which is also in film->error. */

/* Makes the plan of a film with film->options, or continues an existing plan. With --no-measure,
 * only lists the parts. */
int job_step_plan(JobFilm *film);

/* Measures a listed part. */
int job_step_measure(JobFilm *film, int part);

/* Finishes a plan whose parts are all measured. */
int job_step_finish(JobFilm *film);

/* Encodes a part. */
int job_step_segment(JobFilm *film, int part);

/* Joins the parts. Without film->local, skips this if the output is complete, and removes the job's
 * folder afterwards. *code: EXIT_DONE, EXIT_DAMAGED, or EXIT_OUTPUT if the statistics failed. */
int job_step_join(JobFilm *film, int *code);

#endif
