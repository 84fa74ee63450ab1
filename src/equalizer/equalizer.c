#include "lumeq/lumeq.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "equalizer/arguments.h"
#include "equalizer/backend.h"
#include "equalizer/context.h"
#include "equalizer/frame_stats.h"
#include "equalizer/history.h"
#include "equalizer/measure.h"
#include "equalizer/settings.h"
#include "equalizer/tone_curve.h"

#define ERROR_SIZE LUMEQ_ERROR_SIZE

#define MAX_GPUS 64

#define RELOCATED_ALIGNMENT 64

/* Most frames in flight. */
#define SLOTS (LUMEQ_FLIGHTS * LUMEQ_MAX_BATCH)

/* Histories that are kept: the last one, and two for each frame in flight, which may begin a new
 * one. */
#define PASTS (1 + 2 * SLOTS)

/* A frame in flight. */
typedef struct Flight {
    LumeqFrame frame;    /* sync is valid during submit, and only then */
    LumeqImage previous; /* plane[0] is NULL: not known */
    LumeqParams params;
    LumeqClock clock;
    int write;     /* planes to write; 0: only measure, out has no memory */
    int late;      /* see LumeqFlight */
    int afresh;    /* it begins a new history */
    int reference; /* the GPU does all of it at once */
    int gpu_input; /* only the GPU has the input */
    LumeqMeasure measure;
    TileSums sums;     /* of the reference */
    void *pending;     /* what the GPU keeps of it */
    LumeqCurve *curve; /* NULL: it is still being measured */
    int entry;         /* of eq->pasts, after it; -1: none yet */
    int before;        /* the entry of the frame before */
    int writing;       /* it is being written with `curve` */
    int landed;        /* it is finished, or `error` tells why it is lost */
    int error;
    double begin_us[LUMEQ_STAGES], end_us[LUMEQ_STAGES]; /* of the stages */
} Flight;

struct LumeqEqualizer {
    LumeqContext *context;
    const LumeqBackend *backend; /* of the context: the first, or the CPU's */
    void *priv;
    int must_redo;          /* the CPU has not done all frames of the lost GPU yet */
    void *relocated[SLOTS]; /* replacements for outputs that a lost GPU may still write to */
    int relocated_count;
    LumeqParams params;

    int batch;             /* frames to begin together */
    Flight flights[SLOTS]; /* a ring: `in_flight` of them, the oldest at `first` */
    int first, in_flight;
    int begun, curved; /* of those, the oldest ones that have begun, and whose curves are made */
    void *received_pending; /* of the frame that was received last */
    int flushing;

    LumeqPast pasts[PASTS]; /* a ring of `kept` */
    int kept;
    int made; /* index of the entry of the last curve */
    LumeqFollowWork work;
    CurveResult result; /* scratch memory, for the statistics of the reference; and so is `table` */
    CurveTable table;
    int reset;        /* the next frame starts with an empty history */
    LumeqClock clock; /* after the last submitted frame */

    /* Planes of lumeq_process_pixels(): of the last two pictures, in turn, and of the output. */
    LumeqImage planes[3];
    int last_planes;     /* index of the last picture's */
    int has_last_planes; /* it was the last frame */

    double opened_us;
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
        ret = lumeq_refuse("`gpus` is NULL or `count` is negative: %d", count);
    else if (count && lumeq_take_struct(&first, sizeof(first), gpus) < 0)
        ret = lumeq_refuse("LumeqGpu.size is not the size of any known version");
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
        return lumeq_refuse("there is no GPU %d, or `use` is NULL", device);
    if (lumeq_take_struct(&taken, sizeof(taken), use) < 0)
        return lumeq_refuse("LumeqMemoryUse.size is not the size of any known version");
    if (lumeq_backend_cuda.memory_use)
        lumeq_backend_cuda.memory_use(device, &now);
    return lumeq_give_struct(use, &now, sizeof(now));
}

