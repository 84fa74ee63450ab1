#include "run/pipeline.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "media/gpu_frame.h"
#include "run/apply_pool.h"
#include "run/decode_stage.h"
#include "run/equalize_loop.h"
#include "run/queue.h"

/* Items that wait for the sink; see decode_stage.c. */
#define QUEUE_LENGTH 4
#define QUEUE_BYTES (256 << 20)

/* A frame that is being equalized by its curve. */
typedef struct Flight {
    Item *item;
    ApplyWork work;
} Flight;

struct Pipeline {
    PipelineParts parts; /* without `planned` where the equalizer makes the curves */
    int64_t number;      /* of the next frame that it does that for */
    EqualizeLoop *loop;
    ApplyPool *pool;            /* of planned frames, or NULL */
    Flight flights[APPLY_MOST]; /* a ring */
    int first, flying;
    LumeqCurve *curves[APPLY_MOST]; /* of lost frames, oldest first */
    int curve_count;
    AVFrame *before[PLANNED_BEFORE]; /* references to the frames that were equalized last */
    Item *next;                      /* was taken, but is not handed in yet */
    int64_t again;                   /* the frame that the reader is to start again at; -1: none */
    int known;                       /* number of references that come first after a restart */
    DecodeStage *decoded;            /* of Message */
    Queue *equalized;                /* of Item * */
    pthread_t thread;                /* that equalizes */
    int running;
    MediaError error; /* the thread's until it has ended */
};

void item_free(Item **item)
{
    if (!*item)
        return;
    message_clear(&(*item)->message);
    gpu_frame_free(&(*item)->before);
    free((*item)->arrays);
    free(*item);
    *item = NULL;
}

static void free_queued(void *message)
{
    item_free(message);
}

/* The item stays the caller's when it could not be sent. */
static int send(Pipeline *p, Item **item)
{
    const int ret = queue_put(p->equalized, item, message_bytes(&(*item)->message), QUEUE_WAIT);
    if (ret >= 0)
        *item = NULL;
    return ret;
}

/* The next item that was decoded. */
static int take(Pipeline *p, QueueWait wait, MediaError *error)
{
    Item *item = calloc(1, sizeof(*item));
    if (!item)
        return media_fail(error, MEDIA_INPUT, "out of memory");
    const int ret = decode_stage_take(p->decoded, &item->message, wait, error);
    if (ret < 0)
        item_free(&item);
    p->next = item;
    return ret;
}

/* Keeps the frame for those that follow; live, for the next one alone. */
static int keep_before(Pipeline *p, const AVFrame *frame, MediaError *error)
{
    const int last = p->parts.planned ? PLANNED_BEFORE - 1 : 0;
    gpu_frame_free(&p->before[last]);
    memmove(&p->before[1], &p->before[0], (size_t)last * sizeof(p->before[0]));
    p->before[0] = av_frame_clone(frame);
    return p->before[0] ? 0 : media_fail(error, MEDIA_INPUT, "out of memory");
}

static void forget_before(Pipeline *p)
{
    for (int i = 0; i < PLANNED_BEFORE; i++)
        gpu_frame_free(&p->before[i]);
}

/* Drops the frame, and hands on its copied packets. */
static int send_packets(Pipeline *p, Item **item)
{
    Message *message = &(*item)->message;
    gpu_frame_free(&message->frame);
    gpu_frame_free(&(*item)->before);
    av_frame_free(&message->output);
    if (message->packet_count)
        return send(p, item);
    item_free(item);
    return 0;
}

/* The frame is lost with the GPU: asks for a restart at it. A live input counts it instead. */
static int lose_item(Pipeline *p, Item **item)
{
    const Message *message = &(*item)->message;
    gpu_frame_lose(message->frame);
    if (reader_can_restart(p->parts.reader))
        p->again = p->again < 0 ? message->number : FFMIN(p->again, message->number);
    else if (p->parts.lost)
        (*p->parts.lost)++;
    return send_packets(p, item);
}

