/* Measures the textbook's equalization on the GPU, step by step, for comparison with lumeq. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cuda_runtime_api.h>

#include "bench/equalize/equalize.h"
#include "bench/equalize/equalize_kernels.h"
#include "bench/replay.h"

#define ALIGNMENT 256  /* of pictures on the device */
#define PINNED 4       /* pictures on the host for each direction */
#define UNTOUCHED 0x5A /* outputs are filled with it before they are checked */

typedef struct Baseline {
    const EqualizeCase *of;
    const TextbookSteps *steps;
    size_t size, distance; /* bytes of a picture, and from one picture to the next */
    uint8_t *pictures;     /* on the device, alternately an input and an output */
    uint8_t *pinned;       /* PINNED inputs, then PINNED outputs */
    uint32_t *hist;
    uint8_t *table;
    int pieces;
} Baseline;

static TextbookFrame frame_of(const Baseline *b, int piece)
{
    uint8_t *const src = b->pictures + (size_t)(2 * piece) * b->distance;
    return (TextbookFrame){.src = src,
                           .dst = src + b->distance,
                           .count = (uint32_t)b->size,
                           .hist = b->hist,
                           .table = b->table,
                           .load_factor = b->of->load_factor};
}

static cudaError_t histogram(void *data, int piece, cudaStream_t stream)
{
    const Baseline *const b = data;
    const TextbookFrame frame = frame_of(b, piece);
    return b->steps->histogram(&frame, stream);
}

static cudaError_t curve(void *data, int piece, cudaStream_t stream)
{
    const Baseline *const b = data;
    const TextbookFrame frame = frame_of(b, piece);
    return b->steps->curve(&frame, stream);
}

static cudaError_t apply(void *data, int piece, cudaStream_t stream)
{
    const Baseline *const b = data;
    const TextbookFrame frame = frame_of(b, piece);
    return b->steps->apply(&frame, stream);
}

static cudaError_t equalize(void *data, int piece, cudaStream_t stream)
{
    cudaError_t error = histogram(data, piece, stream);
    if (!error)
        error = curve(data, piece, stream);
    return error ? error : apply(data, piece, stream);
}

static cudaError_t copy(void *data, int piece, cudaStream_t stream)
{
    const Baseline *const b = data;
    const TextbookFrame frame = frame_of(b, piece);
    return cudaMemcpyAsync(frame.dst, frame.src, b->size, cudaMemcpyDeviceToDevice, stream);
}

/* From pinned memory to pinned memory. */
static cudaError_t whole(void *data, int piece, cudaStream_t stream)
{
    const Baseline *const b = data;
    const TextbookFrame frame = frame_of(b, piece);
    uint8_t *const up = b->pinned + (size_t)(piece % PINNED) * b->size;
    cudaError_t error =
        cudaMemcpyAsync((void *)frame.src, up, b->size, cudaMemcpyHostToDevice, stream);
    if (!error)
        error = equalize(data, piece, stream);
    return error ? error
                 : cudaMemcpyAsync(up + PINNED * b->size, frame.dst, b->size,
                                   cudaMemcpyDeviceToHost, stream);
}

static void textbook_on_cpu(uint8_t *dst, const uint8_t *src, size_t count)
{
    uint64_t hist[TEXTBOOK_BINS] = {0}, sum = 0;
    uint8_t table[TEXTBOOK_BINS];
    for (size_t i = 0; i < count; i++)
        hist[src[i]]++;
    for (int i = 0; i < TEXTBOOK_BINS; i++) {
        sum += hist[i];
        table[i] = (uint8_t)(sum * (TEXTBOOK_BINS - 1) / count);
    }
    for (size_t i = 0; i < count; i++)
        dst[i] = table[src[i]];
}

static cudaError_t make_pictures(Baseline *b)
{
    cudaError_t error = bench_pieces(&b->pieces, b->of->device, 2 * b->size);
    const size_t all = 2 * b->distance * (size_t)b->pieces;
    if (!error)
        error = cudaMalloc((void **)&b->pictures, all);
    if (!error)
        error = cudaMemset(b->pictures, UNTOUCHED, all);
    if (!error)
        error = cudaHostAlloc((void **)&b->pinned, 2 * PINNED * b->size, cudaHostAllocDefault);
    if (error)
        return error;
    memset(b->pinned, UNTOUCHED, 2 * PINNED * b->size);
    for (int i = 0; i < PINNED; i++)
        memcpy(b->pinned + (size_t)i * b->size, b->of->picture.luma, b->size);
    for (int i = 0; i < b->pieces && !error; i++)
        error = cudaMemcpy((void *)frame_of(b, i).src, b->of->picture.luma, b->size,
                           cudaMemcpyHostToDevice);
    return error;
}

