#include "bench/gpu.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cuda_runtime_api.h>

#include "bench/command_line.h"
#include "bench/cub.h"
#include "equalizer/cuda/kernels.h"

/* ---- copies ---- */

/* Number of buffers in each direction, so that no copy waits for the memory of the previous one. */
#define BUFFERS 4

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
    }
    return error;
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

int bench_copies(double *us, int device, size_t size, double seconds)
{
    Bus bus = {.size = size};
    cudaError_t error = bus_open(&bus, device);
    if (!error)
        error = time_copies(&bus, 4 * BUFFERS, us); /* the first copies are slow */
    if (!error)
        error = time_copies(&bus, 1 + (long)(seconds * 1e6 / (*us > 0 ? *us : 1)), us);
    bus_close(&bus);
    return error ? bench_fail("equalize", "CUDA: %s", cudaGetErrorString(error)) : 0;
}

/* ---- histograms ---- */

#define ALIGNMENT 256

/* All copies of the picture together are TIMES_L2 times as large as the L2 cache, so that samples
 * come from memory. */
#define TIMES_L2 5
#define MIN_PIECES 4
#define MAX_PIECES 1024

#define WARM_UPS 5
#define REPLAYS 31
#define LAUNCHES 4 /* of the graph in a timed replay */

/* Results in device memory for each piece (copy of the picture). */
typedef struct Results {
    uint32_t counts[MAX_PIECES][HISTOGRAM_MAX_BINS];
    LumeqCudaTally tallies[MAX_PIECES]; /* used by lumeq's kernels, zero between runs */
} Results;

struct HistogramGpu {
    LumeqCudaDevice device;
    int number;
    CurveParams params;
    uint32_t samples;
    size_t size, distance; /* bytes of the picture; bytes from one copy of it to the next */
    int pieces;
    uint8_t *pictures;
    Results *results;
    void *temporary; /* for CUB */
    size_t temporary_size;
    HistogramKind kind; /* the current strategy */
};

static int check_cuda(cudaError_t error)
{
    return error ? bench_fail("histogram", "CUDA: %s", cudaGetErrorString(error)) : 0;
}

/* `size`: bytes of a piece. */
static cudaError_t count_pieces(int *pieces, int device, size_t size)
{
    int l2 = 0;
    const cudaError_t error = cudaDeviceGetAttribute(&l2, cudaDevAttrL2CacheSize, device);
    const size_t wanted = (size_t)TIMES_L2 * (size_t)l2 / size + 1;
    const size_t least = wanted > MIN_PIECES ? wanted : MIN_PIECES;
    *pieces = (int)(least < MAX_PIECES ? least : MAX_PIECES);
    return error;
}

static uint8_t *picture_at(const HistogramGpu *g, int piece)
{
    return g->pictures + (size_t)piece * g->distance;
}

static cudaError_t count_cub(const HistogramGpu *g, void *temporary, size_t *size, int piece,
                             cudaStream_t stream)
{
    return histogram_cub(temporary, size, picture_at(g, piece), g->samples, g->params.bins,
                         g->results->counts[piece], stream);
}

