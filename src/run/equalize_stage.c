#include "run/equalize_stage.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <libavutil/error.h>
#include <libavutil/time.h>

#include "media/gpu_frame.h"
#include "run/curve_maker.h"
#include "run/queue.h"

/* Maximum number of frames that the window has not taken yet: one waits while another is equalized.
 * For a live input, the maximum is 1, and a newer frame replaces the waiting one. */
#define AHEAD 2

/* Weight of the last frame in `usual_us`. */
#define USUAL_WEIGHT 0.1

/* Number of decoded frames that are kept to be equalized again: AHEAD frames, the shown frame, and
 * one that the window took but dropped. */
#define KEPT 4

/* Limits of the queue of equalized frames. Each change of the settings may leave outdated frames in
 * the queue until the window takes and drops them. */
#define QUEUE_LENGTH 16
#define QUEUE_BYTES (256 << 20)

/* The requests of the window. */
typedef struct Orders {
    Input *input; /* or NULL; used only under the lock */
    bool live, hold, on_device, stop;
    int generation, revision;
    bool lossless; /* the input's DecoderOptions.lossless */
    LumeqParams params;
    int64_t taken, shown; /* Frame.number of the frame last taken, and of the shown one */
    int64_t late_from, late_to;
} Orders;

/* A decoded frame that may have to be equalized again. frame->previous[0] came before it. */
typedef struct Kept {
    Frame *frame;
    AVFrame *on_gpu;      /* the original picture on the GPU, if `frame` was downloaded; or NULL */
    bool taken;           /* EqualizeStageOptions.take() got this frame */
    LumeqHistory *before; /* copy of the history from before this frame was equalized */
} Kept;

struct EqualizeStage {
    EqualizeStageOptions options;
    pthread_t thread;
    bool running;
    Queue *results; /* of Frame * */

    pthread_mutex_t lock; /* protects the members up to `error`; never held for long */
    pthread_cond_t changed;
    Orders orders;
    bool woken;
    MediaError error; /* why the input ended, if the last Frame.end is a fault */

    /* Used by the window. */
    int shown_revision;
    bool has_shown;

    /* Used by the thread. */
    Orders now;          /* copy of the orders */
    const char *backend; /* name of the backend at the start */
    LiveCurves curves;
    FrameMemory *device_memory; /* for outputs on the GPU; NULL until needed */
    bool writes;                /* outputs have luma planes of their own */
    bool chroma;                /* outputs have chroma planes of their own */
    Frame *next;                /* decoded, but not in `kept` yet; or NULL */
    Kept kept[KEPT];
    int kept_count;
    int done; /* the first `done` kept frames are equalized */
    int generation, revision;
    int64_t number;  /* Frame.number of the last kept frame */
    int64_t sent_at; /* when a frame was last equalized, av_gettime_relative() */
    double usual_us; /* average time to equalize a frame */
    bool is_cut;     /* true if the next frame does not continue the last kept one */
    int end;         /* why the input ended: AVERROR_EOF or a fault; 0: not yet */
    bool end_sent;
    atomic_llong lost; /* number of frames lost with a GPU */
};

/* ---- one frame, in the thread ---- */

static int send(EqualizeStage *s, Frame *frame)
{
    const int ret = queue_put(s->results, &frame, frame_bytes(frame), QUEUE_WAIT);
    if (ret < 0)
        frame_free(&frame);
    else
        s->options.wake(s->options.wake_opaque);
    return ret;
}

/* A copy of a kept frame, to be equalized. NULL: out of memory. */
static Frame *make_frame(const EqualizeStage *s, const Kept *kept)
{
    const Frame *from = kept->frame;
    Frame *f = frame_alloc();
    if (!f)
        return NULL;
    f->decoded = from->decoded;
    f->decoded.frame = av_frame_clone(from->decoded.frame);
    f->previous[0] = from->previous[0] ? av_frame_clone(from->previous[0]) : NULL;
    f->first = from->first;
    f->number = from->number;
    f->generation = from->generation;
    f->revision = s->revision;
    if (!f->decoded.frame || (from->previous[0] && !f->previous[0]) || frame_init_stats(f, 1) < 0)
        frame_free(&f);
    return f;
}

static void *alloc_device(void *context, size_t size)
{
    return lumeq_alloc_device(context, size);
}

static void free_device(void *context, void *memory)
{
    lumeq_free_device(context, memory);
}

