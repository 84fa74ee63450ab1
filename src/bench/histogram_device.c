/* Runs the strategies of lumeq-bench histogram on a GPU. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "bench/histogram_kernels.h"
#include "bench/replay.h"
#include "equalizer/cuda/kernels.h"

#define ALIGNMENT 256

/* Bytes of the copy within device memory: far more than any cache. */
#define LARGE_COPY ((size_t)256 << 20)

/* Atomics in global memory are slow and find nothing in the cache, so a few pieces suffice. */
#define FEW_PIECES 4

/* Results in device memory, for each piece. */
typedef struct Results {
    uint32_t counts[BENCH_MAX_PIECES][HISTOGRAM_MAX_BINS];
    LumeqCudaTally tallies[BENCH_MAX_PIECES]; /* lumeq's, zero between its runs */
} Results;

struct HistogramGpu {
    LumeqCudaDevice device;
    int number;
    CurveParams params;
    HistogramSamples samples; /* data: `pieces` copies of the picture */
    size_t size, distance;    /* bytes of the picture, and from one copy to the next */
    int pieces;
    uint8_t *pictures;
    Results *results;
    void *temporary; /* for CUB */
    size_t temporary_size;
    HistogramKind kind; /* that runs */
};

static int check_cuda(cudaError_t error)
{
    return error ? bench_refuse("histogram", "CUDA: %s", cudaGetErrorString(error)) : 0;
}

static cudaError_t copy_large(void *data, int piece, cudaStream_t stream)
{
    (void)piece;
    uint8_t *const memory = data;
    return cudaMemcpyAsync(memory + LARGE_COPY, memory, LARGE_COPY, cudaMemcpyDeviceToDevice,
                           stream);
}

/* Measures the bandwidth of device memory; bytes read and written count. */
static cudaError_t measure_bandwidth(double *gb_s)
{
    uint8_t *memory = NULL;
    BenchTime time;
    cudaError_t error = cudaMalloc((void **)&memory, 2 * LARGE_COPY);
    const BenchReplay replay = {copy_large, memory, 1, 0};
    if (error == cudaErrorMemoryAllocation)
        return cudaGetLastError(), cudaSuccess; /* not measured; clears the error */
    if (!error)
        error = cudaMemset(memory, 0, 2 * LARGE_COPY);
    if (!error)
        error = cudaDeviceSynchronize();
    if (!error)
        error = bench_replay(&time, &replay);
    if (!error)
        *gb_s = 2e-3 * (double)LARGE_COPY / time.us;
    cudaFree(memory);
    return error;
}

static cudaError_t gpu_open(HistogramGpu *g, const BenchPicture *picture)
{
    g->size = bench_row_size(picture) * (size_t)picture->height;
    g->distance = (g->size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    g->params = (CurveParams){.depth = picture->depth, .bins = 1 << picture->depth};
    cudaError_t error = lumeq_cuda_prepare(&g->device, g->number);
    if (!error)
        error = bench_pieces(&g->pieces, g->number, g->distance);
    if (!error)
        error = cudaMalloc((void **)&g->pictures, (size_t)g->pieces * g->distance);
    if (!error)
        error = cudaMalloc((void **)&g->results, sizeof(*g->results));
    if (!error)
        error = cudaMemset(g->results, 0, sizeof(*g->results));
    for (int i = 0; i < g->pieces && !error; i++)
        error = cudaMemcpy(g->pictures + (size_t)i * g->distance, picture->luma, g->size,
                           cudaMemcpyHostToDevice);
    g->samples = (HistogramSamples){
        g->pictures, (uint32_t)picture->width * (uint32_t)picture->height, g->params.bins};
    if (!error)
        error = histogram_cub(NULL, &g->temporary_size, &g->samples, g->results->counts[0], 0);
    return error ? error : cudaMalloc(&g->temporary, g->temporary_size ? g->temporary_size : 1);
}

HistogramGpu *histogram_gpu_open(const BenchPicture *picture, int device, int measure,
                                 double *copy_gb_s)
{
    HistogramGpu *g = calloc(1, sizeof(*g));
    *copy_gb_s = NAN;
    if (!g)
        return check_cuda(cudaErrorMemoryAllocation), NULL;
    g->number = device;
    cudaError_t error = gpu_open(g, picture);
    if (!error && measure)
        error = measure_bandwidth(copy_gb_s);
    if (check_cuda(error) == 0)
        return g;
    histogram_gpu_close(g);
    return NULL;
}

/* The stride of a single row is 0, which is aligned to anything. */
static cudaError_t count_lumeq(const HistogramGpu *g, const HistogramSamples *samples, int piece,
                               cudaStream_t stream)
{
    const LumeqCudaCount count = {.counted = {(uint8_t *)samples->data, 0, (int)samples->count, 1},
                                  .params = &g->params,
                                  .tally = &g->results->tallies[piece],
                                  .host = (LumeqCudaTally *)(void *)g->results->counts[piece]};
    const LumeqCudaBatch one = lumeq_cuda_batch_of_one(&g->params);
    return lumeq_cuda_counter(g->params.depth, g->params.bins)(&g->device, &count, &one, stream);
}

/* Counts a piece; a BenchWork. */
static cudaError_t work(void *data, int piece, cudaStream_t stream)
{
    const HistogramGpu *const g = data;
    HistogramSamples samples = g->samples;
    uint32_t *const counts = g->results->counts[piece];
    size_t size = g->temporary_size;
    samples.data = g->pictures + (size_t)piece * g->distance;
    if (g->kind == HISTOGRAM_CUB)
        return histogram_cub(g->temporary, &size, &samples, counts, stream);
    if (g->kind == HISTOGRAM_LUMEQ)
        return count_lumeq(g, &samples, piece, stream);
    const cudaError_t error =
        cudaMemsetAsync(counts, 0, (size_t)samples.bins * sizeof(*counts), stream);
    return error ? error : histogram_count(g->kind, &samples, counts, g->number, stream);
}

static cudaError_t fetch(const HistogramGpu *g, uint32_t *counts, int piece)
{
    return cudaMemcpy(counts, g->results->counts[piece], (size_t)g->samples.bins * sizeof(*counts),
                      cudaMemcpyDeviceToHost);
}

/* Times the strategy. Every piece must have the same counts as the first run afterwards. */
static int time_strategy(HistogramGpu *g, HistogramResult *r)
{
    const int few = g->kind == HISTOGRAM_GLOBAL && g->pieces > FEW_PIECES;
    const int pieces = few ? FEW_PIECES : g->pieces;
    BenchTime queued = {NAN, NAN}, alone = {NAN, NAN};
    BenchReplay replay = {work, g, pieces, 1};
    cudaError_t error = bench_replay(&alone, &replay);
    replay.alone = 0;
    if (!error)
        error = bench_replay(&queued, &replay);
    r->alone_us = alone.us;
    r->us = queued.us;
    r->spread_us = queued.spread_us;
    for (int i = 0; i < pieces && !error; i++) {
        uint32_t counts[HISTOGRAM_MAX_BINS] = {0};
        error = fetch(g, counts, i);
        if (!error && memcmp(counts, r->counts, sizeof(counts)) != 0)
            return bench_refuse("histogram", "two runs count differently");
    }
    return check_cuda(error);
}

int histogram_gpu_run(HistogramGpu *g, HistogramKind kind, int measure, HistogramResult *r)
{
    *r = (HistogramResult){NAN, NAN, NAN, {0}};
    g->kind = kind;
    cudaError_t error = cudaMemset(g->results->counts, 0xff, sizeof(g->results->counts));
    if (!error)
        error = work(g, 0, 0); /* loads the kernel */
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
