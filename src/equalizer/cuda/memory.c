#include "equalizer/cuda/memory.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cuda_runtime_api.h>

#include "equalizer/last_error.h"

/* Most GPUs of a machine, as in lumeq_list_gpus(). */
#define MOST_DEVICES 64

/* The library may use this part of a GPU's memory. */
#define SHARE_OF_MEMORY 2

/* An allocation; remembers the size, which lumeq_device_free() is not given. */
typedef struct Block {
    struct Block *next;
    void *memory;
    size_t size;
    int number; /* of the device */
} Block;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards all below */
static Block *blocks;
static struct {
    uint64_t used, most, limit;
} devices[MOST_DEVICES];

void lumeq_device_limit(int number, uint64_t memory)
{
    pthread_mutex_lock(&lock);
    if (number < MOST_DEVICES)
        devices[number].limit = memory / SHARE_OF_MEMORY;
    pthread_mutex_unlock(&lock);
}

/* Counts an allocation. Returns 0 if it exceeds the limit, unless it is `needed`. Holds the lock.
 */
static int count(int number, uint64_t bytes, int needed)
{
    if (!needed &&
        (bytes > devices[number].limit || devices[number].used > devices[number].limit - bytes))
        return 0;
    devices[number].used += bytes;
    if (devices[number].used > devices[number].most)
        devices[number].most = devices[number].used;
    return 1;
}

int lumeq_device_reserve(int number, int64_t bytes)
{
    int ret = 0;
    if (number >= MOST_DEVICES)
        return LUMEQ_ERR_UNAVAILABLE;
    pthread_mutex_lock(&lock);
    if (bytes < 0)
        devices[number].used -= (uint64_t)-bytes;
    else if (!devices[number].limit)
        ret = LUMEQ_ERR_UNAVAILABLE;
    else if (!count(number, (uint64_t)bytes, 0))
        ret = LUMEQ_ERR_MEMORY;
    pthread_mutex_unlock(&lock);
    return ret;
}

void lumeq_device_use(int number, LumeqMemoryUse *use)
{
    pthread_mutex_lock(&lock);
    if (number < MOST_DEVICES) {
        use->device = devices[number].used;
        use->device_most = devices[number].most;
        use->device_limit = devices[number].limit;
    }
    pthread_mutex_unlock(&lock);
}

static void drop_block(Block *block)
{
    pthread_mutex_lock(&lock);
    devices[block->number].used -= block->size;
    pthread_mutex_unlock(&lock);
    free(block);
}

static cudaError_t take(const LumeqCudaHome *home, void **memory, size_t size, int needed)
{
    const int number = home->number < MOST_DEVICES ? home->number : MOST_DEVICES - 1;
    Block *block = malloc(sizeof(*block));
    *memory = NULL;
    if (!block)
        return cudaErrorMemoryAllocation;
    *block = (Block){NULL, NULL, size, number};
    pthread_mutex_lock(&lock);
    const int fits = count(number, size, needed);
    pthread_mutex_unlock(&lock);
    if (!fits) {
        free(block);
        return cudaErrorMemoryAllocation;
    }
    const cudaError_t error = cudaMalloc(&block->memory, size);
    if (error) {
        drop_block(block);
        return error;
    }
    *memory = block->memory;
    pthread_mutex_lock(&lock);
    block->next = blocks;
    blocks = block;
    pthread_mutex_unlock(&lock);
    return cudaSuccess;
}

cudaError_t lumeq_device_take(const LumeqCudaHome *home, void **memory, size_t size)
{
    return take(home, memory, size, 1);
}

cudaError_t lumeq_device_give(void *memory)
{
    Block *block = NULL;
    pthread_mutex_lock(&lock);
    for (Block **at = &blocks; *at && memory; at = &(*at)->next)
        if ((*at)->memory == memory) {
            block = *at;
            *at = block->next;
            break;
        }
    pthread_mutex_unlock(&lock);
    if (!block)
        return cudaSuccess;
    const cudaError_t error = cudaFree(memory);
    drop_block(block);
    return error;
}