int lumeq_reserve_device(int device, uint64_t bytes)
{
    if (device < 0 || bytes > INT64_MAX)
        return lumeq_refuse("there is no GPU %d, or the size is impossible", device);
    const int ret = lumeq_backend_cuda.reserve ? lumeq_backend_cuda.reserve(device, (int64_t)bytes)
                                               : LUMEQ_ERR_UNAVAILABLE;
    if (ret == LUMEQ_ERR_MEMORY)
        return lumeq_refuse_with(ret, "the process has reached its limit of memory on GPU %d",
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

static int fail(LumeqEqualizer *eq, int error, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(eq->error, sizeof(eq->error), format, args);
    va_end(args);
    return error;
}

static Flight *flight_at(LumeqEqualizer *eq, int index)
{
    return &eq->flights[(eq->first + index) % SLOTS];
}

/* True if the GPU makes the next frame's curve: only the reference needs no history. */
static int is_reference(const LumeqEqualizer *eq, const LumeqParams *params)
{
    return eq->backend->place && params->reference && params->mode != LUMEQ_MODE_OFF;
}

/* Most frames in flight. */
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
        return lumeq_refuse_with(LUMEQ_ERR_MEMORY, "out of memory");
    }
    const int ret = lumeq_context_open(&eq->context, config, 1, why, why_size);
    if (ret < 0) {
        free(eq);
        return ret;
    }
    (void)lumeq_take_params(&eq->params, NULL, eq->error, sizeof(eq->error));
    eq->reset = 1;
    eq->opened_us = now_us();
    eq->backend = eq->context->first.backend;
    eq->priv = eq->context->first.priv;
    eq->batch = eq->backend->place ? lumeq_batch(&eq->context->config) : 1;
    eq->kept = 1 + 2 * LUMEQ_FLIGHTS * eq->batch;
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
    lumeq_context_destroy(&eq->context);
    for (int i = 0; i < SLOTS; i++) {
        free(eq->flights[i].measure.memory);
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
    if (!params)
        return fail(eq, LUMEQ_ERR_ARGUMENT, "`params` is NULL");
    LumeqParams taken;
    const int ret = lumeq_take_params(&taken, params, eq->error, sizeof(eq->error));
    if (ret < 0)
        return ret;
    if (taken.deflicker > 0)
        return fail(eq, LUMEQ_ERR_ARGUMENT, "deflicker needs a history with lookahead");
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
        return fail(eq, LUMEQ_ERR_ARGUMENT, "`frame` is NULL");
    if (lumeq_take_struct(&to->frame, sizeof(to->frame), frame) < 0)
        return fail(eq, LUMEQ_ERR_ARGUMENT, "LumeqFrame.size is not the size of any known version");
    if (to->frame.number < 0)
        return fail(eq, LUMEQ_ERR_ARGUMENT, "the frame's number %lld is negative",
                    (long long)to->frame.number);
    if (to->frame.sync) {
        if (lumeq_take_struct(&to->sync, sizeof(to->sync), to->frame.sync) < 0)
            return fail(eq, LUMEQ_ERR_ARGUMENT,
                        "LumeqSync.size is not the size of any known version");
        if (!eq->backend->alloc_device)
            return fail(eq, LUMEQ_ERR_ARGUMENT, "LumeqSync needs a CUDA backend; this one is %s",
                        eq->backend->name);
        to->frame.sync = &to->sync;
    }
    return lumeq_check_frame(&to->frame, &eq->params, eq->backend, eq->error, sizeof(eq->error));
}

static ptrdiff_t relocated_stride(const LumeqImage *image, int plane)
{
    return (lumeq_row_size(image, plane) + RELOCATED_ALIGNMENT - 1) / RELOCATED_ALIGNMENT *
           RELOCATED_ALIGNMENT;
}

/* Relocates an output that the GPU may still write to. */
static int relocate_output(LumeqEqualizer *eq, Flight *f)
{
    LumeqImage *out = &f->frame.out;
    size_t size = 0;
    for (int i = 0; i < f->write; i++)
        size += (size_t)(relocated_stride(out, i) * lumeq_height(out, i));
    uint8_t *memory = eq->backend->alloc_host(eq->priv, size);
    if (!memory)
        return fail(eq, LUMEQ_ERR_MEMORY,
                    "out of memory: a frame that the lost GPU had cannot be repeated");
    eq->relocated[eq->relocated_count++] = memory;
    for (int i = 0; i < f->write; i++) {
        out->plane[i] = memory;
        out->stride[i] = relocated_stride(out, i);
        memory += out->stride[i] * lumeq_height(out, i);
    }
    f->late = 0;
    return 0;
}

/* Replaces the GPU by the CPU. The GPU's backend stays open: its memory is still in use. */
static int replace_backend(LumeqEqualizer *eq)
{
    char reason[ERROR_SIZE];
    memcpy(reason, eq->error, sizeof(reason));
    const LumeqWork *cpu = lumeq_context_cpu(eq->context);
    if (!cpu)
        return fail(eq, LUMEQ_ERR_GPU, "%s", reason);
    eq->backend = cpu->backend;
    eq->priv = cpu->priv;
    eq->batch = 1;
    eq->received_pending = NULL;
    fail(eq, 0, "the CPU goes on without the GPU: %.200s", reason);
    const LumeqConfig *config = &eq->context->config;
    if (config->log)
        config->log(config->log_user, LUMEQ_LOG_WARNING, eq->error);
    return 0;
}

/* The job of measuring a frame. */
static LumeqMeasureJob measure_job(const Flight *f)
{
    const LumeqImage *in = &f->frame.in;
    LumeqMeasureJob job = {
        .in = *in,
        .previous = f->previous,
        .curve = lumeq_curve_params(&f->params, in, &f->clock),
        .bars = lumeq_bars_params(&f->params, in, 0),
        .counts = f->measure.counts,
        .sync = f->frame.sync,
    };
    job.clahe = lumeq_tiles_params(&job.grid, &f->params, in, &job.curve);
    job.counts.cells = NULL;
    return job;
}

/* Takes memory for a frame on a GPU; the CPU measures it at once. `before`: the one before it in
 * flight, or NULL. */
static int place(LumeqEqualizer *eq, Flight *f, const Flight *before)
{
    const MeasureShape shape = lumeq_measure_shape(&f->params, &f->frame.in);
    if (lumeq_measure_prepare(&f->measure, &shape) < 0)
        return fail(eq, LUMEQ_ERR_MEMORY, "out of memory: no measure can be made");
    f->measure.counts.sums = &f->sums;
    LumeqMeasureJob job = measure_job(f);
    if (!eq->backend->place) {
        f->begin_us[LUMEQ_STAGE_EQUALIZE] = now_us() - eq->opened_us;
        return eq->backend->measure(eq->priv, &job, &f->pending, eq->error, sizeof(eq->error));
    }
    LumeqFlight flight = {.out = f->frame.out,
                          .write = f->write,
                          .reference = f->reference,
                          .alone = !before,
                          .late = &f->late};
    if (f->reference) {
        job.bars.ignore = 1;
        job.previous.plane[0] = NULL;
    } else {
        flight.before = before ? before->pending : eq->received_pending;
    }
    return eq->backend->place(eq->priv, &job, &flight, &f->pending, eq->error, sizeof(eq->error));
}

/* The GPU cannot do this frame, and others may still succeed. */
static int is_refused(int ret)
{
    return ret == LUMEQ_ERR_MEMORY || ret == LUMEQ_ERR_UNAVAILABLE;
}

/* True if the CPU may do a frame that the GPU refuses. */
static int may_replace(const LumeqEqualizer *eq, const Flight *f)
{
    return eq->backend == &lumeq_backend_cpu ||
           (eq->context->config.backend != LUMEQ_BACKEND_CUDA && !f->gpu_input);
}

/* The job of writing a frame with its curve. */
static LumeqApplyJob apply_job(const Flight *f)
{
    LumeqApplyJob job = lumeq_curve_job(f->curve, &f->frame.in, &f->frame.out);
    job.write = f->write;
    job.sync = f->frame.sync;
    job.flight = f->pending;
    if (f->previous.plane[0]) {
        job.previous[0] = f->previous;
        job.previous_count = 1;
    }
    return job;
}

/* Writes a frame on the CPU. */
static int write_here(LumeqEqualizer *eq, Flight *f)
{
    const LumeqApplyJob job = apply_job(f);
    const int ret =
        job.write ? eq->backend->apply(eq->priv, &job, eq->error, sizeof(eq->error)) : 0;
    f->landed = ret == 0;
    f->end_us[LUMEQ_STAGE_EQUALIZE] = now_us() - eq->opened_us;
    return ret;
}

/* Begins to write frames, from this one on, with their curves. */
static int write_frames(LumeqEqualizer *eq, int first, int end)
{
    LumeqApplyJob jobs[LUMEQ_MAX_BATCH];
    Flight *written[LUMEQ_MAX_BATCH];
    int count = 0, may = 1;
    for (int i = first; i < end; i++) {
        Flight *f = flight_at(eq, i);
        if (!f->curve || f->writing || f->landed)
            continue;
        if (!f->pending)
            return write_here(eq, f);
        may &= may_replace(eq, f);
        jobs[count] = apply_job(f);
        written[count++] = f;
    }
    const int ret =
        count ? eq->backend->write(eq->priv, jobs, count, eq->error, sizeof(eq->error)) : 0;
    const int lost = is_refused(ret) && !may;
    for (int i = 0; i < count; i++) {
        written[i]->writing = ret == 0;
        written[i]->landed = lost;
        written[i]->error = lost ? LUMEQ_ERR_UNAVAILABLE : 0;
    }
    return lost ? 0 : ret;
}

/* Index of the entry after a frame. A new history begins with an empty entry before it. */
static int next_entry(LumeqEqualizer *eq, Flight *f)
{
    static const LumeqPast none;
    int at = f->before = eq->made;
    if (f->afresh) {
        at = (at + 1) % eq->kept;
        lumeq_copy_past(&eq->pasts[at], &none);
    }
    at = (at + 1) % eq->kept;
    eq->pasts[at].params = f->params;
    eq->pasts[at].clock = f->clock;
    return at;
}

/* Makes the curve of the oldest frame without one. AGAIN: its measure is not finished. */
static int make_curve(LumeqEqualizer *eq, Flight *f, int wait)
{
    int ret = 0;
    if (f->pending)
        ret = eq->backend->measure_finish(eq->priv, f->pending, &f->measure.counts, wait, eq->error,
                                          sizeof(eq->error));
    if (ret < 0)
        return ret;
    const LumeqFollow follow = {&f->measure, f->afresh, f->frame.interlaced,
                                f->previous.plane[0] != NULL};
    const int next = next_entry(eq, f);
    if (lumeq_follow(&follow, &eq->pasts[eq->made], &eq->pasts[next], &eq->work, &f->curve) < 0)
        return fail(eq, LUMEQ_ERR_MEMORY, "%s", lumeq_error_text());
    eq->made = f->entry = next;
    return 0;
}

/* Begins all frames that have not. `submitted`: the last one may still be refused. */
static int begin_frames(LumeqEqualizer *eq, int submitted)
{
    int ret = 0;
    while (eq->begun < eq->in_flight && ret == 0) {
        void *pendings[LUMEQ_MAX_BATCH] = {NULL};
        int count = 0;
        for (int i = eq->begun; i < eq->in_flight && count < eq->batch; i++)
            pendings[count++] = flight_at(eq, i)->pending;
        if (pendings[0])
            ret = eq->backend->begin(eq->priv, pendings, count, submitted && count == 1, eq->error,
                                     sizeof(eq->error));
        eq->begun += ret == 0 ? count : 0;
    }
    return ret;
}

/* Makes the curves of all frames whose measures are finished, and begins to write them. `wait`:
 * number of frames, the oldest first, to wait for. */
static int make_curves(LumeqEqualizer *eq, int wait)
{
    int ret = 0;
    while (eq->curved < eq->begun && ret == 0) {
        const int first = eq->curved;
        do {
            Flight *f = flight_at(eq, eq->curved);
            if (!f->reference && !f->curve && !f->landed)
                ret = make_curve(eq, f, eq->curved == first && first < wait);
            eq->curved += ret == 0;
        } while (ret == 0 && eq->curved < eq->begun && eq->curved < first + eq->batch);
        const int written = write_frames(eq, first, eq->curved);
        if (written < 0)
            ret = written;
        else if (ret == LUMEQ_ERR_AGAIN && eq->curved > first && eq->curved < wait)
            ret = 0;
    }
    return ret;
}

/* Finishes the oldest frame that is not. */
static int land(LumeqEqualizer *eq, Flight *f, int wait)
{
    const int ret =
        eq->backend->land(eq->priv, f->pending, f->reference ? &f->measure.counts : NULL, wait,
                          f->begin_us, f->end_us, eq->error, sizeof(eq->error));
    f->landed = ret == 0;
    return ret;
}

static void leave(LumeqEqualizer *eq, void **pending)
{
    if (*pending)
        eq->backend->leave(eq->priv, *pending);
    *pending = NULL;
}

/* Finishes all frames in flight that the GPU can write, and frees what it keeps of them. */
static int land_all(LumeqEqualizer *eq)
{
    int ret = begin_frames(eq, 0), curved = -1;
    while (eq->curved < eq->begun && eq->curved > curved && ret != LUMEQ_ERR_GPU) {
        curved = eq->curved;
        const int made = make_curves(eq, eq->in_flight);
        ret = made < 0 ? made : ret;
    }
    for (int i = 0; i < eq->begun && ret != LUMEQ_ERR_GPU; i++) {
        Flight *f = flight_at(eq, i);
        const int landed = f->landed || !(f->writing || f->reference) ? 0 : land(eq, f, 1);
        ret = landed < 0 ? landed : ret;
    }
    if (ret < 0)
        return ret;
    leave(eq, &eq->received_pending);
    for (int i = 0; i < eq->in_flight; i++)
        leave(eq, &flight_at(eq, i)->pending);
    return 0;
}

/* Repeats a frame of the GPU on the CPU. If the output is in CUDA memory, the frame is only
 * measured. If the input is there, or not known to be complete, the frame is lost. */
static int redo_frame(LumeqEqualizer *eq, Flight *f)
{
    int ret = 0;
    if (f->gpu_input) {
        f->error = LUMEQ_ERR_GPU;
        f->landed = 1;
        return 0;
    }
    if (f->frame.out.memory != LUMEQ_MEMORY_HOST) {
        f->frame.out.plane[0] = NULL;
        f->write = 0;
    } else if (f->late) {
        ret = relocate_output(eq, f);
    }
    if (ret == 0 && !f->curve)
        ret = place(eq, f, NULL);
    if (ret == 0 && !f->curve)
        ret = make_curve(eq, f, 1);
    return ret < 0 ? ret : write_here(eq, f);
}

/* After a loss: the frames in flight get new curves, as some of them may be missing from the
 * history then. */
static void forget_curves(LumeqEqualizer *eq)
{
    int first = 1;
    for (int i = 0; i < eq->in_flight; i++) {
        Flight *f = flight_at(eq, i);
        if (f->landed)
            continue;
        if (first && f->entry >= 0)
            eq->made = f->before;
        first = 0;
        lumeq_curve_unref(&f->curve);
        f->entry = -1;
        f->reference = f->writing = 0;
    }
}

/* If memory runs out, the next receive resumes here. */
static int redo_frames(LumeqEqualizer *eq)
{
    int ret = 0;
    for (int i = 0; i < eq->in_flight && ret == 0; i++) {
        Flight *f = flight_at(eq, i);
        f->pending = NULL;
        if (!f->landed)
            ret = redo_frame(eq, f);
    }
    eq->begun = eq->curved = eq->in_flight;
    eq->must_redo = ret < 0;
    return ret;
}

/*
 * Replaces the GPU by the CPU. A GPU that only refuses a frame finishes those in flight first. The
 * frames of a lost GPU are repeated, so that no frame is missing and the results stay identical.
 * Their outputs are relocated, since a GPU that recovers writes the old ones from whatever the
 * input holds by then.
 */
static int switch_to_cpu(LumeqEqualizer *eq, int lost)
{
    char reason[ERROR_SIZE];
    memcpy(reason, eq->error, sizeof(reason));
    if (!lost)
        lost = land_all(eq) == LUMEQ_ERR_GPU;
    memcpy(eq->error, reason, sizeof(reason));
    const int ret = replace_backend(eq);
    if (ret < 0)
        return ret;
    if (lost)
        forget_curves(eq);
    return redo_frames(eq);
}

/* After a failed call the CPU takes over if it may; otherwise returns the error. */
static int not_done(LumeqEqualizer *eq, const Flight *f, int ret)
{
    const int refused = is_refused(ret);
    if (eq->backend == &lumeq_backend_cpu || (ret != LUMEQ_ERR_GPU && !refused))
        return ret;
    return refused && !may_replace(eq, f) ? LUMEQ_ERR_UNAVAILABLE : switch_to_cpu(eq, !refused);
}

/* Gives the next frame to the backend. */
static int begin(LumeqEqualizer *eq, Flight *f)
{
    const Flight *before = eq->in_flight ? flight_at(eq, eq->in_flight - 1) : NULL;
    int ret = 0;
    if (f->reference && before && !before->reference) { /* it comes after it in the history */
        ret = begin_frames(eq, 0);
        if (ret == 0)
            ret = make_curves(eq, eq->in_flight);
    }
    if (ret == 0)
        ret = place(eq, f, before);
    if (ret == LUMEQ_ERR_MEMORY && (before || eq->received_pending) && land_all(eq) == 0)
        ret = place(eq, f, NULL);
    if (ret < 0)
        return ret;
    eq->in_flight++;
    if (eq->in_flight - eq->begun >= eq->batch || f->frame.sync)
        ret = begin_frames(eq, 1);
    if (ret < 0) {
        leave(eq, &f->pending);
        eq->in_flight--;
    } else if (f->reference) {
        f->entry = next_entry(eq, f);
        lumeq_pass_over(&f->frame.in, &eq->pasts[(f->entry + eq->kept - 1) % eq->kept],
                        &eq->pasts[f->entry]);
        eq->made = f->entry;
    }
    return ret;
}

static int submit(LumeqEqualizer *eq, const LumeqFrame *frame, const LumeqClock *clock)
{
    Flight *f = flight_at(eq, eq->in_flight);
    const LumeqSync *sync = frame->sync;
    f->frame = *frame;
    f->write = frame->out.plane[0] ? lumeq_planes(&frame->out) : 0;
    f->previous = frame->previous ? *frame->previous : (LumeqImage){.plane = {NULL}};
    f->params = eq->params;
    f->clock = *clock;
    f->afresh = eq->reset;
    f->reference = is_reference(eq, &eq->params);
    f->gpu_input = frame->in.memory != LUMEQ_MEMORY_HOST ||
                   f->previous.memory != LUMEQ_MEMORY_HOST ||
                   (sync && (sync->ready || sync->stream || sync->after));
    f->pending = NULL;
    f->entry = -1;
    f->writing = f->landed = f->error = f->late = 0;
    lumeq_curve_unref(&f->curve);
    memset(f->begin_us, 0, sizeof(f->begin_us));
    memset(f->end_us, 0, sizeof(f->end_us));
    const int made = eq->made, on_cpu = eq->backend == &lumeq_backend_cpu;
    int ret = begin(eq, f);
    if (ret < 0 && !on_cpu) {
        f->late &= !is_refused(ret);
        ret = not_done(eq, f, ret);
        f->reference = 0;
        if (ret == 0)
            ret = f->gpu_input ? LUMEQ_ERR_GPU : redo_frame(eq, f);
        if (ret == 0)
            eq->begun = eq->curved = ++eq->in_flight;
    }
    if (ret < 0)
        return ret;
    /* With sync, `finished` must be recorded before this returns. */
    ret = f->landed ? 0 : make_curves(eq, sync ? eq->in_flight : 0);
    if (ret < 0 && ret != LUMEQ_ERR_AGAIN)
        ret = not_done(eq, f, ret);
    f->frame.sync = NULL; /* the caller's; invalid after submit */
    f->frame.previous = NULL;
    if (ret < 0 && on_cpu) { /* it has no other frames in flight */
        eq->in_flight--;
        eq->begun = eq->curved = 0;
        eq->made = made;
        return ret;
    }
    eq->has_last_planes = 0;
    eq->flushing = eq->reset = 0;
    eq->clock = *clock;
    return 0; /* if it failed on a GPU, receive says so */
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

/* The GPU keeps only the histogram of a frame of the reference, and its sums over tiles. */
static void fill_reference(LumeqEqualizer *eq, LumeqFrameStats *stats, const Flight *f)
{
    const LumeqMeasureJob job = measure_job(f);
    const FrameSummary summary = {
        .params = &job.curve,
        .result = &eq->result,
        .tiles = job.clahe ? (uint32_t)tile_count(&job.grid) : 0,
        .sums = &f->sums,
    };
    const CurveResult *history = &eq->pasts[f->entry].state.curve;
    curve_compute(&job.curve, f->measure.counts.hist, history, &eq->result, &eq->table,
                  &eq->work.curve);
    memcpy(&eq->result, history, offsetof(CurveResult, bin));
    lumeq_fill_stats(stats, &summary);
}

static void fill_stats(LumeqEqualizer *eq, LumeqFrameStats *stats, const Flight *f)
{
    if (f->curve)
        (void)lumeq_curve_stats(f->curve, stats);
    else
        fill_reference(eq, stats, f);
    stats->upload_us = f->end_us[LUMEQ_STAGE_UPLOAD] - f->begin_us[LUMEQ_STAGE_UPLOAD];
    stats->equalize_us = f->end_us[LUMEQ_STAGE_EQUALIZE] - f->begin_us[LUMEQ_STAGE_EQUALIZE];
    stats->download_us = f->end_us[LUMEQ_STAGE_DOWNLOAD] - f->begin_us[LUMEQ_STAGE_DOWNLOAD];
    memcpy(stats->stage_begin_us, f->begin_us, sizeof(stats->stage_begin_us));
    memcpy(stats->stage_end_us, f->end_us, sizeof(stats->stage_end_us));
}

/* Checks the output structs; NULL is allowed for both. */
static int check_results(LumeqEqualizer *eq, const LumeqFrame *frame, const LumeqFrameStats *stats)
{
    LumeqFrame known_frame;
    LumeqFrameStats known_stats;
    if (frame && lumeq_take_struct(&known_frame, sizeof(known_frame), frame) < 0)
        return fail(eq, LUMEQ_ERR_ARGUMENT, "LumeqFrame.size is not the size of any known version");
    if (stats && lumeq_take_struct(&known_stats, sizeof(known_stats), stats) < 0)
        return fail(eq, LUMEQ_ERR_ARGUMENT,
                    "LumeqFrameStats.size is not the size of any known version");
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
    Flight *f = flight_at(eq, 0);
    const int wait = eq->flushing || eq->in_flight >= slots_of(eq);
    int ret = eq->must_redo ? redo_frames(eq) : 0;
    if (ret == 0 && !f->landed && (eq->flushing || !eq->begun))
        ret = begin_frames(eq, 0);
    if (ret == 0 && !f->landed)
        ret = make_curves(eq, wait);
    if (ret == LUMEQ_ERR_AGAIN && (f->curve || f->reference))
        ret = 0; /* another one has to wait */
    if (ret == 0 && !f->landed)
        ret = land(eq, f, wait);
    if (ret < 0 && ret != LUMEQ_ERR_AGAIN && !f->landed)
        ret = not_done(eq, f, ret);
    if (ret < 0 && !f->landed)
        return ret;
    eq->first = (eq->first + 1) % SLOTS;
    eq->in_flight--;
    eq->begun -= eq->begun > 0;
    eq->curved -= eq->curved > 0;
    if (frame)
        (void)lumeq_give_struct(frame, &f->frame, sizeof(f->frame));
    leave(eq, &eq->received_pending);
    eq->received_pending = f->pending;
    if (stats && !f->error) {
        fill_stats(eq, &filled, f);
        (void)lumeq_give_struct(stats, &filled, sizeof(filled));
    }
    lumeq_curve_unref(&f->curve);
    return f->error;
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
        return fail(eq, LUMEQ_ERR_MEMORY, "out of memory: the planes of a picture cannot be made");
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

void lumeq_reset(LumeqEqualizer *eq)
{
    if (!eq)
        return;
    eq->reset = 1;
    eq->has_last_planes = 0;
}
