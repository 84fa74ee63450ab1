/* The steps of a job: each reads what those before it have left, and leaves something whole or
 * nothing. All answer 0 or a fault, which film->error has. */
#ifndef LUMEQ_APP_JOB_STEPS_H
#define LUMEQ_APP_JOB_STEPS_H

#include "app/job_film.h"

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