/* NULL: the GPU is out of memory. */
static AVFrame *make_on_device(EqualizeStage *s, const AVFrame *in)
{
    if (!s->device_memory) {
        const FrameAllocator device = {alloc_device, free_device, s->options.context, 1};
        s->device_memory = frame_memory_create(&device);
    }
    AVFrame *out = s->device_memory ? frame_memory_output(s->device_memory, in, s->chroma) : NULL;
    const int planes = s->chroma || gpu_frame_is(in) ? 3 : 1;
    for (int i = 0; out && i < planes; i++)
        if (out->data[i] && !frame_memory_owns(s->device_memory, out->data[i]))
            av_frame_free(&out);
    return out;
}

/* Equalizes a frame that has its curve. Returns 0, MEDIA_LOST or MEDIA_INPUT. */
static int write_frame(EqualizeStage *s, Frame *f, int on_device, MediaError *error)
{
    const AVFrame *in = f->decoded.frame;
    if (on_device && s->writes && !equalize_stage_is_lost(s))
        f->out = make_on_device(s, in);
    f->on_device = f->out != NULL;
    if (!f->out)
        f->out = equalizer_output(s->writes ? s->options.memory : NULL, in, s->chroma, error);
    if (!f->out)
        return error->fault;
    const int ret = frame_apply(s->options.context, f, s->writes, error);
    if (ret != MEDIA_LOST)
        return ret;
    gpu_frame_abandon(f->out); /* the GPU may still write to it */
    av_frame_free(&f->out);
    return f->on_device && !gpu_frame_is(in) ? write_frame(s, f, 0, error) : ret;
}

static int end_frame(EqualizeStage *s, Frame *f, int64_t began, int wants)
{
    Kept *kept = &s->kept[s->done++];
    gpu_frame_free(&f->previous[0]);
    lumeq_curve_unref(&f->curve);
    s->sent_at = av_gettime_relative();
    f->equalize_us = (double)(s->sent_at - began);
    s->usual_us += (s->usual_us > 0 ? USUAL_WEIGHT : 1) * (f->equalize_us - s->usual_us);
    if (wants && !kept->taken)
        s->options.take(s->options.opaque, f->out, &f->stats);
    kept->taken = true;
    return send(s, f);
}

/* ---- kept frames ---- */

static void forget(EqualizeStage *s, int index)
{
    LumeqHistory *before = s->kept[index].before;
    frame_free(&s->kept[index].frame);
    gpu_frame_free(&s->kept[index].on_gpu);
    s->kept_count--;
    s->done -= index < s->done;
    memmove(&s->kept[index], &s->kept[index + 1],
            (size_t)(s->kept_count - index) * sizeof(s->kept[0]));
    s->kept[s->kept_count].before = before;
}

static int drop_lost(EqualizeStage *s, int index, MediaError *error)
{
    if (s->now.lossless)
        return media_fail(error, MEDIA_LOST, "frames were lost because the GPU failed");
    const Kept *kept = &s->kept[index];
    if (!kept->taken && kept->frame->generation == s->now.generation)
        atomic_fetch_add(&s->lost, 1);
    forget(s, index);
    return 0;
}

/* Equalizes the first kept frame that is not done. */
static int equalize_next(EqualizeStage *s, MediaError *error)
{
    const Kept *kept = &s->kept[s->done];
    const int64_t began = av_gettime_relative();
    const int wants = s->options.wants(s->options.opaque);
    Frame *f = make_frame(s, kept);
    if (!f)
        return media_no_memory(error, MEDIA_INPUT);
    (void)lumeq_history_copy(kept->before, s->curves.history);
    int ret = live_curves_make(&s->curves, f, error);
    if (ret == 0)
        ret = write_frame(s, f, s->now.on_device && !wants, error);
    if (ret == 0)
        return end_frame(s, f, began, wants);
    if (ret == MEDIA_LOST) {
        (void)lumeq_history_copy(s->curves.history, kept->before);
        gpu_frame_mark_lost(f->decoded.frame);
    }
    frame_free(&f);
    return ret == MEDIA_LOST ? drop_lost(s, s->done, error) : ret;
}

/* Brings a frame and the previous one into the same memory. Returns 0 if one of them is lost. */
static int colocate(EqualizeStage *s, Kept *kept)
{
    Frame *f = kept->frame;
    AVFrame *in = f->decoded.frame;
    kept->on_gpu = gpu_frame_is(in) ? av_frame_clone(in) : NULL;
    if (equalizer_colocate(s->options.memory, f->previous[0], in) < 0)
        return 0;
    if (gpu_frame_is(in))
        gpu_frame_free(&kept->on_gpu);
    return 1;
}

