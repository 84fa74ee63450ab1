/* Which stages of which frames run at the same time on the GPU: the busiest frames of a run, for
 * -v. */
#ifndef LUMEQ_APP_TIMELINE_H
#define LUMEQ_APP_TIMELINE_H

#include <stdint.h>

#include "lumeq/lumeq.h"

/* Frames in a row that are looked at together. */
#define TIMELINE_FRAMES 8

typedef struct TimelineFrame {
    int64_t number;
    double begin_us[LUMEQ_STAGES], end_us[LUMEQ_STAGES];
} TimelineFrame;

/* {0} is an empty one. */
typedef struct Timeline {
    TimelineFrame last[TIMELINE_FRAMES], best[TIMELINE_FRAMES]; /* oldest first */
    int count;
    double overlap; /* of `best`: stages at work at a time, on average */
} Timeline;

void timeline_add(Timeline *timeline, int64_t number, const LumeqFrameStats *stats);

/* Hands it to `print`, line by line; nothing where no GPU was at work. */
void timeline_print(const Timeline *timeline, void (*print)(const char *line));

#endif
