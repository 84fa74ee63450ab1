#include "pipeline/equalize_stage.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <libavutil/error.h>
#include <libavutil/time.h>

#include "pipeline/queue.h"

/* Frames that are equalized beyond the one that is shown: the next one, and the one after it while
 * that is on its way to the screen. Of a live input one waits: more would only grow older. */
#define AHEAD 2
#define AHEAD_LIVE 1

/* How what a frame usually takes follows the last one. */
#define USUAL_WEIGHT 0.1

/* Decoded frames at hand: the next one, and the one after it, which tells whether it is needed. */
#define COMING 2

/* Decoded frames that can be equalized anew: those, the one that is shown, and one that was dropped
 * between them. */
#define KEPT 4

/* Frames that wait are bounded by those ahead; what is out of date is taken out by the window. */
#define QUEUE_LENGTH 16

/* What comes out: a frame, or the end of a generation (frames of one attached feed). */
typedef struct Result {
    EqualizedFrame *frame;
    int end; /* where there is no frame */
    int generation, revision;
} Result;

/* What the window wants, as a whole. */
typedef struct Orders {
    VideoFeed *feed; /* NULL: none; used under the lock alone */
    int live, hold, on_device, stop;
    int generation, revision;
    LumeqParams params;
    int64_t taken, shown; /* numbers */
    int64_t late_from, late_to;
} Orders;

/* A decoded frame that may have to be equalized anew. */
typedef struct Kept {
    FeedFrame decoded;
    AVFrame *before; /* a reference to the frame that it is compared with; NULL: none */
    int64_t number;
    int generation;
    int first; /* it does not follow the one before */
    int taken; /* by EqualizeStageOptions.take() */
} Kept;

struct EqualizeStage {
    EqualizeStageOptions options;
    pthread_t thread;
    int running;
    Queue *results; /* of Result */
    atomic_int lost;

    pthread_mutex_t lock; /* of these four; never held for long */
    pthread_cond_t changed;
    Orders orders;
    int woken;
    MediaError error; /* of the last Result that is a fault */

    /* The window's. */
    int shown_revision, has_shown;

    /* The thread's. */
    Orders now; /* the orders that it follows */
    MediaError failure;
    const char *backend;
    FrameMemory *device_memory; /* of the GPU, or NULL */
    FeedFrame coming[COMING];
    int coming_count;
    Kept kept[KEPT];
    int kept_count, done; /* of them, the first so many are in the equalizer's history */
    int generation, revision;
    int64_t number;  /* of the last frame */
    double usual_us; /* that a frame takes */
    int apart;       /* the next frame does not follow it */
    int end;         /* of the feed, 0: not yet */
    int end_sent;
};

void equalized_frame_free(EqualizedFrame **frame)
{
    EqualizedFrame *f = *frame;
    if (!f)
        return;
    av_frame_free(&f->decoded.frame);
    av_frame_free(&f->out);
    free(f);
    *frame = NULL;
}

static void free_result(void *result)
{
    equalized_frame_free(&((Result *)result)->frame);
}

/* ---- one frame, in the thread ---- */

static void *alloc_device(void *equalizer, size_t size)
{
    return lumeq_alloc_device(equalizer, size);
}

static void free_device(void *equalizer, void *memory)
{
    lumeq_free_device(equalizer, memory);
}

/* Whether what is written of a frame lies on the GPU, all of it. */
static int is_on_device(EqualizeStage *s, const AVFrame *frame, int chroma)
{
    for (int i = 0; i < (chroma ? 3 : 1); i++)
        if (frame->data[i] && !frame_memory_owns(s->device_memory, frame->data[i]))
            return 0;
    return 1;
}