/* See EqualizeLoopOptions. */
static int lost_item(void *opaque, void *lost, MediaError *error)
{
    Pipeline *p = opaque;
    Item *item = lost;
    (void)error;
    p->number--;
    const int ret = lose_item(p, &item);
    item_free(&item);
    return ret;
}

/* Restarts in software at the first lost frame, or rather at the references before it. Nothing is
 * in flight. */
static int restart(Pipeline *p, MediaError *error)
{
    const int64_t number = p->again;
    MediaError unread = {0}; /* comes again */
    int ret = p->next ? send_packets(p, &p->next) : 0;
    decode_stage_finish(p->decoded);
    while (ret >= 0 && take(p, QUEUE_WAIT, &unread) >= 0)
        ret = send_packets(p, &p->next);
    decode_stage_stop(p->decoded);
    forget_before(p);
    p->again = -1;
    p->known = (int)FFMIN(p->parts.planned ? PLANNED_BEFORE : 1, number);
    if (ret >= 0)
        ret = reader_restart(p->parts.reader, number - p->known, error);
    return ret < 0 ? ret : decode_stage_start(p->decoded, error);
}

/* 1: after a restart, p->next was a reference before the first lost frame. */
static int take_known(Pipeline *p, MediaError *error)
{
    if (!p->known || !p->next->message.frame)
        return 0;
    p->known--;
    if (keep_before(p, p->next->message.frame, error) < 0)
        return error->fault;
    const int ret = send_packets(p, &p->next);
    return ret < 0 ? ret : 1;
}

/* Brings both frames to the host if one of them is there. 0: lost with the GPU. */
static int meet(const Pipeline *p, AVFrame *before, AVFrame *in)
{
    return equalizer_meet(reader_memory(p->parts.reader), before, in) >= 0;
}

/* EQUALIZE_LOST: lost with the GPU. */
static int bring_here(Pipeline *p, AVFrame **frame, MediaError *error)
{
    AVFrame *host;
    const int ret = frame_memory_download(p->parts.memory, &host, *frame);
    if (ret == AVERROR(ENOMEM))
        return media_fail(error, MEDIA_INPUT, "out of memory");
    if (ret < 0)
        return EQUALIZE_LOST;
    gpu_frame_free(frame);
    *frame = host;
    return 0;
}

/* A decoder on the GPU has few frames to give: what is equalized stands for what was decoded, where
 * nobody looks at that. */
static int leave_gpu(Pipeline *p, Item *item, MediaError *error)
{
    Message *message = &item->message;
    if (!message->frame || !gpu_frame_is(message->frame) ||
        message->frame->data[0] == message->output->data[0])
        return 0;
    if (p->parts.source)
        return bring_here(p, &message->frame, error);
    gpu_frame_unref(message->frame);
    return av_frame_ref(message->frame, message->output) < 0
               ? media_fail(error, MEDIA_INPUT, "out of memory")
               : 0;
}

static int ask_stats(const Pipeline *p, Item *item, MediaError *error)
{
    item->arrays = p->parts.arrays ? malloc(sizeof(*item->arrays)) : NULL;
    if (p->parts.arrays && !item->arrays)
        return media_fail(error, MEDIA_INPUT, "out of memory");
    item->stats = equalizer_ask_stats(item->arrays);
    return 0;
}

/* ---- frames whose curves are known ---- */

static Flight *flight_at(Pipeline *p, int index)
{
    return &p->flights[(p->first + index) % APPLY_MOST];
}

/* The oldest has landed; its item is the caller's. */
static Item *pop_flight(Pipeline *p)
{
    Flight *f = flight_at(p, 0);
    Item *item = f->item;
    for (int i = 0; i < PLANNED_BEFORE; i++)
        gpu_frame_free(&f->work.before[i]);
    lumeq_curve_unref(&f->work.curve);
    p->first = (p->first + 1) % APPLY_MOST;
    p->flying--;
    return item;
}

