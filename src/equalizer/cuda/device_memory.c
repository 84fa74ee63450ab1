#include "equalizer/cuda/device_memory.h"

#include <pthread.h>
#include <stdint.h>
#include <string.h>

#include <cuda_runtime_api.h>

#include <cudaTypedefs.h>

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

/* What the runtime does not tell; NULL where the driver has no such function. */
static struct {
    PFN_cuPointerGetAttribute_v4000 attribute;
    PFN_cuCtxGetCurrent_v4000 current;
} driver;

static pthread_once_t driver_once = PTHREAD_ONCE_INIT;

/* `function`: a pointer to one. */
static void find_function(const char *name, void *function)
{
    void *found = NULL;
    enum cudaDriverEntryPointQueryResult result;
#if CUDART_VERSION >= 12050
    const cudaError_t error =
        cudaGetDriverEntryPointByVersion(name, &found, 4000, cudaEnableDefault, &result);
#else
    const cudaError_t error = cudaGetDriverEntryPoint(name, &found, cudaEnableDefault, &result);
#endif
    if (error)
        (void)cudaGetLastError(); /* no error to leave behind */
    else if (result == cudaDriverEntryPointSuccess)
        memcpy(function, &found, sizeof(found));
}

static void find_driver(void)
{
    find_function("cuPointerGetAttribute", &driver.attribute);
    find_function("cuCtxGetCurrent", &driver.current);
}

/* Memory of a pool or a mapping belongs to no context, but to the device. */
static int of_other_context(const void *memory)
{
    CUcontext owner = NULL, ours = NULL;
    pthread_once(&driver_once, find_driver);
    return driver.attribute && driver.current &&
           driver.attribute(&owner, CU_POINTER_ATTRIBUTE_CONTEXT, (CUdeviceptr)(uintptr_t)memory) ==
               CUDA_SUCCESS &&
           owner && driver.current(&ours) == CUDA_SUCCESS && owner != ours;
}

LumeqPlace lumeq_device_place(int device, const void *memory)
{
    struct cudaPointerAttributes attributes = {0};
    if (cudaPointerGetAttributes(&attributes, memory)) {
        (void)cudaGetLastError(); /* no error to leave behind */
        return LUMEQ_PLACE_UNKNOWN;
    }
    if (attributes.type == cudaMemoryTypeUnregistered)
        return LUMEQ_PLACE_PAGEABLE;
    if (attributes.type != cudaMemoryTypeDevice)
        return LUMEQ_PLACE_HOST;
    if (attributes.device != device)
        return LUMEQ_PLACE_OTHER_DEVICE;
    return of_other_context(memory) ? LUMEQ_PLACE_OTHER_CONTEXT : LUMEQ_PLACE_DEVICE;
}