/* Memory for the equalized frame: on the GPU where that is wanted and there is enough. */
static AVFrame *make_output(EqualizeStage *s, const AVFrame *in, int *on_device)
{
    const int chroma = equalizer_writes_chroma(&s->now.params);
    *on_device &= strcmp(lumeq_backend_name(s->options.equalizer), "cuda") == 0;
    if (*on_device && !s->device_memory) {
        const FrameAllocator device = {alloc_device, free_device, s->options.equalizer, 1};
        s->device_memory = frame_memory_create(&device);
    }
    AVFrame *out =
        *on_device && s->device_memory ? frame_memory_output(s->device_memory, in, chroma) : NULL;
    *on_device = out && is_on_device(s, out, chroma);
    if (*on_device)
        return out;
    av_frame_free(&out);
    return frame_memory_output(s->options.memory, in, chroma);
}

static void note_loss(EqualizeStage *s)
{
    if (atomic_load(&s->lost) || lumeq_backend_name(s->options.equalizer) == s->backend)
        return;
    s->options.note(lumeq_last_error(s->options.equalizer));
    atomic_store(&s->lost, 1);
}

static int run(EqualizeStage *s, LumeqFrame *frame, LumeqFrameStats *stats)
{
    const int ret = lumeq_submit(s->options.equalizer, frame);
    if (ret < 0)
        return ret;
    lumeq_flush(s->options.equalizer);
    return lumeq_receive(s->options.equalizer, frame, stats);
}

static int equalize(EqualizeStage *s, EqualizedFrame *f, const AVFrame *before, int on_device)
{
    const AVFrame *in = f->decoded.frame;
    const LumeqImage previous = equalizer_before(before, in);
    const int off = s->now.params.mode == LUMEQ_MODE_OFF;
    f->out = off ? av_frame_clone(in) : make_output(s, in, &on_device);
    if (!f->out)
        return media_fail(&s->failure, MEDIA_INPUT, "out of memory for a frame of %dx%d", in->width,
                          in->height);
    LumeqFrame frame = equalizer_frame(in, off ? NULL : f->out);
    if (!off && on_device)
        frame.out.memory = LUMEQ_MEMORY_CUDA;
    if (previous.plane[0])
        frame.previous = &previous;
    int ret = run(s, &frame, &f->stats);
    if (ret < 0)
        return equalizer_failed(s->options.equalizer, ret, &s->failure);
    note_loss(s);
    f->on_device = !off && on_device;
    if (off || frame.out.plane[0])
        return equalizer_take_output(s->options.memory, f->out, &frame, &s->failure);
    av_frame_free(&f->out); /* the GPU was lost with it: on the CPU, then */
    ret = lumeq_rewind(s->options.equalizer, 1);
    return ret < 0 ? equalizer_failed(s->options.equalizer, ret, &s->failure)
                   : equalize(s, f, before, 0);
}

static int send(EqualizeStage *s, EqualizedFrame *frame, int end, int generation)
{
    Result result = {frame, end, generation, s->revision};
    const int ret = queue_put(s->results, &result, 0, QUEUE_WAIT);
    if (ret < 0)
        free_result(&result);
    else
        s->options.wake(s->options.wake_opaque);
    return ret;
}

static EqualizedFrame *make_frame(const EqualizeStage *s, const Kept *kept)
{
    EqualizedFrame *f = calloc(1, sizeof(*f));
    if (!f)
        return NULL;
    f->decoded = kept->decoded;
    f->decoded.frame = av_frame_clone(kept->decoded.frame);
    f->stats = equalizer_ask_stats(&f->arrays);
    f->number = kept->number;
    f->revision = s->revision;
    if (!f->decoded.frame)
        equalized_frame_free(&f);
    return f;
}

/* The first one that is kept and not in the history. */
static int equalize_kept(EqualizeStage *s)
{
    Kept *kept = &s->kept[s->done];
    EqualizedFrame *f = make_frame(s, kept);
    const int wanted = !kept->taken && s->options.wants(s->options.opaque);
    const int64_t begin = av_gettime_relative();
    if (kept->first)
        lumeq_reset(s->options.equalizer);
    int ret = f ? equalize(s, f, kept->before, s->now.on_device && !wanted)
                : media_fail(&s->failure, MEDIA_INPUT, "out of memory");
    if (ret < 0) {
        equalized_frame_free(&f);
        return ret;
    }
    f->equalize_us = (double)(av_gettime_relative() - begin);
    s->usual_us += (s->usual_us > 0 ? USUAL_WEIGHT : 1) * (f->equalize_us - s->usual_us);
    if (wanted)
        s->options.take(s->options.opaque, f->out, &f->stats);
    kept->taken = 1;
    s->done++;
    return send(s, f, 0, kept->generation);
}

