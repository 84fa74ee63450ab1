/* Memory of a GPU, up to a limit on what the process has of it, and where memory lies. Any thread.
 */
#ifndef LUMEQ_CUDA_DEVICE_MEMORY_H
#define LUMEQ_CUDA_DEVICE_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include "equalizer/cuda/cuda_context.h"
#include "lumeq/lumeq.h"

/* How much memory the device has, of which the process may have half. Once it is known. */
void lumeq_device_limit(int number, uint64_t memory);

/* As in LumeqBackend. */
void lumeq_device_use(int number, LumeqMemoryUse *use);
int lumeq_device_reserve(int number, int64_t bytes);

/* cudaMalloc() and cudaFree() of what the library cannot do without: it counts, but the limit does
 * not stop it. In the context. */
cudaError_t lumeq_device_take(const LumeqCudaHome *home, void **memory, size_t size);
cudaError_t lumeq_device_give(void *memory);

/* Aligned to 256 bytes; NULL when there is none left, or the limit is reached. */
void *lumeq_device_alloc(const LumeqCudaHome *home, size_t size);

/* May wait for the GPU. */
void lumeq_device_free(const LumeqCudaHome *home, void *memory);

/* The first planes of an image that lie in ordinary memory of the host: CUDA's copies of those are
 * not asynchronous. In the context. */
int lumeq_pageable_planes(const LumeqCudaHome *home, const LumeqImage *image, int planes);

/* Whether the first planes of an image, the caller's `name`, lie where it says, to be reached from
 * the context, in which the thread is. ARGUMENT, with one sentence in `text`. `pageable` (NULL:
 * nowhere) is told what lumeq_pageable_planes() would. */
int lumeq_check_places(const LumeqCudaHome *home, const LumeqImage *image, int planes,
                       const char *name, int *pageable, char *text, size_t text_size);

#endif
