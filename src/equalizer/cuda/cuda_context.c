#include "equalizer/cuda/cuda_context.h"

#include <pthread.h>
#include <stdint.h>
#include <string.h>

#include <cudaTypedefs.h>

#include "equalizer/last_error.h"
#include "lumeq/lumeq.h"

/* Driver functions that the runtime lacks; NULL if the driver does not have them. */
static struct {
    PFN_cuPointerGetAttribute_v4000 attribute;
    PFN_cuCtxGetCurrent_v4000 current;
    PFN_cuCtxPushCurrent_v4000 push;
    PFN_cuCtxPopCurrent_v4000 pop;
} driver;

static pthread_once_t driver_once = PTHREAD_ONCE_INIT;

/* Stores the driver function of that name in the function pointer at `function`. */
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
        (void)cudaGetLastError(); /* clear the error */
    else if (result == cudaDriverEntryPointSuccess)
        memcpy(function, &found, sizeof(found));
}

static void find_driver(void)
{
    find_function("cuPointerGetAttribute", &driver.attribute);
    find_function("cuCtxGetCurrent", &driver.current);
    find_function("cuCtxPushCurrent", &driver.push);
    find_function("cuCtxPopCurrent", &driver.pop);
}

cudaError_t lumeq_cuda_enter(const LumeqCudaHome *home)
{
    if (!home->context)
        return cudaSetDevice(home->number);
    pthread_once(&driver_once, find_driver);
    if (!driver.push || !driver.pop)
        return cudaErrorNotSupported;
    /* Runtime and driver use the same error numbers. */
    return (cudaError_t)driver.push((CUcontext)home->context);
}

void lumeq_cuda_leave(const LumeqCudaHome *home)
{
    CUcontext left;
    if (home->context)
        (void)driver.pop(&left);
}

cudaError_t lumeq_cuda_context(const LumeqCudaHome *home, void **context)
{
    CUcontext current = NULL;
    *context = home->context;
    if (home->context)
        return cudaSuccess;
    pthread_once(&driver_once, find_driver);
    if (!driver.current)
        return cudaErrorNotSupported;
    const cudaError_t error = (cudaError_t)driver.current(&current);
    *context = current;
    return error;
}

/* The event is destroyed at once; CUDA keeps it as long as the stream waits for it. */
cudaError_t lumeq_cuda_follow(cudaStream_t stream, cudaStream_t other)
{
    cudaEvent_t event;
    cudaError_t error = cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
    if (error)
        return error;
    error = cudaEventRecord(event, other);
    if (!error)
        error = cudaStreamWaitEvent(stream, event, 0);
    (void)cudaEventDestroy(event);
    return error;
}

int lumeq_cuda_home_check(const LumeqCudaHome *home)
{
    int number = -1;
    if (!home->context)
        return 0;
    cudaError_t error = lumeq_cuda_enter(home);
    if (!error) {
        error = cudaGetDevice(&number);
        lumeq_cuda_leave(home);
    }
    if (error) {
        (void)cudaGetLastError(); /* clear the error */
        return lumeq_refuse_with(LUMEQ_ERR_GPU, "the CUDA context cannot be used: %s",
                                 cudaGetErrorString(error));
    }
    if (number == home->number)
        return 0;
    return lumeq_refuse("the CUDA context belongs to GPU %d, not to GPU %d", number, home->number);
}

/* Memory from a pool or a mapping belongs to the device, not to a context. */
int lumeq_cuda_is_foreign(const void *memory)
{
    CUcontext owner = NULL, ours = NULL;
    pthread_once(&driver_once, find_driver);
    return driver.attribute && driver.current &&
           driver.attribute(&owner, CU_POINTER_ATTRIBUTE_CONTEXT, (CUdeviceptr)(uintptr_t)memory) ==
               CUDA_SUCCESS &&
           owner && driver.current(&ours) == CUDA_SUCCESS && owner != ours;
}