/* Adds a decoded frame to the kept ones. Takes ownership of it. */
static int keep(EqualizeStage *s, Frame *frame, MediaError *error)
{
    frame->first = s->is_cut || frame->decoded.returned;
    const Kept *last = s->kept_count && !frame->first ? &s->kept[s->kept_count - 1] : NULL;
    if (last && last->on_gpu && !gpu_frame_is_lost(last->on_gpu))
        frame->previous[0] = av_frame_clone(last->on_gpu);
    else if (last)
        frame->previous[0] = av_frame_clone(last->frame->decoded.frame);
    frame->number = ++s->number;
    frame->generation = s->generation;
    if (s->kept_count == KEPT)
        forget(s, 0);
    Kept *kept = &s->kept[s->kept_count++];
    *kept = (Kept){.frame = frame, .before = kept->before};
    const int here = colocate(s, kept);
    if (!here) {
        if (frame->previous[0])
            gpu_frame_mark_lost(frame->previous[0]);
        gpu_frame_mark_lost(frame->decoded.frame);
        gpu_frame_free(&frame->previous[0]);
    }
    s->is_cut = frame->decoded.preview;
    return here || (!s->now.lossless && !gpu_frame_is(frame->decoded.frame))
               ? 0
               : drop_lost(s, s->kept_count - 1, error);
}

static bool is_ahead(const EqualizeStage *s, const Kept *kept)
{
    return kept->frame->generation == s->generation && kept->frame->number > s->now.taken;
}

static int take_params(EqualizeStage *s, MediaError *error)
{
    const LumeqParams *params = &s->now.params;
    s->writes = equalizer_writes(params) || s->options.copies;
    s->chroma = equalizer_writes_chroma(params);
    return live_curves_set(&s->curves, params, error);
}

/* After a change of settings: starts again from the shown frame. */
static int begin_redraw(EqualizeStage *s, MediaError *error)
{
    int first = 0; /* index of the shown frame, or of a later one that begins a history */
    for (int i = 0; i < s->done; i++)
        if (s->kept[i].frame->first || s->kept[i].frame->number <= s->now.shown)
            first = i;
    s->revision = s->now.revision;
    if (s->done > first)
        (void)lumeq_history_copy(s->curves.history, s->kept[first].before);
    s->done = first;
    for (int i = s->kept_count - 1; i >= first; i--)
        if (s->kept[i].frame->number != s->now.shown && !is_ahead(s, &s->kept[i]))
            forget(s, i);
    s->end_sent = false;
    return take_params(s, error);
}

/* ---- the thread ---- */

/* True if the frame would be equalized too late to be shown. */
static bool is_late(const EqualizeStage *s, const Decoded *frame)
{
    const int64_t end = frame->position + frame->duration;
    return !frame->preview && s->now.late_to != INT64_MIN && end > s->now.late_from &&
           end <= s->now.late_to + (int64_t)s->usual_us;
}

static void note_end(EqualizeStage *s, int code, const MediaError *error)
{
    s->end = code;
    s->end_sent = false;
    pthread_mutex_lock(&s->lock);
    s->error = *error;
    pthread_mutex_unlock(&s->lock);
}

/* Fetches a frame into s->next. Newer frames replace it if it is late or the input is live. */
static void fetch(EqualizeStage *s)
{
    int ret = 0;
    while (!s->end && ret >= 0 && (!s->next || s->now.live || is_late(s, &s->next->decoded))) {
        MediaError error = {0};
        Frame *newer = NULL;
        ret = AVERROR(EAGAIN);
        pthread_mutex_lock(&s->lock); /* the window may detach the input at any time */
        if (s->orders.input && s->orders.generation == s->generation)
            ret = input_take(s->orders.input, &newer, QUEUE_TRY, &error);
        pthread_mutex_unlock(&s->lock);
        if (ret >= 0 && s->next)
            frame_note_skipped(newer, s->next);
        if (ret >= 0) {
            frame_free(&s->next);
            s->next = newer;
        } else if (ret != AVERROR(EAGAIN)) {
            note_end(s, ret, &error);
        }
    }
}

/* Drops the waiting live frame in favour of s->next. Returns false, and keeps the waiting frame, if
 * the window has taken it, or if s->next was decoded before the waiting frame was equalized. */
static bool replace_waiting(EqualizeStage *s)
{
    Kept *last = &s->kept[s->kept_count - 1];
    Frame *result;
    if (s->next->decoded.decoded_at < s->sent_at || queue_take_back(s->results, &result) < 0)
        return 0;
    frame_free(&result);
    (void)lumeq_history_copy(s->curves.history, last->before);
    frame_note_skipped(s->next, last->frame);
    s->is_cut = last->frame->first;
    forget(s, s->kept_count - 1);
    return 1;
}

