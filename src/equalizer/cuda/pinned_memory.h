/* Host memory that the GPU copies from and to by itself, up to a cap. */
#ifndef LUMEQ_CUDA_PINNED_MEMORY_H
#define LUMEQ_CUDA_PINNED_MEMORY_H

#include <stdatomic.h>
#include <stddef.h>

typedef struct PinnedMemory {
    int device;
    size_t most;
    atomic_size_t given_out; /* bytes */
} PinnedMemory;

void lumeq_pinned_init(PinnedMemory *pinned, int device);

/* Aligned to 64 bytes; NULL when there is none left. Any thread. */
void *lumeq_pinned_alloc(PinnedMemory *pinned, size_t size);

/* Any thread. */
void lumeq_pinned_free(PinnedMemory *pinned, void *memory);

#endif
