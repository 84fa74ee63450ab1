/* Measures lumeq's kernels alone: in a replayed graph on two streams, without uploads and events
 * for times between frames. In other modes than the reference the host makes the curves, so only
 * the histogram is measured. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cuda_runtime_api.h>

#include "bench/equalize/equalize.h"
#include "bench/replay.h"
#include "equalizer/cuda/frame.h"
#include "equalizer/cuda/pictures.h"
#include "equalizer/settings.h"

/* Frames that may be in flight at the same time; then the graph waits for all of them. */
#define FRAMES 64

_Static_assert(FRAMES >= LUMEQ_MAX_BATCH, "a batch's frames are one after another");

#define BATCHES 4 /* at least, in a graph */

#define PLANES 3 /* luma and 4:2:0 chroma */

#define UNTOUCHED 0x5A /* outputs are filled with it before they are checked */

/* A frame's memory on the device, which also gets what would go to the host. */
typedef struct Frame {
    LumeqCudaTally tally, host;
    TileCounters counters;
    TileSums sums;
    CurveTable table;
    TileTables tables;
} Frame;

typedef struct Bench {
    const EqualizeCase *of;
    LumeqCudaDevice device;
    LumeqImage input;    /* on the host */
    LumeqMeasureJob job; /* the same for all frames */
    int planes_out;
    Frame *frames;
    uint8_t *pictures; /* alternately an input and an output */
    size_t picture_size;
    int pieces, alone;
    cudaStream_t write; /* the second stream, on which frames are written */
    cudaEvent_t event;
} Bench;

static void make_job(Bench *bench, const EqualizeMode *mode)
{
    const LumeqParams params = equalize_params(mode);
    const LumeqClock clock = {0};
    LumeqMeasureJob *job = &bench->job;
    memset(job, 0, sizeof(*job));
    job->curve = lumeq_curve_params(&params, &bench->input, &clock);
    bench->planes_out = 1;
    job->clahe = lumeq_tiles_params(&job->grid, &params, &bench->input, &job->curve);
}

static LumeqImage picture_of(const Bench *bench, int piece, int written)
{
    uint8_t *const memory = bench->pictures + (size_t)(2 * piece + written) * bench->picture_size;
    return lumeq_pictures_on_device(memory, &bench->input, PLANES);
}

/* Makes stream `to` wait for all work queued on `from`. */
static cudaError_t link_streams(const Bench *bench, cudaStream_t from, cudaStream_t to)
{
    const cudaError_t error = cudaEventRecord(bench->event, from);
    return error ? error : cudaStreamWaitEvent(to, bench->event, 0);
}

/* The frames that are used in turn: as many whole batches as there is memory for. */
static int frames_in_turn(const Bench *bench)
{
    return FRAMES / bench->of->batch * bench->of->batch;
}

/* Joins the second stream with the first at the end, and before the memory of frames is reused. The
 * memset keeps the next kernel from starting early. */
static cudaError_t join_streams(const Bench *bench, int piece, cudaStream_t stream)
{
    const int end = bench->alone || piece == bench->pieces - 1, frames = frames_in_turn(bench);
    if (!end && piece % frames != frames - 1)
        return cudaSuccess;
    cudaError_t error = link_streams(bench, stream, bench->write);
    if (!error)
        error = link_streams(bench, bench->write, stream);
    return error || end ? error
                        : cudaMemsetAsync(&bench->frames->host, 0, sizeof(uint32_t), stream);
}

static LumeqCudaBatch batch_of(const Bench *bench, int count)
{
    LumeqCudaBatch batch = lumeq_cuda_batch_of_one(&bench->job.curve);
    batch.count = count;
    for (int i = 0; i < count; i++) {
        LumeqCudaInBatch *of = &batch.of[i];
        *of = batch.of[0];
        for (int k = 0; k < 3; k++)
            of->in[k] = of->out[k] = (ptrdiff_t)(2 * (size_t)i * bench->picture_size);
        of->device = of->host = (ptrdiff_t)((size_t)i * sizeof(Frame));
    }
    return batch;
}

/* Launches a batch with its last piece. */
static cudaError_t equalize(void *data, int piece, cudaStream_t stream)
{
    Bench *const bench = data;
    const int batch = bench->alone ? 1 : bench->of->batch, count = piece % batch + 1;
    if (count < batch && piece < bench->pieces - 1)
        return cudaSuccess;
    const int first = piece + 1 - count, all = frames_in_turn(bench);
    Frame *const frame = &bench->frames[first % all];
    const LumeqCudaBatch together = batch_of(bench, count);
    const LumeqCudaReference parts = {
        .tally = &frame->tally,
        .host = &frame->host,
        .table = &frame->table,
        .counters = &frame->counters,
        .sums = &frame->sums,
        .tables = &frame->tables,
    };
    LumeqMeasureJob job = bench->job;
    job.in = picture_of(bench, first, 0);
    const LumeqApplyJob apply = {
        .in = job.in,
        .out = picture_of(bench, first, 1),
        .write = bench->planes_out,
        .curve = job.curve,
        .table = &frame->table,
        .clahe = job.clahe,
        .grid = &job.grid,
        .tables = &frame->tables,
    };
    cudaError_t error = lumeq_cuda_find_curve(&bench->device, &job, &parts, &together, stream);
    /* Like the library: a single frame is written on the stream of its curve. */
    const cudaStream_t write = bench->alone ? stream : bench->write;
    if (!error && write != stream)
        error = link_streams(bench, stream, write);
    if (!error && bench->planes_out)
        error = lumeq_cuda_apply_curve(&bench->device, &apply, &together,
                                       write == stream && bench->device.early_launches, write);
    return error ? error : join_streams(bench, piece, stream);
}

