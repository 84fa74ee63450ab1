/* GPU memory and pinned host memory, each with a limit for the process, and checks of where memory
 * lies. Thread-safe. */
#ifndef LUMEQ_CUDA_MEMORY_H
#define LUMEQ_CUDA_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include "equalizer/cuda/cuda_context.h"
#include "lumeq/lumeq.h"

/* Tells the size of the device's memory; the process may use half of it. */
void lumeq_device_limit(int number, uint64_t memory);

/* See LumeqBackend. */
void lumeq_device_use(int number, LumeqMemoryUse *use);
int lumeq_device_reserve(int number, int64_t bytes);

/* cudaMalloc() and cudaFree() for memory that the library cannot do without: it is counted, but the
 * limit does not apply. Call them in the context. */
cudaError_t lumeq_device_take(const LumeqCudaHome *home, void **memory, size_t size);
cudaError_t lumeq_device_give(void *memory);

/* Returns memory aligned to 256 bytes, or NULL if the GPU is out of memory or the limit is reached.
 */
void *lumeq_device_alloc(const LumeqCudaHome *home, size_t size);

/* May wait for the GPU. */
void lumeq_device_free(const LumeqCudaHome *home, void *memory);

/* Returns pinned memory aligned to 64 bytes, or NULL if no more can be pinned. */
void *lumeq_pinned_alloc(const LumeqCudaHome *home, size_t size);

/* The same for memory that the library cannot do without: it is counted, but the limit does not
 * apply. */
void *lumeq_pinned_alloc_needed(const LumeqCudaHome *home, size_t size);

/* Stores the use and limit of pinned memory. */
void lumeq_pinned_use(LumeqMemoryUse *use);

void lumeq_pinned_free(const LumeqCudaHome *home, void *memory);

/* Returns how many of the first planes lie in ordinary host memory, which CUDA does not copy
 * asynchronously. Call it in the context. */
int lumeq_pageable_planes(const LumeqCudaHome *home, const LumeqImage *image, int planes);

/* Checks that the first planes of an image lie where image->memory says, and can be used in the
 * context. Returns 0, or LUMEQ_ERR_ARGUMENT with a text that calls the image `name`. Call it in the
 * context. */
int lumeq_check_places(const LumeqCudaHome *home, const LumeqImage *image, int planes,
                       const char *name);

#endif
