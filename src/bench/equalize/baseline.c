/* What lumeq's kernels are compared with: the textbook's equalization on the GPU, step by step. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cuda_runtime_api.h>

#include "bench/copies.h"
#include "bench/equalize/equalize_feed.h"
#include "bench/equalize/equalize_kernels.h"
#include "bench/replay.h"

/* Pictures start at multiples of this on the device. */
#define ALIGNMENT 256

#define PINNED 4 /* pictures on the host each way, in turns */

#define UNTOUCHED 0x5A /* what an output is filled with before it is checked */

typedef struct Baseline {
    const EqualizeCase *of;
    const TextbookSteps *steps;
    size_t size, distance; /* bytes of a picture; from one to the next */
    uint8_t *pictures;     /* on the device, in turns one that is read and one that is written */
    uint8_t *pinned;       /* PINNED pictures that go up, then as many that come down */
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

static int answer(cudaError_t error)
{
    if (error)
        fprintf(stderr, "lumeq-bench: CUDA: %s\n", cudaGetErrorString(error));
    return error ? -1 : 0;
}

static int compare(const Baseline *b, const char *what, int number, uint8_t *got, uint8_t *expected)
{
    char text[64];
    const BenchPicture *const picture = &b->of->picture;
    const LumeqImage result = feed_image(picture, got, 1), right = feed_image(picture, expected, 1);
    snprintf(text, sizeof(text), "%s %d", what, number);
    return feed_compare(b->of, text, &result, &right);
}

/* What the timed work has left in all outputs. */
static int compare_frames(const Baseline *b, uint8_t *got, uint8_t *expected)
{
    int ret = 0;
    for (int i = 0; i < b->pieces && ret == 0; i++) {
        ret = answer(cudaMemcpy(got, frame_of(b, i).dst, b->size, cudaMemcpyDeviceToHost));
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

static cudaError_t time_step(Baseline *b, BenchWork *work, EqualizeRow *row, EqualizeColumn column)
{
    BenchTime time = {0};
    const BenchReplay replay = {.work = work,
                                .data = b,
                                .pieces = b->pieces,
                                .alone = column == EQ_LATENCY_US || column == EQ_HOST_TOTAL_US};
    const cudaError_t error = bench_replay(&time, &replay);
    row->value[column].number = time.us;
    if (column == EQ_GPU_TOTAL_US)
        row->value[EQ_GPU_SPREAD_US].number = time.spread_us;
    return error;
}

static cudaError_t time_on_device(Baseline *b, EqualizeRow *row)
{
    static const struct {
        BenchWork *work;
        EqualizeColumn column;
    } steps[] = {
        {copy, EQ_COPY_US},   {histogram, EQ_HISTOGRAM_US}, {curve, EQ_CURVE_US},
        {apply, EQ_APPLY_US}, {equalize, EQ_GPU_TOTAL_US},  {equalize, EQ_LATENCY_US},
    };
    cudaError_t error = cudaSuccess;
    for (size_t i = 0; i < sizeof(steps) / sizeof(*steps) && !error; i++)
        error = time_step(b, steps[i].work, row, steps[i].column);
    return error;
}

static cudaError_t time_from_host(Baseline *b, EqualizeRow *row)
{
    BenchTime up = {0}, down = {0};
    cudaError_t error = bench_copies(&up, &down, b->size);
    row->value[EQ_UPLOAD_US].number = up.us;
    row->value[EQ_DOWNLOAD_US].number = down.us;
    return error ? error : time_step(b, whole, row, EQ_HOST_TOTAL_US);
}

static int measure(Baseline *b, EqualizeRow *row)
{
    uint8_t *const expected = malloc(2 * b->size);
    if (!expected)
        return answer(cudaErrorMemoryAllocation);
    textbook_on_cpu(expected, b->of->picture.luma, b->size);
    int ret = answer(time_on_device(b, row));
    if (ret == 0)
        ret = compare_frames(b, expected + b->size, expected);
    if (ret == 0)
        ret = answer(time_from_host(b, row));
    if (ret == 0)
        ret = compare_pinned(b, expected);
    free(expected);
    return ret;
}

int equalize_baseline(const EqualizeCase *c, EqualizeRow *row)
{
    const size_t size = feed_image_size(&c->picture, 1);
    Baseline b = {.of = c,
                  .steps = c->backend == EQUALIZE_NAIVE ? &textbook_naive : &textbook_improved,
                  .size = size,
                  .distance = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT};
    int ret = answer(baseline_open(&b));
    if (ret == 0)
        ret = measure(&b, row);
    baseline_close(&b);
    row->value[EQ_CHECKED].text = ret == 0 ? "yes" : NULL;
    return ret;
}
