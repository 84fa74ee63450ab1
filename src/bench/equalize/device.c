/* lumeq's kernels on the device alone, on the library's streams, in a replayed graph: without
 * the uploads, and what takes their times, that the library has between frames. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cuda_runtime_api.h>

#include "bench/copies.h"
#include "bench/equalize/equalize_feed.h"
#include "bench/replay.h"
#include "equalizer/cuda/frame.h"
#include "equalizer/cuda/pictures.h"
#include "equalizer/decay.h"

/* Frames that may be under way at the same time: then all of them are waited for. */
#define FRAMES 64

#define PLANES 3 /* that there is memory for: luma and 4:2:0 chroma */

#define FRAME_NS 16666667

/* As the library has them: the time constant of what a lift is decided on, and the clip limit where
 * nothing is lifted. */
#define LIFT_NS INT64_C(3000000000)
#define USUAL_CLIP 3.0

/* What an output is filled with before it is checked. */
#define UNTOUCHED 0x5A

typedef struct Memory {
    LumeqCudaFrame frames[FRAMES];
    LumeqState empty;
    LumeqCudaTally tallies[FRAMES];
    uint32_t counts[LUMEQ_MAX_BINS];
} Memory;

typedef struct Bench {
    const EqualizeCase *of;
    LumeqCudaDevice device;
    LumeqImage input; /* on the host */
    LumeqJob job;     /* the same for all frames */
    int history;      /* each frame goes on from the one before */
    Memory *memory;
    uint8_t *pictures; /* in turns one that is read and one that is written */
    size_t picture_size;
    int pieces, alone;
    cudaStream_t write; /* the frames' second stream, as the library has one */
    cudaEvent_t event;
} Bench;

static uint32_t to_q16(double value)
{
    return (uint32_t)lrint(value * CURVE_ONE);
}

/* As the library makes them of its parameters; that they are the same shows in the result. */
static CurveParams curve_of(const LumeqParams *params, int depth)
{
    const int fraction = depth > 12 ? depth - 12 : 0, on = params->mode != LUMEQ_MODE_OFF;
    const int reference = on && params->reference;
    const int lift = params->lift && !reference && (params->mode == LUMEQ_MODE_GLOBAL || !on);
    const double clip = params->clip == LUMEQ_CLIP_AUTO ? USUAL_CLIP : params->clip;
    return (CurveParams){.depth = depth,
                         .bins = 1 << (depth - fraction),
                         .fraction = fraction,
                         .black = 16 << (depth - 8),
                         .white = 235 << (depth - 8),
                         .clip = lift && params->clip == LUMEQ_CLIP_AUTO ? CURVE_CLIP_AUTO
                                                                         : to_q16(clip),
                         .alpha = lumeq_decay(FRAME_NS, llrint(params->smooth * 1e9)),
                         .strength = !on    ? 0
                                     : lift ? CURVE_ONE
                                            : to_q16(params->strength),
                         .adaptive = params->adaptive || lift,
                         .lift = lift,
                         .slow = lift ? lumeq_decay(FRAME_NS, LIFT_NS) : 0,
                         .denoise = lift ? CURVE_ONE : 0,
                         .stretch = params->mode == LUMEQ_MODE_STRETCH,
                         .scene_cut = params->scene_cut,
                         .reference = reference,
                         .chroma = on && !reference};
}

static void make_job(Bench *bench, const EqualizeMode *mode)
{
    const LumeqParams params = equalize_params(mode);
    LumeqJob *job = &bench->job;
    memset(job, 0, sizeof(*job));
    job->frame.in = job->frame.out = bench->input;
    job->curve = curve_of(&params, bench->input.depth);
    job->bars = (BarsParams){.width = bench->input.width,
                             .height = bench->input.height,
                             .depth = bench->input.depth,
                             .range = bench->input.range,
                             .ignore = params.reference,
                             .step = FRAME_NS};
    job->write = 1;
    job->clahe = params.mode == LUMEQ_MODE_CLAHE;
    if (job->clahe)
        lumeq_tile_grid(&job->grid, bench->input.width, bench->input.height, params.tiles_x,
                        params.tiles_y, &job->curve, USUAL_CLIP);
}

static LumeqImage picture_of(const Bench *bench, int piece, int written)
{
    uint8_t *const memory = bench->pictures + (size_t)(2 * piece + written) * bench->picture_size;
    return lumeq_pictures_on_device(memory, &bench->input, PLANES);
}

/* Work that is queued on one stream goes on on another. */
static cudaError_t lead(const Bench *bench, cudaStream_t from, cudaStream_t to)
{
    const cudaError_t error = cudaEventRecord(bench->event, from);
    return error ? error : cudaStreamWaitEvent(to, bench->event, 0);
}

/* Comes back to the stream where that has to be: in the end, and where the memory of frames is used
 * again. What then is next on the stream begins when all is done: no kernel starts early after what
 * is none. */
