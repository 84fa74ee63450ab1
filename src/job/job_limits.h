/* Limits of the numbers that are read from the files of a job, which somebody may have edited. */
#ifndef LUMEQ_JOB_JOB_LIMITS_H
#define LUMEQ_JOB_JOB_LIMITS_H

#include <stdint.h>

/* Times in us, and in the time base of a track: far from where the sum of two overflows. */
#define JOB_MOST_US (INT64_C(1) << 60)
#define JOB_MOST_PTS (INT64_C(1) << 61)

#define JOB_MOST_COUNT (INT64_C(1) << 40) /* frames, and bytes of curves */
#define JOB_MOST_PARTS 99999              /* names of parts have five digits */

static inline int job_is_within(int64_t number, int64_t least, int64_t most)
{
    return number >= least && number <= most;
}

#endif
