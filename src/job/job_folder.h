/* The folder of a job, OUTPUT.lumeq, and the names of the job's files in it. Only a real folder
 * that belongs to the user is used, no symbolic link. */
#ifndef LUMEQ_JOB_JOB_FOLDER_H
#define LUMEQ_JOB_JOB_FOLDER_H

#include "media/error.h"

/* Names the film that is about to become the output. */
#define JOB_JOINING "joining"

/* Exists while a job that is going to replace its output has no plan yet. */
#define JOB_BEGUN "begun"

/* A descriptor, to be closed; -ENOENT: there is none; MEDIA_OUTPUT: it may not be used. */
int job_folder_open(const char *folder, MediaError *error);

/* 0, also where there is none; MEDIA_OUTPUT. */
int job_folder_check(const char *folder, MediaError *error);

/* Makes it, if it does not exist: as private as the output that is going to be replaced.
 * MEDIA_OUTPUT. */
int job_folder_make(const char *folder, const char *output, MediaError *error);

/* 1: a job has left files in it, or it may not be used; 0: there is nothing of a job. */
int job_folder_has_job(const char *folder);

/* Removes the files of a job, the plan first and JOB_JOINING last: regular files with exactly the
 * names that a job gives. All other files stay. `all`: JOB_BEGUN goes as well, and then the folder
 * if it is empty. */
void job_folder_clear(const char *folder, int all);

#endif
