/* How much a video's light pumps: the mean absolute difference of brightness (MABD) of neighbouring
 * frames, cuts left out, before and after. */
#ifndef LUMEQ_APP_PUMPING_H
#define LUMEQ_APP_PUMPING_H

#include <stddef.h>
#include <stdint.h>

#include "lumeq/lumeq.h"

/* {0} at first. */
typedef struct Pumping {
    double last_in, last_out; /* means of the frame before, in codes of 8 bits */
    double sum_in, sum_out;
    int started;
    int64_t count; /* of differences */
} Pumping;

/* A frame, in order; `depth`: bits of a code. */
void pumping_add(Pumping *pumping, const LumeqFrameStats *stats, int depth);

/* The sentence about it, or 0 with fewer than two frames. */
int pumping_print(const Pumping *pumping, char *text, size_t size);

#endif