static cudaError_t baseline_open(Baseline *b)
{
    cudaError_t error = cudaSetDevice(b->of->device);
    if (!error)
        error = cudaMalloc((void **)&b->hist, TEXTBOOK_BINS * sizeof(*b->hist));
    if (!error)
        error = cudaMalloc((void **)&b->table, TEXTBOOK_BINS);
    if (!error)
        error = make_pictures(b);
    if (!error)
        error = equalize(b, 0, 0); /* loads the kernels */
    return error ? error : cudaDeviceSynchronize();
}

static void baseline_close(Baseline *b)
{
    cudaFreeHost(b->pinned);
    cudaFree(b->pictures);
    cudaFree(b->table);
    cudaFree(b->hist);
}

static int check_cuda(cudaError_t error)
{
    return error ? bench_refuse("equalize", "CUDA: %s", cudaGetErrorString(error)) : 0;
}

static int compare(const Baseline *b, const char *what, int number, uint8_t *got, uint8_t *expected)
{
    char text[64];
    const BenchPicture *const picture = &b->of->picture;
    const LumeqImage result = equalize_image(picture, got, 1),
                     right = equalize_image(picture, expected, 1);
    snprintf(text, sizeof(text), "%s %d", what, number);
    return equalize_compare(b->of, text, &result, &right);
}

/* Checks what the timed work left in all outputs. */
static int compare_frames(const Baseline *b, uint8_t *got, uint8_t *expected)
{
    int ret = 0;
    for (int i = 0; i < b->pieces && ret == 0; i++) {
        ret = check_cuda(cudaMemcpy(got, frame_of(b, i).dst, b->size, cudaMemcpyDeviceToHost));
        if (ret == 0)
            ret = compare(b, "frame", i, got, expected);
    }
    return ret;
}

static int compare_pinned(const Baseline *b, uint8_t *expected)
{
    int ret = 0;
    for (int i = 0; i < PINNED && ret == 0; i++)
        ret =
            compare(b, "downloaded frame", i, b->pinned + (size_t)(PINNED + i) * b->size, expected);
    return ret;
}

static cudaError_t time_step(Baseline *b, BenchWork *work, BenchValue *row, int column)
{
    BenchTime time = {0};
    const BenchReplay replay = {.work = work,
                                .data = b,
                                .pieces = b->pieces,
                                .alone = column == EQ_LATENCY_US || column == EQ_HOST_TOTAL_US};
    const cudaError_t error = bench_replay(&time, &replay);
    row[column].number = time.us;
    if (column == EQ_GPU_TOTAL_US)
        row[EQ_GPU_SPREAD_US].number = time.spread_us;
    return error;
}

static cudaError_t time_on_device(Baseline *b, BenchValue *row)
{
    static const struct {
        BenchWork *work;
        int column;
    } steps[] = {
        {copy, EQ_COPY_US},   {histogram, EQ_HISTOGRAM_US}, {curve, EQ_CURVE_US},
        {apply, EQ_APPLY_US}, {equalize, EQ_GPU_TOTAL_US},  {equalize, EQ_LATENCY_US},
    };
    cudaError_t error = cudaSuccess;
    for (size_t i = 0; i < sizeof(steps) / sizeof(*steps) && !error; i++)
        error = time_step(b, steps[i].work, row, steps[i].column);
    return error;
}

static int measure(Baseline *b, BenchValue *row)
{
    uint8_t *const expected = malloc(2 * b->size);
    if (!expected)
        return check_cuda(cudaErrorMemoryAllocation);
    textbook_on_cpu(expected, b->of->picture.luma, b->size);
    int ret = check_cuda(time_on_device(b, row));
    if (ret == 0)
        ret = compare_frames(b, expected + b->size, expected);
    if (ret == 0)
        ret = equalize_copies(b->of, row);
    if (ret == 0)
        ret = check_cuda(time_step(b, whole, row, EQ_HOST_TOTAL_US));
    if (ret == 0)
        ret = compare_pinned(b, expected);
    free(expected);
    return ret;
}

int equalize_baseline(const EqualizeCase *c, BenchValue *row)
{
    const size_t size = equalize_image_size(&c->picture, 1);
    Baseline b = {.of = c,
                  .steps = c->backend == EQUALIZE_NAIVE ? &textbook_naive : &textbook_improved,
                  .size = size,
                  .distance = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT};
    int ret = check_cuda(baseline_open(&b));
    if (ret == 0)
        ret = measure(&b, row);
    baseline_close(&b);
    row[EQ_CHECKED].text = ret == 0 ? "yes" : NULL;
    return ret;
}