/* Counts only. */
static cudaError_t count(void *data, int piece, cudaStream_t stream)
{
    Bench *const bench = data;
    const LumeqImage in = picture_of(bench, piece, 0);
    const CurveParams *p = &bench->job.curve;
    const LumeqCudaCount count = {.counted = lumeq_pictures_plane(&in, 0),
                                  .params = p,
                                  .tally = &bench->frames[piece % FRAMES].tally,
                                  .host = &bench->frames[piece % FRAMES].host};
    const LumeqCudaBatch one = lumeq_cuda_batch_of_one(p);
    const cudaError_t error =
        lumeq_cuda_counter(p->depth, p->bins)(&bench->device, &count, &one, stream);
    return error ? error : join_streams(bench, piece, stream);
}

/* Looks up only, with the tables of the first frame. */
static cudaError_t apply(void *data, int piece, cudaStream_t stream)
{
    Bench *const bench = data;
    const Frame *const frame = bench->frames;
    const LumeqImage in = picture_of(bench, piece, 0), out = picture_of(bench, piece, 1);
    const LumeqCudaPlane from = lumeq_pictures_plane(&in, 0), to = lumeq_pictures_plane(&out, 0);
    const LumeqCudaBatch one = lumeq_cuda_batch_of_one(&bench->job.curve);
    return bench->job.clahe ? lumeq_cuda_clahe_apply(&bench->device, &to, &from, &bench->job.grid,
                                                     &frame->tables, NULL, &one, stream)
                            : lumeq_cuda_apply(&bench->device, &to, &from, &frame->table, NULL,
                                               &bench->job.curve, &one, stream);
}

static cudaError_t copy(void *data, int piece, cudaStream_t stream)
{
    const Bench *const bench = data;
    const LumeqImage in = picture_of(bench, piece, 0), out = picture_of(bench, piece, 1);
    return cudaMemcpyAsync(out.plane[0], in.plane[0], lumeq_pictures_size(&bench->input, 1),
                           cudaMemcpyDeviceToDevice, stream);
}

static cudaError_t make_pictures(Bench *bench)
{
    const size_t luma = lumeq_pictures_size(&bench->input, 1);
    bench->picture_size = lumeq_pictures_size(&bench->input, PLANES);
    const int batches = BATCHES * bench->of->batch;
    cudaError_t error = bench_pieces(&bench->pieces, bench->of->device, 2 * luma);
    if (bench->of->batch > 1)
        bench->pieces = bench->pieces < batches ? batches : bench->pieces / batches * batches;
    const size_t size = 2 * bench->picture_size * (size_t)bench->pieces;
    if (!error)
        error = cudaMalloc((void **)&bench->pictures, size);
    if (!error)
        error = cudaMemset(bench->pictures, UNTOUCHED, size);
    for (int i = 0; i < bench->pieces && !error; i++) {
        const LumeqImage in = picture_of(bench, i, 0);
        error = lumeq_pictures_copy(&in, &bench->input, PLANES, cudaMemcpyHostToDevice, 0);
    }
    return error;
}

static cudaError_t bench_open(Bench *bench)
{
    cudaError_t error = lumeq_cuda_prepare(&bench->device, bench->of->device);
    if (!error)
        error = cudaMalloc((void **)&bench->frames, FRAMES * sizeof(*bench->frames));
    if (!error)
        error = cudaMemset(bench->frames, 0, FRAMES * sizeof(*bench->frames));
    if (!error)
        error = cudaStreamCreateWithFlags(&bench->write, cudaStreamNonBlocking);
    if (!error)
        error = cudaEventCreateWithFlags(&bench->event, cudaEventDisableTiming);
    if (!error)
        error = make_pictures(bench);
    if (!error)
        error = cudaDeviceSynchronize();
    return error;
}

static void bench_close(Bench *bench)
{
    if (bench->event)
        cudaEventDestroy(bench->event);
    if (bench->write)
        cudaStreamDestroy(bench->write);
    cudaFree(bench->pictures);
    cudaFree(bench->frames);
    free(bench->input.plane[0]);
}

static int check_cuda(cudaError_t error)
{
    return error ? bench_refuse("equalize", "CUDA: %s", cudaGetErrorString(error)) : 0;
}

static cudaError_t time_work(Bench *bench, BenchWork *work, int alone, BenchTime *time)
{
    bench->alone = alone;
    const BenchReplay replay = {
        .work = work, .data = bench, .pieces = bench->pieces, .alone = alone};
    return bench_replay(time, &replay);
}

