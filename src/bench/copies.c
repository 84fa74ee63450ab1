/* Copies between pinned memory and the device. */
#include "bench/copies.h"

#include <stdio.h>

#include "bench/bench.h"
#include "bench/replay.h"

/* Buffers on the host, in turns, and copies in a graph. */
#define BUFFERS 4
#define COPIES 16

typedef struct OneWay {
    uint8_t *host, *device; /* BUFFERS of them */
    size_t size;
    enum cudaMemcpyKind kind;
} OneWay;

static cudaError_t copy_both_ways(cudaStream_t streams[2], uint8_t *device, void *const *up,
                                  void *const *down, int buffers, size_t size, int count)
{
    cudaError_t error = cudaSuccess;
    for (int i = 0; i < count && !error; i++) {
        error = cudaMemcpyAsync(device + (size_t)(i % 2) * size, up[i % buffers], size,
                                cudaMemcpyHostToDevice, streams[0]);
        if (!error)
            error = cudaMemcpyAsync(down[i % buffers], device + (size_t)(2 + i % 2) * size, size,
                                    cudaMemcpyDeviceToHost, streams[1]);
    }
    for (int i = 0; i < 2 && !error; i++)
        error = cudaStreamSynchronize(streams[i]);
    return error;
}

int bench_duplex(double *us, int number, void *const *up, void *const *down, int buffers,
                 size_t size, int count, char *text, size_t text_size)
{
    cudaStream_t streams[2] = {NULL, NULL};
    uint8_t *device = NULL;
    cudaError_t error = cudaSetDevice(number);
    for (int i = 0; i < 2 && !error; i++)
        error = cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking);
    if (!error)
        error = cudaMalloc((void **)&device, 4 * size);
    if (!error)
        error = cudaMemset(device, 0, 4 * size);
    if (!error)
        error = cudaDeviceSynchronize();
    const double start = bench_now_us();
    if (!error)
        error = copy_both_ways(streams, device, up, down, buffers, size, count);
    *us = (bench_now_us() - start) / count;
    cudaFree(device);
    for (int i = 0; i < 2; i++)
        if (streams[i])
            cudaStreamDestroy(streams[i]);
    if (error)
        snprintf(text, text_size, "CUDA: %s", cudaGetErrorString(error));
    return error ? -1 : 0;
}

static cudaError_t copy_one_way(void *data, int piece, cudaStream_t stream)
{
    const OneWay *const way = data;
    uint8_t *const host = way->host + (size_t)(piece % BUFFERS) * way->size;
    uint8_t *const device = way->device + (size_t)(piece % BUFFERS) * way->size;
    return way->kind == cudaMemcpyHostToDevice
               ? cudaMemcpyAsync(device, host, way->size, way->kind, stream)
               : cudaMemcpyAsync(host, device, way->size, way->kind, stream);
}

cudaError_t bench_copies(BenchTime *up, BenchTime *down, size_t size)
{
    OneWay way = {.size = size, .kind = cudaMemcpyHostToDevice};
    const BenchReplay replay = {.work = copy_one_way, .data = &way, .pieces = COPIES};
    cudaError_t error = cudaMalloc((void **)&way.device, BUFFERS * size);
    if (!error)
        error = cudaHostAlloc((void **)&way.host, BUFFERS * size, cudaHostAllocDefault);
    if (!error)
        error = cudaMemset(way.device, 0, BUFFERS * size);
    if (!error)
        error = cudaDeviceSynchronize();
    if (!error)
        error = bench_replay(up, &replay);
    way.kind = cudaMemcpyDeviceToHost;
    if (!error)
        error = bench_replay(down, &replay);
    cudaFreeHost(way.host);
    cudaFree(way.device);
    return error;
}
