#include "bench/histogram/histogram_memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "bench/replay.h"

#define ALIGNMENT 256

/* Copies up and down that are timed. */
#define COPIES 9

/* Of the copy within the device's memory: far more than any cache. */
#define LARGE_COPY ((size_t)256 << 20)

/* Of what is free, managed memory may be so much: else pages would begin to be moved out. */
#define MANAGED_PART 4

static size_t counts_size(const HistogramJob *job)
{
    return (size_t)job->bins * sizeof(uint32_t);
}

/* To a device, or to the host where that is -1. */
static cudaError_t prefetch(void *memory, size_t size, int device, cudaStream_t stream)
{
#if CUDART_VERSION >= 13000
    const struct cudaMemLocation there = {.type = device < 0 ? cudaMemLocationTypeHost
                                                             : cudaMemLocationTypeDevice,
                                          .id = device < 0 ? 0 : device};
    return cudaMemPrefetchAsync(memory, size, there, 0, stream);
#else
    return cudaMemPrefetchAsync(memory, size, device < 0 ? cudaCpuDeviceId : device, stream);
#endif
}

static int too_large(const HistogramBuffers *b, size_t size, char *text, size_t text_size)
{
    size_t unused = 0, all = 0;
    int prefetches = 0;
    cudaError_t error = cudaMemGetInfo(&unused, &all);
    if (!error)
        error = cudaDeviceGetAttribute(&prefetches, cudaDevAttrConcurrentManagedAccess, b->device);
    if (error)
        snprintf(text, text_size, "CUDA: %s", cudaGetErrorString(error));
    else if (!prefetches)
        snprintf(text, text_size, "--memory managed: GPU %d cannot prefetch", b->device);
    else if (size > unused / MANAGED_PART)
        snprintf(text, text_size,
                 "--memory managed would take %zu MB on GPU %d, more than a quarter of the %zu MB "
                 "that are free; --elements or --size is to be smaller",
                 size >> 20, b->device, unused >> 20);
    else
        return 0;
    return -1;
}

/* Managed memory is to be on the device before anything is timed. */
static cudaError_t allocate_managed(HistogramBuffers *b, size_t size)
{
    cudaError_t error = cudaMallocManaged((void **)&b->planes, size, cudaMemAttachGlobal);
    if (!error)
        error = cudaMallocManaged((void **)&b->results, sizeof(*b->results), cudaMemAttachGlobal);
    if (!error)
        error = prefetch(b->planes, size, b->device, b->stream);
    if (!error)
        error = prefetch(b->results, sizeof(*b->results), b->device, b->stream);
    return error;
}

static cudaError_t allocate(HistogramBuffers *b, size_t size)
{
    cudaError_t error = cudaMalloc((void **)&b->planes, size);
    if (!error)
        error = cudaMalloc((void **)&b->results, sizeof(*b->results));
    if (!error && b->job->memory == HISTOGRAM_PINNED)
        error = cudaMallocHost(&b->host, b->plane_size > counts_size(b->job) ? b->plane_size
                                                                             : counts_size(b->job));
    return error;
}

/* The elements in each piece. */
static cudaError_t fill(HistogramBuffers *b)
{
    const size_t bytes = b->job->pitch * (size_t)b->job->height;
    if (b->host)
        memcpy(b->host, b->job->data, bytes);
    cudaError_t error = cudaMemsetAsync(b->results, 0, sizeof(*b->results), b->stream);
    if (!error)
        error = cudaMemcpyAsync(b->planes, b->host ? b->host : b->job->data, bytes,
                                cudaMemcpyHostToDevice, b->stream);
    for (int i = 1; i < b->pieces && !error; i++)
        error = cudaMemcpyAsync(b->planes + (size_t)i * b->plane_size, b->planes, bytes,
                                cudaMemcpyDeviceToDevice, b->stream);
    return error ? error : cudaStreamSynchronize(b->stream);
}

static void find_peak(HistogramBuffers *b)
{
    int khz = 0, bits = 0;
    b->peak_gb_s = NAN;
    if (!cudaDeviceGetAttribute(&khz, cudaDevAttrMemoryClockRate, b->device) &&
        !cudaDeviceGetAttribute(&bits, cudaDevAttrGlobalMemoryBusWidth, b->device) && khz && bits)
        b->peak_gb_s = 2e-6 * khz * bits / 8; /* twice a clock */
}

int histogram_buffers_open(HistogramBuffers *b, const HistogramJob *job, int device, char *text,
                           size_t text_size)
{
    const size_t bytes = job->pitch * (size_t)job->height;
    *b = (HistogramBuffers){.device = device, .job = job};
    b->plane_size = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    find_peak(b);
    cudaError_t error = bench_pieces(&b->pieces, device, b->plane_size);
    if (job->check_only)
        b->pieces = 1;
    const size_t size = (size_t)b->pieces * b->plane_size;
    if (!error)
        error = cudaStreamCreateWithFlags(&b->stream, cudaStreamNonBlocking);
    if (!error && job->memory == HISTOGRAM_MANAGED && too_large(b, size, text, text_size) < 0)
        return -1;
    if (!error)
        error = job->memory == HISTOGRAM_MANAGED ? allocate_managed(b, size) : allocate(b, size);
    if (!error)
        error = fill(b);
    if (error)
        snprintf(text, text_size, "GPU %d, %zu MB of elements: CUDA: %s", device, size >> 20,
                 cudaGetErrorString(error));
    return error ? -1 : 0;
}

