/* Lists GPUs, and checks that this build can use them. */
#ifndef LUMEQ_CUDA_DEVICES_H
#define LUMEQ_CUDA_DEVICES_H

#include <stddef.h>

#include "lumeq/lumeq.h"

/* Returns 0 if the driver supports this build and device `number` exists, else
 * LUMEQ_ERR_UNAVAILABLE with its text. */
int lumeq_cuda_check(int number);

/* See lumeq_list_gpus(). */
int lumeq_cuda_list(LumeqGpu *gpus, int count);

#endif