/* Those before the next item, all where its frame is. 0: lost with the GPU. */
static int take_before(Pipeline *p, AVFrame *in, AVFrame *before[PLANNED_BEFORE])
{
    int ret = 1;
    for (int i = 0; i < PLANNED_BEFORE && p->before[i]; i++)
        before[i] = av_frame_clone(p->before[i]);
    for (int i = 2 * PLANNED_BEFORE - 1; i >= 0 && ret;
         i--) /* twice: one may have brought it here */
        ret = meet(p, before[i % PLANNED_BEFORE], in);
    return ret;
}

static int start_work(Pipeline *p, Flight *f, MediaError *error)
{
    Message *message = &f->item->message;
    message->output = equalizer_output(p->parts.memory, message->frame, p->parts.chroma, error);
    if (!message->output)
        return error->fault;
    f->work.in = message->frame;
    f->work.out = p->parts.memory ? message->output : NULL;
    f->work.stats = &f->item->stats;
    apply_pool_start(p->pool, &f->work);
    return 0;
}

/* Equalizes p->next by this curve; both are taken over. */
static int take_off(Pipeline *p, LumeqCurve *curve, MediaError *error)
{
    Flight *f = flight_at(p, p->flying);
    *f = (Flight){.item = p->next, .work = {.curve = curve}};
    p->next = NULL;
    AVFrame *decoded = av_frame_clone(f->item->message.frame);
    int ret =
        decoded ? ask_stats(p, f->item, error) : media_fail(error, MEDIA_INPUT, "out of memory");
    const int here = ret >= 0 && take_before(p, f->item->message.frame, f->work.before);
    if (here)
        ret = start_work(p, f, error);
    p->flying++; /* so that it is freed like the others */
    if (!here || ret < 0) {
        f->work.ret = PLANNED_LOST;
        f->work.is_done = 1;
    }
    if (ret >= 0)
        ret = keep_before(p, decoded, error);
    gpu_frame_free(&decoded);
    return ret;
}

/* The oldest is lost with the GPU: all come again, and keep their curves. */
static int lose_flights(Pipeline *p)
{
    LumeqCurve *curves[APPLY_MOST];
    const int count = p->flying;
    int ret = 0;
    frame_memory_encode_on(p->parts.memory, NULL);
    for (int i = 0; i < count; i++) {
        Flight *f = flight_at(p, 0);
        apply_pool_wait(p->pool, &f->work);
        curves[i] = f->work.curve;
        f->work.curve = NULL;
        Item *item = pop_flight(p);
        if (item->message.output)
            gpu_frame_leave(item->message.output); /* it may still be written to */
        const int sent = lose_item(p, &item);
        item_free(&item);
        ret = sent < 0 ? sent : ret;
    }
    memmove(&p->curves[count], p->curves, (size_t)p->curve_count * sizeof(p->curves[0]));
    memcpy(p->curves, curves, (size_t)count * sizeof(p->curves[0]));
    p->curve_count += count;
    return ret;
}

/* Waits for the oldest one and hands it on, or starts again at it. */
static int land(Pipeline *p, MediaError *error)
{
    Flight *f = flight_at(p, 0);
    apply_pool_wait(p->pool, &f->work);
    int ret = f->work.ret;
    if (ret == 1)
        ret = leave_gpu(p, f->item, error) == EQUALIZE_LOST ? PLANNED_LOST : 1;
    if (ret == PLANNED_LOST)
        return lose_flights(p);
    if (!error->fault && f->work.ret < 0)
        *error = f->work.error;
    Item *item = pop_flight(p);
    ret = error->fault ? error->fault : send(p, &item);
    item_free(&item);
    return ret;
}

static int land_all(Pipeline *p, MediaError *error)
{
    int ret = 0;
    while (ret >= 0 && p->flying)
        ret = land(p, error);
    return ret;
}

/* From p->next on the equalizer makes the curves. */
static void leave_plan(Pipeline *p)
{
    char line[160];
    p->number = planned_count(p->parts.planned);
    p->parts.planned = NULL;
    snprintf(line, sizeof(line),
             "the lookahead has no curve for frame %lld: from it on curves go by the frames before "
             "alone",
             (long long)p->number);
    p->parts.note(line);
}

