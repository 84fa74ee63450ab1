#include "run/pipeline.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "media/gpu_frame.h"
#include "run/curve_maker.h"
#include "run/queue.h"

/* Limits of the queue of equalized frames, in frames and bytes; see input.c. */
#define QUEUE_LENGTH 4
#define QUEUE_BYTES 12000000

/* Frames with known curves are independent of each other, so a GPU uploads one while it computes
 * another and downloads a third. The CPU works on one frame at a time, with all threads. */
#define MOST_IN_FLIGHT 4

struct Pipeline {
    PipelineParts parts; /* `planned` is NULL once past frames make the curves */
    LiveCurves live;
    int64_t number;                   /* of the next frame with a curve from `live` */
    Frame *in_flight[MOST_IN_FLIGHT]; /* being equalized, the oldest first */
    int in_flight_count, in_flight_most;
    AVFrame *before[FRAME_PREVIOUS]; /* the frames equalized last, the nearest first */
    Frame *next;                     /* from the input, not in flight yet; or NULL */
    Queue *equalized;                /* of Frame * */
    pthread_t thread;                /* equalizes */
    bool running;
    MediaError error; /* belongs to the thread until it has ended */

    /* The threads that apply curves. Without them, `thread` applies the curves. */
    pthread_t appliers[MOST_IN_FLIGHT];
    int applier_count;
    pthread_mutex_t lock; /* protects all members below, and Frame.is_done */
    pthread_cond_t changed;
    Frame *waiting[MOST_IN_FLIGHT];
    int waiting_count;
    bool appliers_end;
    MediaError apply_error; /* the first error of these threads */
};

/* ---- frames in flight ---- */

static void apply(Pipeline *p, Frame *f)
{
    MediaError error = {0};
    f->result = frame_apply(p->parts.context, f, p->parts.memory != NULL, &error);
    pthread_mutex_lock(&p->lock);
    if (error.fault && !p->apply_error.fault)
        p->apply_error = error;
    f->is_done = true;
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->lock);
}