/* Keeps the next frame if there is room. Returns 1, 0 if there is nothing to do, or a fault. */
static int take_next(EqualizeStage *s, MediaError *error)
{
    int ahead = 0;
    for (int i = 0; i < s->kept_count; i++)
        ahead += is_ahead(s, &s->kept[i]);
    if (!s->now.live && ahead >= AHEAD)
        return 0;
    fetch(s);
    if (!s->next)
        return 0;
    if (s->now.live && s->now.hold) {
        frame_free(&s->next);
        return 1;
    }
    if (s->now.live && ahead && !replace_waiting(s))
        return 0;
    Frame *frame = s->next;
    s->next = NULL;
    return keep(s, frame, error) < 0 ? error->fault : 1;
}

static void forget_all(EqualizeStage *s)
{
    while (s->kept_count)
        forget(s, s->kept_count - 1);
    frame_free(&s->next);
}

/* Does one step. Returns 1, 0 if there was nothing to do, or a negative number. */
static int work(EqualizeStage *s, MediaError *error)
{
    const int restarted = s->generation != s->now.generation;
    int ret = 1;
    if (restarted || s->revision != s->now.revision) {
        if (s->revision != s->now.revision)
            ret = begin_redraw(s, error);
        if (!restarted)
            return ret < 0 ? ret : 1;
        s->generation = s->now.generation;
        s->is_cut = true;
        s->end = 0;
        s->end_sent = false;
        frame_free(&s->next);
        for (int i = s->kept_count - 1; i >= s->done; i--) /* not equalized yet */
            if (s->kept[i].frame->number != s->now.shown)
                forget(s, i);
        return ret < 0 ? ret : 1;
    }
    if (s->done < s->kept_count) {
        ret = equalize_next(s, error);
        return ret < 0 ? ret : 1;
    }
    ret = take_next(s, error);
    Frame *last = !ret && s->end && !s->next && !s->end_sent ? frame_alloc() : NULL;
    if (last) {
        last->end = s->end;
        last->generation = s->generation;
        last->revision = s->revision;
        s->end_sent = send(s, last) >= 0;
    }
    return ret;
}

static void *stage_main(void *arg)
{
    EqualizeStage *s = arg;
    int ret = 0;
    for (;;) {
        MediaError error = {0};
        pthread_mutex_lock(&s->lock);
        while (ret == 0 && !s->woken && !s->orders.stop)
            pthread_cond_wait(&s->changed, &s->lock);
        s->woken = false;
        s->now = s->orders;
        pthread_mutex_unlock(&s->lock);
        if (s->now.stop)
            return NULL;
        ret = work(s, &error);
        if (ret < 0 && error.fault) { /* nothing to do until another input is attached */
            note_end(s, ret, &error);
            forget_all(s);
            s->is_cut = true;
        }
    }
}

/* ---- the window ---- */

int equalize_stage_open(EqualizeStage **stage, const EqualizeStageOptions *options,
                        MediaError *error)
{
    const QueueOptions results = {.item = sizeof(Frame *),
                                  .count = QUEUE_LENGTH,
                                  .bytes = options->bytes ? options->bytes : QUEUE_BYTES,
                                  .free = frame_free_queued};
    EqualizeStage *s = *stage = calloc(1, sizeof(*s));
    if (!s)
        return media_no_memory(error, MEDIA_INPUT);
    s->options = *options;
    s->now.params = s->orders.params = options->params;
    s->orders.late_from = s->orders.late_to = INT64_MIN;
    atomic_init(&s->lost, 0);
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->changed, NULL);
    s->backend = lumeq_context_backend_name(options->context);
    int ret = live_curves_open(&s->curves, options->context, &options->params, error);
    for (int i = 0; i < KEPT && ret >= 0; i++)
        ret = lumeq_history_create(&s->kept[i].before, NULL, 0);
    if (ret >= 0)
        ret = take_params(s, error);
    if (ret >= 0 && queue_open(&s->results, &results) >= 0)
        s->running = pthread_create(&s->thread, NULL, stage_main, s) == 0;
    if (s->running)
        return 0;
    equalize_stage_close(stage);
    return media_fail(error, MEDIA_INPUT,
                      "cannot start a thread to equalize the video: out of memory or threads");
}

static Orders *begin_orders(EqualizeStage *s)
{
    pthread_mutex_lock(&s->lock);
    return &s->orders;
}

