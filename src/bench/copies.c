#include "bench/copies.h"

#include <string.h>

#include <cuda_runtime_api.h>

#include "bench/bench.h"

/* For each direction, so that no copy waits for the one before to release its memory. */
#define BUFFERS 4

#define ON_HOST 100 /* byte in host buffers before the copies */
#define ON_DEVICE 50

typedef struct Bus {
    cudaStream_t streams[2]; /* up, down */
    void *host[2], *device[2];
    size_t size;
} Bus;

static cudaError_t bus_open(Bus *bus, int device)
{
    cudaError_t error = cudaSetDevice(device);
    for (int i = 0; i < 2 && !error; i++) {
        error = cudaStreamCreateWithFlags(&bus->streams[i], cudaStreamNonBlocking);
        if (!error)
            error = cudaMallocHost(&bus->host[i], BUFFERS * bus->size);
        if (!error)
            error = cudaMalloc(&bus->device[i], BUFFERS * bus->size);
        if (error)
            break;
        memset(bus->host[i], ON_HOST, BUFFERS * bus->size);
        error = cudaMemset(bus->device[i], ON_DEVICE, BUFFERS * bus->size);
    }
    return error ? error : cudaDeviceSynchronize();
}

static void bus_close(Bus *bus)
{
    for (int i = 0; i < 2; i++) {
        cudaFree(bus->device[i]);
        cudaFreeHost(bus->host[i]);
        if (bus->streams[i])
            cudaStreamDestroy(bus->streams[i]);
    }
}

static cudaError_t time_copies(const Bus *bus, long count, double *us)
{
    cudaError_t error = cudaSuccess;
    const double begin = bench_now_us();
    for (long i = 0; i < count && !error; i++) {
        const size_t at = (size_t)(i % BUFFERS) * bus->size;
        error = cudaMemcpyAsync((char *)bus->device[0] + at, (char *)bus->host[0] + at, bus->size,
                                cudaMemcpyHostToDevice, bus->streams[0]);
        if (!error)
            error = cudaMemcpyAsync((char *)bus->host[1] + at, (char *)bus->device[1] + at,
                                    bus->size, cudaMemcpyDeviceToHost, bus->streams[1]);
    }
    for (int i = 0; i < 2 && !error; i++)
        error = cudaStreamSynchronize(bus->streams[i]);
    *us = (bench_now_us() - begin) / (double)count;
    return error;
}

/* Checks the last byte of one buffer in each direction. */
static int arrived(const Bus *bus)
{
    unsigned char up = 0;
    return cudaMemcpy(&up, (char *)bus->device[0] + bus->size - 1, 1, cudaMemcpyDeviceToHost) ==
               cudaSuccess &&
           up == ON_HOST && ((unsigned char *)bus->host[1])[bus->size - 1] == ON_DEVICE;
}

int bench_copies(double *us, int device, size_t size, double seconds)
{
    Bus bus = {.size = size};
    cudaError_t error = bus_open(&bus, device);
    if (!error)
        error = time_copies(&bus, 4 * BUFFERS, us); /* the first copies are slow */
    if (!error)
        error = time_copies(&bus, 1 + (long)(seconds * 1e6 / (*us > 0 ? *us : 1)), us);
    const int wrong = !error && !arrived(&bus);
    bus_close(&bus);
    if (error)
        return bench_refuse("equalize", "CUDA: %s", cudaGetErrorString(error));
    return wrong ? bench_refuse("equalize", "a copy over the bus did not arrive") : 0;
}

double bench_gpu_memory(int device)
{
    size_t available = 0, all = 0;
    if (cudaSetDevice(device) || cudaMemGetInfo(&available, &all))
        return -1;
    return (double)(all - available) / (1 << 20);
}
