/* Which GPUs there are, and whether this build can use them. */
#ifndef LUMEQ_CUDA_DEVICES_H
#define LUMEQ_CUDA_DEVICES_H

#include <stddef.h>

#include "lumeq/lumeq.h"

/* 0 when the driver serves this build and device `number` is there; else LUMEQ_ERR_UNAVAILABLE and
 * one sentence in `text`. */
int lumeq_cuda_check(int number, char *text, size_t text_size);

/* lumeq_list_gpus(). */
int lumeq_cuda_list(LumeqGpu *gpus, int count, char *text, size_t text_size);

#endif
