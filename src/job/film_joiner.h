/* The parts of a film as one: checked to be all there and of one plan, and their packets in order,
 * with times of decoding made anew. */
#ifndef LUMEQ_JOB_FILM_JOINER_H
#define LUMEQ_JOB_FILM_JOINER_H

#include "job/job_plan.h"
#include "media/output/part_file.h"

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

/* The label of a part. */
const PartLabel *film_joiner_label(const FilmJoiner *joiner, int part);

void film_joiner_close(FilmJoiner **joiner);

/* Whether a part is there and whole, and of this plan: 1 or 0. */
int film_joiner_has(const JobPlan *plan, int part);

#endif
