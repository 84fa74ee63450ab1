#include "app/first_pass.h"

#include <pthread.h>
#include <string.h>

#include "app/engine.h"
#include "media/compat.h"

/* Frames waiting to be measured: enough to ride out an uneven decoder. */
#define QUEUE_LENGTH 4

typedef struct Work {
    FirstPass *pass;
    Reader *reader;
    AVThreadMessageQueue *decoded; /* of AVFrame * */
    LumeqMeasure *measure;
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
        ret = av_thread_message_queue_send(w->decoded, &message.frame, 0);
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
    av_thread_message_queue_set_err_recv(w->decoded, ret);
    return NULL;
}

static void show_progress(Progress *p, const AVFrame *frame)
{
    p->frame++;
    p->time = (double)(frame->pts + FRAME_DURATION(frame)) * av_q2d(frame->time_base);
    progress_update(p);
}

static int measure(Work *w, const AVFrame *frame, MediaError *error)
{
    const FirstPass *pass = w->pass;
    const LumeqFrame seen = engine_frame(frame, NULL);
    if (lumeq_measure(pass->context, &w->measure, pass->params, &seen.in, NULL, NULL) < 0)
        return media_fail(error, MEDIA_INPUT, "a frame could not be measured: %s",
                          lumeq_last_error(NULL));
    const int64_t shift = av_rescale_q(reader_zero(w->reader), AV_TIME_BASE_Q, frame->time_base);
    const MeasuredFrame which = measure_file_frame(frame, shift);
    const int ret = measure_file_add(pass->file, &which, w->measure, error);
    if (ret >= 0)
        show_progress(pass->progress, frame);
    return ret;
}

/* Until the thread that decodes has ended, or something fails. */
static int measure_all(Work *w, MediaError *error)
{
    AVFrame *frame = NULL;
    int ret = 0;
    while (ret >= 0 && av_thread_message_queue_recv(w->decoded, &frame, 0) >= 0) {
        ret = measure(w, frame, error);
        av_frame_free(&frame);
    }
    av_thread_message_queue_set_err_send(w->decoded, AVERROR_EXIT);
    return ret;
}

static int run_threads(Work *w, MediaError *error)
{
    pthread_t thread;
    if (av_thread_message_queue_alloc(&w->decoded, QUEUE_LENGTH, sizeof(AVFrame *)) < 0)
        return media_fail(error, MEDIA_INPUT, "out of memory");
    av_thread_message_queue_set_free_func(w->decoded, free_queued);
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
    av_thread_message_queue_free(&w.decoded);
    lumeq_measure_free(&w.measure);
    reader_close(&w.reader);
    return ret;
}