/* ---- what is kept ---- */

static void forget(EqualizeStage *s, int index)
{
    av_frame_free(&s->kept[index].decoded.frame);
    av_frame_free(&s->kept[index].before);
    s->kept_count--;
    s->done -= index < s->done;
    memmove(&s->kept[index], &s->kept[index + 1],
            (size_t)(s->kept_count - index) * sizeof(s->kept[0]));
}

/* Takes the frame over. Without memory it has none before it. */
static void keep(EqualizeStage *s, const FeedFrame *decoded)
{
    const int first = s->apart || decoded->returned;
    const Kept *last = s->kept_count && !first ? &s->kept[s->kept_count - 1] : NULL;
    AVFrame *before = last ? av_frame_clone(last->decoded.frame) : NULL;
    if (s->kept_count == KEPT)
        forget(s, 0);
    s->kept[s->kept_count++] = (Kept){
        .decoded = *decoded,
        .before = before,
        .number = ++s->number,
        .generation = s->generation,
        .first = first,
    };
    s->apart = decoded->preview;
}

static int is_ahead(const EqualizeStage *s, const Kept *kept)
{
    return kept->generation == s->generation && kept->number > s->now.taken;
}

static int count_ahead(const EqualizeStage *s)
{
    int count = 0;
    for (int i = 0; i < s->kept_count; i++)
        count += is_ahead(s, &s->kept[i]);
    return count;
}

/* From where on frames that are in the history are equalized anew: from the one that is shown, but
 * no history leads from before a seek to what follows it. */
static int first_anew(const EqualizeStage *s)
{
    int first = 0;
    for (int i = 0; i < s->done; i++)
        if (s->kept[i].first || s->kept[i].number <= s->now.shown)
            first = i;
    return first;
}

/* The settings have changed. */
static int begin_anew(EqualizeStage *s)
{
    LumeqEqualizer *equalizer = s->options.equalizer;
    int first = first_anew(s);
    for (; first > 0 && first < s->kept_count && s->kept[first].first; first--)
        forget(s, 0); /* nothing is taken back beyond a reset */
    int ret = lumeq_set_params(equalizer, &s->now.params);
    if (ret >= 0 && s->done > first)
        ret = lumeq_rewind(equalizer, s->done - first);
    if (ret < 0)
        return equalizer_failed(equalizer, ret, &s->failure);
    s->done = first;
    for (int i = s->kept_count - 1; i >= first; i--)
        if (s->kept[i].number != s->now.shown && !is_ahead(s, &s->kept[i]))
            forget(s, i);
    s->end_sent = 0;
    return 0;
}

/* ---- the thread ---- */

/* Once it would be equalized. */
static int is_late(const EqualizeStage *s, const FeedFrame *frame)
{
    const int64_t end = frame->position + frame->duration;
    return !frame->preview && s->now.late_to != INT64_MIN && end > s->now.late_from &&
           end <= s->now.late_to + (int64_t)s->usual_us;
}

static void note_end(EqualizeStage *s, int code)
{
    s->end = code;
    s->end_sent = 0;
    pthread_mutex_lock(&s->lock);
    s->error = s->failure;
    pthread_mutex_unlock(&s->lock);
}

/* Nobody else takes from the feed, which may be detached at any time. */
static int take_decoded(EqualizeStage *s, FeedFrame *frame)
{
    int ret = AVERROR(EAGAIN);
    pthread_mutex_lock(&s->lock);
    if (s->orders.feed && s->orders.generation == s->generation)
        ret = video_feed_receive(s->orders.feed, frame, &s->failure);
    pthread_mutex_unlock(&s->lock);
    return ret;
}

