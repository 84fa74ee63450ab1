#include "lumeq/lumeq.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "equalizer/arguments.h"
#include "equalizer/backend.h"
#include "equalizer/context.h"
#include "equalizer/frame_stats.h"
#include "equalizer/measure.h"
#include "equalizer/settings.h"

#define ERROR_SIZE LUMEQ_ERROR_SIZE

#define MAX_GPUS 64

#define RELOCATED_ALIGNMENT 64

/* Jobs that are used in turn, unless batches need more. */
#define RING 8

/* The history after a frame. */
typedef struct PastHistory {
    LumeqState state;
    LumeqClock clock;
    LumeqParams params; /* of that frame */
} PastHistory;

#define HISTORIES (LUMEQ_MAX_REWIND + 1)

struct LumeqEqualizer {
    const LumeqBackend *backend;
    void *priv;
    LumeqConfig config;

    /* The backend that host memory comes from: the original one, which may be lost. */
    const LumeqBackend *first_backend;
    void *first_priv;
    int finished; /* oldest frames in flight that were finished when the backend was replaced */
    /* The history that a new backend starts from. NULL: the backend has the history. */
    const LumeqState *restart_from;
    int must_redo; /* the new backend has not received all frames in flight yet */
    /* For each job: only the GPU has its input; it was lost with the GPU. */
    int gpu_input[LUMEQ_MAX_SLOTS], lost_input[LUMEQ_MAX_SLOTS];
    void *relocated[LUMEQ_MAX_SLOTS]; /* replacements for outputs that a lost GPU may still write to
                                       */
    int relocated_count;
    LumeqParams params;

    LumeqJob jobs[LUMEQ_MAX_SLOTS]; /* a ring of `ring`: `in_flight` jobs, the oldest at `first` */
    int ring, first, in_flight;
    int full; /* the backend accepts no job until one is received */
    int flushing;

    PastHistory histories[HISTORIES]; /* a ring */
    int past;                         /* index of the entry of the frame received last */
    int received;                     /* entries before it that can be rewound to */
    LumeqState empty;
    int reset;        /* the next frame starts with an empty history */
    int rewound;      /* the next frame continues the history of the frame received last */
    LumeqClock clock; /* after the last submitted frame */
    /* For each job. */
    LumeqClock clocks_in_flight[LUMEQ_MAX_SLOTS];
    LumeqParams params_in_flight[LUMEQ_MAX_SLOTS];

    /* Planes of lumeq_process_pixels(): of the last two pictures, in turn, and of the output. */
    LumeqImage planes[3];
    int last_planes;     /* index of the last picture's */
    int has_last_planes; /* it was the last frame */

    char error[ERROR_SIZE];
};

int lumeq_version(void)
{
    return LUMEQ_VERSION;
}

const char *lumeq_build_info(void)
{
    return lumeq_backend_cuda.build_info;
}

int lumeq_list_gpus(LumeqGpu *gpus, int count, char *why, size_t why_size)
{
    char *text = lumeq_error_text();
    LumeqGpu found[MAX_GPUS], first;
    int ret;
    if (count < 0 || (count && !gpus))
        ret = lumeq_refuse("there is no room for %d GPUs to be listed", count);
    else if (count && lumeq_take_struct(&first, sizeof(first), gpus) < 0)
        ret = lumeq_refuse("the first GPU's entry has an unknown size");
    else
        ret = lumeq_backend_cuda.list_gpus(found, MAX_GPUS, text, ERROR_SIZE);
    const size_t each = count > 0 && gpus && gpus[0].size ? gpus[0].size : sizeof(*gpus);
    for (int i = 0; i < ret && i < count && i < MAX_GPUS; i++) {
        LumeqGpu *to = (LumeqGpu *)(void *)((uint8_t *)gpus + (size_t)i * each);
        memcpy(to, &each, sizeof(each));
        (void)lumeq_give_struct(to, &found[i], sizeof(found[i]));
    }
    if (why && ret < 0)
        snprintf(why, why_size, "%s", text);
    return ret;
}