static cudaError_t come_back(const Bench *bench, int piece, cudaStream_t stream)
{
    const int end = bench->alone || piece == bench->pieces - 1;
    if (!end && piece % FRAMES != FRAMES - 1)
        return cudaSuccess;
    cudaError_t error = lead(bench, stream, bench->write);
    if (!error)
        error = lead(bench, bench->write, stream);
    return error || end
               ? error
               : cudaMemsetAsync(bench->memory->counts, 0, sizeof(*bench->memory->counts), stream);
}

static cudaError_t equalize(void *data, int piece, cudaStream_t stream)
{
    Bench *const bench = data;
    Memory *const m = bench->memory;
    LumeqCudaFrame *const frame = &m->frames[piece % FRAMES];
    const LumeqImage in = picture_of(bench, piece, 0), out = picture_of(bench, piece, 1);
    const LumeqImage previous = picture_of(bench, (piece + bench->pieces - 1) % bench->pieces, 0);
    const LumeqState *const before =
        bench->history ? &m->frames[(piece + FRAMES - 1) % FRAMES].result : &m->empty;
    cudaError_t error =
        lumeq_cuda_find_curve(&bench->device, &bench->job, &in, &previous,
                              (LumeqCudaHistory){&before->curve, &before->tiles}, frame, stream);
    /* As the library has it. */
    const cudaStream_t write = bench->alone ? stream : bench->write;
    if (!error && write != stream)
        error = lead(bench, stream, write);
    if (!error)
        error = lumeq_cuda_write(&bench->device, &bench->job, &in, &previous, &out, frame, NULL,
                                 write == stream, write);
    return error ? error : come_back(bench, piece, stream);
}

/* The histogram alone. */
static cudaError_t count(void *data, int piece, cudaStream_t stream)
{
    Bench *const bench = data;
    Memory *const m = bench->memory;
    const LumeqImage in = picture_of(bench, piece, 0);
    const LumeqCudaPlane luma = lumeq_pictures_plane(&in, 0);
    LumeqCudaCounts *const counts =
        bench->job.curve.depth > 8 ? lumeq_cuda_counts16 : lumeq_cuda_counts8;
    const cudaError_t error = counts(&bench->device, &luma, 0, bench->job.curve.bins, m->counts,
                                     &m->tallies[piece % FRAMES], stream);
    return error ? error : come_back(bench, piece, stream);
}

/* With the tables of the first frame, which there is. */
static cudaError_t apply(void *data, int piece, cudaStream_t stream)
{
    Bench *const bench = data;
    const LumeqCudaFrame *const frame = &bench->memory->frames[0];
    const LumeqImage in = picture_of(bench, piece, 0), out = picture_of(bench, piece, 1);
    const LumeqCudaPlane from = lumeq_pictures_plane(&in, 0), to = lumeq_pictures_plane(&out, 0);
    return bench->job.clahe ? lumeq_cuda_clahe_apply(&bench->device, &to, &from, &bench->job.grid,
                                                     &frame->tables, NULL, stream)
                            : lumeq_cuda_apply(&bench->device, &to, &from, &frame->table, NULL,
                                               &bench->job.curve, NULL, stream);
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
    cudaError_t error = bench_pieces(&bench->pieces, bench->of->device, 2 * luma);
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
        error = cudaMalloc((void **)&bench->memory, sizeof(*bench->memory));
    if (!error)
        error = cudaMemset(bench->memory, 0, sizeof(*bench->memory));
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
    cudaFree(bench->memory);
    free(bench->input.plane[0]);
}

static int answer(cudaError_t error)
{
    if (error)
        fprintf(stderr, "lumeq-bench: CUDA: %s\n", cudaGetErrorString(error));
    return error ? -1 : 0;
}

static cudaError_t time_work(Bench *bench, BenchWork *work, int alone, BenchTime *time)
{
    bench->alone = alone;
    const BenchReplay replay = {
        .work = work, .data = bench, .pieces = bench->pieces, .alone = alone};
    return bench_replay(time, &replay);
}

/* All planes that the job writes of each picture, frame behind frame, none with a history. */
static cudaError_t equalize_all(Bench *bench)
{
    cudaError_t error = cudaSuccess;
    bench->history = bench->alone = 0;
    for (int i = 0; i < bench->pieces && !error; i++) {
        const LumeqImage out = picture_of(bench, i, 1);
        error = cudaMemsetAsync(out.plane[0], UNTOUCHED, bench->picture_size, 0);
    }
    for (int i = 0; i < bench->pieces && !error; i++)
        error = equalize(bench, i, 0);
    bench->history = 1;
    return error ? error : cudaDeviceSynchronize();
}

static int compare_all(Bench *bench, const LumeqImage *expected)
{
    const BenchPicture *picture = &bench->of->picture;
    const int planes = bench->job.write;
    void *const memory = malloc(feed_image_size(picture, planes));
    const LumeqImage got = feed_image(picture, memory, planes);
    int ret = memory ? 0 : answer(cudaErrorMemoryAllocation);
    for (int i = 0; i < bench->pieces && ret == 0; i++) {
        char what[48];
        const LumeqImage out = picture_of(bench, i, 1);
        snprintf(what, sizeof(what), "frame %d of the kernels", i);
        cudaError_t error = lumeq_pictures_copy(&got, &out, planes, cudaMemcpyDeviceToHost, 0);
        if (!error)
            error = cudaDeviceSynchronize();
        ret = error ? answer(error) : feed_compare(bench->of, what, &got, expected);
    }
    free(memory);
    return ret;
}

