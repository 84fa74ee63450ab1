#include "lumeq/lumeq.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "equalizer/arguments.h"
#include "equalizer/backend.h"
#include "equalizer/decay.h"
#include "equalizer/frame_stats.h"

/* Frame duration where neither timestamps nor the caller tell: 25 frames a second. */
#define FALLBACK_DURATION_NS 40000000

#define ERROR_SIZE 256

/* Of LumeqParams.tiles_x and tiles_y where they are 0. */
#define USUAL_TILES 8

/* Of the rows of outputs that are moved. */
#define MOVED_ALIGNMENT 64

#define MAX_BIN_BITS 12
_Static_assert(LUMEQ_MAX_BINS == 1 << MAX_BIN_BITS, "as many bins as the deepest histogram has");

struct LumeqEqualizer {
    const LumeqBackend *backend;
    void *priv;
    LumeqConfig config;

    /* Where host memory comes from: the backend there was first. It may have been lost. */
    const LumeqBackend *first_backend;
    void *first_priv;
    int finished; /* frames in flight, the oldest ones, that were finished when it was replaced */
    /* The backend is new: what its first frame starts from. NULL: it has the history. */
    const LumeqHistory *go_on_from;
    int redoing;                  /* it has not been handed all the frames in flight yet */
    void *moved[LUMEQ_MAX_SLOTS]; /* outputs of frames that were in flight on the GPU */
    int moved_count;
    LumeqParams params;

    LumeqJob jobs[LUMEQ_MAX_SLOTS]; /* a ring: `in_flight` of them, the oldest at `first` */
    int first, in_flight;
    int flushing;

    LumeqHistory *before, *after; /* history before and after the frame received last */
    LumeqHistory histories[2], empty;
    int received;      /* one has been, since the start or a reset: redo may repeat it */
    int reset;         /* the next frame starts with an empty history */
    uint32_t frame;    /* since the start or a reset: number of the one submitted last */
    int64_t last_time; /* of the frame submitted last */
    int64_t last_step; /* nanoseconds between it and the one before */

    char error[ERROR_SIZE];
};

#define TEXT_OF(number) #number
#define TEXT(macro) TEXT_OF(macro)

const char *lumeq_version(void)
{
    return TEXT(LUMEQ_VERSION_MAJOR) "." TEXT(LUMEQ_VERSION_MINOR) "." TEXT(LUMEQ_VERSION_PATCH);
}

const char *lumeq_build_info(void)
{
    return lumeq_backend_cuda.build_info;
}

int lumeq_list_gpus(LumeqGpu *gpus, int count, char *why, size_t why_size)
{
    char text[ERROR_SIZE] = "";
    int ret = LUMEQ_ERR_ARGUMENT;
    if (count < 0 || (count && !gpus))
        snprintf(text, sizeof(text), "there is no room for %d GPUs to be listed", count);
    else
        ret = lumeq_backend_cuda.list_gpus(gpus, count, text, sizeof(text));
    if (why && ret < 0)
        snprintf(why, why_size, "%s", text);
    return ret;
}

const char *lumeq_error_string(int error)
{
    switch (error) {
    case 0: return "no error";
    case LUMEQ_ERR_ARGUMENT: return "invalid argument";
    case LUMEQ_ERR_AGAIN: return "not now: the other direction first";
    case LUMEQ_ERR_END: return "all frames received";
    case LUMEQ_ERR_MEMORY: return "out of memory";
    case LUMEQ_ERR_UNAVAILABLE: return "backend not available";
    case LUMEQ_ERR_GPU: return "GPU error";
    default: return "unknown error";
    }
}

static int fail(LumeqEqualizer *eq, int error, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(eq->error, sizeof(eq->error), format, args);
    va_end(args);
    return error;
}

static int open_backend(LumeqEqualizer *eq, const LumeqBackend *backend, const LumeqConfig *config)
{
    eq->backend = backend;
    eq->priv = calloc(1, backend->priv_size);
    if (!eq->priv)
        return fail(eq, LUMEQ_ERR_MEMORY, "out of memory");
    const int ret = backend->open(eq->priv, config, eq->error, sizeof(eq->error));
    if (ret < 0) {
        backend->close(eq->priv);
        free(eq->priv);
        eq->priv = NULL;
    }
    return ret;
}

