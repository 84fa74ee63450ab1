#include "pipeline/first_pass.h"

#include <pthread.h>
#include <string.h>

#include "media/compat.h"
#include "pipeline/equalizer_frame.h"
#include "pipeline/queue.h"

/* Frames waiting to be measured: enough to ride out an uneven decoder. */
#define QUEUE_LENGTH 4
#define QUEUE_BYTES (256 << 20)

typedef struct Work {
    FirstPass *pass;
    Reader *reader;
    Queue *decoded; /* of AVFrame * */
    LumeqMeasure *measure;
    AVFrame *before;  /* the frame that was measured last */
    MediaError error; /* of the thread that decodes, once it has ended */
} Work;

static void free_queued(void *frame)
{
    av_frame_free(frame);
}

/* One message: a negative number ends the thread. */
static int decode_next(Work *w)
{
    Message message = {0};
    int ret = reader_next(w->reader, &message, &w->error);
    if (ret >= 0 && message.frame) {
        ret = queue_put(w->decoded, &message.frame, message_bytes(&message), QUEUE_WAIT);
        if (ret >= 0)
            message.frame = NULL;
    }
    message_clear(&message);
    return ret;
}

static void *decode_main(void *arg)
{
    Work *w = arg;
    int ret;
    do
        ret = decode_next(w);
    while (ret >= 0);
    queue_end(w->decoded, ret);
    return NULL;
}

static int measure(Work *w, const AVFrame *frame, MediaError *error)
{
    const FirstPass *pass = w->pass;
    const LumeqFrame seen = equalizer_frame(frame, NULL);
    const LumeqImage before = equalizer_before(w->before, frame);
    if (lumeq_measure(pass->context, &w->measure, pass->params, &seen.in,
                      before.plane[0] ? &before : NULL, NULL) < 0)
        return media_fail(error, MEDIA_INPUT, "a frame could not be measured: %s",
                          lumeq_last_error(NULL));
    const int64_t shift = av_rescale_q(reader_zero(w->reader), AV_TIME_BASE_Q, frame->time_base);
    const MeasuredFrame which = measure_file_frame(frame, shift);
    const int ret = measure_file_add(pass->file, &which, w->measure, error);
    if (ret >= 0)
        pass->done(pass->opaque,
                   (double)(frame->pts + FRAME_DURATION(frame)) * av_q2d(frame->time_base));
    return ret;
}

/* Until the thread that decodes has ended, or something fails. */
static int measure_all(Work *w, MediaError *error)
{
    AVFrame *frame = NULL;
    int ret = 0;
    while (ret >= 0 && queue_take(w->decoded, &frame, QUEUE_WAIT) >= 0) {
        ret = measure(w, frame, error);
        av_frame_free(&w->before);
        w->before = frame;
    }
    queue_stop(w->decoded);
    return ret;
}

static int run_threads(Work *w, MediaError *error)
{
    pthread_t thread;
    const QueueOptions options = {.item = sizeof(AVFrame *),
                                  .count = QUEUE_LENGTH,
                                  .bytes = QUEUE_BYTES,
                                  .free = free_queued};
    if (queue_open(&w->decoded, &options) < 0)
        return media_fail(error, MEDIA_INPUT, "out of memory");
    if (pthread_create(&thread, NULL, decode_main, w) != 0)
        return media_fail(error, MEDIA_INPUT, "out of memory or threads");
    int ret = measure_all(w, error);
    pthread_join(thread, NULL);
    if (ret >= 0 && w->error.fault)
        ret = media_fail(error, w->error.fault, "%s", w->error.text);
    return ret;
}

int first_pass_run(FirstPass *pass, MediaError *error)
{
    Work w = {.pass = pass};
    char damage[512];
    int ret = reader_open(&w.reader, pass->source, &pass->reader, error);
    if (ret >= 0)
        ret = run_threads(&w, error);
    if (ret >= 0)
        ret = measure_file_flush(pass->file, error);
    if (ret >= 0)
        pass->damaged = reader_damage(w.reader, damage, sizeof(damage));
    queue_close(&w.decoded);
    lumeq_measure_free(&w.measure);
    av_frame_free(&w.before);
    reader_close(&w.reader);
    return ret;
}
