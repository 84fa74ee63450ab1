/* The film of a job, opened as one run would open it, and the steps that use it. */
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
    char damage[512]; /* of the input, in words, at the join */

    bool local; /* --jobs takes all steps */
} JobFilm;

/* The versions of the program and its libraries: all steps need the same. */
void job_program(char *text, size_t size);

/* Reads the plan at `path` and parses its options and `argc` more, those of the step. The film is
 * zeroed except `stop`; close it in any case. */
int job_film_read(JobFilm *film, const char *path, int argc, char **argv);

/* Opens the equalizer, the writer and the input. */
int job_film_open(JobFilm *film);

/* Updates the parameters after the plan's depth was chosen. */
void job_film_deepen(JobFilm *film);

/* Opens the input again, as one run does; the caller closes it. */
int job_film_source(void *film, Source **source, MediaError *error);

/* Decodes the first frame, which the caller frees. *zero: see input_zero(). */
int job_film_first(JobFilm *film, AVFrame **first, int64_t *zero);

/* Opens the writer's encoder for frames like the first one. */
int job_film_open_encoder(JobFilm *film, const AVFrame *first);

/* MEDIA_USAGE: the options need a GPU and it is lost, so another machine should make this part. */
int job_film_check_gpu(JobFilm *film, int part);

void job_film_close(JobFilm *film);

/* ---- steps ---- */

/* Each reads the files of the steps before it, and writes a complete result or nothing. They return
 * 0 or a fault, which is in film->error. */

/* Plans the film of film->options, or continues a plan that exists. With --no-measure or `local`,
 * which needs film->plan.jobs, it only lists the parts. */
int job_step_plan(JobFilm *film);

/* Measures a listed part; finishes a plan whose parts are all measured. */
int job_step_measure(JobFilm *film, int part);
int job_step_finish(JobFilm *film);

/* Encodes a part. */
int job_step_segment(JobFilm *film, int part);

/* Joins the parts and removes the folder, which `local` leaves to the caller. *code: EXIT_DONE,
 * EXIT_DAMAGED or EXIT_OUTPUT. */
int job_step_join(JobFilm *film, int *code);

/* True if a join wrote the output and the statistics, but was killed before it could remove the
 * folder. Then prints a message and removes it. *code: as above. */
bool job_is_joined(const char *output, int *code);

#endif