static void fetch(EqualizeStage *s)
{
    const int wanted = s->now.live ? 1 : COMING;
    while (s->coming_count < wanted && !s->end) {
        const int ret = take_decoded(s, &s->coming[s->coming_count]);
        if (ret == AVERROR(EAGAIN))
            return;
        if (ret < 0)
            note_end(s, ret);
        else
            s->coming_count++;
    }
}

static FeedFrame take_coming(EqualizeStage *s)
{
    const FeedFrame first = s->coming[0];
    s->coming[0] = s->coming[1];
    s->coming_count--;
    return first;
}

static void drop_coming(EqualizeStage *s)
{
    FeedFrame frame = take_coming(s);
    if (s->coming_count) {
        s->coming[0].skipped += frame.skipped + 1;
        s->coming[0].returned |= frame.returned;
    }
    av_frame_free(&frame.frame);
}

/* 1: there was something to take. */
static int take_next(EqualizeStage *s)
{
    fetch(s);
    while (s->coming_count > 1 && is_late(s, &s->coming[0])) {
        drop_coming(s);
        fetch(s);
    }
    if (!s->coming_count)
        return s->end != 0;
    if (s->now.live && s->now.hold) {
        drop_coming(s);
        return 1;
    }
    const FeedFrame next = take_coming(s);
    keep(s, &next);
    return 1;
}

static void begin_generation(EqualizeStage *s)
{
    s->generation = s->now.generation;
    s->apart = 1;
    s->end = s->end_sent = 0;
    while (s->coming_count)
        drop_coming(s);
    for (int i = s->kept_count - 1; i >= s->done; i--) /* they were to come out anew */
        if (s->kept[i].number != s->now.shown)
            forget(s, i);
}

/* One thing after the other. 1: there may be more; 0: there is nothing to do. */
static int work(EqualizeStage *s)
{
    s->failure = (MediaError){0};
    if (s->revision != s->now.revision) {
        s->revision = s->now.revision;
        const int ret = begin_anew(s);
        return ret < 0 ? ret : 1;
    }
    if (s->generation != s->now.generation) {
        begin_generation(s);
        return 1;
    }
    if (s->done < s->kept_count) {
        const int ret = equalize_kept(s);
        return ret < 0 ? ret : 1;
    }
    if (s->end && !s->coming_count) {
        if (!s->end_sent)
            send(s, NULL, s->end, s->generation);
        s->end_sent = 1;
        return 0;
    }
    const int room = s->now.live ? AHEAD_LIVE : AHEAD;
    return (s->now.live && s->now.hold) || count_ahead(s) < room ? take_next(s) : 0;
}

/* Answers 0 when it is to end. */
static int take_orders(EqualizeStage *s, int wait)
{
    pthread_mutex_lock(&s->lock);
    while (wait && !s->woken && !s->orders.stop)
        pthread_cond_wait(&s->changed, &s->lock);
    s->woken = 0;
    s->now = s->orders;
    pthread_mutex_unlock(&s->lock);
    return !s->now.stop;
}

static void *stage_main(void *arg)
{
    EqualizeStage *s = arg;
    int more = 1;
    while (take_orders(s, !more)) {
        more = work(s);
        if (more < 0) { /* what was to be done cannot be; until it is attached again */
            note_end(s, more);
            while (s->kept_count > s->done)
                forget(s, s->kept_count - 1);
            while (s->coming_count)
                drop_coming(s);
            more = 1;
        }
    }
    return NULL;
}

/* ---- the window ---- */

