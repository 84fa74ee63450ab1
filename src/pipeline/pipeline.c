#include "pipeline/pipeline.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "pipeline/equalize_loop.h"
#include "pipeline/queue.h"

/* Messages waiting between two stages: enough to ride out an uneven decoder, few enough to keep
 * memory small (a 4K frame has 12 MB, and a message may bring packets of any size). */
#define QUEUE_LENGTH 4
#define QUEUE_BYTES (256 << 20)

struct Pipeline {
    PipelineParts parts; /* without `planned` where the equalizer makes the curves */
    int64_t first;       /* number of the first frame that it does that for */
    EqualizeLoop *loop;
    AVFrame *before;            /* a reference to the frame that was handed to the equalizer last */
    Item *next;                 /* was taken, but is not handed in yet */
    Queue *decoded, *equalized; /* of Item * */
    pthread_t decode_thread, equalize_thread;
    int decode_started, equalize_started;

    pthread_mutex_t lock;
    MediaError error; /* of the stages, under the lock */
};

void item_free(Item **item)
{
    if (!*item)
        return;
    message_clear(&(*item)->message);
    av_frame_free(&(*item)->before);
    free((*item)->arrays);
    free(*item);
    *item = NULL;
}

static void free_queued(void *message)
{
    item_free(message);
}

/* Within a stage, a negative number ends it: AVERROR_EOF at the end, AVERROR_EXIT when stopped from
 * below, AVERROR_EXTERNAL when it failed and has noted its error. */
static int stage_failed(Pipeline *p, const MediaError *error)
{
    pthread_mutex_lock(&p->lock);
    media_fail(&p->error, error->fault, "%s", error->text);
    pthread_mutex_unlock(&p->lock);
    return AVERROR_EXTERNAL;
}

/* The item stays the caller's when it could not be sent. */
static int send(Queue *queue, Item **item)
{
    const int ret = queue_put(queue, item, message_bytes(&(*item)->message), QUEUE_WAIT);
    if (ret >= 0)
        *item = NULL;
    return ret;
}

static int decode_next(Pipeline *p)
{
    MediaError error = {0};
    Item *item = calloc(1, sizeof(*item));
    if (!item) {
        media_fail(&error, MEDIA_INPUT, "out of memory");
        return stage_failed(p, &error);
    }
    int ret = reader_next(p->parts.reader, &item->message, &error);
    if (ret >= 0)
        ret = send(p->decoded, &item);
    else if (ret != AVERROR_EOF)
        ret = stage_failed(p, &error);
    item_free(&item);
    return ret;
}

static void *decode_main(void *arg)
{
    Pipeline *p = arg;
    int ret;
    do
        ret = decode_next(p);
    while (ret >= 0);
    queue_end(p->decoded, ret);
    return NULL;
}

/* 1: it is, and can be handed on; 0: there is no curve for it, nor for those that follow. */
static int apply_planned(Pipeline *p, Item *item, MediaError *error)
{
    Message *message = &item->message;
    message->output = equalizer_output(p->parts.memory, message->frame, p->parts.chroma, error);
    if (!message->output)
        return error->fault;
    const int ret =
        planned_apply(p->parts.planned, message->frame, p->parts.memory ? message->output : NULL,
                      reader_zero(p->parts.reader), &item->stats, error);
    if (ret != 0)
        return ret;
    av_frame_free(&message->output);
    p->first = planned_count(p->parts.planned);
    p->parts.planned = NULL;
    char line[160];
    snprintf(line, sizeof(line),
             "frame %lld is not the one that the first pass had there: from it on curves go by the "
             "frames before alone",
             (long long)p->first);
    p->parts.note(line);
    return 0;
}

/* The frame before goes with it, and this one is kept for the next. */
static int make_task(Pipeline *p, Item *item, EqualizeTask *task, MediaError *error)
{
    item->before = p->before;
    p->before = av_frame_clone(item->message.frame);
    if (!p->before)
        return media_fail(error, MEDIA_INPUT, "out of memory");
    *task = (EqualizeTask){
        .item = item,
        .in = item->message.frame,
        .before = item->before,
        .out = &item->message.output,
        .stats = &item->stats,
        .number = p->first,
    };
    p->first = 0; /* each is that of the frame before and 1 from now on */
    return 0;
}

