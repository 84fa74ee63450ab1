#include "equalizer/cuda/shared_streams.h"

#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the list and `users` */
static LumeqCudaStreams *shared;

static void destroy(LumeqCudaStreams *s)
{
    for (int i = 0; i < LUMEQ_CUDA_STREAMS && !s->lost; i++)
        if (s->stream[i])
            cudaStreamDestroy(s->stream[i]);
    free(s);
}

/* Adds streams to the list. */
static cudaError_t create(LumeqCudaStreams **streams, const LumeqCudaHome *home)
{
    cudaError_t error = cudaSuccess;
    LumeqCudaStreams *s = calloc(1, sizeof(*s));
    if (!s)
        return cudaErrorMemoryAllocation;
    s->home = *home;
    for (int i = 0; i < LUMEQ_CUDA_STREAMS && !error; i++)
        error = cudaStreamCreateWithFlags(&s->stream[i], cudaStreamNonBlocking);
    if (error) {
        destroy(s);
        return error;
    }
    s->next = shared;
    *streams = shared = s;
    return cudaSuccess;
}

cudaError_t lumeq_cuda_streams_open(LumeqCudaStreams **streams, const LumeqCudaHome *home)
{
    cudaError_t error = cudaSuccess;
    pthread_mutex_lock(&lock);
    LumeqCudaStreams *s = shared;
    while (s && (s->home.number != home->number || s->home.context != home->context))
        s = s->next;
    if (!s)
        error = create(&s, home);
    if (s)
        s->users++;
    *streams = s;
    pthread_mutex_unlock(&lock);
    return error;
}

void lumeq_cuda_streams_close(LumeqCudaStreams **streams, int lost)
{
    LumeqCudaStreams *s = *streams, **at = &shared;
    *streams = NULL;
    if (!s)
        return;
    pthread_mutex_lock(&lock);
    s->lost |= lost;
    s->users--;
    while (*at && *at != s)
        at = &(*at)->next;
    if (*at && (s->lost || !s->users))
        *at = s->next;
    if (!s->users)
        destroy(s);
    pthread_mutex_unlock(&lock);
}
