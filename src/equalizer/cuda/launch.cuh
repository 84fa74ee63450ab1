/* Loads and launches kernels. */
#ifndef LUMEQ_CUDA_LAUNCH_CUH
#define LUMEQ_CUDA_LAUNCH_CUH

#include <stdint.h>

#include "equalizer/cuda/kernels.h"

/* Lets the next kernel start once all blocks have called this. */
static __device__ __forceinline__ void let_next_kernel_start(void)
{
#if __CUDA_ARCH__ >= 900
    cudaTriggerProgrammaticLaunchCompletion();
#endif
}

/* Waits for the previous kernel on the stream, if this one started early. */
static __device__ __forceinline__ void wait_for_kernel_before(void)
{
#if __CUDA_ARCH__ >= 900
    cudaGridDependencySynchronize();
#endif
}

/* Loads kernels, which CUDA otherwise does at their first launch. */
template <typename... Kernels> static cudaError_t load(Kernels... kernels)
{
    cudaFuncAttributes attributes;
    cudaError_t error = cudaSuccess;
    ((error = error ? error : cudaFuncGetAttributes(&attributes, kernels)), ...);
    return error;
}

/* Like load(), for kernels that use as much shared memory as possible. */
template <typename... Kernels> static cudaError_t load_with_shared(Kernels... kernels)
{
    cudaError_t error = load(kernels...);
    ((error = error ? error
                    : cudaFuncSetAttribute(kernels, cudaFuncAttributePreferredSharedMemoryCarveout,
                                           cudaSharedmemCarveoutMaxShared)),
     ...);
    return error;
}

typedef struct Launch {
    dim3 grid;
    dim3 threads;
    size_t dynamic; /* bytes of shared memory */
    int early;      /* may start before the previous kernel on the stream has ended */
    cudaStream_t stream;
} Launch;

template <typename... Parameters, typename... Arguments>
static cudaError_t launch(const Launch &how, void (*kernel)(Parameters...),
                          const Arguments &...arguments)
{
    cudaLaunchAttribute early = {};
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = how.grid;
    config.blockDim = how.threads;
    config.dynamicSmemBytes = how.dynamic;
    config.stream = how.stream;
    config.attrs = &early;
    config.numAttrs = how.early ? 1 : 0;
    return cudaLaunchKernelEx(&config, kernel, arguments...);
}

#endif