/* All outputs are what the CPU makes of the picture: it is the same in each, so a history of such
 * frames changes nothing. */
static int check_outputs(Bench *bench, const EqualizeMode *mode)
{
    LumeqImage expected = {.plane = {NULL}};
    int ret = feed_expected(&expected, &bench->input, mode);
    if (ret == 0)
        ret = compare_all(bench, &expected);
    free(expected.plane[0]);
    return ret;
}

/* The same of what the kernels make of it now. */
static int check(Bench *bench, const EqualizeMode *mode)
{
    const int ret = answer(equalize_all(bench));
    return ret < 0 ? ret : check_outputs(bench, mode);
}

static cudaError_t time_steps(Bench *bench, EqualizeRow *row)
{
    BenchTime time = {0}, up = {0}, down = {0};
    cudaError_t error = time_work(bench, apply, 0, &time);
    row->value[EQ_APPLY_US].number = time.us;
    if (!error)
        error = time_work(bench, copy, 0, &time);
    row->value[EQ_COPY_US].number = time.us;
    bench->job.write = 0;
    if (!error)
        error = time_work(bench, equalize, 0, &time);
    const double histogram_curve_us = row->value[EQ_HISTOGRAM_CURVE_US].number = time.us;
    if (!error)
        error = time_work(bench, count, 0, &time);
    row->value[EQ_HISTOGRAM_US].number = time.us;
    row->value[EQ_CURVE_US].number = histogram_curve_us - time.us;
    if (!error)
        error = bench_copies(&up, &down, feed_image_size(&bench->of->picture, 1));
    row->value[EQ_UPLOAD_US].number = up.us;
    row->value[EQ_DOWNLOAD_US].number = down.us;
    return error;
}

/* Luma alone, whole. */
static cudaError_t time_whole(Bench *bench, EqualizeRow *row)
{
    BenchTime queued = {0}, alone = {0};
    cudaError_t error = time_work(bench, equalize, 0, &queued);
    if (!error)
        error = time_work(bench, equalize, 1, &alone);
    row->value[EQ_GPU_TOTAL_US].number = queued.us;
    row->value[EQ_GPU_SPREAD_US].number = queued.spread_us;
    row->value[EQ_LATENCY_US].number = alone.us;
    return error;
}

/* A history of another mode is none. */
static cudaError_t forget(Bench *bench)
{
    const cudaError_t error = cudaMemset(bench->memory, 0, sizeof(*bench->memory));
    return error ? error : cudaDeviceSynchronize();
}

static int measure_mode(Bench *bench, EqualizeRow *row)
{
    const EqualizeMode *const mode = bench->of->mode;
    make_job(bench, mode);
    int ret = check(bench, mode); /* the first launches, too */
    if (ret == 0)
        ret = answer(forget(bench));
    if (ret == 0)
        ret = answer(time_whole(bench, row));
    if (ret == 0)
        ret = check_outputs(bench, mode);
    if (ret == 0)
        ret = answer(time_steps(bench, row));
    bench->job.write = 1;
    return ret < 0 ? ret : check(bench, mode);
}

static int measure_chroma(Bench *bench, EqualizeRow *row)
{
    BenchTime time = {0};
    bench->job.write = PLANES;
    int ret = check(bench, bench->of->mode);
    if (ret == 0)
        ret = answer(time_work(bench, equalize, 0, &time));
    row->value[EQ_CHROMA_US].number = time.us;
    return ret;
}

static int measure_clahe(Bench *bench, EqualizeRow *row)
{
    static const EqualizeMode clahe = {"clahe", LUMEQ_MODE_CLAHE, 0};
    BenchTime time = {0};
    make_job(bench, &clahe);
    int ret = check(bench, &clahe);
    if (ret == 0)
        ret = answer(time_work(bench, equalize, 0, &time));
    row->value[EQ_CLAHE_US].number = time.us;
    return ret;
}

int equalize_device(const EqualizeCase *c, EqualizeRow *row)
{
    static Bench bench;
    memset(&bench, 0, sizeof(bench));
    bench.of = c;
    bench.input = feed_input(&c->picture, PLANES);
    int ret = bench.input.plane[0] ? answer(bench_open(&bench)) : -1;
    if (ret == 0)
        ret = measure_mode(&bench, row);
    if (ret == 0 && bench.job.curve.chroma)
        ret = measure_chroma(&bench, row);
    if (ret == 0 && c->mode->mode == LUMEQ_MODE_GLOBAL && !c->mode->reference)
        ret = measure_clahe(&bench, row);
    bench_close(&bench);
    return ret;
}
