/* LumeqEqualizer: frames in flight, and the CPU, which takes over from a lost GPU. */
#include "lumeq/lumeq.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "equalizer/arguments.h"
#include "equalizer/backend.h"
#include "equalizer/context.h"
#include "equalizer/history.h"
#include "equalizer/measure.h"
#include "equalizer/platform.h"
#include "equalizer/settings.h"
#include "equalizer/tone_curve.h"

#define MAX_GPUS 64

/* Maximum number of frames in flight. */
#define SLOTS (LUMEQ_FLIGHTS * LUMEQ_MAX_BATCH)

typedef struct Flight {
    LumeqFrame frame;    /* its sync is valid only during submit */
    LumeqImage previous; /* plane[0] NULL: unknown */
    LumeqPast past;      /* the history after this frame; params and clock are set on submit */
    int after_reset;     /* the frame begins a new history */
    int reference;       /* a reference mode on a GPU, which needs no curve from the host */
    int gpu_only;        /* the CPU cannot take the frame over */
    LumeqMeasure measure;
    TileSums sums;     /* of tiles, for a reference frame */
    void *pending;     /* on a GPU: the backend's handle */
    LumeqCurve *curve; /* NULL: not made yet */
    int finished;      /* finished, or lost with `error` */
    int error;
    double begin_us[LUMEQ_STAGES], end_us[LUMEQ_STAGES];
} Flight;

struct LumeqEqualizer {
    LumeqContext *context;
    const LumeqBackend *backend; /* the context's, or the CPU's once it has taken over */
    void *priv;
    LumeqParams params;

    int batch; /* maximum number of frames that are launched together */
    /* A ring of `size` frames. `first` is the oldest of the `in_flight` frames; the slot before
     * `first` holds the frame received last. */
    Flight flights[SLOTS + 1];
    int size, first, in_flight;
    int begun, written; /* on a GPU: how many frames' measuring or writing has begun */
    int flushing;

    CurveWork work;
    int reset;        /* the next frame starts with an empty history */
    LumeqClock clock; /* after the last submitted frame */

    /* For lumeq_process_pixels(): planes of two inputs, used alternately, and of the output. */
    LumeqImage planes[3];
    int last_planes;     /* index of the last picture's planes */
    int has_last_planes; /* these planes hold the previous frame */

    double opened_us;
    char error[LUMEQ_ERROR_SIZE];
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
    LumeqGpu found[MAX_GPUS], first;
    int ret;
    if (count < 0 || (count && !gpus))
        ret = lumeq_refuse("`gpus` is NULL, or `count` (%d) is negative", count);
    else
        ret = count ? LUMEQ_TAKE(LumeqGpu, &first, gpus) : 0;
    if (ret == 0)
        ret = lumeq_backend_cuda.list_gpus(found, MAX_GPUS);
    const size_t each = count > 0 && gpus && gpus[0].size ? gpus[0].size : sizeof(*gpus);
    for (int i = 0; i < ret && i < count && i < MAX_GPUS; i++) {
        LumeqGpu *to = (LumeqGpu *)(void *)((uint8_t *)gpus + (size_t)i * each);
        memcpy(to, &each, sizeof(each));
        (void)lumeq_give_struct(to, &found[i], sizeof(found[i]));
    }
    if (why && ret < 0)
        snprintf(why, why_size, "%s", lumeq_error_text());
    return ret;
}

int lumeq_memory_use(int device, LumeqMemoryUse *use)
{
    LumeqMemoryUse taken, now = {0};
    if (device < 0 || !use)
        return lumeq_refuse("`use` is NULL, or `device` (%d) is negative", device);
    if (LUMEQ_TAKE(LumeqMemoryUse, &taken, use) < 0)
        return LUMEQ_ERR_ARGUMENT;
    if (lumeq_backend_cuda.memory_use)
        lumeq_backend_cuda.memory_use(device, &now);
    return lumeq_give_struct(use, &now, sizeof(now));
}

