/* Times on the device alone: kernels in a replayed graph, and copies. */
#include <stdio.h>
#include <string.h>

#include <cuda_runtime_api.h>

#include "bench/bench.h"
#include "bench/replay.h"
#include "equalizer/cuda/clahe_kernels.h"
#include "equalizer/cuda/kernels.h"

typedef struct Memory {
    LumeqCudaCounters counters;
    CurveResult before, result;
    CurveTable table;
    TileCounters tile_counters;
    TileResult tiles_before, tiles;
    TileTables tables;
} Memory;

typedef struct Bench {
    LumeqCudaDevice device;
    CurveParams params;
    TileGrid grid; /* of 8 x 8 tiles */
    Memory *memory;
    uint8_t *samples;
    LumeqCudaPlane in[BENCH_MAX_PIECES], out[BENCH_MAX_PIECES];
    LumeqCudaChroma chroma[BENCH_MAX_PIECES]; /* 4:2:0, under each of them */
    int planes;
} Bench;

static CurveParams params_of(int depth)
{
    const int fraction = depth > 12 ? depth - 12 : 0;
    return (CurveParams){.depth = depth,
                         .bins = 1 << (depth - fraction),
                         .fraction = fraction,
                         .black = 16 << (depth - 8),
                         .white = 235 << (depth - 8),
                         .clip = 3 * CURVE_ONE,
                         .alpha = CURVE_ONE / 16,
                         .strength = CURVE_ONE * 4 / 5,
                         .scene_cut = 1,
                         .chroma = 1};
}

static cudaError_t histogram(void *data, int plane, cudaStream_t stream)
{
    Bench *const bench = data;
    Memory *m = bench->memory;
    LumeqCudaHistogram *const kernel =
        bench->params.depth > 8 ? lumeq_cuda_histogram16 : lumeq_cuda_histogram8;
    return kernel(&bench->device, &bench->in[plane], &bench->params, &m->before, &m->result,
                  &m->table, &m->counters, stream);
}

static cudaError_t equalize(void *data, int plane, cudaStream_t stream)
{
    Bench *const bench = data;
    const cudaError_t error = histogram(bench, plane, stream);
    return error ? error
                 : lumeq_cuda_apply(&bench->device, &bench->out[plane], &bench->in[plane],
                                    &bench->memory->table, &bench->params, stream);
}

static cudaError_t equalize_with_chroma(void *data, int plane, cudaStream_t stream)
{
    Bench *const bench = data;
    const cudaError_t error = equalize(bench, plane, stream);
    return error ? error
                 : lumeq_cuda_chroma(&bench->device, &bench->chroma[plane], &bench->memory->table,
                                     &bench->params, stream);
}

/* Mode CLAHE: the whole picture's histogram tells what the tiles take of theirs. */
static cudaError_t equalize_tiles(void *data, int plane, cudaStream_t stream)
{
    Bench *const bench = data;
    Memory *m = bench->memory;
    cudaError_t error = histogram(bench, plane, stream);
    if (!error)
        error = lumeq_cuda_clahe_histogram(&bench->device, &bench->in[plane], &bench->grid,
                                           &m->result, &m->tiles_before, &m->tiles, &m->tables,
                                           &m->tile_counters, stream);
    return error ? error
                 : lumeq_cuda_clahe_apply(&bench->device, &bench->out[plane], &bench->in[plane],
                                          &bench->grid, &m->tables, stream);
}

static cudaError_t copy(void *data, int plane, cudaStream_t stream)
{
    Bench *const bench = data;
    const LumeqCudaPlane *in = &bench->in[plane];
    return cudaMemcpyAsync(bench->out[plane].data, in->data,
                           (size_t)in->stride * (size_t)in->height, cudaMemcpyDeviceToDevice,
                           stream);
}

static size_t pitch_of(size_t row)
{
    return (row + 15) / 16 * 16;
}