static cudaError_t gpu_open(HistogramGpu *g, const BenchPicture *picture)
{
    g->size = bench_row_size(picture) * (size_t)picture->height;
    g->distance = (g->size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    g->params = (CurveParams){.depth = picture->depth, .bins = 1 << picture->depth};
    cudaError_t error = cudaSetDevice(g->number);
    if (!error)
        error = lumeq_cuda_load(&g->device, g->number);
    if (!error)
        error = count_pieces(&g->pieces, g->number, g->distance);
    if (!error)
        error = cudaMalloc((void **)&g->pictures, (size_t)g->pieces * g->distance);
    if (!error)
        error = cudaMalloc((void **)&g->results, sizeof(*g->results));
    if (!error)
        error = cudaMemset(g->results, 0, sizeof(*g->results));
    for (int i = 0; i < g->pieces && !error; i++)
        error = cudaMemcpy(picture_at(g, i), picture->luma, g->size, cudaMemcpyHostToDevice);
    g->samples = (uint32_t)picture->width * (uint32_t)picture->height;
    if (!error)
        error = count_cub(g, NULL, &g->temporary_size, 0, 0);
    return error ? error : cudaMalloc(&g->temporary, g->temporary_size ? g->temporary_size : 1);
}

HistogramGpu *histogram_gpu_open(const BenchPicture *picture, int device)
{
    HistogramGpu *g = calloc(1, sizeof(*g));
    if (!g)
        return check_cuda(cudaErrorMemoryAllocation), NULL;
    g->number = device;
    if (check_cuda(gpu_open(g, picture)) == 0)
        return g;
    histogram_gpu_close(g);
    return NULL;
}

/* Counts the picture as a single row, whose stride is not used. A stride of 0 counts as aligned. */
static cudaError_t count_lumeq(const HistogramGpu *g, int piece, cudaStream_t stream)
{
    const LumeqCudaCount count = {.counted = {picture_at(g, piece), 0, (int)g->samples, 1},
                                  .params = &g->params,
                                  .tally = &g->results->tallies[piece],
                                  .host = (LumeqCudaTally *)(void *)g->results->counts[piece]};
    const LumeqCudaBatch one = {.count = 1};
    return lumeq_cuda_count(&g->device, &count, &one, stream);
}

static cudaError_t count(const HistogramGpu *g, int piece, cudaStream_t stream)
{
    size_t size = g->temporary_size;
    return g->kind == HISTOGRAM_CUB ? count_cub(g, g->temporary, &size, piece, stream)
                                    : count_lumeq(g, piece, stream);
}

static cudaError_t fetch(const HistogramGpu *g, uint32_t *counts, int piece)
{
    return cudaMemcpy(counts, g->results->counts[piece], (size_t)g->params.bins * sizeof(*counts),
                      cudaMemcpyDeviceToHost);
}

/* ---- times, in a replayed graph ---- */

typedef struct Timer {
    cudaStream_t stream;
    cudaEvent_t begin, end;
    cudaGraph_t graph;
    cudaGraphExec_t executable;
} Timer;

static cudaError_t capture(cudaGraph_t *graph, const HistogramGpu *g, cudaStream_t stream)
{
    cudaError_t error = cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
    if (error)
        return error;
    for (int i = 0; i < g->pieces && !error; i++)
        error = count(g, i, stream);
    const cudaError_t end = cudaStreamEndCapture(stream, graph);
    return error ? error : end;
}

static cudaError_t timer_open(Timer *timer, const HistogramGpu *g)
{
    cudaError_t error = cudaStreamCreateWithFlags(&timer->stream, cudaStreamNonBlocking);
    if (!error)
        error = cudaEventCreate(&timer->begin);
    if (!error)
        error = cudaEventCreate(&timer->end);
    if (!error)
        error = capture(&timer->graph, g, timer->stream);
    if (!error)
        error = cudaGraphInstantiate(&timer->executable, timer->graph, 0);
    return error;
}

static void timer_close(Timer *timer)
{
    if (timer->executable)
        cudaGraphExecDestroy(timer->executable);
    if (timer->graph)
        cudaGraphDestroy(timer->graph);
    if (timer->begin)
        cudaEventDestroy(timer->begin);
    if (timer->end)
        cudaEventDestroy(timer->end);
    if (timer->stream)
        cudaStreamDestroy(timer->stream);
}

/* Queues the timed launches after an untimed one, to exclude the host's time for launching. */
static cudaError_t time_once(const Timer *timer, double *us)
{
    float ms = 0;
    cudaError_t error = cudaGraphLaunch(timer->executable, timer->stream);
    if (!error)
        error = cudaEventRecord(timer->begin, timer->stream);
    for (int i = 0; i < LAUNCHES && !error; i++)
        error = cudaGraphLaunch(timer->executable, timer->stream);
    if (!error)
        error = cudaEventRecord(timer->end, timer->stream);
    if (!error)
        error = cudaEventSynchronize(timer->end);
    if (!error)
        error = cudaEventElapsedTime(&ms, timer->begin, timer->end);
    *us = 1e3 * (double)ms / LAUNCHES;
    return error;
}

/* Times the strategy: the median of the replays, and the distance between their quartiles. Then
 * checks that every piece has the counts of the first run. */
static int time_strategy(HistogramGpu *g, HistogramResult *r)
{
    Timer timer = {0};
    double times[WARM_UPS + REPLAYS], *const counted = times + WARM_UPS;
    cudaError_t error = timer_open(&timer, g);
    for (int i = 0; i < WARM_UPS + REPLAYS && !error; i++)
        error = time_once(&timer, &times[i]);
    timer_close(&timer);
    if (error)
        return check_cuda(error);
    r->us = bench_median(counted, REPLAYS) / g->pieces; /* sorts */
    r->spread_us = (counted[REPLAYS * 3 / 4] - counted[REPLAYS / 4]) / g->pieces;
    for (int i = 0; i < g->pieces && !error; i++) {
        uint32_t counts[HISTOGRAM_MAX_BINS] = {0};
        error = fetch(g, counts, i);
        if (!error && memcmp(counts, r->counts, sizeof(counts)) != 0)
            return bench_fail("histogram", "two runs gave different counts");
    }
    return check_cuda(error);
}

int histogram_gpu_run(HistogramGpu *g, HistogramKind kind, int measure, HistogramResult *r)
{
    *r = (HistogramResult){NAN, NAN, {0}};
    g->kind = kind;
    cudaError_t error = cudaMemset(g->results->counts, 0xff, sizeof(g->results->counts));
    if (!error)
        error = count(g, 0, 0); /* loads the kernel */
    if (!error)
        error = fetch(g, r->counts, 0);
    return error || !measure ? check_cuda(error) : time_strategy(g, r);
}

void histogram_gpu_close(HistogramGpu *g)
{
    cudaFree(g->temporary);
    cudaFree(g->pictures);
    cudaFree(g->results);
    free(g);
}