static int ask_stats(const Pipeline *p, Item *item, MediaError *error)
{
    item->arrays = p->parts.arrays ? malloc(sizeof(*item->arrays)) : NULL;
    if (p->parts.arrays && !item->arrays)
        return media_fail(error, MEDIA_INPUT, "out of memory");
    item->stats = equalizer_ask_stats(item->arrays);
    return 0;
}

/* 1: it is in the task; 0: it was handed on. */
static int take(Pipeline *p, Item **item, EqualizeTask *task, MediaError *error)
{
    int ret = 0;
    if ((*item)->message.frame) {
        ret = ask_stats(p, *item, error);
        if (ret >= 0 && p->parts.planned)
            ret = apply_planned(p, *item, error);
        if (ret == 0)
            return make_task(p, *item, task, error) < 0 ? error->fault : 1;
    }
    return ret < 0 ? ret : send(p->equalized, item);
}

/* See EqualizeLoopOptions. Packets keep their place among the frames. */
static int next_item(void *opaque, EqualizeTask *task, int idle, MediaError *error)
{
    Pipeline *p = opaque;
    int ret = 0;
    while (ret == 0) {
        if (!p->next)
            ret = queue_take(p->decoded, &p->next, idle ? QUEUE_WAIT : QUEUE_TRY);
        if (!idle && (ret < 0 ? ret != AVERROR_EXIT : !p->next->message.frame))
            return AVERROR(EAGAIN);
        if (ret == 0)
            ret = take(p, &p->next, task, error);
    }
    if (ret > 0)
        p->next = NULL;
    return ret < 0 ? ret : 0;
}

static int pass_item(void *opaque, void *done, MediaError *error)
{
    Pipeline *p = opaque;
    Item *item = done;
    (void)error;
    av_frame_free(&item->before);
    const int ret = send(p->equalized, &item);
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
    MediaError error = {0};
    int ret = equalize_loop_run(p->loop, &error);
    if (error.fault)
        ret = stage_failed(p, &error);
    queue_stop(p->decoded);
    queue_end(p->equalized, ret);
    return NULL;
}

static int open_queue(Queue **queue)
{
    const QueueOptions options = {
        .item = sizeof(Item *), .count = QUEUE_LENGTH, .bytes = QUEUE_BYTES, .free = free_queued};
    return queue_open(queue, &options);
}

int pipeline_start(Pipeline **pipeline, const PipelineParts *parts, MediaError *error)
{
    *pipeline = NULL;
    Pipeline *p = calloc(1, sizeof(*p));
    if (!p)
        return media_fail(error, MEDIA_INPUT, "out of memory");
    pthread_mutex_init(&p->lock, NULL);
    p->parts = *parts;
    const EqualizeLoopOptions loop = {parts->equalizer, next_item, pass_item,
                                      free_item,        p,         parts->note};
    p->loop = equalize_loop_create(&loop);
    int ok = p->loop && open_queue(&p->decoded) >= 0 && open_queue(&p->equalized) >= 0;
    if (ok)
        equalize_loop_write(p->loop, parts->memory, parts->chroma);
    if (ok)
        ok = p->equalize_started = pthread_create(&p->equalize_thread, NULL, equalize_main, p) == 0;
    if (ok)
        ok = p->decode_started = pthread_create(&p->decode_thread, NULL, decode_main, p) == 0;
    if (!ok) {
        pipeline_join(&p, error);
        return media_fail(error, MEDIA_INPUT, "out of memory or threads");
    }
    *pipeline = p;
    return 0;
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
    if (p->decoded)
        queue_stop(p->decoded);
    if (p->equalized)
        queue_stop(p->equalized);
    if (p->decode_started)
        pthread_join(p->decode_thread, NULL);
    if (p->equalize_started)
        pthread_join(p->equalize_thread, NULL);
    equalize_loop_free(&p->loop);
    item_free(&p->next);
    queue_close(&p->decoded);
    queue_close(&p->equalized);
    if (p->error.fault)
        media_fail(error, p->error.fault, "%s", p->error.text);
    pthread_mutex_destroy(&p->lock);
    av_frame_free(&p->before);
    free(p);
    *pipeline = NULL;
}