int lumeq_memory_use(int device, LumeqMemoryUse *use)
{
    LumeqMemoryUse taken, now = {0};
    if (device < 0 || !use)
        return lumeq_refuse("there is no GPU %d, or no room for what is used of it", device);
    if (lumeq_take_struct(&taken, sizeof(taken), use) < 0)
        return lumeq_refuse("the use of memory has an unknown size");
    if (lumeq_backend_cuda.memory_use)
        lumeq_backend_cuda.memory_use(device, &now);
    return lumeq_give_struct(use, &now, sizeof(now));
}

int lumeq_reserve_device(int device, uint64_t bytes)
{
    if (device < 0 || bytes > INT64_MAX)
        return lumeq_refuse("there is no GPU %d, or it has no such memory", device);
    const int ret = lumeq_backend_cuda.reserve ? lumeq_backend_cuda.reserve(device, (int64_t)bytes)
                                               : LUMEQ_ERR_UNAVAILABLE;
    if (ret == LUMEQ_ERR_MEMORY)
        return lumeq_refuse_with(ret, "the process has as much memory of GPU %d as it may", device);
    return ret < 0 ? lumeq_refuse_with(ret, "nothing was opened on GPU %d", device) : 0;
}

void lumeq_release_device(int device, uint64_t bytes)
{
    if (device >= 0 && bytes <= INT64_MAX && lumeq_backend_cuda.reserve)
        (void)lumeq_backend_cuda.reserve(device, -(int64_t)bytes);
}

