/* Host memory that the GPU copies from and to by itself, up to a cap on what the process has of it.
 * Any thread. */
#ifndef LUMEQ_CUDA_PINNED_MEMORY_H
#define LUMEQ_CUDA_PINNED_MEMORY_H

#include <stddef.h>

#include "equalizer/cuda/cuda_context.h"
#include "lumeq/lumeq.h"

/* Aligned to 64 bytes; NULL when there is none left. */
void *lumeq_pinned_alloc(const LumeqCudaHome *home, size_t size);

/* The same for what cannot do without: it counts, but the cap does not stop it. */
void *lumeq_pinned_alloc_needed(const LumeqCudaHome *home, size_t size);

/* How much the process has. */
void lumeq_pinned_use(LumeqMemoryUse *use);

void lumeq_pinned_free(const LumeqCudaHome *home, void *memory);

#endif