/* ---- what copies take ---- */

typedef cudaError_t Move(HistogramBuffers *b);

static cudaError_t move_up(HistogramBuffers *b)
{
    const size_t bytes = b->job->pitch * (size_t)b->job->height;
    if (b->job->memory == HISTOGRAM_MANAGED)
        return prefetch(b->planes, bytes, b->device, b->stream);
    return cudaMemcpyAsync(b->planes, b->host ? b->host : b->job->data, bytes,
                           cudaMemcpyHostToDevice, b->stream);
}

/* To where it came from, so that it can be moved again. */
static cudaError_t undo_up(HistogramBuffers *b)
{
    const size_t bytes = b->job->pitch * (size_t)b->job->height;
    return b->job->memory == HISTOGRAM_MANAGED ? prefetch(b->planes, bytes, -1, b->stream)
                                               : cudaSuccess;
}

static cudaError_t counts_down(HistogramBuffers *b, uint32_t *from)
{
    if (b->job->memory == HISTOGRAM_MANAGED)
        return prefetch(from, counts_size(b->job), -1, b->stream);
    return cudaMemcpyAsync(b->host ? b->host : b->pageable, from, counts_size(b->job),
                           cudaMemcpyDeviceToHost, b->stream);
}

static cudaError_t move_down(HistogramBuffers *b)
{
    const cudaError_t error = counts_down(b, b->results->counts[0]);
    return error || !b->job->cumulate ? error : counts_down(b, b->results->sums[0]);
}

static cudaError_t undo_down(HistogramBuffers *b)
{
    return b->job->memory == HISTOGRAM_MANAGED
               ? prefetch(b->results, sizeof(*b->results), b->device, b->stream)
               : cudaSuccess;
}

static cudaError_t time_move(HistogramBuffers *b, Move *move, Move *undo, cudaEvent_t begin,
                             cudaEvent_t end, double *us)
{
    float ms = 0;
    cudaError_t error = undo(b);
    if (!error)
        error = cudaStreamSynchronize(b->stream);
    if (!error)
        error = cudaEventRecord(begin, b->stream);
    if (!error)
        error = move(b);
    if (!error)
        error = cudaEventRecord(end, b->stream);
    if (!error)
        error = cudaEventSynchronize(end);
    if (!error)
        error = cudaEventElapsedTime(&ms, begin, end);
    *us = 1e3 * (double)ms;
    return error;
}

/* The first does not count. */
static cudaError_t time_moves(HistogramBuffers *b, Move *move, Move *undo, double *us)
{
    cudaEvent_t begin = NULL, end = NULL;
    double times[1 + COPIES];
    cudaError_t error = cudaEventCreate(&begin);
    if (!error)
        error = cudaEventCreate(&end);
    for (int i = 0; i < 1 + COPIES && !error; i++)
        error = time_move(b, move, undo, begin, end, &times[i]);
    if (!error)
        *us = bench_median(times + 1, COPIES);
    if (begin)
        cudaEventDestroy(begin);
    if (end)
        cudaEventDestroy(end);
    return error;
}

static cudaError_t copy_large(void *data, int piece, cudaStream_t stream)
{
    (void)piece;
    uint8_t *const memory = data;
    return cudaMemcpyAsync(memory + LARGE_COPY, memory, LARGE_COPY, cudaMemcpyDeviceToDevice,
                           stream);
}

/* Read and written bytes count. */
static cudaError_t measure_copy(HistogramBuffers *b)
{
    uint8_t *memory = NULL;
    BenchTime time;
    cudaError_t error = cudaMalloc((void **)&memory, 2 * LARGE_COPY);
    const BenchReplay replay = {copy_large, memory, 1, 0};
    b->copy_gb_s = NAN;
    if (error == cudaErrorMemoryAllocation)
        return cudaGetLastError(), cudaSuccess; /* not measured: no error of what follows */
    if (!error)
        error = cudaMemset(memory, 0, 2 * LARGE_COPY);
    if (!error)
        error = cudaDeviceSynchronize();
    if (!error)
        error = bench_replay(&time, &replay);
    if (!error)
        b->copy_gb_s = 2e-3 * (double)LARGE_COPY / time.us;
    const cudaError_t freed = cudaFree(memory);
    return error ? error : freed;
}

cudaError_t histogram_buffers_measure(HistogramBuffers *b)
{
    b->up_us = b->down_us = b->copy_gb_s = NAN;
    if (b->job->check_only)
        return cudaSuccess;
    cudaError_t error = time_moves(b, move_up, undo_up, &b->up_us);
    if (!error)
        error = time_moves(b, move_down, undo_down, &b->down_us);
    if (!error)
        error = undo_down(b);
    if (!error)
        error = cudaStreamSynchronize(b->stream);
    return error ? error : measure_copy(b);
}

void histogram_buffers_close(HistogramBuffers *b)
{
    if (b->stream)
        cudaStreamDestroy(b->stream);
    if (b->host)
        cudaFreeHost(b->host);
    cudaFree(b->planes);
    cudaFree(b->results);
    *b = (HistogramBuffers){0};
}
