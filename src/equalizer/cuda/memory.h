/* GPU memory and pinned host memory, each with a limit for the process, and checks of where memory
 * lies. Thread-safe. */
#ifndef LUMEQ_CUDA_MEMORY_H
#define LUMEQ_CUDA_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include "equalizer/cuda/cuda_context.h"
#include "lumeq/lumeq.h"

/* Sets the limit of a device, half of its `memory` (bytes), and the limit of pinned memory. */
void lumeq_device_limit(int number, uint64_t memory);

/* See LumeqBackend. */
void lumeq_cuda_memory_use(int number, LumeqMemoryUse *use);
int lumeq_device_reserve(int number, int64_t bytes);

typedef enum LumeqCudaKind { LUMEQ_CUDA_DEVICE, LUMEQ_CUDA_PINNED } LumeqCudaKind;

/* Allocates memory, aligned to 256 bytes. `needed`: the library cannot do without it, so it is
 * counted, but the limit does not apply. */
cudaError_t lumeq_cuda_take(const LumeqCudaHome *home, LumeqCudaKind kind, int needed,
                            void **memory, size_t size);

/* Frees memory; NULL is allowed. May wait for the GPU. */
void lumeq_cuda_give(const LumeqCudaHome *home, void *memory);

/* Returns how many of the first `planes` planes are pageable host memory, which CUDA does not copy
 * asynchronously. Call it in the context. */
int lumeq_pageable_planes(const LumeqCudaHome *home, const LumeqImage *image, int planes);

/* Checks that the first `planes` planes are in the memory that image->memory states, and usable in
 * the context. Returns 0, or LUMEQ_ERR_ARGUMENT with a text that calls the image `name`. Call it in
 * the context. */
int lumeq_check_places(const LumeqCudaHome *home, const LumeqImage *image, int planes,
                       const char *name);

#endif
