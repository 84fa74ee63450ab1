#include "equalizer/cuda/device_memory.h"

#include <stdio.h>

#include <cuda_runtime_api.h>

void *lumeq_device_alloc(const LumeqCudaHome *home, size_t size)
{
    void *memory = NULL;
    cudaError_t error = lumeq_cuda_enter(home);
    if (!error) {
        error = cudaMalloc(&memory, size); /* aligned to 256 bytes, says the CUDA C++ guide */
        lumeq_cuda_leave(home);
    }
    if (error) {
        (void)cudaGetLastError(); /* the caller goes on without; no later call is to trip over it */
        return NULL;
    }
    return memory;
}

void lumeq_device_free(const LumeqCudaHome *home, void *memory)
{
    if (lumeq_cuda_enter(home))
        return;
    cudaFree(memory);
    lumeq_cuda_leave(home);
}

typedef enum Place {
    PAGEABLE, /* ordinary memory of the host */
    HOST,     /* pinned, or managed: the GPU reaches it by itself */
    DEVICE,
    OTHER_CONTEXT, /* of that device, but not to be reached from the context */
    OTHER_DEVICE,
    UNKNOWN, /* CUDA does not answer: the device may be lost, and the next call says so */
} Place;

static Place place_of(const LumeqCudaHome *home, const void *memory)
{
    struct cudaPointerAttributes attributes = {0};
    if (cudaPointerGetAttributes(&attributes, memory)) {
        (void)cudaGetLastError(); /* no error to leave behind */
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
                       const char *name, char *text, size_t text_size)
{
    const int on_device = image->memory == LUMEQ_MEMORY_CUDA;
    for (int i = 0; i < planes; i++) {
        const Place place = place_of(home, image->plane[i]);
        const int right = on_device ? place == DEVICE : place <= HOST;
        if (right || place == UNKNOWN)
            continue;
        if (!on_device)
            snprintf(text, text_size, "the %s lies in memory of a GPU, not in host memory", name);
        else if (place == OTHER_CONTEXT)
            snprintf(text, text_size,
                     "the %s lies in memory of another CUDA context of GPU %d; %s is needed", name,
                     home->number,
                     home->context ? "the one that was configured"
                                   : "the device's primary context, which cudaMalloc() uses,");
        else
            snprintf(text, text_size, "the %s does not lie in memory of GPU %d", name,
                     home->number);
        return LUMEQ_ERR_ARGUMENT;
    }
    return 0;
}