/* Of p->next. Packets keep their place among the frames. */
static int begin_planned(Pipeline *p, MediaError *error)
{
    LumeqCurve *curve;
    int ret = take_known(p, error);
    if (ret != 0)
        return ret < 0 ? ret : 0;
    if (!p->next->message.frame) {
        ret = land_all(p, error);
        return ret < 0 ? ret : send(p, &p->next);
    }
    if (p->curve_count) {
        curve = p->curves[0];
        memmove(p->curves, &p->curves[1], (size_t)--p->curve_count * sizeof(curve));
        return take_off(p, curve, error);
    }
    ret = planned_take(p->parts.planned, p->next->message.frame, reader_zero(p->parts.reader),
                       &curve, error);
    if (ret > 0)
        return take_off(p, curve, error);
    if (ret == 0)
        leave_plan(p);
    return ret;
}

/* 0: there is no curve for p->next, nor for those that follow. */
static int run_planned(Pipeline *p, MediaError *error)
{
    int ret = 0;
    while (ret >= 0 && p->parts.planned) {
        if (p->again >= 0)
            ret = restart(p, error);
        if (ret < 0)
            break;
        ret = p->flying < APPLY_MOST ? take(p, p->flying ? QUEUE_TRY : QUEUE_WAIT, error)
                                     : AVERROR(EAGAIN);
        if (ret == AVERROR(EAGAIN) || (ret == AVERROR_EOF && p->flying))
            ret = land(p, error);
        else if (ret >= 0)
            ret = begin_planned(p, error);
    }
    const int landed = ret >= 0 || ret == AVERROR_EOF ? land_all(p, error) : 0;
    while (p->flying) {
        Item *item;
        apply_pool_wait(p->pool, &flight_at(p, 0)->work);
        item = pop_flight(p);
        item_free(&item);
    }
    return landed < 0 ? landed : ret;
}

/* The frame before goes with it, and this one is kept for the next. EQUALIZE_LOST: one of the two
 * is. */
static int make_task(Pipeline *p, Item *item, EqualizeTask *task, MediaError *error)
{
    const int is_gone = p->before[0] && gpu_frame_is_lost(p->before[0]);
    if (item->message.returned || (is_gone && !reader_can_restart(p->parts.reader)))
        forget_before(p);
    item->before = p->before[0];
    p->before[0] = NULL;
    if (keep_before(p, item->message.frame, error) < 0)
        return error->fault;
    if (!meet(p, item->before, item->message.frame))
        return EQUALIZE_LOST;
    *task = (EqualizeTask){
        .item = item,
        .in = item->message.frame,
        .before = item->before,
        .out = &item->message.output,
        .stats = &item->stats,
        .number = p->number++,
        .first = item->message.returned,
    };
    return 0;
}

/* 1: the next item is in the task; 0: it was handed on, or is lost with the GPU. */
static int begin_next(Pipeline *p, EqualizeTask *task, MediaError *error)
{
    int ret = take_known(p, error);
    if (ret != 0)
        return ret < 0 ? ret : 0;
    if (!p->next->message.frame)
        return send(p, &p->next);
    ret = ask_stats(p, p->next, error);
    if (ret < 0)
        return ret;
    ret = make_task(p, p->next, task, error);
    if (ret == EQUALIZE_LOST)
        return lose_item(p, &p->next);
    return ret < 0 ? ret : 1;
}

/* See EqualizeLoopOptions. Packets keep their place among the frames. */
static int next_item(void *opaque, EqualizeTask *task, int idle, MediaError *error)
{
    Pipeline *p = opaque;
    int ret = 0;
    while (ret == 0) {
        if (p->again >= 0 && !idle)
            return AVERROR(EAGAIN);
        if (p->again >= 0)
            ret = restart(p, error);
        if (ret >= 0 && !p->next)
            ret = take(p, idle ? QUEUE_WAIT : QUEUE_TRY, error);
        if (!idle && (ret < 0 ? ret != AVERROR_EXIT : !p->next->message.frame))
            return AVERROR(EAGAIN);
        if (ret == 0)
            ret = begin_next(p, task, error);
    }
    if (ret > 0)
        p->next = NULL;
    return ret < 0 ? ret : 0;
}