/* The planes of chroma follow those of luma in memory. */
static void place_chroma(Bench *bench, int plane, uint8_t *memory, int width, int height)
{
    LumeqCudaChroma *c = &bench->chroma[plane];
    const int sample = bench->params.depth > 8 ? 2 : 1;
    const ptrdiff_t pitch = (ptrdiff_t)pitch_of((size_t)(width * sample));
    *c = (LumeqCudaChroma){.luma = bench->in[plane],
                           .planes = 2,
                           .step = 1,
                           .width = width,
                           .height = height,
                           .sub_x = 1,
                           .sub_y = 1};
    for (int i = 0; i < 2; i++) {
        c->in[i] = (LumeqCudaPlane){memory + 2 * i * pitch * height, pitch, width, height};
        c->out[i] = (LumeqCudaPlane){c->in[i].data + pitch * height, pitch, width, height};
    }
}

static cudaError_t make_planes(Bench *bench, int number, const BenchPicture *picture)
{
    const size_t row = bench_row_size(picture), height = (size_t)picture->height;
    const int half_width = (picture->width + 1) / 2, half_height = (picture->height + 1) / 2;
    const size_t half_row = row / (size_t)picture->width * (size_t)half_width;
    const size_t pitch = pitch_of(row), size = pitch * height;
    const size_t all = 2 * size + 4 * pitch_of(half_row) * (size_t)half_height;
    cudaError_t error = bench_pieces(&bench->planes, number, 2 * size);
    if (!error)
        error = cudaMalloc((void **)&bench->samples, all * (size_t)bench->planes);
    if (!error)
        error = cudaMemset(bench->samples, 100, all * (size_t)bench->planes);
    for (int i = 0; i < bench->planes && !error; i++) {
        uint8_t *const in = bench->samples + all * (size_t)i;
        bench->in[i] = (LumeqCudaPlane){in, (ptrdiff_t)pitch, picture->width, picture->height};
        bench->out[i] = bench->in[i];
        bench->out[i].data += size;
        place_chroma(bench, i, in + 2 * size, half_width, half_height);
        error = cudaMemcpy2D(bench->in[i].data, pitch, picture->luma, row, row, height,
                             cudaMemcpyHostToDevice);
    }
    return error;
}

static cudaError_t bench_open(Bench *bench, int number, const BenchPicture *picture)
{
    bench->params = params_of(picture->depth);
    lumeq_tile_grid(&bench->grid, picture->width, picture->height, 8, 8, &bench->params, 0);
    cudaError_t error = lumeq_cuda_prepare(&bench->device, number);
    if (!error)
        error = cudaMalloc((void **)&bench->memory, sizeof(*bench->memory));
    if (!error)
        error = cudaMemset(bench->memory, 0, sizeof(*bench->memory));
    if (!error)
        error = make_planes(bench, number, picture);
    if (!error)
        error = cudaDeviceSynchronize();
    return error;
}

static void bench_close(Bench *bench)
{
    cudaFree(bench->samples);
    cudaFree(bench->memory);
}

static cudaError_t time_work(Bench *bench, BenchWork *work, double *us)
{
    BenchTime time = {0};
    const BenchReplay replay = {.work = work, .data = bench, .pieces = bench->planes};
    const cudaError_t error = bench_replay(&time, &replay);
    *us = time.us;
    return error;
}

static int answer(cudaError_t error, char *text, size_t text_size)
{
    if (error)
        snprintf(text, text_size, "CUDA: %s", cudaGetErrorString(error));
    return error ? -1 : 0;
}

int bench_device(BenchDevice *times, int number, const BenchPicture *picture, char *text,
                 size_t text_size)
{
    static Bench bench;
    memset(&bench, 0, sizeof(bench));
    cudaError_t error = bench_open(&bench, number, picture);
    if (!error)
        error = time_work(&bench, equalize, &times->equalize_us);
    if (!error)
        error = time_work(&bench, equalize_with_chroma, &times->chroma_us);
    if (!error)
        error = time_work(&bench, equalize_tiles, &times->clahe_us);
    if (!error)
        error = time_work(&bench, histogram, &times->histogram_us);
    if (!error)
        error = time_work(&bench, copy, &times->copy_us);
    bench_close(&bench);
    return answer(error, text, text_size);
}

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
    return answer(error, text, text_size);
}