static int choose_backend(LumeqEqualizer *eq, const LumeqConfig *config)
{
    if (config->backend == LUMEQ_BACKEND_CPU)
        return open_backend(eq, &lumeq_backend_cpu, config);
    int ret = open_backend(eq, &lumeq_backend_cuda, config);
    if (ret == 0 || config->backend == LUMEQ_BACKEND_CUDA)
        return ret;

    char reason[ERROR_SIZE];
    memcpy(reason, eq->error, sizeof(reason));
    ret = open_backend(eq, &lumeq_backend_cpu, config);
    if (ret == 0) {
        char cpu[ERROR_SIZE];
        memcpy(cpu, eq->error, sizeof(cpu));
        fail(eq, 0, "%.100s; not the GPU: %.140s", cpu, reason);
    }
    return ret;
}

int lumeq_create(LumeqEqualizer **equalizer, const LumeqConfig *config, char *why, size_t why_size)
{
    static const LumeqConfig defaults;
    if (!equalizer)
        return LUMEQ_ERR_ARGUMENT;
    *equalizer = NULL;
    if (!config)
        config = &defaults;
    const int valid = config->backend >= LUMEQ_BACKEND_AUTO &&
                      config->backend <= LUMEQ_BACKEND_CUDA && config->device >= 0 &&
                      config->threads >= 0 && config->threads <= 256;
    LumeqEqualizer *eq = valid ? calloc(1, sizeof(*eq)) : NULL;
    if (!eq) {
        const int error = valid ? LUMEQ_ERR_MEMORY : LUMEQ_ERR_ARGUMENT;
        if (why)
            snprintf(why, why_size, "%s", lumeq_error_string(error));
        return error;
    }

    eq->params = (LumeqParams)LUMEQ_PARAMS_DEFAULT;
    eq->last_time = LUMEQ_NO_TIME;
    eq->reset = 1;
    eq->before = &eq->histories[0];
    eq->after = &eq->histories[1];
    eq->config = *config;
    const int ret = choose_backend(eq, config);
    eq->first_backend = eq->backend;
    eq->first_priv = eq->priv;
    if (why)
        snprintf(why, why_size, "%s", eq->error);
    eq->error[0] = '\0';
    if (ret < 0)
        free(eq);
    else
        *equalizer = eq;
    return ret;
}

void lumeq_destroy(LumeqEqualizer **equalizer)
{
    if (!equalizer || !*equalizer)
        return;
    LumeqEqualizer *eq = *equalizer;
    for (int i = 0; i < eq->moved_count; i++)
        eq->backend->free_host(eq->priv, eq->moved[i]);
    if (eq->priv != eq->first_priv) {
        eq->backend->close(eq->priv);
        free(eq->priv);
    }
    eq->first_backend->close(eq->first_priv);
    free(eq->first_priv);
    free(eq);
    *equalizer = NULL;
}

const char *lumeq_backend_name(const LumeqEqualizer *eq)
{
    return eq ? eq->backend->name : "";
}

const char *lumeq_last_error(const LumeqEqualizer *eq)
{
    return eq ? eq->error : "there is no equalizer";
}

int lumeq_set_params(LumeqEqualizer *eq, const LumeqParams *params)
{
    if (!eq)
        return LUMEQ_ERR_ARGUMENT;
    if (!params)
        return fail(eq, LUMEQ_ERR_ARGUMENT, "there are no parameters");
    const int ret = lumeq_check_params(params, eq->error, sizeof(eq->error));
    if (ret == 0)
        eq->params = *params;
    return ret;
}

static int check_frame(LumeqEqualizer *eq, const LumeqFrame *frame)
{
    return frame ? lumeq_check_frame(frame, &eq->params, eq->backend, eq->error, sizeof(eq->error))
                 : fail(eq, LUMEQ_ERR_ARGUMENT, "there is no frame");
}

static uint32_t to_q16(double value)
{
    return (uint32_t)lrint(value * CURVE_ONE);
}

