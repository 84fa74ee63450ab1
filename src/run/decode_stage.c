#include "run/decode_stage.h"

#include <pthread.h>
#include <stdlib.h>

#include <libavutil/error.h>

/* Frames of a reader that wait: enough to ride out an uneven decoder, few enough to keep memory
 * small (a 4K frame has 12 MB, and copied packets may have any size). */
#define READER_FRAMES 4
#define READER_BYTES (12 << 20)

struct DecodeStage {
    DecodeStageOptions options;
    Queue *queue; /* of Frame * */
    pthread_t thread;
    int running;
    MediaError error; /* the thread's until the queue has ended */
};

static void drop_queued(const void *oldest, void *next)
{
    frame_note_skipped(*(Frame **)next, *(Frame *const *)oldest);
}

static int decode_next(DecodeStage *s)
{
    int ret = queue_wait_for_room(s->queue); /* else it would only be older when it is seen */
    if (ret < 0)
        return ret;
    Frame *frame = frame_alloc();
    ret = frame ? s->options.next(s->options.opaque, &frame->decoded, &s->error)
                : media_no_memory(&s->error, MEDIA_INPUT);
    if (ret >= 0)
        ret = queue_put(s->queue, &frame, frame_bytes(frame), QUEUE_WAIT);
    if (ret < 0)
        frame_free(&frame);
    return ret;
}

static void *stage_main(void *arg)
{
    DecodeStage *s = arg;
    int ret;
    do {
        ret = decode_next(s);
        if (ret < 0)
            queue_end(s->queue, ret);
        if (s->options.wake)
            s->options.wake(s->options.wake_opaque);
    } while (ret >= 0);
    return NULL;
}

DecodeStage *decode_stage_create(const DecodeStageOptions *options)
{
    const QueueOptions queue = {.item = sizeof(Frame *),
                                .count = options->count,
                                .bytes = options->bytes,
                                .free = frame_free_queued,
                                .drop = options->live ? drop_queued : NULL};
    DecodeStage *s = calloc(1, sizeof(*s));
    if (!s)
        return NULL;
    s->options = *options;
    if (queue_open(&s->queue, &queue) < 0)
        decode_stage_close(&s);
    return s;
}

static int read_next(void *reader, Decoded *decoded, MediaError *error)
{
    return reader_next(reader, decoded, error);
}

DecodeStage *decode_stage_of_reader(Reader *reader)
{
    const DecodeStageOptions options = {
        .count = READER_FRAMES, .bytes = READER_BYTES, .next = read_next, .opaque = reader};
    return decode_stage_create(&options);
}

int decode_stage_start(DecodeStage *s, MediaError *error)
{
    queue_restart(s->queue);
    s->error = (MediaError){0};
    s->running = pthread_create(&s->thread, NULL, stage_main, s) == 0;
    return s->running ? 0
                      : media_fail(error, MEDIA_INPUT, "cannot start a thread to decode the video");
}

static int answer(const DecodeStage *s, int ret, MediaError *error)
{
    if (ret >= 0 || ret == AVERROR(EAGAIN) || ret == AVERROR_EOF || ret == AVERROR_EXIT)
        return ret;
    return media_fail(error, s->error.fault, "%s", s->error.text);
}

int decode_stage_take(DecodeStage *s, Frame **frame, QueueWait wait, MediaError *error)
{
    return answer(s, queue_take(s->queue, frame, wait), error);
}

int decode_stage_look(DecodeStage *s, MediaError *error)
{
    return answer(s, queue_look(s->queue), error);
}

int decode_stage_waiting(DecodeStage *s)
{
    return queue_count(s->queue);
}

void decode_stage_cancel(DecodeStage *s)
{
    queue_stop(s->queue);
}

void decode_stage_stop(DecodeStage *s)
{
    if (!s->running)
        return;
    queue_stop(s->queue);
    pthread_join(s->thread, NULL);
    s->running = 0;
}

void decode_stage_close(DecodeStage **stage)
{
    DecodeStage *s = *stage;
    if (!s)
        return;
    decode_stage_stop(s);
    queue_close(&s->queue);
    free(s);
    *stage = NULL;
}
