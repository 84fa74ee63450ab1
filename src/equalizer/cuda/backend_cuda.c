/* The CUDA backend: opens a GPU and enters its context for each call. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cuda_runtime_api.h>

#include "equalizer/backend.h"
#include "equalizer/cuda/cuda_context.h"
#include "equalizer/cuda/devices.h"
#include "equalizer/cuda/kernels.h"
#include "equalizer/cuda/loss.h"
#include "equalizer/cuda/memory.h"
#include "equalizer/cuda/steps.h"
#include "equalizer/last_error.h"

typedef struct CudaBackend {
    LumeqCudaHome home;
    char name[256];
    int started;          /* CUDA has been used, so closing has to clean up */
    cudaStream_t decoder; /* for the caller's decoder; NULL: not created yet */
    LumeqCudaSteps steps;
    LumeqCudaLoss loss;
} CudaBackend;

static int open_failed(CudaBackend *cuda, cudaError_t error)
{
    if (error == cudaErrorNotReady)
        return lumeq_cuda_lose(&cuda->loss, error, "opening");
    cudaGetLastError(); /* otherwise the caller's next CUDA call would report it */
    const char *reason = cudaGetErrorString(error);
    switch (error) {
    case cudaErrorMemoryAllocation:
        return lumeq_refuse_with(LUMEQ_ERR_MEMORY, "%s (GPU %d) is out of memory", cuda->name,
                                 cuda->home.number);
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorUnsupportedPtxVersion:
    case cudaErrorInvalidDeviceFunction:
        return lumeq_refuse_with(LUMEQ_ERR_UNAVAILABLE,
                                 "this build has no code for %s (GPU %d): %s", cuda->name,
                                 cuda->home.number, reason);
    case cudaErrorDevicesUnavailable:
        return lumeq_refuse_with(LUMEQ_ERR_UNAVAILABLE,
                                 "%s (GPU %d) is used exclusively by another program: %s",
                                 cuda->name, cuda->home.number, reason);
    default:
        return lumeq_refuse_with(LUMEQ_ERR_GPU, "%s (GPU %d) failed to start: %s", cuda->name,
                                 cuda->home.number, reason);
    }
}

static cudaError_t open_steps(CudaBackend *cuda, const LumeqConfig *config)
{
    LumeqCudaDevice device;
    const cudaError_t error = lumeq_cuda_load(&device, cuda->home.number);
    cuda->steps.waits = config->real_time ? LUMEQ_CUDA_NAP : LUMEQ_CUDA_SPIN;
    cuda->steps.timed = !config->no_stage_times;
    return error ? error : lumeq_cuda_steps_open(&cuda->steps, &cuda->home, &device, &cuda->loss);
}

static int open_cuda(void *priv, const LumeqConfig *config, char *text, size_t text_size)
{
    CudaBackend *cuda = priv;
    cuda->home = (LumeqCudaHome){config->device, config->cuda_context};
    cuda->loss.number = config->device;
    cuda->loss.process = getpid();
    int ret = lumeq_cuda_check(cuda->home.number);
    if (ret == 0)
        ret = lumeq_cuda_home_check(&cuda->home);
    if (ret < 0)
        return ret;
    struct cudaDeviceProp properties;
    cudaError_t error = cudaGetDeviceProperties(&properties, cuda->home.number);
    snprintf(cuda->name, sizeof(cuda->name), "%s", error ? "the GPU" : properties.name);
    if (!error)
        lumeq_device_limit(cuda->home.number, properties.totalGlobalMem);
    cuda->started = 1;
    if (!error)
        error = lumeq_cuda_enter(&cuda->home);
    if (!error) {
        error = open_steps(cuda, config);
        lumeq_cuda_leave(&cuda->home);
    }
    if (error)
        return open_failed(cuda, error);
    snprintf(text, text_size, "%s (GPU %d)", cuda->name, cuda->home.number);
    return 0;
}

static void close_cuda(void *priv)
{
    CudaBackend *cuda = priv;
    if (!cuda->started)
        return;
    const int here =
        !lumeq_cuda_is_lost(&cuda->loss) && lumeq_cuda_enter(&cuda->home) == cudaSuccess;
    if (!here)
        lumeq_cuda_lose(&cuda->loss, cudaErrorUnknown, "closing");
    lumeq_cuda_steps_close(&cuda->steps); /* this may lose the device */
    if (!lumeq_cuda_is_lost(&cuda->loss) && cuda->decoder)
        cudaStreamDestroy(cuda->decoder);
    if (here)
        lumeq_cuda_leave(&cuda->home);
    memset(cuda, 0, sizeof(*cuda));
}

/* Any thread may call it. After success, leave() must follow. */
static int enter(CudaBackend *cuda)
{
    if (lumeq_cuda_is_lost(&cuda->loss))
        return lumeq_cuda_lose(&cuda->loss, cudaSuccess, "");
    const cudaError_t error = lumeq_cuda_enter(&cuda->home);
    return error ? lumeq_cuda_lose(&cuda->loss, error, "selecting the device") : 0;
}

