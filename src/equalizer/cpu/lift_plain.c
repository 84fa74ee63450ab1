/* The filter of lifted pictures in plain C. */
#define LIFT_KERNELS lumeq_lift_c
#include "equalizer/cpu/lift_loops.h"
