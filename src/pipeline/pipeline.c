#include "pipeline/pipeline.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "media/gpu_frame.h"
#include "pipeline/apply_pool.h"
#include "pipeline/decode_stage.h"
#include "pipeline/equalize_loop.h"
#include "pipeline/queue.h"

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
    AVFrame *before[PLANNED_BEFORE]; /* references to the frames that were equalized last */
    Item *next;                      /* was taken, but is not handed in yet */
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

/* 1: the frame is not on a GPU that was lost, or not any more; 0: there is none any more. */
static int rescue_frame(Pipeline *p, AVFrame **frame)
{
    if (!*frame || !gpu_frame_is(*frame))
        return *frame != NULL;
    if (reader_rescue(p->parts.reader, *frame) >= 0)
        return 1;
    gpu_frame_leave(*frame);
    av_frame_free(frame);
    return 0;
}

/* What an item is for. As rescue_frame(). */
static int rescue_wanted(Pipeline *p, Item *item)
{
    const int rescued = rescue_frame(p, &item->message.frame);
    if (!rescued && p->parts.lost)
        (*p->parts.lost)++;
    return rescued;
}

/* From a GPU that does not give them, by way of the decoder. */
static void meet(Pipeline *p, AVFrame **before, AVFrame *in)
{
    if (equalizer_meet(reader_memory(p->parts.reader), *before, in) >= 0)
        return;
    rescue_frame(p, before);
    if (gpu_frame_is(in))
        (void)reader_rescue(p->parts.reader, in);
}

/* The decoded frame comes to the host, too; from a GPU that is lost, by way of the decoder. */
static int bring_here(Pipeline *p, Item *item, MediaError *error)
{
    AVFrame **frame = &item->message.frame, *host;
    const int ret = frame_memory_download(p->parts.memory, &host, *frame);
    if (ret == AVERROR(ENOMEM))
        return media_fail(error, MEDIA_INPUT, "out of memory");
    if (ret >= 0) {
        gpu_frame_free(frame);
        *frame = host;
    } else if (!rescue_wanted(p, item)) {
        av_frame_free(&item->message.output);
    }
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
        return bring_here(p, item, error);
    gpu_frame_unref(message->frame);
    return av_frame_ref(message->frame, message->output) < 0
               ? media_fail(error, MEDIA_INPUT, "out of memory")
               : 0;
}

/* See EqualizeLoopOptions. Those before it come first. */
static int rescue_item(void *opaque, EqualizeTask *task)
{
    Pipeline *p = opaque;
    Item *item = task->item;
    rescue_frame(p, &item->before);
    const int rescued = rescue_wanted(p, item);
    task->in = item->message.frame;
    task->before = item->before;
    return rescued;
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

/* Those before the next item, all where its frame is. */
static void take_before(Pipeline *p, AVFrame *in, AVFrame *before[PLANNED_BEFORE])
{
    for (int i = 0; i < PLANNED_BEFORE && p->before[i]; i++)
        before[i] = av_frame_clone(p->before[i]);
    for (int i = 2 * PLANNED_BEFORE - 1; i >= 0; i--) /* twice: one may have brought it here */
        meet(p, &before[i % PLANNED_BEFORE], in);
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
    if (ret >= 0) {
        take_before(p, f->item->message.frame, f->work.before);
        ret = start_work(p, f, error);
    }
    p->flying++; /* so that it is freed like the others */
    if (ret >= 0)
        ret = keep_before(p, decoded, error);
    else
        f->work.is_done = 1;
    gpu_frame_free(&decoded);
    return ret;
}

/* The GPU lost the oldest frame: the CPU equalizes it again. Returns 1, or 0 if the decoded frame
 * is lost as well: the item then goes on without it. */
static int fly_again(Pipeline *p, MediaError *error)
{
    Flight *f = flight_at(p, 0);
    AVFrame **output = &f->item->message.output;
    for (int i = 1; i < p->flying; i++)
        apply_pool_wait(p->pool, &flight_at(p, i)->work);
    for (int i = PLANNED_BEFORE - 1; i >= 0; i--)
        rescue_frame(p, &f->work.before[i]);
    frame_memory_encode_on(p->parts.memory, NULL);
    gpu_frame_leave(*output); /* it may still be written to */
    av_frame_free(output);
    if (!rescue_wanted(p, f->item))
        return 0;
    if (start_work(p, f, error) < 0)
        return error->fault;
    apply_pool_wait(p->pool, &f->work);
    return f->work.ret == PLANNED_LOST
               ? media_fail(error, MEDIA_INPUT, "the equalizer failed: %s", lumeq_last_error(NULL))
               : f->work.ret;
}

/* Waits for the oldest one and hands it on. */
static int land(Pipeline *p, MediaError *error)
{
    Flight *f = flight_at(p, 0);
    apply_pool_wait(p->pool, &f->work);
    int ret = f->work.ret == PLANNED_LOST ? fly_again(p, error) : f->work.ret;
    if (ret < 0 && !error->fault)
        *error = f->work.error;
    Item *item = pop_flight(p);
    if (ret >= 0)
        ret = leave_gpu(p, item, error);
    if (ret >= 0)
        ret = send(p, &item);
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
    if (!p->next->message.frame) {
        const int ret = land_all(p, error);
        return ret < 0 ? ret : send(p, &p->next);
    }
    const int ret = planned_take(p->parts.planned, p->next->message.frame,
                                 reader_zero(p->parts.reader), &curve, error);
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
        ret = p->flying < APPLY_MOST ? take(p, p->flying ? QUEUE_TRY : QUEUE_WAIT, error)
                                     : AVERROR(EAGAIN);
        if (ret == AVERROR(EAGAIN))
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

static void forget_before(Pipeline *p)
{
    for (int i = 0; i < PLANNED_BEFORE; i++)
        gpu_frame_free(&p->before[i]);
}

/* The frame before goes with it, and this one is kept for the next. */
static int make_task(Pipeline *p, Item *item, EqualizeTask *task, MediaError *error)
{
    if (item->message.returned)
        forget_before(p);
    item->before = p->before[0];
    p->before[0] = NULL;
    if (keep_before(p, item->message.frame, error) < 0)
        return error->fault;
    meet(p, &item->before, item->message.frame);
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

/* 1: the next item is in the task; 0: it was handed on. */
static int begin_next(Pipeline *p, EqualizeTask *task, MediaError *error)
{
    int ret = 0;
    if (p->next->message.frame) {
        ret = ask_stats(p, p->next, error);
        if (ret >= 0)
            return make_task(p, p->next, task, error) < 0 ? error->fault : 1;
    }
    return ret < 0 ? ret : send(p, &p->next);
}

/* See EqualizeLoopOptions. Packets keep their place among the frames. */
static int next_item(void *opaque, EqualizeTask *task, int idle, MediaError *error)
{
    Pipeline *p = opaque;
    int ret = 0;
    while (ret == 0) {
        if (!p->next)
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

static int pass_item(void *opaque, void *done, MediaError *error)
{
    Pipeline *p = opaque;
    Item *item = done;
    gpu_frame_free(&item->before);
    int ret = leave_gpu(p, item, error);
    if (ret >= 0)
        ret = send(p, &item);
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
        .done = pass_item,
        .free = free_item,
        .rescue = rescue_item,
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
    if (p->decoded)
        decode_stage_stop(p->decoded);
    if (p->running)
        pthread_join(p->thread, NULL);
    apply_pool_close(&p->pool);
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
