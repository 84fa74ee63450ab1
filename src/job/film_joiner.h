/* Reads the packets of all parts in order, with new decoding times. */
#ifndef LUMEQ_JOB_FILM_JOINER_H
#define LUMEQ_JOB_FILM_JOINER_H

#include "job/job_plan.h"
#include "job/part_files.h"

typedef struct FilmJoiner FilmJoiner;

/* Checks that all parts exist and belong to the plan, which must outlive the joiner. MEDIA_INPUT:
 * parts or their statistics are missing, or a part is empty, damaged or of another plan.
 * MEDIA_OUTPUT: out of memory. Always close the joiner. */
int film_joiner_open(FilmJoiner **joiner, const JobPlan *plan, MediaError *error);

/* Returns 0, or MEDIA_INPUT if a part was encoded with other extradata. */
int film_joiner_check(const FilmJoiner *joiner, const uint8_t *extradata, int size,
                      MediaError *error);

/* The decoding time of the next packet, in the encoder's time base; INT64_MAX at the end. */
int64_t film_joiner_next(const FilmJoiner *joiner);

/* Returns 1 and the next packet, or 0 at the end. MEDIA_INPUT: a part cannot be read; its file was
 * removed, so --resume makes the part again. MEDIA_OUTPUT: out of memory. */
int film_joiner_read(FilmJoiner *joiner, AVPacket *packet, MediaError *error);

void film_joiner_close(FilmJoiner **joiner);

/* The path of the statistics of a part. */
JobPath film_joiner_rows(const JobPlan *plan, int part);

/* True if the part exists and belongs to the plan, and no statistics are missing. Does not verify
 * packets. */
int film_joiner_has(const JobPlan *plan, int part);

#endif
