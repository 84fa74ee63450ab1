/* LUMEQ_CPU_MASK in the environment: what the program may use of a CPU, a sum of LUMEQ_CPU_*. */
#ifndef LUMEQ_APP_CPU_MASK_H
#define LUMEQ_APP_CPU_MASK_H

/* LumeqConfig.cpu_without: 0 where the variable is not set, all where it is 0. */
unsigned cpu_mask_without(void);

#endif
