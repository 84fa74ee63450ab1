/* Host memory that the GPU copies from and to by itself, up to a cap on what the process has of it.
 * Any thread. */
#ifndef LUMEQ_CUDA_PINNED_MEMORY_H
#define LUMEQ_CUDA_PINNED_MEMORY_H

#include <stddef.h>

/* Aligned to 64 bytes; NULL when there is none left. */
void *lumeq_pinned_alloc(int device, size_t size);

/* The same for what cannot do without: it counts, but the cap does not stop it. */
void *lumeq_pinned_alloc_needed(int device, size_t size);

void lumeq_pinned_free(int device, void *memory);

#endif
