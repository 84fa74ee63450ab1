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

/* What is there of that name, before anything is known of a plan; {0}: nothing. */
void job_output_look(struct stat *before, const char *output);

/* Whether another run has joined the film since then: the output is another file than it was, and
 * the job's folder says that it is the job's, or has no plan any more. Says so, and removes what
 * this run may have left there. *code: as above, by what was lost (NULL: nothing). */
int job_is_joined_since(const struct stat *before, const char *output, const char *damage,
                        int *code);

/* Whether the output is whole, and nothing is left of a job: it has its name, and is not older than
 * the input. Says so. */
int job_is_done(const char *input, const char *output);

/* Removes what is in a job's folder, and itself. */
void job_folder_remove(const char *folder);

#endif
