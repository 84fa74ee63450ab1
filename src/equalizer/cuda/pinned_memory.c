#include "equalizer/cuda/pinned_memory.h"

#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cuda_runtime_api.h>

/* The limit is the smaller of both, since pinned memory is lost to the rest of the system. */
#define MOST_BYTES ((size_t)2 << 30)
#define SHARE_OF_RAM 4

#define ALIGNMENT 64

/* Bytes of all equalizers of the process: now, and the peak. */
static atomic_size_t given_out, most_given_out;

static size_t most_bytes(void)
{
    const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    const size_t share =
        pages > 0 && page > 0 ? (size_t)pages * (size_t)page / SHARE_OF_RAM : MOST_BYTES;
    return share < MOST_BYTES ? share : MOST_BYTES;
}

void lumeq_pinned_use(LumeqMemoryUse *use)
{
    use->pinned = atomic_load(&given_out);
    use->pinned_most = atomic_load(&most_given_out);
    use->pinned_limit = most_bytes();
}

static void note_most(void)
{
    const size_t now = atomic_load(&given_out);
    size_t before = atomic_load(&most_given_out);
    while (before < now && !atomic_compare_exchange_weak(&most_given_out, &before, now)) {
    }
}

/* The size is stored before the memory. Mapped, because kernels write to it as well. */
static void *alloc_counted(const LumeqCudaHome *home, size_t whole)
{
    void *memory = NULL;
    cudaError_t error = lumeq_cuda_enter(home); /* this may be the thread's first CUDA call */
    if (!error) {
        error = cudaHostAlloc(&memory, whole, cudaHostAllocPortable | cudaHostAllocMapped);
        lumeq_cuda_leave(home);
    }
    if (error) {
        (void)cudaGetLastError(); /* clear it: the caller uses ordinary memory */
        atomic_fetch_sub(&given_out, whole);
        return NULL;
    }
    note_most();
    memcpy(memory, &whole, sizeof(whole));
    return (uint8_t *)memory + ALIGNMENT;
}

void *lumeq_pinned_alloc(const LumeqCudaHome *home, size_t size)
{
    const size_t most = most_bytes();
    if (size > most)
        return NULL;
    const size_t whole = size + ALIGNMENT;
    if (atomic_fetch_add(&given_out, whole) + whole > most) {
        atomic_fetch_sub(&given_out, whole);
        return NULL;
    }
    return alloc_counted(home, whole);
}

void *lumeq_pinned_alloc_needed(const LumeqCudaHome *home, size_t size)
{
    atomic_fetch_add(&given_out, size + ALIGNMENT);
    return alloc_counted(home, size + ALIGNMENT);
}

void lumeq_pinned_free(const LumeqCudaHome *home, void *memory)
{
    uint8_t *const start = (uint8_t *)memory - ALIGNMENT;
    size_t whole;
    memcpy(&whole, start, sizeof(whole));
    if (lumeq_cuda_enter(home))
        return;
    cudaFreeHost(start);
    lumeq_cuda_leave(home);
    atomic_fetch_sub(&given_out, whole);
}
