#include "equalizer/cuda/loss.h"

#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "equalizer/last_error.h"
#include "lumeq/lumeq.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards all texts */

int lumeq_cuda_is_lost(LumeqCudaLoss *loss)
{
    return atomic_load(&loss->lost) || loss->process != getpid();
}

int lumeq_cuda_lose(LumeqCudaLoss *loss, cudaError_t error, const char *what)
{
    if (loss->process != getpid()) {
        return lumeq_refuse_with(LUMEQ_ERR_GPU, "GPU %d cannot be used after fork()", loss->number);
    }
    pthread_mutex_lock(&lock);
    if (!atomic_load(&loss->lost)) {
        if (error == cudaErrorNotReady)
            snprintf(loss->text, sizeof(loss->text),
                     "GPU %d makes no progress: %s is not done after 10 s", loss->number, what);
        else
            snprintf(loss->text, sizeof(loss->text), "%s failed on GPU %d: %s", what, loss->number,
                     cudaGetErrorString(error));
        atomic_store(&loss->lost, 1);
    }
    lumeq_refuse_with(LUMEQ_ERR_GPU, "%s", loss->text);
    pthread_mutex_unlock(&lock);
    return LUMEQ_ERR_GPU;
}

int lumeq_cuda_is_loss(cudaError_t error)
{
    switch (error) {
    case cudaErrorECCUncorrectable:
    case cudaErrorNvlinkUncorrectable:
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchTimeout:
    case cudaErrorContextIsDestroyed:
    case cudaErrorAssert:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorLaunchFailure:
    case cudaErrorUnknown: return 1;
    default: return 0;
    }
}