int lumeq_reserve_device(int device, uint64_t bytes)
{
    if (device < 0 || bytes > INT64_MAX)
        return lumeq_refuse("`device` is negative, or `bytes` is too large");
    const int ret = lumeq_backend_cuda.reserve ? lumeq_backend_cuda.reserve(device, (int64_t)bytes)
                                               : LUMEQ_ERR_UNAVAILABLE;
    if (ret == LUMEQ_ERR_MEMORY)
        return lumeq_refuse_with(ret, "this process has reached its memory limit on GPU %d",
                                 device);
    return ret < 0
               ? lumeq_refuse_with(ret, "no equalizer or context has been opened on GPU %d", device)
               : 0;
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

static int failed(LumeqEqualizer *eq, int error)
{
    if (error < 0 && error != LUMEQ_ERR_AGAIN)
        memcpy(eq->error, lumeq_error_text(), sizeof(eq->error));
    return error;
}

/* `index`: 0 is the oldest in flight, -1 the one that was received last. */
static Flight *flight_at(LumeqEqualizer *eq, int index)
{
    return &eq->flights[(eq->first + index + eq->size) % eq->size];
}

static int slots_of(const LumeqEqualizer *eq)
{
    return eq->backend->place ? LUMEQ_FLIGHTS * eq->batch : 1;
}

static double now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

int lumeq_create(LumeqEqualizer **equalizer, const LumeqConfig *config, char *why, size_t why_size)
{
    if (!equalizer)
        return lumeq_refuse("`equalizer` is NULL");
    *equalizer = NULL;
    LumeqEqualizer *eq = calloc(1, sizeof(*eq));
    if (!eq) {
        if (why)
            snprintf(why, why_size, "out of memory");
        return lumeq_no_memory();
    }
    const int ret = lumeq_context_create(&eq->context, config, why, why_size);
    if (ret < 0) {
        free(eq);
        return ret;
    }
    (void)lumeq_take_params(&eq->params, NULL);
    eq->reset = 1;
    eq->opened_us = now_us();
    eq->backend = eq->context->first.backend;
    eq->priv = eq->context->first.priv;
    /* Frames of live sources do not wait for later ones. */
    eq->batch = 1;
    if (eq->context->config.batch > 1 && !eq->context->config.real_time)
        eq->batch = eq->context->config.batch;
    eq->size = slots_of(eq) + 1;
    *equalizer = eq;
    return 0;
}

void lumeq_destroy(LumeqEqualizer **equalizer)
{
    if (!equalizer || !*equalizer)
        return;
    LumeqEqualizer *eq = *equalizer;
    for (int i = 0; i < 3; i++)
        lumeq_free(eq->planes[i].plane[0]);
    lumeq_context_destroy(&eq->context);
    for (int i = 0; i < eq->size; i++) {
        lumeq_free(eq->flights[i].measure.memory);
        lumeq_curve_unref(&eq->flights[i].curve);
    }
    free(eq);
    *equalizer = NULL;
}

LumeqContext *lumeq_get_context(LumeqEqualizer *eq)
{
    return eq ? eq->context : NULL;
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
    return lumeq_refuse("`equalizer` is NULL");
}

int lumeq_set_params(LumeqEqualizer *eq, const LumeqParams *params)
{
    if (!eq)
        return no_equalizer();
    LumeqParams taken;
    int ret = params ? lumeq_take_params(&taken, params) : lumeq_refuse("`params` is NULL");
    if (ret == 0 && taken.deflicker > 0)
        ret = lumeq_refuse("deflicker needs a history with lookahead");
    if (ret == 0)
        eq->params = taken;
    return failed(eq, ret);
}

/* Stores a checked copy of the caller's frame and sync, in structs of this version. */
static int take_frame(LumeqEqualizer *eq, const LumeqFrame *from, LumeqFrame *frame,
                      LumeqSync *sync)
{
    if (!from)
        return lumeq_refuse("`frame` is NULL");
    if (LUMEQ_TAKE(LumeqFrame, frame, from) < 0)
        return LUMEQ_ERR_ARGUMENT;
    if (frame->number < 0)
        return lumeq_refuse("the frame number %lld is negative", (long long)frame->number);
    const int ret = lumeq_take_sync(sync, &frame->sync, eq->backend);
    return ret < 0 ? ret : lumeq_check_frame(frame, &eq->params, eq->backend);
}

static const LumeqPast *past_before(const LumeqEqualizer *eq, const Flight *f)
{
    static const LumeqPast none;
    return f->after_reset ? &none : &(f == eq->flights ? f + eq->size - 1 : f - 1)->past;
}

/* The number of planes to write; 0: the frame is only measured. */
static int planes_to_write(const Flight *f)
{
    return f->frame.out.plane[0] ? lumeq_planes(&f->frame.out) : 0;
}

static LumeqMeasureJob measure_job(const Flight *f)
{
    LumeqMeasureJob job = lumeq_measure_job(&f->measure, &f->past.params, &f->past.clock,
                                            &f->frame.in, &f->previous, f->frame.sync);
    job.counts.cells = NULL;
    job.chroma &= planes_to_write(f) != 1;
    return job;
}

static int prepare_measure(Flight *f)
{
    const MeasureShape shape = lumeq_measure_shape(&f->past.params, &f->frame.in);
    if (lumeq_measure_prepare(&f->measure, &shape) < 0)
        return lumeq_no_memory();
    f->measure.counts.sums = &f->sums;
    return 0;
}

static int compute_curve(LumeqEqualizer *eq, Flight *f)
{
    const LumeqFollow frame = {&f->measure, 0, f->frame.interlaced, f->previous.plane[0] != NULL};
    if (lumeq_follow(&frame, past_before(eq, f), &f->past, &eq->work, &f->curve) < 0)
        return LUMEQ_ERR_MEMORY;
    return 0;
}

static LumeqApplyJob apply_job(const Flight *f)
{
    LumeqApplyJob job = lumeq_curve_job(f->curve, &f->frame.in, &f->frame.out);
    job.write = planes_to_write(f);
    job.sync = f->frame.sync;
    job.flight = f->pending;
    if (f->previous.plane[0]) {
        job.previous[0] = f->previous;
        job.previous_count = 1;
    }
    return job;
}

/* ---- on the CPU ---- */

/* Measures a frame on the CPU and, unless its output is in CUDA memory, writes it. */
static int equalize_on_cpu(LumeqEqualizer *eq, Flight *f)
{
    int ret = 0;
    f->begin_us[LUMEQ_STAGE_EQUALIZE] = now_us() - eq->opened_us;
    if (f->frame.out.memory != LUMEQ_MEMORY_HOST)
        f->frame.out.plane[0] = NULL;
    if (!f->curve)
        ret = prepare_measure(f);
    if (ret == 0 && !f->curve) {
        const LumeqMeasureJob job = measure_job(f);
        ret = eq->backend->measure(eq->priv, &job, &f->pending);
    }
    if (ret == 0 && !f->curve)
        ret = compute_curve(eq, f);
    if (ret == 0 && planes_to_write(f)) {
        const LumeqApplyJob job = apply_job(f);
        ret = eq->backend->apply(eq->priv, &job);
    }
    f->end_us[LUMEQ_STAGE_EQUALIZE] = now_us() - eq->opened_us;
    return ret;
}

/* Finishes the frames in flight. The history skips frames that the CPU cannot take over. */
static int finish_on_cpu(LumeqEqualizer *eq)
{
    int ret = 0;
    for (int i = 0; i < eq->in_flight && ret == 0; i++) {
        Flight *f = flight_at(eq, i);
        if (!f->finished && f->gpu_only) {
            f->error = LUMEQ_ERR_GPU;
            lumeq_copy_past(&f->past, past_before(eq, f));
        } else if (!f->finished) {
            ret = equalize_on_cpu(eq, f);
        }
        f->finished = ret == 0;
    }
    return ret;
}

/* ---- on a GPU ---- */

/* Places the next frame on the GPU: allocates the frame's memory there. */
static int place(LumeqEqualizer *eq, Flight *f)
{
    LumeqMeasureJob job = measure_job(f);
    LumeqFlight flight = {
        .out = f->frame.out,
        .write = planes_to_write(f),
        .reference = f->reference,
        .alone = !eq->in_flight,
    };
    if (f->reference) {
        job.bars.ignore = 1;
        job.previous.plane[0] = NULL;
    } else {
        flight.before = flight_at(eq, eq->in_flight - 1)->pending;
    }
    return eq->backend->place(eq->priv, &job, &flight, &f->pending);
}

/* Starts to measure all frames that were placed on the GPU. */
static int begin_frames(LumeqEqualizer *eq)
{
    int ret = 0;
    while (eq->begun < eq->in_flight && ret == 0) {
        void *pendings[LUMEQ_MAX_BATCH];
        int count = 0;
        for (int i = eq->begun; i < eq->in_flight && count < eq->batch; i++)
            pendings[count++] = flight_at(eq, i)->pending;
        ret = eq->backend->begin(eq->priv, pendings, count);
        eq->begun += ret == 0 ? count : 0;
    }
    return ret;
}

/* Makes a frame's curve and the history after the frame; for a reference frame, only the history.
 * Call it in the order of frames. Returns AGAIN if the measure is not finished. */
static int make_curve(LumeqEqualizer *eq, Flight *f, int wait)
{
    if (f->reference)
        lumeq_pass_over(&f->frame.in, past_before(eq, f), &f->past);
    if (f->reference || f->curve)
        return 0;
    const int ret = eq->backend->measure_finish(eq->priv, f->pending, &f->measure.counts, wait);
    return ret < 0 ? ret : compute_curve(eq, f);
}

static int write_batch(LumeqEqualizer *eq, int first, int end)
{
    LumeqApplyJob jobs[LUMEQ_MAX_BATCH];
    int count = 0;
    for (int i = first; i < end; i++)
        if (!flight_at(eq, i)->reference)
            jobs[count++] = apply_job(flight_at(eq, i));
    return count ? eq->backend->write(eq->priv, jobs, count) : 0;
}

/* Makes the curves of all frames whose measures are finished, and starts to write these frames.
 * Waits for the measures of the oldest `wait` frames. */
static int write_frames(LumeqEqualizer *eq, int wait)
{
    int ret = 0;
    while (eq->written < eq->begun && ret == 0) {
        const int first = eq->written;
        int end = first;
        while (ret == 0 && end < eq->begun && end < first + eq->batch) {
            ret = make_curve(eq, flight_at(eq, end), end == first && first < wait);
            end += ret == 0;
        }
        const int written = write_batch(eq, first, end);
        if (written < 0)
            return written;
        eq->written = end;
        if (ret == LUMEQ_ERR_AGAIN && end > first && end < wait)
            ret = 0;
    }
    return ret;
}

static int land(LumeqEqualizer *eq, Flight *f, int wait)
{
    const int ret =
        eq->backend->land(eq->priv, f->pending, f->reference ? &f->measure.counts : NULL, wait,
                          f->begin_us, f->end_us);
    f->finished = ret == 0;
    return ret;
}

/* Frees the GPU's memory of a frame. */
static void leave(LumeqEqualizer *eq, Flight *f)
{
    if (f->pending)
        eq->backend->leave(eq->priv, f->pending);
    f->pending = NULL;
}

/* Waits until the GPU has finished the frames in flight, and frees their memory. */
static int land_all(LumeqEqualizer *eq)
{
    int ret = begin_frames(eq);
    if (ret == 0)
        ret = write_frames(eq, eq->in_flight);
    for (int i = 0; i < eq->written && ret == 0; i++)
        if (!flight_at(eq, i)->finished)
            ret = land(eq, flight_at(eq, i), 1);
    for (int i = -1; i < eq->in_flight && ret == 0; i++)
        leave(eq, flight_at(eq, i));
    return ret;
}

/* Replaces the GPU by the CPU. A GPU that is not lost first finishes the frames it has begun; the
 * CPU equalizes all others. The GPU's backend stays open, because its memory is still in use. */
static int switch_to_cpu(LumeqEqualizer *eq, int lost)
{
    char reason[LUMEQ_ERROR_SIZE];
    const LumeqConfig *config = &eq->context->config;
    const LumeqWork *cpu = lumeq_context_cpu(eq->context);
    if (!cpu)
        return LUMEQ_ERR_GPU;
    memcpy(reason, lumeq_error_text(), sizeof(reason));
    if (!lost)
        (void)land_all(eq);
    eq->backend = cpu->backend;
    eq->priv = cpu->priv;
    for (int i = -1; i < eq->in_flight; i++) {
        Flight *f = flight_at(eq, i);
        f->pending = NULL;
        f->reference &= f->finished;
        if (!f->finished)
            lumeq_curve_unref(&f->curve);
    }
    snprintf(eq->error, sizeof(eq->error), "the CPU goes on without the GPU: %.200s", reason);
    if (config->log)
        config->log(config->log_user, LUMEQ_LOG_WARNING, eq->error);
    return finish_on_cpu(eq);
}

/* After a failed call, lets the CPU take over, or returns an error. Returns UNAVAILABLE if the GPU
 * has no memory and the CPU may not take over. */
static int fall_back(LumeqEqualizer *eq, int ret, int cpu_allowed)
{
    if (!eq->backend->place || (ret != LUMEQ_ERR_GPU && ret != LUMEQ_ERR_MEMORY))
        return ret;
    return ret == LUMEQ_ERR_MEMORY && !cpu_allowed ? LUMEQ_ERR_UNAVAILABLE
                                                   : switch_to_cpu(eq, ret == LUMEQ_ERR_GPU);
}

static int begin(LumeqEqualizer *eq, Flight *f)
{
    int ret = prepare_measure(f);
    if (ret < 0)
        return ret;
    ret = place(eq, f);
    if (ret == LUMEQ_ERR_MEMORY && land_all(eq) == 0)
        ret = place(eq, f);
    if (ret < 0)
        return ret;
    eq->in_flight++;
    if (eq->in_flight - eq->begun >= eq->batch || f->frame.sync)
        ret = begin_frames(eq);
    if (ret < 0) {
        leave(eq, f);
        eq->in_flight--;
    }
    return ret;
}

static int finish_oldest(LumeqEqualizer *eq, Flight *f, int wait)
{
    int ret = eq->flushing || !eq->begun ? begin_frames(eq) : 0;
    if (ret == 0)
        ret = write_frames(eq, wait);
    if (ret == LUMEQ_ERR_AGAIN && eq->written)
        ret = 0; /* only a later frame's measure is not finished */
    return ret < 0 || f->finished ? ret : land(eq, f, wait);
}

/* ---- frames in, frames out ---- */

static void fill_flight(LumeqEqualizer *eq, Flight *f, const LumeqFrame *frame)
{
    static const LumeqClock beginning;
    f->frame = *frame;
    f->previous = frame->previous ? *frame->previous : (LumeqImage){.plane = {NULL}};
    f->frame.previous = NULL;
    f->past.params = eq->params;
    f->past.clock = lumeq_clock_next(eq->reset ? &beginning : &eq->clock, frame->number,
                                     frame->time, frame->duration);
    f->after_reset = eq->reset;
    /* Reference curves need no history, so the GPU makes them without the host. */
    f->reference = eq->backend->place && eq->params.reference && eq->params.mode != LUMEQ_MODE_OFF;
    f->gpu_only = frame->sync || frame->in.memory != LUMEQ_MEMORY_HOST ||
                  f->previous.memory != LUMEQ_MEMORY_HOST;
    f->pending = NULL;
    f->finished = f->error = 0;
    lumeq_curve_unref(&f->curve);
    memset(f->begin_us, 0, sizeof(f->begin_us));
    memset(f->end_us, 0, sizeof(f->end_us));
}

int lumeq_submit(LumeqEqualizer *eq, const LumeqFrame *from)
{
    LumeqFrame frame;
    LumeqSync sync;
    if (!eq)
        return no_equalizer();
    if (eq->in_flight >= slots_of(eq))
        return LUMEQ_ERR_AGAIN;
    int ret = take_frame(eq, from, &frame, &sync);
    if (ret < 0)
        return failed(eq, ret);
    Flight *f = flight_at(eq, eq->in_flight);
    fill_flight(eq, f, &frame);
    const LumeqClock clock = f->past.clock;
    if (eq->backend->place) {
        ret = begin(eq, f);
        if (ret < 0)
            ret = fall_back(eq, ret,
                            !f->gpu_only && eq->context->config.backend != LUMEQ_BACKEND_CUDA);
        if (ret == 0 && !eq->backend->place && f->gpu_only)
            ret = LUMEQ_ERR_GPU;
        if (ret < 0)
            return failed(eq, ret);
    }
    if (eq->backend->place) {
        /* With sync, the event sync.finished must be recorded before lumeq_submit() returns. */
        ret = write_frames(eq, frame.sync ? eq->in_flight : 0);
        if (ret < 0 && ret != LUMEQ_ERR_AGAIN)
            (void)fall_back(eq, ret, 1); /* lumeq_receive() reports errors */
    } else {
        f->reference = 0;
        eq->in_flight++;
        ret = finish_on_cpu(eq);
        if (ret < 0) {
            eq->in_flight--;
            return failed(eq, ret);
        }
    }
    f->frame.sync = NULL;
    eq->has_last_planes = 0;
    eq->flushing = eq->reset = 0;
    eq->clock = clock;
    return 0;
}

/* Makes a reference frame's curve for its statistics, from the histogram and the sums over tiles
 * that the GPU returns. */
static int make_reference_curve(LumeqEqualizer *eq, Flight *f)
{
    const LumeqMeasureJob job = measure_job(f);
    const CurveResult *history = &f->past.state.curve;
    LumeqCurve *made = lumeq_curve_new(&f->measure.shape, &job.curve, job.clahe ? &job.grid : NULL);
    if (!made)
        return lumeq_no_memory();
    curve_compute(&job.curve, f->measure.counts.hist, history, made->result, &made->table,
                  &eq->work);
    memcpy(made->result, history, offsetof(CurveResult, bin));
    if (made->sums)
        *made->sums = f->sums;
    f->curve = made;
    return 0;
}

static int give_stats(LumeqEqualizer *eq, LumeqFrameStats *stats, Flight *f)
{
    LumeqFrameStats filled;
    const int ret = stats && !f->curve ? make_reference_curve(eq, f) : 0;
    if (ret < 0 || !stats)
        return ret;
    (void)lumeq_curve_stats(f->curve, stats);
    (void)LUMEQ_TAKE(LumeqFrameStats, &filled, stats);
    filled.upload_us = f->end_us[LUMEQ_STAGE_UPLOAD] - f->begin_us[LUMEQ_STAGE_UPLOAD];
    filled.equalize_us = f->end_us[LUMEQ_STAGE_EQUALIZE] - f->begin_us[LUMEQ_STAGE_EQUALIZE];
    filled.download_us = f->end_us[LUMEQ_STAGE_DOWNLOAD] - f->begin_us[LUMEQ_STAGE_DOWNLOAD];
    memcpy(filled.stage_begin_us, f->begin_us, sizeof(filled.stage_begin_us));
    memcpy(filled.stage_end_us, f->end_us, sizeof(filled.stage_end_us));
    (void)lumeq_give_struct(stats, &filled, sizeof(filled));
    return 0;
}

/* Checks the output structs; NULL is allowed for both. */
static int check_results(const LumeqFrame *frame, const LumeqFrameStats *stats)
{
    LumeqFrame known_frame;
    LumeqFrameStats known_stats;
    const int ret = frame ? LUMEQ_TAKE(LumeqFrame, &known_frame, frame) : 0;
    return ret < 0 || !stats ? ret : LUMEQ_TAKE(LumeqFrameStats, &known_stats, stats);
}

int lumeq_receive(LumeqEqualizer *eq, LumeqFrame *frame, LumeqFrameStats *stats)
{
    if (!eq)
        return no_equalizer();
    if (!eq->in_flight)
        return eq->flushing ? LUMEQ_ERR_END : LUMEQ_ERR_AGAIN;
    if (check_results(frame, stats) < 0)
        return failed(eq, LUMEQ_ERR_ARGUMENT);
    Flight *f = flight_at(eq, 0);
    int ret = 0;
    if (!f->finished && eq->backend->place)
        ret = finish_oldest(eq, f, eq->flushing || eq->in_flight >= slots_of(eq));
    else if (!f->finished)
        ret = finish_on_cpu(eq);
    if (ret < 0 && ret != LUMEQ_ERR_AGAIN && !f->finished)
        ret = fall_back(eq, ret, 1);
    if (f->finished)
        ret = f->error ? 0 : give_stats(eq, stats, f);
    if (ret < 0)
        return failed(eq, ret);
    leave(eq, flight_at(eq, -1));
    eq->first = (eq->first + 1) % eq->size;
    eq->in_flight--;
    eq->begun -= eq->begun > 0;
    eq->written -= eq->written > 0;
    if (frame)
        (void)lumeq_give_struct(frame, &f->frame, sizeof(f->frame));
    lumeq_curve_unref(&f->curve);
    return f->error;
}

int lumeq_process(LumeqEqualizer *eq, LumeqFrame *frame, LumeqFrameStats *stats)
{
    if (!eq)
        return no_equalizer();
    if (eq->in_flight)
        return LUMEQ_ERR_AGAIN;
    if (check_results(NULL, stats) < 0)
        return failed(eq, LUMEQ_ERR_ARGUMENT);
    const int ret = lumeq_submit(eq, frame);
    if (ret < 0)
        return ret;
    lumeq_flush(eq);
    return lumeq_receive(eq, frame, stats);
}

static int make_planes(LumeqImage *planes, const LumeqPixels *pixels)
{
    const LumeqImage before = *planes;
    const int depth = pixels->depth == 8 ? 10 : 16;
    if (before.width == pixels->width && before.height == pixels->height && before.depth == depth)
        return 0;
    lumeq_free(before.plane[0]);
    *planes = (LumeqImage){.width = pixels->width,
                           .height = pixels->height,
                           .depth = depth,
                           .range = LUMEQ_RANGE_FULL};
    const size_t row = padded((size_t)pixels->width * 2);
    const size_t size = row * (size_t)pixels->height;
    uint8_t *memory = lumeq_alloc(3 * size);
    if (!memory) {
        *planes = (LumeqImage){.width = 0};
        return lumeq_no_memory();
    }
    for (int i = 0; i < 3; i++) {
        planes->plane[i] = memory + (size_t)i * size;
        planes->stride[i] = (ptrdiff_t)row;
    }
    return 0;
}

/* Converts pixels, with the CPU backend's threads if the equalizer runs on the CPU. */
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
    int ret = lumeq_check_pixels(in, out);
    if (ret == 0)
        ret = make_planes(&eq->planes[next], in);
    if (ret == 0)
        ret = make_planes(&eq->planes[2], in);
    if (ret < 0)
        return failed(eq, ret);
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
        (void)LUMEQ_TAKE(LumeqFrameStats, &known, stats);
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

void lumeq_reset(LumeqEqualizer *eq)
{
    if (!eq)
        return;
    eq->reset = 1;
    eq->has_last_planes = 0;
}
