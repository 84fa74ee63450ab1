/* How long something took, each time: its mean, its most, and what a share of them stayed within.
 * Plain data. */
#ifndef LUMEQ_PLAYER_DELAY_H
#define LUMEQ_PLAYER_DELAY_H

#include <stdint.h>

/* {0} is none yet. */
#define DELAY_MOST_MS 999 /* and more */
typedef struct Delay {
    int64_t count, sum, most;         /* microseconds */
    int64_t by_ms[DELAY_MOST_MS + 1]; /* how many took so long */
} Delay;

void delay_note(Delay *delay, int64_t us);

/* Milliseconds; 0: there were none. */
double delay_mean(const Delay *delay);

/* What this share of them has not exceeded. */
double delay_share(const Delay *delay, double share);

#endif
