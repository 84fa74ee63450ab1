/* What each step of a job works with: the film, as one run would have it. */
#ifndef LUMEQ_APP_JOB_FILM_H
#define LUMEQ_APP_JOB_FILM_H

#include "app/engine.h"
#include "app/options/options.h"
#include "app/progress.h"
#include "job/job_plan.h"

typedef struct JobFilm {
    Options options;
    TextList argv; /* that they point into */
    atomic_int *stop;
    JobPlan plan;
    Engine engine;
    WriterOptions writer_options;
    Writer *writer;
    Source *source; /* NULL where it was handed on */
    ReaderOptions reader;
    OptionsInput input;
    LumeqParams params; /* what the options make of it */
    Progress progress;
    MediaError error;
    JobFile seen;     /* the output when this run began */
    char damage[512]; /* known loss of the input, at the join */

    /* Of a run that takes all steps. */
    int within;    /* the progress is that of all of them */
    int resume;    /* a plan that is there is gone on with */
    int at_a_time; /* parts that are made, if it is within */
    int measures;  /* and measured */
} JobFilm;

/* The program and its libraries, which all steps have to have in common. */
void job_program(char *text, size_t size);

/* Reads the plan at `path`, and the options: those of the plan, and those of this step, `argc` of
 * them. The film is zeroed but for `stop`, and is to be closed in any case. */
int job_film_read(JobFilm *film, const char *path, int argc, char **argv);

/* Opens what computes, the writer and the input. */
int job_film_open(JobFilm *film);

/* What follows from the plan's depth, once that is known. */
void job_film_deepen(JobFilm *film);

/* Opens the input as one run does, for who reads it again; its caller closes it. */
int job_film_source(void *film, Source **source, MediaError *error);

/* The first frame of the film, which the caller frees, and what becomes 0. The source is read
 * on. */
int job_film_first(JobFilm *film, AVFrame **first, int64_t *zero);

/* Opens the encoder of the writer for frames like the first one, as they are written. */
int job_film_open_encoder(JobFilm *film, const AVFrame *first);

/* The same, and finds out which version of it there is: the first frame is encoded, where that
 * tells. The writer is of no further use. */
int job_film_try_encoder(JobFilm *film, const AVFrame *first);

/* Whether the encoder that is open is the one that was planned with, by its extradata and the first
 * packet of a part; NULL: there is none yet, and extradata that tells nothing is as it was planned.
 * MEDIA_INPUT. */
int job_film_check_encoder(JobFilm *film, const AVPacket *first);

/* Whether the step still has the GPU that it has to have (--backend cuda): else a fault that says
 * to have this part made elsewhere. */
int job_film_check_gpu(JobFilm *film, int part);

/* Whether the histograms of frames are told of. */
int job_film_has_histograms(const JobFilm *film);

/* The progress of a step, unless it is one of several. */
void job_film_begin(JobFilm *film);
void job_film_end(JobFilm *film, const char *state);

void job_film_close(JobFilm *film);

/* ---- steps: each reads the files of those before it, and leaves something whole or nothing. All
 * return 0 or a fault, which film->error has. ---- */

/* Plans the film of film->options. */
int job_step_plan(JobFilm *film);

/* Measures a part that was listed; and makes a plan of all that were measured. */
int job_step_measure(JobFilm *film, int part);
int job_step_finish(JobFilm *film);

/* Writes a part. */
int job_step_segment(JobFilm *film, int part);

/* Makes the output of the parts, and removes the folder. *code: EXIT_DONE or EXIT_DAMAGED. */
int job_step_join(JobFilm *film, int *code);

/* Whether a job has made this output, its statistics and its report (NULL: none), and was ended
 * before it could say so: then it does that now, and removes the folder. *code: as above. */
int job_is_joined(const char *output, const char *rows, const char *report, int *code);

/* Whether the job whose folder is there has made this output. */
int job_is_own(const char *output);

/* Whether another run has joined the film since film->seen. Then the output is another file, and
 * the folder names it; or the folder has lost its plan, and the output differs from the one at the
 * start of the job and is newer than the plan. Says so, and removes the rest of the folder. *code:
 * as above, by the known loss of the input (NULL: nothing). */
int job_is_joined_since(const JobFilm *film, const char *damage, int *code);

/* Before anything else of a job: checks its folder. If the job is going to replace a file, the
 * folder notes that: should the job end before it has a plan, nobody takes that file for its film.
 * MEDIA_OUTPUT. */
int job_begin(const Options *options, int resume, MediaError *error);

/* Whether the output exists, with its statistics and its report, and is not older than the input,
 * and no job for it is unfinished. Says so. */
int job_is_done(const Options *options);

#endif
