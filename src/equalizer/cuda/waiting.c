#include "equalizer/cuda/waiting.h"

#include <time.h>

#define PATIENCE_S 10.0

/* Polls this long before it sleeps: a frame takes less, and a sleeping host made copies 8 % slower.
 */
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
        (void)cudaGetLastError(); /* clear it */
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

/* Asks once more at the end, in case this process was stopped meanwhile. */
cudaError_t lumeq_cuda_await_event(cudaEvent_t event, double since, LumeqCudaWait wait)
{
    const double begin = lumeq_cuda_now();
    cudaError_t error;
    while ((error = ask(event)) == cudaErrorNotReady &&
           lumeq_cuda_keep_waiting(since, begin, wait)) {
    }
    return error == cudaErrorNotReady && wait ? ask(event) : error;
}