void *lumeq_device_alloc(const LumeqCudaHome *home, size_t size)
{
    void *memory = NULL;
    cudaError_t error = lumeq_cuda_enter(home);
    if (!error) {
        error = take(home, &memory, size, 0); /* aligned to 256 bytes by CUDA */
        lumeq_cuda_leave(home);
    }
    if (error)
        (void)cudaGetLastError(); /* clear it: the caller continues without the memory */
    return memory;
}

void lumeq_device_free(const LumeqCudaHome *home, void *memory)
{
    if (lumeq_cuda_enter(home))
        return;
    (void)lumeq_device_give(memory);
    lumeq_cuda_leave(home);
}

/* ---- pinned memory ---- */

/* The limit is the smaller of both, since pinned memory is lost to the rest of the system. */
#define MOST_BYTES ((size_t)2 << 30)
#define SHARE_OF_RAM 4

#define PINNED_ALIGNMENT 64

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
    return (uint8_t *)memory + PINNED_ALIGNMENT;
}

void *lumeq_pinned_alloc(const LumeqCudaHome *home, size_t size)
{
    const size_t most = most_bytes();
    if (size > most)
        return NULL;
    const size_t whole = size + PINNED_ALIGNMENT;
    if (atomic_fetch_add(&given_out, whole) + whole > most) {
        atomic_fetch_sub(&given_out, whole);
        return NULL;
    }
    return alloc_counted(home, whole);
}

void *lumeq_pinned_alloc_needed(const LumeqCudaHome *home, size_t size)
{
    atomic_fetch_add(&given_out, size + PINNED_ALIGNMENT);
    return alloc_counted(home, size + PINNED_ALIGNMENT);
}

void lumeq_pinned_free(const LumeqCudaHome *home, void *memory)
{
    uint8_t *const start = (uint8_t *)memory - PINNED_ALIGNMENT;
    size_t whole;
    memcpy(&whole, start, sizeof(whole));
    if (lumeq_cuda_enter(home))
        return;
    cudaFreeHost(start);
    lumeq_cuda_leave(home);
    atomic_fetch_sub(&given_out, whole);
}

/* ---- where memory lies ---- */

typedef enum Place {
    PAGEABLE, /* ordinary host memory */
    HOST,     /* pinned or managed: the GPU can access it */
    DEVICE,
    OTHER_CONTEXT, /* on the device, but not accessible in the context */
    OTHER_DEVICE,
    UNKNOWN, /* CUDA fails: the device may be lost, and the next call will report it */
} Place;

static Place place_of(const LumeqCudaHome *home, const void *memory)
{
    struct cudaPointerAttributes attributes = {0};
    if (cudaPointerGetAttributes(&attributes, memory)) {
        (void)cudaGetLastError(); /* clear it */
        return UNKNOWN;
    }
    if (attributes.type == cudaMemoryTypeUnregistered)
        return PAGEABLE;
    if (attributes.type != cudaMemoryTypeDevice)
        return HOST;
    if (attributes.device != home->number)
        return OTHER_DEVICE;
    return lumeq_cuda_is_foreign(memory) ? OTHER_CONTEXT : DEVICE;
}

int lumeq_pageable_planes(const LumeqCudaHome *home, const LumeqImage *image, int planes)
{
    int count = 0;
    for (int i = 0; i < planes; i++)
        count += place_of(home, image->plane[i]) == PAGEABLE;
    return count;
}

int lumeq_check_places(const LumeqCudaHome *home, const LumeqImage *image, int planes,
                       const char *name)
{
    const int on_device = image->memory == LUMEQ_MEMORY_CUDA;
    for (int i = 0; i < planes; i++) {
        const Place place = place_of(home, image->plane[i]);
        const int right = on_device ? place == DEVICE : place <= HOST;
        if (right || place == UNKNOWN)
            continue;
        if (!on_device)
            return lumeq_refuse("the %s is in GPU memory, not in host memory", name);
        if (place == OTHER_CONTEXT)
            return lumeq_refuse(
                "the %s is in memory of another CUDA context of GPU %d; %s is needed", name,
                home->number,
                home->context ? "the one that was configured"
                              : "the device's primary context, which cudaMalloc() uses,");
        return lumeq_refuse("the %s is not in memory of GPU %d", name, home->number);
    }
    return 0;
}
