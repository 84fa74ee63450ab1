/* The parts of a film as one: checked to be all there and of one plan, and their packets in order,
 * with times of decoding made anew. */
#ifndef LUMEQ_JOB_FILM_JOINER_H
#define LUMEQ_JOB_FILM_JOINER_H

#include "job/job_plan.h"
#include "job/part_file.h"

typedef struct FilmJoiner FilmJoiner;

/* The plan outlives it. MEDIA_INPUT: parts are missing, too short, damaged or of another plan; the
 * sentence names them. */
int film_joiner_open(FilmJoiner **joiner, const JobPlan *plan, MediaError *error);

/* What the encoder put before its packets has to be this. MEDIA_INPUT. */
int film_joiner_check(const FilmJoiner *joiner, const uint8_t *extradata, int size,
                      MediaError *error);

/* The time at which the next packet is decoded, in the encoder's time base; INT64_MAX at the end.
 */
int64_t film_joiner_next(const FilmJoiner *joiner);

/* The next packet: 1, 0 at the end. MEDIA_INPUT, MEDIA_OUTPUT. */
int film_joiner_read(FilmJoiner *joiner, AVPacket *packet, MediaError *error);

void film_joiner_close(FilmJoiner **joiner);

/* The files with the statistics and the report's figures of a part. To be freed with free(); NULL:
 * out of memory. */
char *film_joiner_rows(const JobPlan *plan, int part);
char *film_joiner_report(const JobPlan *plan, int part);

/* Whether a part is there and whole, and of this plan: 1 or 0. */
int film_joiner_has(const JobPlan *plan, int part);

#endif
