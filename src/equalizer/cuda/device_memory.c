#include "equalizer/cuda/device_memory.h"

#include <cuda_runtime_api.h>

void *lumeq_device_alloc(int device, size_t size)
{
    void *memory = NULL;
    cudaError_t error = cudaSetDevice(device);
    if (!error)
        error = cudaMalloc(&memory, size); /* aligned to 256 bytes, says the CUDA C++ guide */
    if (error) {
        (void)cudaGetLastError(); /* the caller goes on without; no later call is to trip over it */
        return NULL;
    }
    return memory;
}

void lumeq_device_free(int device, void *memory)
{
    cudaSetDevice(device);
    cudaFree(memory);
}

int lumeq_device_owns(int device, const void *memory)
{
    struct cudaPointerAttributes attributes = {0};
    if (cudaPointerGetAttributes(&attributes, memory)) {
        (void)cudaGetLastError(); /* no error to leave behind */
        return 1;
    }
    return attributes.type == cudaMemoryTypeDevice && attributes.device == device;
}
