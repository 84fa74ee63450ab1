#include "run/equalize_stage.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <libavutil/error.h>
#include <libavutil/time.h>

#include "media/gpu_frame.h"
#include "media/message.h"
#include "run/equalize_loop.h"
#include "run/queue.h"

/* Frames that are equalized beyond the one that is shown: the next one, and the one after it while
 * that is on its way to the screen. Of a live input one waits, and gives way to a newer one. */
#define AHEAD 2

/* How what a frame usually takes follows the last one. */
#define USUAL_WEIGHT 0.1

/* Decoded frames at hand: the next one, and the one after it, which tells whether it is needed. */
#define COMING 2

/* Decoded frames that can be equalized anew: those, the one that is shown, and one that was dropped
 * between them. */
#define KEPT 4

/* Frames that wait are those ahead, and those out of date that the window has not come for yet:
 * with each change of the settings there may be more. Their bytes are bounded as those of
 * decode_stage.c. */
#define QUEUE_LENGTH 16
#define QUEUE_BYTES (256 << 20)

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
    int restarts; /* the feed can start again */
    LumeqParams params;
    int64_t taken, shown; /* numbers */
    int64_t late_from, late_to;
} Orders;

/* A decoded frame that may have to be equalized anew. */
typedef struct Kept {
    FeedFrame decoded;  /* without its frame: that was lost with the GPU, and comes again */
    FeedPlace compared; /* of the frame `before`; where there is none, its own */
    AVFrame *before;    /* a reference to the frame that it is compared with; NULL: none */
    AVFrame *away;      /* the frame on the GPU, where it is here for that; else NULL */
    int64_t number;
    int generation;
    int first;         /* it does not follow the one before */
    int wanted, taken; /* by EqualizeStageOptions.take() */
    int64_t begun_at;  /* av_gettime_relative() */
} Kept;

struct EqualizeStage {
    EqualizeStageOptions options;
    pthread_t thread;
    int running;
    Queue *results; /* of Result */

    pthread_mutex_t lock; /* of all these; never held for long */
    pthread_cond_t changed;
    Orders orders;
    int woken;
    int again; /* the generation whose feed is to start again at `again_at`; 0: none */
    FeedPlace again_at;
    MediaError error; /* of the last Result that is a fault */

    /* The window's. */
    int shown_revision, has_shown;

    /* The thread's. */
    Orders now; /* the orders that it follows */
    EqualizeLoop *loop;
    FeedFrame coming[COMING];
    int coming_count;
    Kept kept[KEPT];
    /* Of them, the first so many are in the equalizer's history, so many were handed in, and so
     * many have their frames. */
    int kept_count, done, begun, filled;
    FeedPlace last; /* of the last one */
    int awaits;     /* the feed is to start again */
    int generation, revision;
    int64_t number;  /* of the last frame */
    int64_t sent_at; /* when the last one was equalized, av_gettime_relative() */
    double usual_us; /* that a frame takes */
    int apart;       /* the next frame does not follow it */
    int end;         /* of the feed, 0: not yet */
    int end_sent;
    atomic_llong gone; /* frames that were lost with a GPU */
};

void equalized_frame_free(EqualizedFrame **frame)
{
    EqualizedFrame *f = *frame;
    if (!f)
        return;
    gpu_frame_free(&f->decoded.frame);
    gpu_frame_free(&f->out);
    free(f);
    *frame = NULL;
}

static void free_result(void *result)
{
    equalized_frame_free(&((Result *)result)->frame);
}

/* ---- one frame, in the thread ---- */

static int64_t frame_bytes(const EqualizedFrame *frame)
{
    const AVFrame *in = frame->decoded.frame;
    return message_frame_bytes(in, NULL) + message_frame_bytes(frame->out, in);
}

