/* Exponential smoothing in integers, independent of any math library. */
#ifndef LUMEQ_DECAY_H
#define LUMEQ_DECAY_H

#include <stdint.h>

/* 1 - exp(-step / tau) in Q16, within 1 of the exact value; 65536 if tau is 0. Both are in
 * nanoseconds: step >= 0, tau from 0 to 2^42 - 1. */
uint32_t lumeq_decay(int64_t step, int64_t tau);

#endif
