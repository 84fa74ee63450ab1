/* Pinned host memory, with a limit for the process. Thread-safe. */
#ifndef LUMEQ_CUDA_PINNED_MEMORY_H
#define LUMEQ_CUDA_PINNED_MEMORY_H

#include <stddef.h>

#include "equalizer/cuda/cuda_context.h"
#include "lumeq/lumeq.h"

/* Returns memory aligned to 64 bytes, or NULL if no more can be pinned. */
void *lumeq_pinned_alloc(const LumeqCudaHome *home, size_t size);

/* The same for memory that the library cannot do without: it is counted, but the limit does not
 * apply. */
void *lumeq_pinned_alloc_needed(const LumeqCudaHome *home, size_t size);

/* Stores the use and limit of pinned memory. */
void lumeq_pinned_use(LumeqMemoryUse *use);

void lumeq_pinned_free(const LumeqCudaHome *home, void *memory);

#endif
