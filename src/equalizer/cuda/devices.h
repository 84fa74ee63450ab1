/* Lists GPUs, and checks that this build can use them. */
#ifndef LUMEQ_CUDA_DEVICES_H
#define LUMEQ_CUDA_DEVICES_H

#include <stddef.h>

#include "lumeq/lumeq.h"

/* Returns 0 if the driver supports this build and device `number` exists, else
 * LUMEQ_ERR_UNAVAILABLE with one sentence in `text`. */
int lumeq_cuda_check(int number, char *text, size_t text_size);

/* See lumeq_list_gpus(). */
int lumeq_cuda_list(LumeqGpu *gpus, int count, char *text, size_t text_size);

#endif
