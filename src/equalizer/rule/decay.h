/* Exponential smoothing in integers, independent of any math library. */
#ifndef LUMEQ_DECAY_H
#define LUMEQ_DECAY_H

#include <stdint.h>

/* 1 - exp(-step / tau) in Q16, with an error of at most one unit; 65536 if tau is 0. `step` (>= 0)
 * and `tau` (0 to 2^42 - 1) are in nanoseconds. */
uint32_t lumeq_decay(int64_t step, int64_t tau);

#endif
