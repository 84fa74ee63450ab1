#include "equalizer/cuda/devices.h"

#include <stdio.h>

#include <cuda_runtime_api.h>

#include "equalizer/cuda/kernels.h"
#include "equalizer/last_error.h"

static int old_driver(int version)
{
    /* The first driver branch of each major version of CUDA, from the CUDA release notes. */
    const char *needed = CUDART_VERSION >= 14000   ? "a newer one"
                         : CUDART_VERSION >= 13000 ? "r580 or newer"
                                                   : "r525 or newer";
    return lumeq_refuse_with(
        LUMEQ_ERR_UNAVAILABLE,
        "the NVIDIA driver is too old: it supports CUDA %d.%d, but this build needs %d.%d (%s)",
        version / 1000, version % 1000 / 10, CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10,
        needed);
}

/* Returns the number of devices, at least 1, or LUMEQ_ERR_UNAVAILABLE. */
static int count_devices(void)
{
    int version = 0, count = 0;
    if (cudaDriverGetVersion(&version) || version == 0)
        return lumeq_refuse_with(LUMEQ_ERR_UNAVAILABLE,
                                 "there is no NVIDIA driver on this machine");
    /* A driver runs code from any toolkit of the same major version. */
    if (version / 1000 < CUDART_VERSION / 1000)
        return old_driver(version);
    const cudaError_t error = cudaGetDeviceCount(&count);
    if (error == cudaErrorInsufficientDriver)
        return old_driver(version);
    if (error == cudaErrorNoDevice || (!error && count == 0))
        return lumeq_refuse_with(LUMEQ_ERR_UNAVAILABLE, "there is no NVIDIA GPU on this machine");
    if (error)
        return lumeq_refuse_with(
            LUMEQ_ERR_UNAVAILABLE, "CUDA failed to start: %s%s", cudaGetErrorString(error),
            error == cudaErrorInitializationError
                ? "; a process that was forked after CUDA started cannot use it"
                : "");
    return count;
}

int lumeq_cuda_check(int number)
{
    const int count = count_devices();
    if (count < 0)
        return count;
    if (number < count)
        return 0;
    return lumeq_refuse_with(LUMEQ_ERR_UNAVAILABLE,
                             "there is no GPU %d: this machine has %d, counted from 0", number,
                             count);
}

int lumeq_cuda_list(LumeqGpu *gpus, int count)
{
    const int there = count_devices();
    for (int i = 0; i < there && i < count; i++) {
        struct cudaDeviceProp properties;
        const cudaError_t error = cudaGetDeviceProperties(&properties, i);
        if (error)
            return lumeq_refuse_with(LUMEQ_ERR_GPU, "GPU %d does not respond: %s", i,
                                     cudaGetErrorString(error));
        gpus[i] = (LumeqGpu){
            .memory = properties.totalGlobalMem,
            .major = properties.major,
            .minor = properties.minor,
            .processors = properties.multiProcessorCount,
        };
        snprintf(gpus[i].name, sizeof(gpus[i].name), "%.127s", properties.name);
    }
    return there;
}

cudaError_t lumeq_cuda_load(LumeqCudaDevice *device, int number)
{
    static cudaError_t (*const load[])(void) = {
        lumeq_cuda_load_reference,       lumeq_cuda_load_apply,       lumeq_cuda_load_chroma,
        lumeq_cuda_load_clahe_histogram, lumeq_cuda_load_clahe_apply, lumeq_cuda_load_cells,
        lumeq_cuda_load_lift_chroma,     lumeq_cuda_load_convert,     lumeq_cuda_load_clear,
    };
    int major = 0, code = 0;
    cudaError_t error =
        cudaDeviceGetAttribute(&device->processors, cudaDevAttrMultiProcessorCount, number);
    if (!error)
        error = cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, number);
    if (!error)
        error = lumeq_cuda_load_count(&code);
    if (!error)
        error = cudaDeviceGetAttribute(&device->shared, cudaDevAttrMaxSharedMemoryPerBlockOptin,
                                       number);
    if (!error)
        error = cudaDeviceGetAttribute(&device->shared_all,
                                       cudaDevAttrMaxSharedMemoryPerMultiprocessor, number);
    device->early_launches = major >= 9 && code >= 90;
    for (size_t i = 0; i < sizeof(load) / sizeof(load[0]) && !error; i++)
        error = load[i]();
    return error ? error : lumeq_cuda_load_lift_luma(device);
}