const char *lumeq_error_string(int error)
{
    switch (error) {
    case 0: return "no error";
    case LUMEQ_ERR_ARGUMENT: return "invalid argument";
    case LUMEQ_ERR_AGAIN: return "operation would block";
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

/* Most frames in flight. */
static int slots_of(const LumeqEqualizer *eq)
{
    return eq->backend->slots * (eq->backend->alloc_device ? lumeq_batch(&eq->config) : 1);
}

static void log_line(const LumeqEqualizer *eq, LumeqLogLevel level)
{
    if (eq->config.log)
        eq->config.log(eq->config.log_user, level, eq->error);
}

/* The history `back` frames before the last received one. */
static PastHistory *history_at(LumeqEqualizer *eq, int back)
{
    return &eq->histories[(eq->past + HISTORIES - back) % HISTORIES];
}

static void clear_history(LumeqEqualizer *eq)
{
    PastHistory *past = history_at(eq, 0);
    lumeq_copy_state(&past->state, &eq->empty);
    past->clock = (LumeqClock){0};
    eq->received = 0;
}

int lumeq_create(LumeqEqualizer **equalizer, const LumeqConfig *config, char *why, size_t why_size)
{
    if (!equalizer)
        return lumeq_refuse("there is no place for the equalizer");
    *equalizer = NULL;
    LumeqWork work = {0};
    LumeqEqualizer *eq = calloc(1, sizeof(*eq));
    int ret = eq ? 0 : LUMEQ_ERR_MEMORY;
    char *text = eq ? eq->error : lumeq_error_text();
    if (!eq)
        lumeq_refuse_with(ret, "out of memory");
    if (ret == 0)
        ret = lumeq_take_config(&eq->config, config, eq->error, sizeof(eq->error));
    if (ret == 0)
        ret = lumeq_choose_backend(&work, &eq->config, eq->error, sizeof(eq->error));
    if (why)
        snprintf(why, why_size, "%s", text);
    if (ret < 0) {
        if (eq)
            lumeq_refuse_with(ret, "%s", eq->error);
        free(eq);
        return ret;
    }
    (void)lumeq_take_params(&eq->params, NULL, eq->error, sizeof(eq->error));
    eq->reset = 1;
    eq->ring = lumeq_batch(&eq->config) > 1 ? LUMEQ_MAX_SLOTS : RING;
    eq->backend = eq->first_backend = work.backend;
    eq->priv = eq->first_priv = work.priv;
    log_line(eq, LUMEQ_LOG_INFO);
    eq->error[0] = '\0';
    *equalizer = eq;
    return 0;
}

void lumeq_destroy(LumeqEqualizer **equalizer)
{
    if (!equalizer || !*equalizer)
        return;
    LumeqEqualizer *eq = *equalizer;
    for (int i = 0; i < eq->relocated_count; i++)
        eq->backend->free_host(eq->priv, eq->relocated[i]);
    for (int i = 0; i < 3; i++)
        free(eq->planes[i].plane[0]);
    LumeqWork now = {eq->backend, eq->priv}, first = {eq->first_backend, eq->first_priv};
    if (now.priv != first.priv)
        lumeq_close_backend(&now);
    lumeq_close_backend(&first);
    free(eq);
    *equalizer = NULL;
}

const char *lumeq_backend_name(const LumeqEqualizer *eq)
{
    return eq ? eq->backend->name : "";
}

const char *lumeq_last_error(const LumeqEqualizer *eq)
{
    return eq ? eq->error : lumeq_error_text();
}

static int no_equalizer(void)
{
    return lumeq_refuse("there is no equalizer");
}

int lumeq_set_params(LumeqEqualizer *eq, const LumeqParams *params)
{
    if (!eq)
        return no_equalizer();
    if (!params)
        return fail(eq, LUMEQ_ERR_ARGUMENT, "there are no parameters");
    LumeqParams taken;
    const int ret = lumeq_take_params(&taken, params, eq->error, sizeof(eq->error));
    if (ret < 0)
        return ret;
    if (taken.deflicker > 0)
        return fail(eq, LUMEQ_ERR_ARGUMENT, "deflicker needs a history that looks ahead");
    eq->params = taken;
    return 0;
}

/* A checked copy of the caller's frame and sync, in structs of this version. */
typedef struct TakenFrame {
    LumeqFrame frame;
    LumeqSync sync;
} TakenFrame;

static int take_frame(LumeqEqualizer *eq, const LumeqFrame *frame, TakenFrame *to)
{
    if (!frame)
        return fail(eq, LUMEQ_ERR_ARGUMENT, "there is no frame");
    if (lumeq_take_struct(&to->frame, sizeof(to->frame), frame) < 0)
        return fail(eq, LUMEQ_ERR_ARGUMENT, "the frame has an unknown size");
    if (to->frame.number < 0)
        return fail(eq, LUMEQ_ERR_ARGUMENT, "the frame's number %lld is negative",
                    (long long)to->frame.number);
    if (to->frame.sync) {
        if (lumeq_take_struct(&to->sync, sizeof(to->sync), to->frame.sync) < 0)
            return fail(eq, LUMEQ_ERR_ARGUMENT, "the sync has an unknown size");
        if (!eq->backend->alloc_device)
            return fail(eq, LUMEQ_ERR_ARGUMENT,
                        "streams and events are CUDA's, and the backend is %s", eq->backend->name);
        to->frame.sync = &to->sync;
    }
    return lumeq_check_frame(&to->frame, &eq->params, eq->backend, eq->error, sizeof(eq->error));
}

static int submit_job(LumeqEqualizer *eq, LumeqJob *job)
{
    const LumeqState *restore = job->restore;
    if (!restore)
        job->restore = eq->restart_from;
    const int ret = eq->backend->submit(eq->priv, job, eq->error, sizeof(eq->error));
    job->restore = restore;
    if (ret == 0)
        eq->restart_from = NULL;
    return ret;
}

static ptrdiff_t relocated_stride(const LumeqImage *image, int plane)
{
    return (lumeq_row_size(image, plane) + RELOCATED_ALIGNMENT - 1) / RELOCATED_ALIGNMENT *
           RELOCATED_ALIGNMENT;
}

/* Relocates an output that the GPU may still write to. */
static int relocate_output(LumeqEqualizer *eq, LumeqJob *job)
{
    LumeqImage *out = &job->frame.out;
    size_t size = 0;
    for (int i = 0; i < job->write; i++)
        size += (size_t)(relocated_stride(out, i) * lumeq_height(out, i));
    uint8_t *memory = eq->backend->alloc_host(eq->priv, size);
    if (!memory)
        return fail(eq, LUMEQ_ERR_MEMORY, "no memory for a frame that the GPU had");
    eq->relocated[eq->relocated_count++] = memory;
    for (int i = 0; i < job->write; i++) {
        out->plane[i] = memory;
        out->stride[i] = relocated_stride(out, i);
        memory += out->stride[i] * lumeq_height(out, i);
    }
    job->late = 0;
    return 0;
}

/* Submits a job to the CPU. If the output is in CUDA memory, the frame is only measured. If the
 * input is there, or not known to be complete, the frame is lost. */
static int submit_to_cpu(LumeqEqualizer *eq, LumeqJob *job)
{
    int ret = 0;
    if (eq->gpu_input[job - eq->jobs])
        return LUMEQ_ERR_GPU;
    if (job->frame.out.memory != LUMEQ_MEMORY_HOST) {
        job->frame.out.plane[0] = NULL;
        job->write = 0;
    } else if (job->late) {
        ret = relocate_output(eq, job);
    }
    return ret < 0 ? ret : submit_job(eq, job);
}

/* Frame number `index` of those in flight, 0 being the oldest. */
static LumeqJob *job_at(LumeqEqualizer *eq, int index)
{
    return &eq->jobs[(eq->first + index) % eq->ring];
}

static int replace_backend(LumeqEqualizer *eq)
{
    char reason[ERROR_SIZE];
    memcpy(reason, eq->error, sizeof(reason));
    LumeqWork cpu;
    if (lumeq_open_backend(&cpu, &lumeq_backend_cpu, &eq->config, eq->error, sizeof(eq->error)) < 0)
        return fail(eq, LUMEQ_ERR_GPU, "%s", reason);
    eq->backend = cpu.backend;
    eq->priv = cpu.priv;
    eq->restart_from =
        eq->finished ? &job_at(eq, eq->finished - 1)->result : &history_at(eq, 0)->state;
    fail(eq, 0, "the CPU goes on without the GPU: %.200s", reason);
    log_line(eq, LUMEQ_LOG_WARNING);
    return 0;
}

static int finish_oldest(LumeqEqualizer *eq)
{
    LumeqJob *job = job_at(eq, eq->finished);
    const int ret = eq->backend->receive(eq->priv, job, 1, eq->error, sizeof(eq->error));
    eq->finished += ret == 0;
    return ret;
}

/* If memory runs out, the next receive resumes here. */
static int redo_frames(LumeqEqualizer *eq)
{
    int ret = 0;
    while (ret == 0 && eq->finished < eq->in_flight) {
        LumeqJob *job = job_at(eq, eq->finished);
        if (eq->gpu_input[job - eq->jobs]) { /* lost: the history skips it */
            eq->lost_input[job - eq->jobs] = 1;
            if (job->restore)
                eq->restart_from = job->restore;
            eq->finished++;
            continue;
        }
        ret = submit_to_cpu(eq, job);
        if (ret == 0)
            ret = finish_oldest(eq);
    }
    eq->must_redo = ret < 0;
    return ret;
}

/*
 * Replaces the GPU by the CPU, which continues from the history of the last received frame. A GPU
 * that only refuses new frames finishes those in flight first. The frames of a lost GPU are redone
 * from their input, so that no frame is missing and the results stay identical. Their outputs are
 * relocated, since a GPU that recovers writes the old ones from whatever the input holds by then.
 * The GPU's backend stays open: its memory is still in use.
 */
static int switch_to_cpu(LumeqEqualizer *eq, int lost)
{
    while (!lost && eq->finished < eq->in_flight)
        lost = finish_oldest(eq) < 0;
    const int ret = replace_backend(eq);
    return ret < 0 ? ret : redo_frames(eq);
}

/* The parameters of the frame before the next one. */
static const LumeqParams *last_params(LumeqEqualizer *eq)
{
    if (!eq->in_flight || eq->rewound)
        return &history_at(eq, 0)->params;
    return &eq->params_in_flight[job_at(eq, eq->in_flight - 1) - eq->jobs];
}

static int submit(LumeqEqualizer *eq, const LumeqFrame *frame, const LumeqClock *clock)
{
    LumeqJob *job = job_at(eq, eq->in_flight);
    eq->clocks_in_flight[job - eq->jobs] = *clock;
    eq->params_in_flight[job - eq->jobs] = eq->params;
    job->frame = *frame;
    job->previous = frame->previous ? *frame->previous : (LumeqImage){.plane = {NULL}};
    job->curve = lumeq_curve_params(&eq->params, &frame->in, clock);
    job->curve.past = frame->previous != NULL;
    job->curve.first = lumeq_is_first(&eq->params, &eq->clock);
    if (eq->clock.started && !eq->reset)
        lumeq_change_params(&job->curve, last_params(eq), &eq->params);
    job->bars = lumeq_bars_params(&eq->params, &frame->in, clock->step);
    job->clahe = lumeq_tiles_params(&job->grid, &eq->params, &frame->in, &job->curve);
    job->write = frame->out.plane[0] ? lumeq_planes(&frame->out) : 0;
    job->restore = eq->reset ? &eq->empty : eq->rewound ? &history_at(eq, 0)->state : NULL;
    job->late = 0;
    const int by_gpu = eq->backend == &lumeq_backend_cuda;
    int *gpu_input = &eq->gpu_input[job - eq->jobs];
    *gpu_input = frame->in.memory != LUMEQ_MEMORY_HOST ||
                 job->previous.memory != LUMEQ_MEMORY_HOST ||
                 (frame->sync && (frame->sync->ready || frame->sync->stream || frame->sync->after));
    int ret = submit_job(eq, job);
    const int refused = by_gpu && (ret == LUMEQ_ERR_MEMORY || ret == LUMEQ_ERR_UNAVAILABLE);
    if (refused && (eq->config.backend == LUMEQ_BACKEND_CUDA || *gpu_input))
        return LUMEQ_ERR_UNAVAILABLE; /* CUDA was requested, or only the GPU has the input */
    if (refused || ret == LUMEQ_ERR_GPU) {
        job->late &= !refused;
        ret = switch_to_cpu(eq, !refused);
        if (ret == 0)
            ret = submit_to_cpu(eq, job);
    }
    eq->full = ret == LUMEQ_ERR_AGAIN;
    job->frame.sync = NULL; /* the caller's; invalid after submit */
    job->frame.previous = NULL;
    if (ret < 0)
        return ret;
    eq->lost_input[job - eq->jobs] = 0;
    eq->in_flight++;
    eq->has_last_planes = 0;
    eq->flushing = eq->reset = eq->rewound = 0;
    eq->clock = *clock;
    return 0;
}

int lumeq_submit(LumeqEqualizer *eq, const LumeqFrame *frame)
{
    static const LumeqClock beginning;
    TakenFrame taken;
    if (!eq)
        return no_equalizer();
    if (eq->in_flight >= slots_of(eq))
        return LUMEQ_ERR_AGAIN;
    int ret = take_frame(eq, frame, &taken);
    if (ret < 0)
        return ret;
    const LumeqFrame *f = &taken.frame;
    const LumeqClock clock =
        lumeq_clock_next(eq->reset ? &beginning : &eq->clock, f->number, f->time, f->duration);
    return submit(eq, f, &clock);
}

int lumeq_rewind(LumeqEqualizer *eq, int frames)
{
    if (!eq)
        return no_equalizer();
    if (eq->in_flight)
        return LUMEQ_ERR_AGAIN;
    if (frames < 0 || frames > eq->received)
        return fail(eq, LUMEQ_ERR_ARGUMENT, "%d frames cannot be taken back; 0 to %d can", frames,
                    eq->received);
    if (!eq->reset) /* lost frames are not part of the history */
        eq->clock = history_at(eq, 0)->clock;
    if (!frames)
        return 0;
    eq->has_last_planes = 0;
    eq->past = (eq->past + HISTORIES - frames) % HISTORIES;
    eq->received -= frames;
    eq->clock = history_at(eq, 0)->clock;
    eq->reset = 0;
    eq->rewound = 1;
    return 0;
}

static void fill_stats(LumeqFrameStats *stats, const LumeqJob *job, const LumeqState *before)
{
    const TileResult *tiles = &job->result.tiles;
    const FrameSummary summary = {
        .params = &job->curve,
        .result = &job->result.curve,
        .tiles = job->clahe ? tiles->tiles_x * tiles->tiles_y : 0,
        .tile_hist_out = tiles->hist_out,
        .tile_curve_sum = tiles->curve_sum,
        .moved = lumeq_curve_moved(&job->curve, &before->curve, &job->result.curve),
    };
    const double *begin = job->stage_begin_us, *end = job->stage_end_us;
    lumeq_fill_stats(stats, &summary);
    stats->upload_us = end[LUMEQ_STAGE_UPLOAD] - begin[LUMEQ_STAGE_UPLOAD];
    stats->equalize_us = end[LUMEQ_STAGE_EQUALIZE] - begin[LUMEQ_STAGE_EQUALIZE];
    stats->download_us = end[LUMEQ_STAGE_DOWNLOAD] - begin[LUMEQ_STAGE_DOWNLOAD];
    memcpy(stats->stage_begin_us, begin, sizeof(stats->stage_begin_us));
    memcpy(stats->stage_end_us, end, sizeof(stats->stage_end_us));
}

/* Checks the output structs; NULL is allowed for both. */
static int check_results(LumeqEqualizer *eq, const LumeqFrame *frame, const LumeqFrameStats *stats)
{
    LumeqFrame known_frame;
    LumeqFrameStats known_stats;
    if (frame && lumeq_take_struct(&known_frame, sizeof(known_frame), frame) < 0)
        return fail(eq, LUMEQ_ERR_ARGUMENT, "the frame to be filled has an unknown size");
    if (stats && lumeq_take_struct(&known_stats, sizeof(known_stats), stats) < 0)
        return fail(eq, LUMEQ_ERR_ARGUMENT, "the statistics have an unknown size");
    return 0;
}

int lumeq_receive(LumeqEqualizer *eq, LumeqFrame *frame, LumeqFrameStats *stats)
{
    if (!eq)
        return no_equalizer();
    if (!eq->in_flight)
        return eq->flushing ? LUMEQ_ERR_END : LUMEQ_ERR_AGAIN;
    LumeqFrameStats filled;
    if (check_results(eq, frame, stats) < 0)
        return LUMEQ_ERR_ARGUMENT;
    if (stats)
        (void)lumeq_take_struct(&filled, sizeof(filled), stats);
    LumeqJob *job = job_at(eq, 0);
    const int wait = eq->flushing || eq->full || eq->in_flight >= slots_of(eq);
    int ret = 0;
    if (eq->must_redo)
        ret = redo_frames(eq);
    else if (!eq->finished)
        ret = eq->backend->receive(eq->priv, job, wait, eq->error, sizeof(eq->error));
    if (ret == LUMEQ_ERR_GPU)
        ret = switch_to_cpu(eq, 1);
    if (ret < 0)
        return ret;
    if (eq->finished)
        eq->finished--;
    eq->first = (eq->first + 1) % eq->ring;
    eq->in_flight--;
    eq->full = 0;
    if (frame)
        (void)lumeq_give_struct(frame, &job->frame, sizeof(job->frame));
    if (job->restore == &eq->empty)
        clear_history(eq);
    if (eq->lost_input[job - eq->jobs])
        return LUMEQ_ERR_GPU;

    eq->past = (eq->past + 1) % HISTORIES;
    lumeq_copy_state(&history_at(eq, 0)->state, &job->result);
    history_at(eq, 0)->clock = eq->clocks_in_flight[job - eq->jobs];
    history_at(eq, 0)->params = eq->params_in_flight[job - eq->jobs];
    eq->received += eq->received < LUMEQ_MAX_REWIND;
    if (stats) {
        fill_stats(&filled, job, &history_at(eq, 1)->state);
        (void)lumeq_give_struct(stats, &filled, sizeof(filled));
    }
    return 0;
}

int lumeq_process(LumeqEqualizer *eq, LumeqFrame *frame, LumeqFrameStats *stats)
{
    if (!eq)
        return no_equalizer();
    if (eq->in_flight)
        return LUMEQ_ERR_AGAIN;
    if (check_results(eq, NULL, stats) < 0)
        return LUMEQ_ERR_ARGUMENT;
    const int ret = lumeq_submit(eq, frame);
    if (ret < 0)
        return ret;
    lumeq_flush(eq);
    return lumeq_receive(eq, frame, stats);
}

/* Makes room for a picture's planes, and keeps planes of the same shape. */
static int make_planes(LumeqEqualizer *eq, LumeqImage *planes, const LumeqPixels *pixels)
{
    const LumeqImage before = *planes;
    const int depth = pixels->depth == 8 ? 10 : 16;
    if (before.width == pixels->width && before.height == pixels->height && before.depth == depth)
        return 0;
    free(before.plane[0]);
    *planes = (LumeqImage){.width = pixels->width,
                           .height = pixels->height,
                           .depth = depth,
                           .range = LUMEQ_RANGE_FULL};
    const size_t row = ((size_t)pixels->width * 2 + RELOCATED_ALIGNMENT - 1) / RELOCATED_ALIGNMENT *
                       RELOCATED_ALIGNMENT;
    const size_t size = row * (size_t)pixels->height;
    uint8_t *memory = aligned_alloc(RELOCATED_ALIGNMENT, 3 * size);
    if (!memory) {
        *planes = (LumeqImage){.width = 0};
        return fail(eq, LUMEQ_ERR_MEMORY, "no memory for the planes of a picture");
    }
    for (int i = 0; i < 3; i++) {
        planes->plane[i] = memory + (size_t)i * size;
        planes->stride[i] = (ptrdiff_t)row;
    }
    return 0;
}

/* The CPU's threads, if the equalizer has them. */
static void convert(LumeqEqualizer *eq, const LumeqPixelsJob *job)
{
    lumeq_backend_cpu.convert(eq->backend == &lumeq_backend_cpu ? eq->priv : NULL, job);
}

int lumeq_process_pixels(LumeqEqualizer *eq, const LumeqPixels *in, const LumeqPixels *out,
                         int64_t time, int64_t duration, LumeqFrameStats *stats)
{
    if (!eq)
        return no_equalizer();
    if (eq->in_flight)
        return LUMEQ_ERR_AGAIN;
    const int next = !eq->last_planes;
    const LumeqImage *last = &eq->planes[eq->last_planes];
    int ret = lumeq_check_pixels(in, out, eq->error, sizeof(eq->error));
    if (ret == 0)
        ret = make_planes(eq, &eq->planes[next], in);
    if (ret == 0)
        ret = make_planes(eq, &eq->planes[2], in);
    if (ret < 0)
        return ret;
    convert(eq, &(LumeqPixelsJob){.in = *in, .planes = eq->planes[next]});
    LumeqFrame frame = {
        .in = eq->planes[next], .out = eq->planes[2], .time = time, .duration = duration};
    if (eq->has_last_planes && last->width == frame.in.width && last->height == frame.in.height &&
        last->depth == frame.in.depth)
        frame.previous = last;
    ret = lumeq_process(eq, &frame, stats);
    if (ret < 0)
        return ret;
    eq->last_planes = next;
    eq->has_last_planes = 1;
    convert(eq, &(LumeqPixelsJob){.in = *in, .out = *out, .planes = frame.out});
    if (stats && in->depth == 8) {
        LumeqFrameStats known;
        (void)lumeq_take_struct(&known, sizeof(known), stats);
        known.mean_in *= 255.0 / 1023;
        known.mean_out *= 255.0 / 1023;
        (void)lumeq_give_struct(stats, &known, sizeof(known));
    }
    return 0;
}

void lumeq_flush(LumeqEqualizer *eq)
{
    if (eq)
        eq->flushing = 1;
}

/* Keeps the old history while frames are in flight: they may have to be redone. */
void lumeq_reset(LumeqEqualizer *eq)
{
    if (!eq)
        return;
    eq->reset = 1;
    eq->has_last_planes = 0;
    eq->received = 0;
    if (!eq->in_flight)
        clear_history(eq);
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

int lumeq_get_cuda(LumeqEqualizer *eq, void **context, void **stream)
{
    if (context)
        *context = NULL;
    if (stream)
        *stream = NULL;
    if (!eq)
        return no_equalizer();
    if (!context || !stream)
        return fail(eq, LUMEQ_ERR_ARGUMENT, "there is no room for the context and the stream");
    if (!eq->backend->get_cuda)
        return fail(eq, LUMEQ_ERR_UNAVAILABLE, "the backend is %s, which has no CUDA context",
                    eq->backend->name);
    const int ret = eq->backend->get_cuda(eq->priv, context, stream, eq->error, sizeof(eq->error));
    if (ret < 0)
        *context = *stream = NULL;
    return ret;
}