static void *apply_main(void *arg)
{
    Pipeline *p = arg;
    pthread_mutex_lock(&p->lock);
    for (;;) {
        while (!p->waiting_count && !p->appliers_end)
            pthread_cond_wait(&p->changed, &p->lock);
        if (!p->waiting_count)
            break;
        Frame *frame = p->waiting[0];
        memmove(&p->waiting[0], &p->waiting[1], (size_t)--p->waiting_count * sizeof(frame));
        pthread_mutex_unlock(&p->lock);
        apply(p, frame);
        pthread_mutex_lock(&p->lock);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

/* Starts to apply the curve of a frame. */
static int submit(Pipeline *p, Frame *f, MediaError *error)
{
    if (frame_init_stats(f, p->parts.arrays) < 0)
        return media_no_memory(error, MEDIA_INPUT);
    f->out = equalizer_output(p->parts.memory, f->decoded.frame, p->parts.chroma, error);
    if (!f->out)
        return error->fault;
    f->is_done = false;
    if (!p->applier_count) {
        apply(p, f);
        return 0;
    }
    pthread_mutex_lock(&p->lock);
    p->waiting[p->waiting_count++] = f;
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->lock);
    return 0;
}

/* Waits for the oldest frame in flight, which the caller then owns. */
static Frame *wait_oldest(Pipeline *p, MediaError *error)
{
    Frame *frame = p->in_flight[0];
    pthread_mutex_lock(&p->lock);
    while (!frame->is_done)
        pthread_cond_wait(&p->changed, &p->lock);
    if (frame->result < 0 && frame->result != MEDIA_LOST && !error->fault)
        *error = p->apply_error;
    pthread_mutex_unlock(&p->lock);
    p->in_flight_count--;
    memmove(&p->in_flight[0], &p->in_flight[1], (size_t)p->in_flight_count * sizeof(frame));
    return frame;
}

/* ---- the thread ---- */

/* On failure, the caller still owns the frame. */
static int send(Pipeline *p, Frame **frame)
{
    const int ret = queue_put(p->equalized, frame, frame_bytes(*frame), QUEUE_WAIT);
    if (ret >= 0)
        *frame = NULL;
    return ret;
}

static void forget_before(Pipeline *p)
{
    for (int i = 0; i < FRAME_PREVIOUS; i++)
        gpu_frame_free(&p->before[i]);
}

/* Drops the pictures, and sends the copied packets. */
static int send_packets(Pipeline *p, Frame **frame)
{
    frame_drop_pictures(*frame);
    if ((*frame)->decoded.packet_count)
        return send(p, frame);
    frame_free(frame);
    return 0;
}

/* Takes ownership of the frame. */
static int drop_lost(Pipeline *p, Frame *frame, MediaError *error)
{
    int ret = 0;
    gpu_frame_mark_lost(frame->decoded.frame);
    if (input_decoding(p->parts.input)->lossless)
        ret = media_fail(error, MEDIA_LOST, "frames were lost because the GPU failed");
    else if (p->parts.lost)
        (*p->parts.lost)++;
    if (ret >= 0)
        ret = send_packets(p, &frame);
    frame_free(&frame);
    return ret;
}

/* Frees the decoded frame if no sink needs it, else downloads it from the GPU. MEDIA_LOST: the
 * frame is lost with the GPU. */
static int leave_source(Pipeline *p, Frame *f, MediaError *error)
{
    AVFrame *in = f->decoded.frame, *host = NULL;
    if (p->parts.source && (!in || !gpu_frame_is(in) || in->data[0] == f->out->data[0]))
        return 0;
    if (p->parts.source) {
        const int ret = frame_memory_download(p->parts.memory, &host, in);
        if (ret < 0)
            return ret == AVERROR(ENOMEM) ? media_no_memory(error, MEDIA_INPUT) : MEDIA_LOST;
    }
    gpu_frame_free(&f->decoded.frame);
    f->decoded.frame = host;
    return 0;
}

/* Sets f->previous, and brings `f` and these frames into the same memory: into host memory if one
 * of them is there. Returns false if a frame is lost with the GPU. */
static bool take_previous(Pipeline *p, Frame *f)
{
    const DecoderOptions *decoding = input_decoding(p->parts.input);
    const int most = p->parts.planned ? FRAME_PREVIOUS : 1;
    int ret = 0;
    /* Stops at a lost frame. With a lossless input, takes lost frames too, so the run fails. */
    for (int i = 0;
         i < most && p->before[i] && (decoding->lossless || !gpu_frame_is_lost(p->before[i])); i++)
        f->previous[i] = av_frame_clone(p->before[i]);
    /* Twice: if the first round downloads `f`, all previous frames must follow. */
    for (int i = 2 * most - 1; i >= 0 && ret >= 0; i--)
        ret = equalizer_colocate(decoding->memory, f->previous[i % most], f->decoded.frame);
    return ret >= 0;
}

/* Waits for the oldest frame in flight and sends it. */
static int receive(Pipeline *p, MediaError *error)
{
    Frame *frame = wait_oldest(p, error);
    int ret = frame->result;
    if (ret == 0)
        ret = leave_source(p, frame, error);
    if (ret == MEDIA_LOST && frame->out) {
        frame_memory_encode_on(p->parts.memory, NULL);
        gpu_frame_abandon(frame->out); /* the GPU may still write to it */
    }
    if (ret == MEDIA_LOST)
        return drop_lost(p, frame, error);
    for (int i = 0; i < FRAME_PREVIOUS; i++)
        gpu_frame_free(&frame->previous[i]);
    lumeq_curve_unref(&frame->curve);
    ret = error->fault ? error->fault : send(p, &frame);
    frame_free(&frame);
    return ret;
}

/* Sets a frame's curve and previous frames. Returns 0, MEDIA_LOST or another fault. */
static int find_curve(Pipeline *p, Frame *f, MediaError *error)
{
    if (p->parts.planned) {
        const int ret = planned_take(p->parts.planned, f->decoded.frame, input_zero(p->parts.input),
                                     &f->curve, error);
        if (ret < 0)
            return ret;
        if (ret == 0) { /* from this frame on, past frames make the curves */
            p->number = p->parts.planned->taken;
            p->parts.planned = NULL;
            media_note(p->parts.note,
                       "the lookahead has no curve for frame %lld: from there on, curves use past "
                       "frames only",
                       (long long)p->number);
        }
    }
    if (f->decoded.returned)
        forget_before(p);
    if (!take_previous(p, f))
        return MEDIA_LOST;
    if (f->curve)
        return 0;
    f->first = f->decoded.returned;
    f->sequence = p->number++;
    return live_curves_make(&p->live, f, error);
}

/* Starts to equalize p->next. Packets keep their place among the frames. */
static int begin_next(Pipeline *p, MediaError *error)
{
    const Decoded *next = &p->next->decoded;
    int ret = 0;
    if (!next->frame ||
        (p->parts.is_unwanted && !next->returned && p->parts.is_unwanted(p->parts.opaque))) {
        while (ret >= 0 && p->in_flight_count)
            ret = receive(p, error);
        return ret < 0 ? ret : send_packets(p, &p->next);
    }
    assert(p->in_flight_count < p->in_flight_most);
    Frame *f = p->in_flight[p->in_flight_count++] = p->next;
    p->next = NULL;
    f->result = MEDIA_LOST;
    f->is_done = true;
    AVFrame *decoded = av_frame_clone(f->decoded.frame);
    ret = decoded ? find_curve(p, f, error) : media_no_memory(error, MEDIA_INPUT);
    if (ret == 0)
        ret = submit(p, f, error);
    if (ret < 0 && (ret != MEDIA_LOST || error->fault)) { /* receive() handles a lost frame */
        gpu_frame_free(&decoded);
        return ret;
    }
    /* Only planned curves may use more than one previous frame. */
    const int last = p->parts.planned ? FRAME_PREVIOUS - 1 : 0;
    gpu_frame_free(&p->before[last]);
    memmove(&p->before[1], &p->before[0], (size_t)last * sizeof(p->before[0]));
    p->before[0] = decoded;
    return 0;
}

static int run(Pipeline *p, MediaError *error)
{
    int ret = 0;
    while (ret >= 0) {
        /* Without room in the queue, the next frame would only wait in memory. */
        ret = p->in_flight_count ? 0 : queue_wait_for_room(p->equalized);
        if (ret >= 0 && p->in_flight_count == p->in_flight_most)
            ret = AVERROR(EAGAIN);
        else if (ret >= 0)
            ret = input_take(p->parts.input, &p->next, p->in_flight_count ? QUEUE_TRY : QUEUE_WAIT,
                             error);
        if (ret == AVERROR(EAGAIN) || (ret == AVERROR_EOF && p->in_flight_count))
            ret = receive(p, error);
        else if (ret >= 0)
            ret = begin_next(p, error);
    }
    while (p->in_flight_count) {
        MediaError ignored = {0};
        Frame *frame = wait_oldest(p, &ignored);
        frame_free(&frame);
    }
    return ret;
}

static void *equalize_main(void *arg)
{
    Pipeline *p = arg;
    queue_end(p->equalized, run(p, &p->error));
    return NULL;
}

static int start(Pipeline *p, MediaError *error)
{
    const QueueOptions queue = {.item = sizeof(Frame *),
                                .count = QUEUE_LENGTH,
                                .bytes = QUEUE_BYTES,
                                .free = frame_free_queued};
    const PipelineParts *parts = &p->parts;
    const int on_gpu = strcmp(lumeq_context_backend_name(parts->context), "cuda") == 0;
    p->in_flight_most = on_gpu ? MOST_IN_FLIGHT : 1;
    while (on_gpu && p->applier_count < MOST_IN_FLIGHT &&
           pthread_create(&p->appliers[p->applier_count], NULL, apply_main, p) == 0)
        p->applier_count++;
    if ((on_gpu && !p->applier_count) || queue_open(&p->equalized, &queue) < 0)
        return media_no_memory(error, MEDIA_INPUT);
    if (live_curves_open(&p->live, parts->context, parts->params, error) < 0)
        return error->fault;
    if (input_start(parts->input, NULL, error) < 0) /* before p->thread takes frames from it */
        return error->fault;
    p->running = pthread_create(&p->thread, NULL, equalize_main, p) == 0;
    return p->running
               ? 0
               : media_fail(error, MEDIA_INPUT, "cannot start a thread to equalize the video");
}

int pipeline_start(Pipeline **pipeline, const PipelineParts *parts, MediaError *error)
{
    Pipeline *p = *pipeline = calloc(1, sizeof(*p));
    if (!p)
        return media_no_memory(error, MEDIA_INPUT);
    p->parts = *parts;
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->changed, NULL);
    for (int i = 0; i < FRAME_PREVIOUS && parts->before[i]; i++)
        p->before[i] = av_frame_clone(parts->before[i]);
    const int ret = start(p, error);
    if (ret < 0)
        pipeline_join(pipeline, error);
    return ret;
}

int pipeline_receive(Pipeline *p, Frame **frame)
{
    return queue_take(p->equalized, frame, QUEUE_WAIT);
}

void pipeline_join(Pipeline **pipeline, MediaError *error)
{
    Pipeline *p = *pipeline;
    if (!p)
        return;
    if (p->equalized)
        queue_stop(p->equalized);
    input_stop(p->parts.input);
    if (p->running)
        pthread_join(p->thread, NULL);
    pthread_mutex_lock(&p->lock);
    p->appliers_end = true;
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->lock);
    for (int i = 0; i < p->applier_count; i++)
        pthread_join(p->appliers[i], NULL);
    pthread_cond_destroy(&p->changed);
    pthread_mutex_destroy(&p->lock);
    live_curves_close(&p->live);
    frame_free(&p->next);
    queue_close(&p->equalized);
    if (p->error.fault)
        media_fail(error, p->error.fault, "%s", p->error.text);
    forget_before(p);
    free(p);
    *pipeline = NULL;
}