int equalize_stage_open(EqualizeStage **stage, const EqualizeStageOptions *options,
                        MediaError *error)
{
    const QueueOptions results = {
        .item = sizeof(Result), .count = QUEUE_LENGTH, .free = free_result};
    EqualizeStage *s = *stage = calloc(1, sizeof(*s));
    if (!s)
        return media_fail(error, MEDIA_INPUT, "out of memory");
    s->options = *options;
    s->backend = lumeq_backend_name(options->equalizer);
    s->orders.params = options->params;
    s->orders.late_from = s->orders.late_to = INT64_MIN;
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->changed, NULL);
    if (queue_open(&s->results, &results) >= 0)
        s->running = pthread_create(&s->thread, NULL, stage_main, s) == 0;
    if (s->running)
        return 0;
    equalize_stage_close(stage);
    return media_fail(error, MEDIA_INPUT, "out of memory or threads");
}

static Orders *begin_orders(EqualizeStage *s)
{
    pthread_mutex_lock(&s->lock);
    return &s->orders;
}

static void give_orders(EqualizeStage *s)
{
    s->woken = 1;
    pthread_cond_signal(&s->changed);
    pthread_mutex_unlock(&s->lock);
}

void equalize_stage_wake(EqualizeStage *s)
{
    begin_orders(s);
    give_orders(s);
}

void equalize_stage_attach(EqualizeStage *s, VideoFeed *feed, int live)
{
    Orders *o = begin_orders(s);
    o->feed = feed;
    o->live = live;
    o->generation++;
    o->late_from = o->late_to = INT64_MIN;
    give_orders(s);
}

void equalize_stage_detach(EqualizeStage *s)
{
    equalize_stage_attach(s, NULL, 0);
}

static int is_shown_anew(const EqualizeStage *s, const Result *r)
{
    return s->has_shown && r->frame && r->frame->number == s->orders.shown &&
           r->revision > s->shown_revision;
}

/* The orders are read without the lock: this thread alone writes them. */
int equalize_stage_receive(EqualizeStage *s, EqualizedFrame **frame, MediaError *error)
{
    Result result;
    int ret;
    *frame = NULL;
    while ((ret = queue_take(s->results, &result, QUEUE_TRY)) >= 0) {
        if (is_shown_anew(s, &result)) {
            s->shown_revision = result.revision;
            *frame = result.frame;
            return 1;
        }
        if (result.generation != s->orders.generation || result.revision != s->orders.revision) {
            free_result(&result);
            continue;
        }
        *frame = result.frame;
        if (result.frame || result.end == AVERROR_EOF)
            return result.frame ? 0 : AVERROR_EOF;
        pthread_mutex_lock(&s->lock);
        media_fail(error, result.end, "%s", s->error.text);
        pthread_mutex_unlock(&s->lock);
        return result.end;
    }
    return ret;
}

void equalize_stage_taken(EqualizeStage *s, const EqualizedFrame *frame)
{
    begin_orders(s)->taken = frame->number;
    give_orders(s);
}

void equalize_stage_shown(EqualizeStage *s, const EqualizedFrame *frame)
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

int equalize_stage_is_behind(const EqualizeStage *s)
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
    pthread_mutex_unlock(&s->lock); /* no news for a thread that waits */
}

int equalize_stage_waiting(EqualizeStage *s)
{
    return queue_count(s->results);
}

int equalize_stage_is_lost(EqualizeStage *s)
{
    return atomic_load(&s->lost);
}

void equalize_stage_stop(EqualizeStage *s)
{
    if (!s->running)
        return;
    begin_orders(s)->stop = 1;
    give_orders(s);
    queue_stop(s->results);
    pthread_join(s->thread, NULL);
    s->running = 0;
    while (s->kept_count)
        forget(s, s->kept_count - 1);
    while (s->coming_count)
        drop_coming(s);
}

void equalize_stage_close(EqualizeStage **stage)
{
    EqualizeStage *s = *stage;
    if (!s)
        return;
    equalize_stage_stop(s);
    queue_close(&s->results);
    frame_memory_close(&s->device_memory);
    pthread_cond_destroy(&s->changed);
    pthread_mutex_destroy(&s->lock);
    free(s);
    *stage = NULL;
}