/* Equalizes all pictures once, without a history. */
static cudaError_t equalize_all(Bench *bench)
{
    cudaError_t error = cudaSuccess;
    bench->alone = 0;
    for (int i = 0; i < bench->pieces && !error; i++) {
        const LumeqImage out = picture_of(bench, i, 1);
        error = cudaMemsetAsync(out.plane[0], UNTOUCHED, bench->picture_size, 0);
    }
    for (int i = 0; i < bench->pieces && !error; i++)
        error = equalize(bench, i, 0);
    return error ? error : cudaDeviceSynchronize();
}

static int compare_all(Bench *bench, const LumeqImage *expected)
{
    const BenchPicture *picture = &bench->of->picture;
    const int planes = bench->planes_out;
    void *const memory = malloc(equalize_image_size(picture, planes));
    const LumeqImage got = equalize_image(picture, memory, planes);
    int ret = memory ? 0 : check_cuda(cudaErrorMemoryAllocation);
    for (int i = 0; i < bench->pieces && ret == 0; i++) {
        char what[48];
        const LumeqImage out = picture_of(bench, i, 1);
        snprintf(what, sizeof(what), "frame %d of the kernels", i);
        cudaError_t error = lumeq_pictures_copy(&got, &out, planes, cudaMemcpyDeviceToHost, 0);
        if (!error)
            error = cudaDeviceSynchronize();
        ret = error ? check_cuda(error) : equalize_compare(bench->of, what, &got, expected);
    }
    free(memory);
    return ret;
}

/* Compares all outputs with plain C. */
static int check_outputs(Bench *bench, const EqualizeMode *mode)
{
    LumeqImage expected = {.plane = {NULL}};
    int ret = equalize_expected(&expected, &bench->input, mode);
    if (ret == 0)
        ret = compare_all(bench, &expected);
    free(expected.plane[0]);
    return ret;
}

/* Equalizes all pictures and compares them with plain C. */
static int check(Bench *bench, const EqualizeMode *mode)
{
    const int ret = check_cuda(equalize_all(bench));
    return ret < 0 ? ret : check_outputs(bench, mode);
}

/* Measures the steps alone, and a plain copy. The time of the curve is that of histogram and curve
 * together, less that of the histogram. */
static cudaError_t time_steps(Bench *bench, BenchValue *row)
{
    BenchTime time = {0};
    cudaError_t error = time_work(bench, apply, 0, &time);
    row[EQ_APPLY_US].number = time.us;
    if (!error)
        error = time_work(bench, copy, 0, &time);
    row[EQ_COPY_US].number = time.us;
    bench->planes_out = 0;
    if (!error)
        error = time_work(bench, equalize, 0, &time);
    const double histogram_curve_us = row[EQ_HISTOGRAM_CURVE_US].number = time.us;
    if (!error)
        error = time_work(bench, count, 0, &time);
    bench->planes_out = 1;
    row[EQ_HISTOGRAM_US].number = time.us;
    row[EQ_CURVE_US].number = histogram_curve_us - time.us;
    return error;
}

/* Measures luma with all steps. */
static cudaError_t time_whole(Bench *bench, BenchValue *row)
{
    BenchTime queued = {0}, alone = {0};
    cudaError_t error = time_work(bench, equalize, 0, &queued);
    if (!error)
        error = time_work(bench, equalize, 1, &alone);
    row[EQ_GPU_TOTAL_US].number = queued.us;
    row[EQ_GPU_SPREAD_US].number = queued.spread_us;
    row[EQ_LATENCY_US].number = alone.us;
    return error;
}

/* The histogram of a mode whose curves the host makes. */
static int measure_count(Bench *bench, BenchValue *row)
{
    BenchTime time = {0};
    cudaError_t error = time_work(bench, count, 0, &time);
    row[EQ_HISTOGRAM_US].number = time.us;
    if (!error)
        error = time_work(bench, copy, 0, &time);
    row[EQ_COPY_US].number = time.us;
    return error ? check_cuda(error) : equalize_copies(bench->of, row);
}

static int measure_mode(Bench *bench, BenchValue *row)
{
    const EqualizeMode *const mode = bench->of->mode;
    make_job(bench, mode);
    if (!mode->reference)
        return measure_count(bench, row);
    int ret = check(bench, mode); /* loads the kernels as well */
    if (ret == 0)
        ret = check_cuda(time_whole(bench, row));
    if (ret == 0)
        ret = check_outputs(bench, mode);
    if (ret == 0)
        ret = check_cuda(time_steps(bench, row));
    if (ret == 0)
        ret = equalize_copies(bench->of, row);
    return ret < 0 ? ret : check(bench, mode);
}

int equalize_device(const EqualizeCase *c, BenchValue *row)
{
    static Bench bench;
    memset(&bench, 0, sizeof(bench));
    bench.of = c;
    bench.input = equalize_input(&c->picture, PLANES);
    int ret = bench.input.plane[0] ? check_cuda(bench_open(&bench)) : -1;
    if (ret == 0)
        ret = measure_mode(&bench, row);
    bench_close(&bench);
    return ret;
}
