/* The parts of a film that is not measured yet, from the times of its packets. */
#ifndef LUMEQ_JOB_FILM_LIST_H
#define LUMEQ_JOB_FILM_LIST_H

#include "job/job_plan.h"
#include "media/input/source.h"

/* What of the film is wanted, as in ReaderOptions; `parts`: how many, or 0: as many as give parts
 * of `seconds`, or `at_a_time` where those are not too short. */
typedef struct FilmListOptions {
    int64_t from_us, to_us, frames;
    int64_t parts, most_parts;
    double seconds;
    int at_a_time; /* 0: it does not matter */
} FilmListOptions;

/* Reads the source to its end, and lists the parts in the plan, whose time base is known, with how
 * many packets there are and how long they are together. Packets are not decoded. MEDIA_INPUT,
 * MEDIA_OUTPUT. */
int film_list_make(JobPlan *plan, Source *source, const FilmListOptions *options,
                   MediaError *error);

#endif