static void give_orders(EqualizeStage *s)
{
    s->woken = true;
    pthread_cond_signal(&s->changed);
    pthread_mutex_unlock(&s->lock);
}

void equalize_stage_wake(EqualizeStage *s)
{
    begin_orders(s);
    give_orders(s);
}

void equalize_stage_attach(EqualizeStage *s, Input *input, int live)
{
    Orders *o = begin_orders(s);
    o->input = input;
    o->lossless = input && input_decoding(input)->lossless;
    o->live = live;
    o->generation++;
    o->late_from = o->late_to = INT64_MIN;
    give_orders(s);
}

void equalize_stage_detach(EqualizeStage *s)
{
    equalize_stage_attach(s, NULL, 0);
}

/* Reads the orders without the lock, because only the window's thread writes them. */
int equalize_stage_receive(EqualizeStage *s, Frame **frame, MediaError *error)
{
    Frame *f;
    int ret;
    *frame = NULL;
    while ((ret = queue_take(s->results, &f, QUEUE_TRY)) >= 0) {
        const bool is_redraw = s->has_shown && !f->end && f->number == s->orders.shown &&
                               f->revision > s->shown_revision;
        if (is_redraw)
            s->shown_revision = f->revision;
        if (is_redraw || (f->generation == s->orders.generation &&
                          f->revision == s->orders.revision && !f->end)) {
            *frame = f;
            return is_redraw;
        }
        const bool is_end =
            f->end && f->generation == s->orders.generation && f->revision == s->orders.revision;
        const int end = f->end;
        frame_free(&f);
        if (!is_end)
            continue;
        if (end == AVERROR_EOF)
            return end;
        pthread_mutex_lock(&s->lock);
        media_fail(error, end, "%s", s->error.text);
        pthread_mutex_unlock(&s->lock);
        return end;
    }
    return ret;
}

void equalize_stage_taken(EqualizeStage *s, const Frame *frame)
{
    begin_orders(s)->taken = frame->number;
    give_orders(s);
}

void equalize_stage_shown(EqualizeStage *s, const Frame *frame)
{
    s->has_shown = frame != NULL;
    s->shown_revision = frame ? frame->revision : 0;
    begin_orders(s)->shown = frame ? frame->number : 0;
    give_orders(s);
}

void equalize_stage_set(EqualizeStage *s, const LumeqParams *params)
{
    Orders *o = begin_orders(s);
    o->params = *params;
    o->revision++;
    give_orders(s);
}

void equalize_stage_redo(EqualizeStage *s)
{
    begin_orders(s)->revision++;
    give_orders(s);
}

bool equalize_stage_is_behind(const EqualizeStage *s)
{
    return s->has_shown && s->shown_revision != s->orders.revision;
}

void equalize_stage_allow_device(EqualizeStage *s, int allowed)
{
    if (s->orders.on_device == allowed)
        return;
    begin_orders(s)->on_device = allowed;
    give_orders(s);
}

void equalize_stage_hold(EqualizeStage *s, int hold)
{
    if (s->orders.hold == hold)
        return;
    begin_orders(s)->hold = hold;
    give_orders(s);
}

void equalize_stage_set_late(EqualizeStage *s, int64_t from, int64_t to)
{
    Orders *o = begin_orders(s);
    o->late_from = from;
    o->late_to = to;
    pthread_mutex_unlock(&s->lock); /* this need not wake the thread */
}

int equalize_stage_waiting(EqualizeStage *s)
{
    return queue_count(s->results);
}

int64_t equalize_stage_lost(const EqualizeStage *s)
{
    return atomic_load(&s->lost);
}

bool equalize_stage_is_lost(const EqualizeStage *s)
{
    return lumeq_context_backend_name(s->options.context) != s->backend;
}

void equalize_stage_stop(EqualizeStage *s)
{
    if (!s->running)
        return;
    begin_orders(s)->stop = true;
    give_orders(s);
    queue_stop(s->results);
    pthread_join(s->thread, NULL);
    s->running = false;
    forget_all(s);
}

void equalize_stage_close(EqualizeStage **stage)
{
    EqualizeStage *s = *stage;
    if (!s)
        return;
    equalize_stage_stop(s);
    queue_close(&s->results);
    for (int i = 0; i < KEPT; i++)
        lumeq_history_destroy(&s->kept[i].before);
    live_curves_close(&s->curves);
    frame_memory_close(&s->device_memory);
    pthread_cond_destroy(&s->changed);
    pthread_mutex_destroy(&s->lock);
    free(s);
    *stage = NULL;
}