static int leave(const CudaBackend *cuda, int ret)
{
    lumeq_cuda_leave(&cuda->home);
    return ret;
}

/* Makes a call in the GPU's context. */
#define INSIDE(cuda, call) (enter(cuda) < 0 ? LUMEQ_ERR_GPU : leave(cuda, (call)))

static int measure_cuda(void *priv, const LumeqMeasureJob *job, void **pending)
{
    CudaBackend *cuda = priv;
    *pending = NULL;
    return INSIDE(cuda, lumeq_cuda_steps_measure(&cuda->steps, job, pending));
}

static int measure_finish_cuda(void *priv, void *pending, const LumeqCounts *counts, int wait)
{
    CudaBackend *cuda = priv;
    return INSIDE(cuda, lumeq_cuda_steps_finish(&cuda->steps, pending, counts, wait));
}

static int place_cuda(void *priv, const LumeqMeasureJob *job, const LumeqFlight *flight,
                      void **pending)
{
    CudaBackend *cuda = priv;
    *pending = NULL;
    return INSIDE(cuda, lumeq_cuda_steps_place(&cuda->steps, job, flight, pending));
}

static int begin_cuda(void *priv, void *const *pendings, int count)
{
    CudaBackend *cuda = priv;
    return INSIDE(cuda, lumeq_cuda_steps_begin(&cuda->steps, pendings, count));
}

static int write_cuda(void *priv, const LumeqApplyJob *jobs, int count)
{
    CudaBackend *cuda = priv;
    return INSIDE(cuda, lumeq_cuda_steps_write(&cuda->steps, jobs, count));
}

static int land_cuda(void *priv, void *pending, const LumeqCounts *counts, int wait,
                     double begin_us[LUMEQ_STAGES], double end_us[LUMEQ_STAGES])
{
    CudaBackend *cuda = priv;
    return INSIDE(cuda,
                  lumeq_cuda_steps_land(&cuda->steps, pending, counts, wait, begin_us, end_us));
}

static int apply_cuda(void *priv, const LumeqApplyJob *job)
{
    CudaBackend *cuda = priv;
    return INSIDE(cuda, lumeq_cuda_steps_apply(&cuda->steps, job));
}

static void leave_cuda(void *priv, void *pending)
{
    lumeq_cuda_steps_leave(&((CudaBackend *)priv)->steps, pending);
}

static void *take(CudaBackend *cuda, LumeqCudaKind kind, size_t size)
{
    void *memory = NULL;
    if (!lumeq_cuda_is_lost(&cuda->loss))
        (void)lumeq_cuda_take(&cuda->home, kind, 0, &memory, size);
    return memory;
}

static void *alloc_cuda(void *priv, size_t size)
{
    return take(priv, LUMEQ_CUDA_PINNED, size);
}

static void *alloc_device_cuda(void *priv, size_t size)
{
    return take(priv, LUMEQ_CUDA_DEVICE, size);
}

static void free_cuda(void *priv, void *memory)
{
    CudaBackend *cuda = priv;
    if (!lumeq_cuda_is_lost(&cuda->loss))
        lumeq_cuda_give(&cuda->home, memory);
}

static int get_cuda(void *priv, void **context, void **stream)
{
    CudaBackend *cuda = priv;
    int ret = enter(cuda);
    if (ret < 0)
        return ret;
    cudaError_t error = lumeq_cuda_context(&cuda->home, context);
    if (!error && !cuda->decoder)
        error = cudaStreamCreateWithFlags(&cuda->decoder, cudaStreamNonBlocking);
    if (error) {
        (void)cudaGetLastError(); /* otherwise the caller's next CUDA call would report it */
        ret = lumeq_refuse_with(LUMEQ_ERR_UNAVAILABLE,
                                "no CUDA context and stream for the caller on GPU %d: %s",
                                cuda->home.number, cudaGetErrorString(error));
    }
    *stream = cuda->decoder;
    return leave(cuda, ret);
}

const LumeqBackend lumeq_backend_cuda = {
    .name = "cuda",
    .build_info = "CPU and CUDA " LUMEQ_CUDA_TOOLKIT,
    .list_gpus = lumeq_cuda_list,
    .memory_use = lumeq_cuda_memory_use,
    .reserve = lumeq_device_reserve,
    .priv_size = sizeof(CudaBackend),
    .open = open_cuda,
    .measure = measure_cuda,
    .measure_finish = measure_finish_cuda,
    .apply = apply_cuda,
    .place = place_cuda,
    .begin = begin_cuda,
    .write = write_cuda,
    .land = land_cuda,
    .leave = leave_cuda,
    .alloc_host = alloc_cuda,
    .free_host = free_cuda,
    .alloc_device = alloc_device_cuda,
    .free_device = free_cuda,
    .get_cuda = get_cuda,
    .close = close_cuda,
};