static int ready_item(void *opaque, void *item, MediaError *error)
{
    return leave_gpu(opaque, item, error);
}

static int pass_item(void *opaque, void *done, MediaError *error)
{
    Pipeline *p = opaque;
    Item *item = done;
    (void)error;
    gpu_frame_free(&item->before);
    const int ret = send(p, &item);
    item_free(&item);
    return ret;
}

static void free_item(void *item)
{
    item_free((Item **)&item);
}

static void *equalize_main(void *arg)
{
    Pipeline *p = arg;
    int ret = p->parts.planned ? run_planned(p, &p->error) : 0;
    if (ret >= 0)
        ret = equalize_loop_run(p->loop, &p->error);
    queue_end(p->equalized, ret);
    return NULL;
}

static int start(Pipeline *p, MediaError *error)
{
    const QueueOptions queue = {
        .item = sizeof(Item *), .count = QUEUE_LENGTH, .bytes = QUEUE_BYTES, .free = free_queued};
    const EqualizeLoopOptions loop = {
        .equalizer = p->parts.equalizer,
        .gpu = p->parts.gpu,
        .next = next_item,
        .ready = ready_item,
        .done = pass_item,
        .lost = lost_item,
        .free = free_item,
        .opaque = p,
        .note = p->parts.note,
    };
    const int on_gpu = strcmp(lumeq_backend_name(p->parts.equalizer), "cuda") == 0;
    p->loop = equalize_loop_create(&loop);
    p->decoded = decode_stage_of_reader(p->parts.reader);
    if (p->parts.planned)
        p->pool = apply_pool_create(p->parts.planned, on_gpu ? APPLY_MOST : 0);
    if (!p->loop || !p->decoded || (p->parts.planned && !p->pool) ||
        queue_open(&p->equalized, &queue) < 0)
        return media_fail(error, MEDIA_INPUT, "out of memory");
    equalize_loop_write(p->loop, p->parts.memory, p->parts.chroma);
    if (decode_stage_start(p->decoded, error) < 0) /* first: equalizing would wait for it */
        return error->fault;
    p->running = pthread_create(&p->thread, NULL, equalize_main, p) == 0;
    return p->running
               ? 0
               : media_fail(error, MEDIA_INPUT, "no thread can be started to equalize the video");
}

int pipeline_start(Pipeline **pipeline, const PipelineParts *parts, MediaError *error)
{
    Pipeline *p = *pipeline = calloc(1, sizeof(*p));
    if (!p)
        return media_fail(error, MEDIA_INPUT, "out of memory");
    p->parts = *parts;
    p->again = -1;
    for (int i = 0; i < PLANNED_BEFORE && parts->before[i]; i++)
        p->before[i] = av_frame_clone(parts->before[i]);
    const int ret = start(p, error);
    if (ret < 0)
        pipeline_join(pipeline, error);
    return ret;
}

int pipeline_receive(Pipeline *p, Item **item)
{
    return queue_take(p->equalized, item, QUEUE_WAIT);
}

void pipeline_join(Pipeline **pipeline, MediaError *error)
{
    Pipeline *p = *pipeline;
    if (!p)
        return;
    if (p->equalized)
        queue_stop(p->equalized);
    if (p->decoded) /* not decode_stage_stop(): a restart of the other thread may be doing that */
        decode_stage_cancel(p->decoded);
    if (p->running)
        pthread_join(p->thread, NULL);
    apply_pool_close(&p->pool);
    while (p->curve_count)
        lumeq_curve_unref(&p->curves[--p->curve_count]);
    equalize_loop_free(&p->loop);
    item_free(&p->next);
    decode_stage_close(&p->decoded);
    queue_close(&p->equalized);
    if (p->error.fault)
        media_fail(error, p->error.fault, "%s", p->error.text);
    forget_before(p);
    free(p);
    *pipeline = NULL;
}
