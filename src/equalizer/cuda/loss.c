#include "equalizer/cuda/loss.h"

#include <pthread.h>
#include <stdio.h>
#include <time.h>
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
            snprintf(loss->text, sizeof(loss->text), "GPU %d made no progress for 10 s while %s",
                     loss->number, what);
        else
            snprintf(loss->text, sizeof(loss->text), "%s failed on GPU %d: %s", what, loss->number,
                     cudaGetErrorString(error));
        atomic_store(&loss->lost, 1);
    }
    lumeq_refuse_with(LUMEQ_ERR_GPU, "%s", loss->text);
    pthread_mutex_unlock(&lock);
    return LUMEQ_ERR_GPU;
}

/* ---- waiting ---- */

#define PATIENCE_S 10.0

/* A wait polls this long before it sleeps, because most frames take less, and copies are 8 % slower
 * while the host sleeps. */
#define SPIN_S 0.05
#define NAP_NS 100000

double lumeq_cuda_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int lumeq_cuda_overdue(double since)
{
    return lumeq_cuda_now() - since > PATIENCE_S;
}

static cudaError_t ask(cudaEvent_t event)
{
    const cudaError_t error = cudaEventQuery(event);
    if (error == cudaErrorNotReady)
        (void)cudaGetLastError(); /* clears the error */
    return error;
}

int lumeq_cuda_keep_waiting(double since, double begin, LumeqCudaWait wait)
{
    const struct timespec nap = {0, NAP_NS};
    if (!wait || lumeq_cuda_overdue(since))
        return 0;
    if (wait == LUMEQ_CUDA_NAP || lumeq_cuda_now() - begin > SPIN_S)
        nanosleep(&nap, NULL);
    return 1;
}

/* Asks once more after the time limit, because this process may have been stopped meanwhile. */
cudaError_t lumeq_cuda_await_event(cudaEvent_t event, double since, LumeqCudaWait wait)
{
    const double begin = lumeq_cuda_now();
    cudaError_t error;
    while ((error = ask(event)) == cudaErrorNotReady &&
           lumeq_cuda_keep_waiting(since, begin, wait)) {
    }
    return error == cudaErrorNotReady && wait ? ask(event) : error;
}
