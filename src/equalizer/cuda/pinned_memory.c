#include "equalizer/cuda/pinned_memory.h"

#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cuda_runtime_api.h>

/* Pinned memory is missing elsewhere in the system: the cap, whichever is smaller. */
#define MOST_BYTES ((size_t)2 << 30)
#define SHARE_OF_RAM 4

#define ALIGNMENT 64

void lumeq_pinned_init(PinnedMemory *p, int device)
{
    const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    const size_t share =
        pages > 0 && page > 0 ? (size_t)pages * (size_t)page / SHARE_OF_RAM : MOST_BYTES;
    p->device = device;
    p->most = share < MOST_BYTES ? share : MOST_BYTES;
    atomic_init(&p->given_out, 0);
}

/* How many bytes a piece has stands before it. */
void *lumeq_pinned_alloc(PinnedMemory *p, size_t size)
{
    const size_t whole = size + ALIGNMENT;
    void *memory = NULL;
    if (size > p->most)
        return NULL;
    if (atomic_fetch_add(&p->given_out, whole) + whole > p->most) {
        atomic_fetch_sub(&p->given_out, whole);
        return NULL;
    }
    cudaError_t error = cudaSetDevice(p->device); /* any thread may come here first */
    if (!error)
        error = cudaHostAlloc(&memory, whole, cudaHostAllocPortable);
    if (error) {
        (void)cudaGetLastError(); /* ordinary memory is taken then; no later call is to trip over it
                                   */
        atomic_fetch_sub(&p->given_out, whole);
        return NULL;
    }
    memcpy(memory, &whole, sizeof(whole));
    return (uint8_t *)memory + ALIGNMENT;
}

void lumeq_pinned_free(PinnedMemory *p, void *memory)
{
    uint8_t *const start = (uint8_t *)memory - ALIGNMENT;
    size_t whole;
    memcpy(&whole, start, sizeof(whole));
    cudaSetDevice(p->device);
    cudaFreeHost(start);
    atomic_fetch_sub(&p->given_out, whole);
}
