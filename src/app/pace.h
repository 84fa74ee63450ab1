/* Real time for what could be faster: pictures of a file are given when it is their time. */
#ifndef LUMEQ_APP_PACE_H
#define LUMEQ_APP_PACE_H

#include <stdatomic.h>
#include <stdint.h>

/* {0}: time has not begun. */
typedef struct Pace {
    int64_t begin; /* when time 0 is, once `begun` */
    int begun;
} Pace;

/* Waits until `time_us` is now, or until `stop` is no longer RUN_ON. What falls behind goes on from
 * there. */
void pace_wait(Pace *pace, int64_t time_us, const atomic_int *stop);

#endif
