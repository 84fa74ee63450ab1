#include "pipeline/pipeline.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "pipeline/queue.h"

/* Messages waiting between two stages: enough to ride out an uneven decoder, few enough to keep
 * memory small (a 4K frame has 12 MB, and a message may bring packets of any size). */
#define QUEUE_LENGTH 4
#define QUEUE_BYTES (256 << 20)

struct Pipeline {
    Reader *reader;
    LumeqEqualizer *equalizer;
    PlannedCurves *planned; /* NULL: the equalizer makes the curves */
    int64_t first;          /* number of the first frame that it does that for */
    FrameMemory *memory;
    int chroma;          /* is written, too */
    int with_arrays;     /* of the statistics */
    StatsArrays *arrays; /* for the next frame that is received */
    AVFrame *before;     /* a reference to the frame that was handed to the equalizer last */
    const char *backend; /* at the start; the CPU takes over from a GPU that is lost */
    int lost;
    void (*note)(const char *line);
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
    int ret = reader_next(p->reader, &item->message, &error);
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

static int equalizing_failed(Pipeline *p, int ret)
{
    MediaError error = {0};
    equalizer_failed(p->equalizer, ret, &error);
    return stage_failed(p, &error);
}

/* The oldest finished frame, with its statistics, as lumeq_receive(). */
static int receive(Pipeline *p, Item **item, LumeqFrame *frame)
{
    if (p->with_arrays && !p->arrays)
        p->arrays = malloc(sizeof(*p->arrays));
    if (p->with_arrays && !p->arrays)
        return LUMEQ_ERR_MEMORY;
    LumeqFrameStats stats = equalizer_ask_stats(p->arrays);
    const int ret = lumeq_receive(p->equalizer, frame, &stats);
    if (ret < 0)
        return ret;
    *item = frame->opaque;
    av_frame_free(&(*item)->before);
    (*item)->stats = stats;
    (*item)->arrays = p->arrays;
    p->arrays = NULL;
    return 0;
}

/* Hands on the oldest finished frame: 1, or 0 when there is none. */
static int pass_finished(Pipeline *p)
{
    LumeqFrame frame = {.size = sizeof(frame)};
    Item *item = NULL;
    int ret = receive(p, &item, &frame);
    if (ret == LUMEQ_ERR_AGAIN || ret == LUMEQ_ERR_END)
        return 0;
    if (ret < 0)
        return equalizing_failed(p, ret);
    if (!p->lost && lumeq_backend_name(p->equalizer) != p->backend) {
        p->note(lumeq_last_error(p->equalizer));
        p->lost = 1;
    }
    MediaError error = {0};
    ret = equalizer_take_output(p->memory, item->message.output, &frame, &error);
    ret = ret < 0 ? stage_failed(p, &error) : send(p->equalized, &item);
    item_free(&item);
    return ret < 0 ? ret : 1;
}

/* Hands on all frames in flight. */
static int drain(Pipeline *p)
{
    int ret;
    lumeq_flush(p->equalizer);
    do
        ret = pass_finished(p);
    while (ret > 0);
    return ret;
}

static int make_output(Pipeline *p, Message *message)
{
    MediaError error = {0};
    message->output = p->memory ? frame_memory_output(p->memory, message->frame, p->chroma)
                                : av_frame_clone(message->frame);
    if (message->output)
        return 0;
    media_fail(&error, MEDIA_INPUT, "out of memory for a frame of %dx%d", message->frame->width,
               message->frame->height);
    return stage_failed(p, &error);
}

/* The frame before stays with the item, and this one is kept for the next. */
static int take_before(Pipeline *p, Item *item)
{
    MediaError error = {0};
    item->before = p->before;
    p->before = av_frame_clone(item->message.frame);
    if (p->before)
        return 0;
    media_fail(&error, MEDIA_INPUT, "out of memory");
    return stage_failed(p, &error);
}

/* The item is in the equalizer's hands on success. */
static int submit(Pipeline *p, Item *item)
{
    Message *message = &item->message;
    int ret = message->output ? 0 : make_output(p, message);
    if (ret >= 0)
        ret = take_before(p, item);
    if (ret < 0)
        return ret;
    LumeqFrame frame = equalizer_frame(message->frame, p->memory ? message->output : NULL);
    const LumeqImage before = equalizer_before(item->before, message->frame);
    if (before.plane[0])
        frame.previous = &before;
    frame.opaque = item;
    frame.number = p->first;
    p->first = 0; /* each is that of the frame before and 1 from now on */
    while ((ret = lumeq_submit(p->equalizer, &frame)) == LUMEQ_ERR_AGAIN) {
        ret = pass_finished(p);
        if (ret < 0)
            return ret;
    }
    return ret < 0 ? equalizing_failed(p, ret) : 0;
}

/* 1: it is; 0: there is no curve for it, nor for those that follow. */
static int apply_planned(Pipeline *p, Item *item, MediaError *error)
{
    Message *message = &item->message;
    item->arrays = p->with_arrays ? malloc(sizeof(*item->arrays)) : NULL;
    if (p->with_arrays && !item->arrays)
        return media_fail(error, MEDIA_INPUT, "out of memory");
    item->stats = equalizer_ask_stats(item->arrays);
    const int ret = planned_apply(p->planned, message->frame, p->memory ? message->output : NULL,
                                  reader_zero(p->reader), &item->stats, error);
    if (ret == 0) { /* those of the equalizer take their place */
        free(item->arrays);
        item->arrays = NULL;
    }
    return ret;
}

/* As apply_planned(); 1: the item is handed on. */
static int equalize_planned(Pipeline *p, Item **item)
{
    MediaError error = {0};
    if (make_output(p, &(*item)->message) < 0)
        return AVERROR_EXTERNAL;
    int ret = apply_planned(p, *item, &error);
    if (ret < 0)
        return stage_failed(p, &error);
    if (ret > 0) {
        ret = send(p->equalized, item);
        return ret < 0 ? ret : 1;
    }
    p->first = planned_count(p->planned);
    p->planned = NULL;
    char line[160];
    snprintf(line, sizeof(line),
             "frame %lld is not the one that the first pass had there: from it on curves go by the "
             "frames before alone",
             (long long)p->first);
    p->note(line);
    return 0;
}

static int equalize(Pipeline *p, Item **item)
{
    int ret;
    if ((*item)->message.frame && p->planned) {
        ret = equalize_planned(p, item);
        if (ret != 0)
            return ret;
    }
    if ((*item)->message.frame) {
        ret = submit(p, *item);
        if (ret < 0)
            return ret;
        *item = NULL;
        do
            ret = pass_finished(p);
        while (ret > 0);
        return ret;
    }
    ret = drain(p); /* packets keep their place among the frames */
    return ret < 0 ? ret : send(p->equalized, item);
}

/* The next decoded item. Before it has to wait for one, everything in flight is handed on. */
static int next_decoded(Pipeline *p, Item **item)
{
    int ret = queue_take(p->decoded, item, QUEUE_TRY);
    if (ret != AVERROR(EAGAIN))
        return ret;
    ret = drain(p);
    return ret < 0 ? ret : queue_take(p->decoded, item, QUEUE_WAIT);
}

static void *equalize_main(void *arg)
{
    Pipeline *p = arg;
    int ret;
    do {
        Item *item = NULL;
        ret = next_decoded(p, &item);
        if (ret >= 0)
            ret = equalize(p, &item);
        else if (ret != AVERROR_EXIT && drain(p) < 0)
            ret = AVERROR_EXIT;
        item_free(&item);
    } while (ret >= 0);
    queue_stop(p->decoded);
    queue_end(p->equalized, ret);
    return NULL;
}

/* Frames that the equalizer still holds after a failure are the caller's again, and freed. */
static void take_back(Pipeline *p)
{
    LumeqFrame frame = {.size = sizeof(frame)};
    lumeq_flush(p->equalizer);
    while (lumeq_receive(p->equalizer, &frame, NULL) == 0) {
        Item *item = frame.opaque;
        item_free(&item);
    }
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
    p->reader = parts->reader;
    p->equalizer = parts->equalizer;
    p->planned = parts->planned;
    p->backend = lumeq_backend_name(parts->equalizer);
    p->memory = parts->memory;
    p->chroma = parts->chroma;
    p->with_arrays = parts->arrays;
    p->note = parts->note;
    int ok = open_queue(&p->decoded) >= 0 && open_queue(&p->equalized) >= 0;
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
    take_back(p);
    queue_close(&p->decoded);
    queue_close(&p->equalized);
    if (p->error.fault)
        media_fail(error, p->error.fault, "%s", p->error.text);
    pthread_mutex_destroy(&p->lock);
    free(p->arrays);
    av_frame_free(&p->before);
    free(p);
    *pipeline = NULL;
}