static int send(EqualizeStage *s, EqualizedFrame *frame, int end, int generation)
{
    Result result = {frame, end, generation, frame ? frame->revision : s->revision};
    const int ret = queue_put(s->results, &result, frame ? frame_bytes(frame) : 0, QUEUE_WAIT);
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

/* The first one that is kept and was not handed in. */
static int begin_kept(EqualizeStage *s, EqualizeTask *task, MediaError *error)
{
    Kept *kept = &s->kept[s->begun];
    EqualizedFrame *f = make_frame(s, kept);
    if (!f)
        return media_fail(error, MEDIA_INPUT, "out of memory");
    const int wants = s->options.wants(s->options.opaque);
    kept->wanted = !kept->taken && wants;
    kept->begun_at = av_gettime_relative();
    f->on_device = s->now.on_device && !wants;
    *task = (EqualizeTask){
        .item = f,
        .in = f->decoded.frame,
        .before = kept->before,
        .out = &f->out,
        .stats = &f->stats,
        .on_device = &f->on_device,
        .first = kept->first,
    };
    s->begun++;
    return 0;
}

/* The oldest one that was handed in is equalized. */
static int end_kept(void *opaque, void *done, MediaError *error)
{
    EqualizeStage *s = opaque;
    EqualizedFrame *f = done;
    (void)error;
    Kept *kept = &s->kept[s->done++];
    s->sent_at = av_gettime_relative();
    f->equalize_us = (double)(s->sent_at - kept->begun_at);
    s->usual_us += (s->usual_us > 0 ? USUAL_WEIGHT : 1) * (f->equalize_us - s->usual_us);
    if (kept->wanted)
        s->options.take(s->options.opaque, f->out, &f->stats);
    kept->taken = 1;
    return send(s, f, 0, kept->generation);
}

static void free_equalized(void *frame)
{
    equalized_frame_free((EqualizedFrame **)&frame);
}

/* ---- what is kept ---- */

static void forget(EqualizeStage *s, int index)
{
    gpu_frame_free(&s->kept[index].decoded.frame);
    gpu_frame_free(&s->kept[index].before);
    gpu_frame_free(&s->kept[index].away);
    s->kept_count--;
    s->filled -= index < s->filled;
    s->done -= index < s->done;
    s->begun -= index < s->begun;
    memmove(&s->kept[index], &s->kept[index + 1],
            (size_t)(s->kept_count - index) * sizeof(s->kept[0]));
}

/* Drops a frame that is lost with the GPU. */
static void lose(EqualizeStage *s, int index)
{
    if (!s->kept[index].taken)
        atomic_fetch_add(&s->gone, 1);
    forget(s, index);
}

/* Keeps only the place of a frame that the feed sends again. */
static void empty_kept(Kept *kept)
{
    gpu_frame_free(&kept->decoded.frame);
    gpu_frame_free(&kept->before);
    gpu_frame_free(&kept->away);
}

static void ask_again(EqualizeStage *s, const FeedPlace *place)
{
    pthread_mutex_lock(&s->lock);
    s->again = s->orders.generation == s->generation ? s->generation : 0;
    s->again_at = *place;
    pthread_mutex_unlock(&s->lock);
    s->awaits = 1;
    s->options.wake(s->options.wake_opaque);
}

/* The GPU is lost: asks for a restart of the feed at the reference of the first kept frame. A live
 * feed cannot restart. */
static void lose_kept(EqualizeStage *s)
{
    const int again = s->now.restarts && s->generation == s->now.generation;
    for (int i = s->kept_count - 1; i >= 0; i--) {
        Kept *k = &s->kept[i];
        const AVFrame *frame = k->decoded.frame;
        const int on_gpu = !frame || gpu_frame_is(frame) || (k->before && gpu_frame_is(k->before));
        if (again && k->generation == s->generation && !k->decoded.preview)
            empty_kept(k);
        else if (on_gpu && s->now.restarts)
            forget(s, i);
        else if (on_gpu)
            lose(s, i);
    }
    s->filled = 0;
    while (s->filled < s->kept_count && s->kept[s->filled].decoded.frame)
        s->filled++;
    if (!again)
        return;
    while (s->coming_count)
        gpu_frame_free(&s->coming[--s->coming_count].frame);
    s->end = s->end_sent = 0;
    FeedPlace place = {s->last.position + 1, s->last.number + 1};
    if (s->filled < s->kept_count)
        place = s->kept[s->filled].compared;
    ask_again(s, &place);
}

/* Not 0: the next kept frame can be submitted. */
static int has_kept(EqualizeStage *s)
{
    if (s->begun < s->filled && gpu_frame_is_lost(s->kept[s->begun].decoded.frame))
        lose_kept(s);
    return s->begun < s->filled;
}

/* See EqualizeLoopOptions. */
static int lose_task(void *opaque, void *item, MediaError *error)
{
    EqualizeStage *s = opaque;
    EqualizedFrame *f = item;
    (void)error;
    gpu_frame_lose(f->decoded.frame);
    equalized_frame_free(&f);
    if (--s->begun == s->done)
        lose_kept(s);
    return 0;
}

static FeedPlace place_of(const FeedFrame *frame)
{
    return (FeedPlace){frame->position, frame->number};
}

/* Reference for the frame after it. */
static AVFrame *clone_before(const Kept *last)
{
    return last ? av_frame_clone(last->away ? last->away : last->decoded.frame) : NULL;
}

/* Brings both frames into the same memory. 0: one is lost with the GPU. */
static int meet(EqualizeStage *s, Kept *kept)
{
    kept->away = gpu_frame_is(kept->decoded.frame) ? av_frame_clone(kept->decoded.frame) : NULL;
    if (equalizer_meet(s->options.memory, kept->before, kept->decoded.frame) < 0)
        return 0;
    if (gpu_frame_is(kept->decoded.frame))
        gpu_frame_free(&kept->away);
    return 1;
}

/* Takes the frame over. */
static void keep(EqualizeStage *s, const FeedFrame *decoded)
{
    const int first = s->apart || decoded->returned;
    const Kept *last = s->kept_count && !first ? &s->kept[s->kept_count - 1] : NULL;
    Kept kept = {
        .decoded = *decoded,
        .before = clone_before(last),
        .compared = last ? place_of(&last->decoded) : place_of(decoded),
        .number = ++s->number,
        .generation = s->generation,
        .first = first,
    };
    const int here = meet(s, &kept);
    if (s->kept_count == KEPT)
        forget(s, 0);
    s->kept[s->kept_count++] = kept;
    s->filled++;
    s->last = place_of(decoded);
    s->apart = decoded->preview;
    if (here)
        return;
    gpu_frame_lose(kept.before);
    gpu_frame_lose(kept.decoded.frame);
    lose_kept(s);
}

/* Puts a frame from the restarted feed into its place, or takes it as the reference of the next.
 * Frames before it that the feed has skipped are lost. */
static void fill(EqualizeStage *s, FeedFrame *decoded)
{
    while (s->filled < s->kept_count && decoded->number > s->kept[s->filled].decoded.number)
        lose(s, s->filled);
    if (s->filled == s->kept_count)
        return;
    Kept *k = &s->kept[s->filled];
    if (decoded->number == k->decoded.number) {
        k->decoded.frame = decoded->frame;
        decoded->frame = NULL;
        if (!k->first && s->filled && k->compared.number == k[-1].decoded.number)
            k->before = clone_before(k - 1);
        s->filled++;
    } else if (decoded->number == k->compared.number) {
        gpu_frame_free(&k->before);
        k->before = decoded->frame;
        decoded->frame = NULL;
    }
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

static void take_params(EqualizeStage *s)
{
    const LumeqParams *params = &s->now.params;
    const int writes = equalizer_writes(params) || s->options.copies;
    equalize_loop_write(s->loop, writes ? s->options.memory : NULL,
                        equalizer_writes_chroma(params));
}

/* The settings have changed. */
static int begin_anew(EqualizeStage *s, MediaError *error)
{
    LumeqEqualizer *equalizer = s->options.equalizer;
    int first = first_anew(s);
    s->revision = s->now.revision;
    for (; first > 0 && first < s->kept_count && s->kept[first].first; first--)
        forget(s, 0); /* nothing is taken back beyond a reset */
    int ret = lumeq_set_params(equalizer, &s->now.params);
    if (ret >= 0 && s->done > first)
        ret = lumeq_rewind(equalizer, s->done - first);
    if (ret < 0)
        return equalizer_failed(equalizer, ret, error);
    take_params(s);
    s->done = s->begun = first;
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

static void note_end(EqualizeStage *s, int code, const MediaError *error)
{
    s->end = code;
    s->end_sent = 0;
    pthread_mutex_lock(&s->lock);
    s->error = *error;
    pthread_mutex_unlock(&s->lock);
}

/* Nobody else takes from the feed, which may be detached at any time. */
static int take_decoded(EqualizeStage *s, FeedFrame *frame, MediaError *error)
{
    int ret = AVERROR(EAGAIN);
    pthread_mutex_lock(&s->lock);
    s->awaits &= s->again == s->generation;
    if (!s->awaits && s->orders.feed && s->orders.generation == s->generation)
        ret = video_feed_receive(s->orders.feed, frame, error);
    pthread_mutex_unlock(&s->lock);
    return ret;
}

static FeedFrame take_coming(EqualizeStage *s)
{
    const FeedFrame first = s->coming[0];
    s->coming[0] = s->coming[1];
    s->coming_count--;
    return first;
}

/* The frame that follows tells what is missing before it. */
static void note_left_out(FeedFrame *next, const FeedFrame *frame)
{
    next->skipped += frame->skipped + 1;
    next->returned |= frame->returned;
}

static void drop_coming(EqualizeStage *s)
{
    FeedFrame frame = take_coming(s);
    if (s->coming_count)
        note_left_out(&s->coming[0], &frame);
    gpu_frame_free(&frame.frame);
}

static void fetch(EqualizeStage *s)
{
    while (s->coming_count < COMING && !s->end) {
        MediaError error = {0};
        const int ret = take_decoded(s, &s->coming[s->coming_count], &error);
        if (ret == AVERROR(EAGAIN))
            return;
        if (ret < 0)
            note_end(s, ret, &error);
        else if (++s->coming_count > 1 && s->now.live)
            drop_coming(s);
    }
}

/* Not 0: there is room for the first one that is coming: the one ahead has waited since before that
 * was decoded, and is left out, unless the window has it by now. */
static int give_way(EqualizeStage *s, MediaError *error)
{
    Kept *last = &s->kept[s->kept_count - 1];
    Result result;
    if (s->coming[0].decoded_at < s->sent_at || queue_take_back(s->results, &result) < 0)
        return 0;
    free_result(&result);
    const int ret = lumeq_rewind(s->options.equalizer, 1);
    if (ret < 0)
        return equalizer_failed(s->options.equalizer, ret, error);
    note_left_out(&s->coming[0], &last->decoded);
    s->apart = last->first;
    forget(s, s->kept_count - 1);
    return 1;
}

/* After a restart. 1: took a frame; 0: there is none yet. */
static int take_again(EqualizeStage *s)
{
    fetch(s);
    if (!s->coming_count)
        return 0;
    FeedFrame next = take_coming(s);
    fill(s, &next);
    if (next.frame && s->filled == s->kept_count && next.number > s->last.number)
        keep(s, &next); /* the first frame after those that were kept */
    else
        gpu_frame_free(&next.frame);
    return 1;
}

/* 1: there may be more to do; 0: there is not. */
static int take_next(EqualizeStage *s, MediaError *error)
{
    if (s->filled < s->kept_count)
        return take_again(s);
    if (!s->now.live && count_ahead(s) >= AHEAD)
        return 0;
    fetch(s);
    while (s->coming_count > 1 && is_late(s, &s->coming[0])) {
        drop_coming(s);
        fetch(s);
    }
    if (!s->coming_count)
        return 0;
    if (s->now.live && s->now.hold) {
        drop_coming(s);
        return 1;
    }
    const int ret = s->now.live && count_ahead(s) ? give_way(s, error) : 1;
    if (ret <= 0)
        return ret;
    FeedFrame next = take_coming(s);
    if (!next.preview && next.number <= s->last.number) /* after a restart it comes twice */
        gpu_frame_free(&next.frame);
    else
        keep(s, &next);
    return 1;
}

static void send_end(EqualizeStage *s)
{
    if (s->end && !s->coming_count && !s->end_sent)
        s->end_sent = send(s, NULL, s->end, s->generation) >= 0;
}

static void begin_generation(EqualizeStage *s)
{
    s->generation = s->now.generation;
    s->apart = 1;
    s->last = (FeedPlace){0};
    s->end = s->end_sent = s->awaits = 0;
    while (s->coming_count)
        drop_coming(s);
    for (int i = s->kept_count - 1; i >= 0; i--) /* its feed has gone elsewhere */
        if (!s->kept[i].decoded.frame)
            forget(s, i);
    for (int i = s->kept_count - 1; i >= s->done; i--) /* they were to come out anew */
        if (s->kept[i].number != s->now.shown)
            forget(s, i);
}

static int follow_orders(EqualizeStage *s, MediaError *error)
{
    int ret = 0;
    if (s->revision != s->now.revision)
        ret = begin_anew(s, error);
    if (s->generation != s->now.generation)
        begin_generation(s);
    return ret < 0 ? ret : 1;
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

/* See EqualizeLoopOptions. Of a live input nothing waits for a frame that follows. */
static int next_frame(void *opaque, EqualizeTask *task, int idle, MediaError *error)
{
    EqualizeStage *s = opaque;
    for (int more = 1; take_orders(s, !more);) {
        const int changed = s->revision != s->now.revision || s->generation != s->now.generation;
        if (!idle && (changed || s->now.live))
            return AVERROR(EAGAIN);
        if (!changed && has_kept(s))
            return begin_kept(s, task, error);
        more = changed ? follow_orders(s, error) : take_next(s, error);
        if (more < 0)
            return more;
        if (!more && !idle)
            return AVERROR(EAGAIN);
        if (!more)
            send_end(s);
    }
    return AVERROR_EXIT;
}

static void forget_all(EqualizeStage *s)
{
    while (s->kept_count)
        forget(s, s->kept_count - 1);
    while (s->coming_count)
        drop_coming(s);
}

/* What was to be done cannot be: until another feed is attached. */
static void give_up(EqualizeStage *s, int code, const MediaError *error)
{
    note_end(s, code, error);
    forget_all(s);
    s->apart = 1;
}

static void *stage_main(void *arg)
{
    EqualizeStage *s = arg;
    int ret;
    do {
        MediaError error = {0};
        ret = equalize_loop_run(s->loop, &error);
        if (ret != AVERROR_EXIT)
            give_up(s, ret, &error);
    } while (ret != AVERROR_EXIT);
    return NULL;
}

/* ---- the window ---- */

int equalize_stage_open(EqualizeStage **stage, const EqualizeStageOptions *options,
                        MediaError *error)
{
    const QueueOptions results = {.item = sizeof(Result),
                                  .count = QUEUE_LENGTH,
                                  .bytes = options->bytes ? options->bytes : QUEUE_BYTES,
                                  .free = free_result};
    EqualizeStage *s = *stage = calloc(1, sizeof(*s));
    if (!s)
        return media_fail(error, MEDIA_INPUT, "out of memory");
    s->options = *options;
    s->now.params = s->orders.params = options->params;
    s->orders.late_from = s->orders.late_to = INT64_MIN;
    atomic_init(&s->gone, 0);
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->changed, NULL);
    const EqualizeLoopOptions loop = {
        .equalizer = options->equalizer,
        .gpu = options->gpu,
        .next = next_frame,
        .done = end_kept,
        .free = free_equalized,
        .lost = lose_task,
        .opaque = s,
        .note = options->note,
    };
    s->loop = equalize_loop_create(&loop);
    if (s->loop)
        take_params(s);
    if (s->loop && queue_open(&s->results, &results) >= 0)
        s->running = pthread_create(&s->thread, NULL, stage_main, s) == 0;
    if (s->running)
        return 0;
    equalize_stage_close(stage);
    return media_fail(error, MEDIA_INPUT,
                      "no thread can be started to equalize the video: out of memory or threads");
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
    o->restarts = feed && video_feed_can_restart(feed);
    o->live = live;
    o->generation++;
    o->late_from = o->late_to = INT64_MIN;
    give_orders(s);
}

void equalize_stage_detach(EqualizeStage *s)
{
    equalize_stage_attach(s, NULL, 0);
}

int equalize_stage_wants_again(EqualizeStage *s, FeedPlace *place)
{
    pthread_mutex_lock(&s->lock);
    const int wants = s->again && s->again == s->orders.generation;
    *place = s->again_at;
    pthread_mutex_unlock(&s->lock);
    return wants;
}

void equalize_stage_goes_on(EqualizeStage *s)
{
    begin_orders(s);
    s->again = 0;
    give_orders(s);
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

int64_t equalize_stage_gone(const EqualizeStage *s)
{
    return atomic_load(&s->gone);
}

int equalize_stage_is_lost(EqualizeStage *s)
{
    return equalize_loop_is_lost(s->loop);
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
    forget_all(s);
}

void equalize_stage_close(EqualizeStage **stage)
{
    EqualizeStage *s = *stage;
    if (!s)
        return;
    equalize_stage_stop(s);
    queue_close(&s->results);
    equalize_loop_free(&s->loop);
    pthread_cond_destroy(&s->changed);
    pthread_mutex_destroy(&s->lock);
    free(s);
    *stage = NULL;
}