/* What of the frame is black, white and counted. */
static CurveParams sample_params(const LumeqImage *image)
{
    const int full = image->range == LUMEQ_RANGE_FULL, depth = image->depth;
    const int fraction = depth > MAX_BIN_BITS ? depth - MAX_BIN_BITS : 0;
    return (CurveParams){
        .depth = depth,
        .shift = image->shift,
        .bins = 1 << (depth - fraction),
        .fraction = fraction,
        .black = full ? 0 : 16 << (depth - 8),
        .white = full ? (1 << depth) - 1 : 235 << (depth - 8),
    };
}

static CurveParams curve_params(const LumeqEqualizer *eq, const LumeqImage *image, int64_t step)
{
    const LumeqParams *params = &eq->params;
    const int on = params->mode != LUMEQ_MODE_OFF, reference = on && params->reference;
    CurveParams curve = sample_params(image);
    curve.clip = to_q16(params->clip);
    curve.alpha = lumeq_decay(step, llrint(params->smooth * 1e9));
    curve.strength = on ? to_q16(params->strength) : 0;
    curve.adaptive = params->adaptive != 0;
    curve.stretch = params->mode == LUMEQ_MODE_STRETCH;
    curve.scene_cut = params->scene_cut != 0;
    curve.reference = reference;
    curve.chroma = on && !reference && params->chroma == LUMEQ_CHROMA_SCALE;
    curve.dither = on && !reference && params->dither;
    curve.frame = eq->frame;
    if (curve.alpha < 1)
        curve.alpha = 1; /* a curve that can never move is not what a long time constant means */
    return curve;
}

/* Nanoseconds since the frame before. */
static int64_t frame_step(const LumeqEqualizer *eq, const LumeqFrame *frame)
{
    if (!eq->reset && frame->time != LUMEQ_NO_TIME && eq->last_time != LUMEQ_NO_TIME &&
        frame->time > eq->last_time)
        return (uint64_t)frame->time - (uint64_t)eq->last_time < INT64_MAX
                   ? frame->time - eq->last_time
                   : INT64_MAX;
    return frame->duration > 0 ? frame->duration : FALLBACK_DURATION_NS;
}

static int hand_in(LumeqEqualizer *eq, LumeqJob *job)
{
    const LumeqHistory *restore = job->restore;
    if (!restore)
        job->restore = eq->go_on_from;
    const int ret = eq->backend->submit(eq->priv, job, eq->error, sizeof(eq->error));
    job->restore = restore;
    if (ret == 0)
        eq->go_on_from = NULL;
    return ret;
}

static ptrdiff_t moved_stride(const LumeqImage *image, int plane)
{
    return (lumeq_row_size(image, plane) + MOVED_ALIGNMENT - 1) / MOVED_ALIGNMENT * MOVED_ALIGNMENT;
}

/* What the GPU may still write is no place for a picture any more. */
static int move_output(LumeqEqualizer *eq, LumeqJob *job)
{
    LumeqImage *out = &job->frame.out;
    size_t size = 0;
    for (int i = 0; i < job->write; i++)
        size += (size_t)(moved_stride(out, i) * lumeq_height(out, i));
    uint8_t *memory = eq->backend->alloc_host(eq->priv, size);
    if (!memory)
        return fail(eq, LUMEQ_ERR_MEMORY, "no memory for a frame that the GPU had");
    eq->moved[eq->moved_count++] = memory;
    for (int i = 0; i < job->write; i++) {
        out->plane[i] = memory;
        out->stride[i] = moved_stride(out, i);
        memory += out->stride[i] * lumeq_height(out, i);
    }
    job->late = 0;
    return 0;
}

/* An output on the device is out of the CPU's reach: what is left is to measure. */
static int hand_to_cpu(LumeqEqualizer *eq, LumeqJob *job)
{
    int ret = 0;
    if (job->frame.out.memory != LUMEQ_MEMORY_HOST) {
        job->frame.out.plane[0] = NULL;
        job->write = 0;
    } else if (job->late) {
        ret = move_output(eq, job);
    }
    return ret < 0 ? ret : hand_in(eq, job);
}

/* The frame in flight that is number `index`, the oldest being 0. */
static LumeqJob *job_at(LumeqEqualizer *eq, int index)
{
    return &eq->jobs[(eq->first + index) % LUMEQ_MAX_SLOTS];
}

