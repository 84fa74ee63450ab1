/* Memory of a GPU, and where memory lies. Any thread. */
#ifndef LUMEQ_CUDA_DEVICE_MEMORY_H
#define LUMEQ_CUDA_DEVICE_MEMORY_H

#include <stddef.h>

#include "equalizer/cuda/cuda_context.h"
#include "lumeq/lumeq.h"

/* Aligned to 256 bytes; NULL when there is none left. */
void *lumeq_device_alloc(const LumeqCudaHome *home, size_t size);

/* May wait for the GPU. */
void lumeq_device_free(const LumeqCudaHome *home, void *memory);

/* The first planes of an image that lie in ordinary memory of the host: CUDA's copies of those are
 * not asynchronous. In the context. */
int lumeq_pageable_planes(const LumeqCudaHome *home, const LumeqImage *image, int planes);

/* Whether the first planes of an image, the caller's `name`, lie where it says, to be reached from
 * the context, in which the thread is. ARGUMENT, with one sentence in `text`. */
int lumeq_check_places(const LumeqCudaHome *home, const LumeqImage *image, int planes,
                       const char *name, char *text, size_t text_size);

#endif
