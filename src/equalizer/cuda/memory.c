#include "equalizer/cuda/memory.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include <cuda_runtime_api.h>

#include "equalizer/last_error.h"

/* Maximum number of GPUs of a machine, as in lumeq_list_gpus(). */
#define MOST_DEVICES 64

/* This process may use 1 / SHARE_OF_MEMORY of a GPU's memory. */
#define SHARE_OF_MEMORY 2

/* The rest of the system cannot use pinned memory, so it is limited to MOST_PINNED or to
 * 1 / SHARE_OF_RAM of the RAM, whichever is less. */
#define MOST_PINNED ((uint64_t)2 << 30)
#define SHARE_OF_RAM 4

/* Bytes of all equalizers and contexts of the process. */
typedef struct Account {
    uint64_t used, most, limit;
} Account;

typedef struct Block {
    struct Block *next;
    void *memory;
    size_t size;
    Account *account;
} Block;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards all below */
static Block *blocks;
static Account devices[MOST_DEVICES], pinned;

void lumeq_device_limit(int number, uint64_t memory)
{
    const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    const uint64_t ram = pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : UINT64_MAX;
    pthread_mutex_lock(&lock);
    pinned.limit = ram / SHARE_OF_RAM < MOST_PINNED ? ram / SHARE_OF_RAM : MOST_PINNED;
    if (number < MOST_DEVICES)
        devices[number].limit = memory / SHARE_OF_MEMORY;
    pthread_mutex_unlock(&lock);
}

/* Counts an allocation. Returns 0 if it exceeds the limit and is not `needed`. */
static int count(Account *account, uint64_t bytes, int needed)
{
    pthread_mutex_lock(&lock);
    const int fits = needed || (bytes <= account->limit && account->used <= account->limit - bytes);
    if (fits)
        account->used += bytes;
    if (account->used > account->most)
        account->most = account->used;
    pthread_mutex_unlock(&lock);
    return fits;
}

static void uncount(Account *account, uint64_t bytes)
{
    pthread_mutex_lock(&lock);
    account->used -= bytes;
    pthread_mutex_unlock(&lock);
}

void lumeq_cuda_memory_use(int number, LumeqMemoryUse *use)
{
    static const Account none;
    pthread_mutex_lock(&lock);
    const Account device = number < MOST_DEVICES ? devices[number] : none;
    *use = (LumeqMemoryUse){
        .device = device.used,
        .device_most = device.most,
        .device_limit = device.limit,
        .pinned = pinned.used,
        .pinned_most = pinned.most,
        .pinned_limit = pinned.limit,
    };
    pthread_mutex_unlock(&lock);
}

int lumeq_device_reserve(int number, int64_t bytes)
{
    LumeqMemoryUse use;
    lumeq_cuda_memory_use(number, &use);
    if (!use.device_limit)
        return LUMEQ_ERR_UNAVAILABLE;
    if (bytes < 0)
        uncount(&devices[number], (uint64_t)-bytes);
    else if (!count(&devices[number], (uint64_t)bytes, 0))
        return LUMEQ_ERR_MEMORY;
    return 0;
}

/* Pinned memory is mapped, because kernels write to it as well. */
cudaError_t lumeq_cuda_take(const LumeqCudaHome *home, LumeqCudaKind kind, int needed,
                            void **memory, size_t size)
{
    const int number = home->number < MOST_DEVICES ? home->number : MOST_DEVICES - 1;
    Account *const account = kind == LUMEQ_CUDA_PINNED ? &pinned : &devices[number];
    Block *block = malloc(sizeof(*block));
    *memory = NULL;
    if (!block || !count(account, size, needed)) {
        free(block);
        return cudaErrorMemoryAllocation;
    }
    cudaError_t error = lumeq_cuda_enter(home);
    if (!error) {
        error = kind == LUMEQ_CUDA_PINNED
                    ? cudaHostAlloc(memory, size, cudaHostAllocPortable | cudaHostAllocMapped)
                    : cudaMalloc(memory, size);
        lumeq_cuda_leave(home);
    }
    if (error) {
        (void)cudaGetLastError(); /* the caller reports the error, or does without the memory */
        uncount(account, size);
        free(block);
        return error;
    }
    pthread_mutex_lock(&lock);
    *block = (Block){blocks, *memory, size, account};
    blocks = block;
    pthread_mutex_unlock(&lock);
    return cudaSuccess;
}

void lumeq_cuda_give(const LumeqCudaHome *home, void *memory)
{
    Block *block = NULL;
    pthread_mutex_lock(&lock);
    for (Block **at = &blocks; *at && !block; at = &(*at)->next)
        if ((*at)->memory == memory) {
            block = *at;
            *at = block->next;
            break;
        }
    pthread_mutex_unlock(&lock);
    if (!block)
        return;
    if (lumeq_cuda_enter(home) == cudaSuccess) {
        (void)(block->account == &pinned ? cudaFreeHost(memory) : cudaFree(memory));
        lumeq_cuda_leave(home);
    }
    uncount(block->account, block->size);
    free(block);
}

/* ---- where memory lies ---- */

typedef enum Place {
    PAGEABLE, /* ordinary host memory */
    HOST,     /* pinned or managed: the GPU can access it */
    DEVICE,
    OTHER_CONTEXT, /* on the device, but not accessible in the context */
    OTHER_DEVICE,
    UNKNOWN, /* CUDA failed; if the device is lost, the next call reports it */
} Place;

static Place place_of(const LumeqCudaHome *home, const void *memory)
{
    struct cudaPointerAttributes attributes = {0};
    if (cudaPointerGetAttributes(&attributes, memory)) {
        (void)cudaGetLastError(); /* clears the error */
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
        return lumeq_refuse("the %s is not in memory of %sGPU %d", name,
                            place == OTHER_CONTEXT ? "this CUDA context of " : "", home->number);
    }
    return 0;
}