/* Puts the CPU in the place of the GPU. */
static int replace_backend(LumeqEqualizer *eq)
{
    char reason[ERROR_SIZE];
    memcpy(reason, eq->error, sizeof(reason));
    if (open_backend(eq, &lumeq_backend_cpu, &eq->config) < 0) {
        eq->backend = eq->first_backend;
        eq->priv = eq->first_priv;
        return fail(eq, LUMEQ_ERR_GPU, "%s", reason);
    }
    eq->go_on_from = eq->finished ? &job_at(eq, eq->finished - 1)->result : eq->after;
    return fail(eq, 0, "the CPU goes on without the GPU: %.200s", reason);
}

static int finish_oldest(LumeqEqualizer *eq)
{
    LumeqJob *job = job_at(eq, eq->finished);
    const int ret = eq->backend->receive(eq->priv, job, 1, eq->error, sizeof(eq->error));
    eq->finished += ret == 0;
    return ret;
}

/* Where memory runs out on the way, it is gone on with another time. */
static int redo_frames(LumeqEqualizer *eq)
{
    int ret = 0;
    while (ret == 0 && eq->finished < eq->in_flight) {
        ret = hand_to_cpu(eq, job_at(eq, eq->finished));
        if (ret == 0)
            ret = finish_oldest(eq);
    }
    eq->redoing = ret < 0;
    return ret;
}

/*
 * The CPU goes on from the last frame that came back, which brought the whole history with it. From
 * a GPU that takes no more frames, but is not lost, those in flight come back first: until then it
 * writes them. Those that a lost one had are done again from their input, so that nothing is lost
 * and the bits are the same; and elsewhere, since one that wakes up writes them from whatever their
 * input holds by then. The GPU's backend stays: its memory is still in use.
 */
static int go_on_without_gpu(LumeqEqualizer *eq, int lost)
{
    while (!lost && eq->finished < eq->in_flight)
        lost = finish_oldest(eq) < 0;
    const int ret = replace_backend(eq);
    return ret < 0 ? ret : redo_frames(eq);
}

static BarsParams bars_params(const LumeqParams *params, const LumeqImage *in, int64_t step)
{
    const int reference = params->mode != LUMEQ_MODE_OFF && params->reference;
    return (BarsParams){
        .width = in->width,
        .height = in->height,
        .depth = in->depth,
        .shift = in->shift,
        .range = in->range,
        .ignore = params->bars == LUMEQ_BARS_IGNORE || reference,
        .step = step,
    };
}

static void prepare_tiles(LumeqJob *job, const LumeqParams *params)
{
    const int x = params->tiles_x, y = params->tiles_y;
    job->clahe = params->mode == LUMEQ_MODE_CLAHE;
    if (job->clahe)
        lumeq_tile_grid(&job->grid, job->frame.in.width, job->frame.in.height, x ? x : USUAL_TILES,
                        y ? y : USUAL_TILES, &job->curve, params->clip);
}

static int submit(LumeqEqualizer *eq, const LumeqFrame *frame, int64_t step,
                  const LumeqHistory *restore)
{
    LumeqJob *job = job_at(eq, eq->in_flight);
    job->frame = *frame;
    job->curve = curve_params(eq, &frame->in, step);
    job->bars = bars_params(&eq->params, &frame->in, step);
    prepare_tiles(job, &eq->params);
    job->write = frame->out.plane[0] ? lumeq_planes(&frame->out) : 0;
    job->restore = restore;
    job->late = 0;
    const int by_gpu = eq->backend == &lumeq_backend_cuda;
    int ret = hand_in(eq, job);
    const int refused = by_gpu && (ret == LUMEQ_ERR_MEMORY || ret == LUMEQ_ERR_UNAVAILABLE);
    if (refused && eq->config.backend == LUMEQ_BACKEND_CUDA)
        return LUMEQ_ERR_UNAVAILABLE; /* the GPU was insisted on */
    if (refused || ret == LUMEQ_ERR_GPU) {
        job->late &= !refused;
        ret = go_on_without_gpu(eq, !refused);
        if (ret == 0)
            ret = hand_to_cpu(eq, job);
    }
    if (ret < 0)
        return ret;
    eq->in_flight++;
    eq->flushing = 0;
    return 0;
}

