/* The folder of a job, OUTPUT.lumeq, and the names of the files in it. It must belong to the user,
 * and must not be a symbolic link. */
#ifndef LUMEQ_JOB_JOB_FOLDER_H
#define LUMEQ_JOB_JOB_FOLDER_H

#include "media/error.h"

/* The file that identifies the film that is about to become the output. */
#define JOB_JOINING "joining"

/* Returns a descriptor; -ENOENT: the folder does not exist; MEDIA_OUTPUT: it must not be used. */
int job_folder_open(const char *folder, MediaError *error);

/* Returns 0 if it may be used or does not exist; or MEDIA_OUTPUT. */
int job_folder_check(const char *folder, MediaError *error);

/* Makes it if it does not exist, with the permissions of the output that will be replaced.
 * MEDIA_OUTPUT. */
int job_folder_make(const char *folder, const char *output, MediaError *error);

/* Removes the files of a job, the plan and JOB_JOINING last, so that a join that is killed
 * meanwhile can be repeated: only regular files with exactly the names of a job's files. Then
 * removes the folder if it is empty. */
void job_folder_clear(const char *folder);

#endif