int lumeq_submit(LumeqEqualizer *eq, const LumeqFrame *frame)
{
    if (!eq)
        return LUMEQ_ERR_ARGUMENT;
    if (eq->in_flight >= eq->backend->slots)
        return LUMEQ_ERR_AGAIN;
    int ret = check_frame(eq, frame);
    if (ret < 0)
        return ret;
    const int64_t step = frame_step(eq, frame);
    const uint32_t number = eq->frame;
    eq->frame = eq->reset ? 0 : number + 1;
    ret = submit(eq, frame, step, eq->reset ? &eq->empty : NULL);
    if (ret < 0) {
        eq->frame = number;
        return ret;
    }
    eq->reset = 0;
    eq->last_step = step;
    eq->last_time = frame->time;
    return 0;
}

int lumeq_redo(LumeqEqualizer *eq, const LumeqFrame *frame)
{
    if (!eq)
        return LUMEQ_ERR_ARGUMENT;
    if (eq->in_flight)
        return LUMEQ_ERR_AGAIN;
    if (!eq->received)
        return fail(eq, LUMEQ_ERR_ARGUMENT, "no frame has been received that could be repeated");
    int ret = check_frame(eq, frame);
    if (ret < 0)
        return ret;
    ret = submit(eq, frame, eq->last_step, eq->before);
    if (ret == 0)
        lumeq_copy_history(eq->after, eq->before); /* receive moves it back */
    return ret;
}

int lumeq_receive(LumeqEqualizer *eq, LumeqFrame *frame, LumeqFrameStats *stats)
{
    if (!eq)
        return LUMEQ_ERR_ARGUMENT;
    if (!eq->in_flight)
        return eq->flushing ? LUMEQ_ERR_END : LUMEQ_ERR_AGAIN;
    LumeqJob *job = job_at(eq, 0);
    const int wait = eq->flushing || eq->in_flight >= eq->backend->slots;
    int ret = 0;
    if (eq->redoing)
        ret = redo_frames(eq);
    else if (!eq->finished)
        ret = eq->backend->receive(eq->priv, job, wait, eq->error, sizeof(eq->error));
    if (ret == LUMEQ_ERR_GPU)
        ret = go_on_without_gpu(eq, 1);
    if (ret < 0)
        return ret;
    if (eq->finished)
        eq->finished--;
    eq->first = (eq->first + 1) % LUMEQ_MAX_SLOTS;
    eq->in_flight--;

    LumeqHistory *const before = eq->after;
    if (job->restore == &eq->empty)
        lumeq_copy_history(before, &eq->empty);
    eq->after = eq->before;
    eq->before = before;
    lumeq_copy_history(eq->after, &job->result);
    eq->received = 1;
    if (frame)
        *frame = job->frame;
    if (stats)
        lumeq_fill_stats(stats, job, eq->before);
    return 0;
}

void lumeq_flush(LumeqEqualizer *eq)
{
    if (eq)
        eq->flushing = 1;
}

/* What the frames before have left stays until the next one is submitted: those in flight may be
 * done again. */
void lumeq_reset(LumeqEqualizer *eq)
{
    if (!eq)
        return;
    eq->reset = 1;
    eq->received = 0;
}

void *lumeq_alloc_host(LumeqEqualizer *eq, size_t size)
{
    return eq ? eq->first_backend->alloc_host(eq->first_priv, size) : NULL;
}

void lumeq_free_host(LumeqEqualizer *eq, void *memory)
{
    if (eq && memory)
        eq->first_backend->free_host(eq->first_priv, memory);
}

void *lumeq_alloc_device(LumeqEqualizer *eq, size_t size)
{
    const LumeqBackend *backend = eq ? eq->first_backend : NULL;
    return backend && backend->alloc_device ? backend->alloc_device(eq->first_priv, size) : NULL;
}

void lumeq_free_device(LumeqEqualizer *eq, void *memory)
{
    if (eq && memory && eq->first_backend->free_device)
        eq->first_backend->free_device(eq->first_priv, memory);
}
