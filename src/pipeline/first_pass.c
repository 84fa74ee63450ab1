#include "pipeline/first_pass.h"

#include "media/compat.h"
#include "pipeline/decode_stage.h"
#include "pipeline/equalizer_frame.h"

typedef struct Work {
    FirstPass *pass;
    Reader *reader;
    DecodeStage *decoded;
    LumeqMeasure *measure;
    AVFrame *before; /* the frame that was measured last */
} Work;

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

/* Until the stage that decodes has ended, or something fails. */
static int measure_all(Work *w, MediaError *error)
{
    w->decoded = decode_stage_of_reader(w->reader);
    if (!w->decoded)
        return media_fail(error, MEDIA_INPUT, "out of memory");
    int ret = decode_stage_start(w->decoded, error);
    while (ret >= 0) {
        Message message = {0};
        ret = decode_stage_take(w->decoded, &message, QUEUE_WAIT, error);
        if (ret >= 0 && message.frame) {
            ret = measure(w, message.frame, error);
            FFSWAP(AVFrame *, w->before, message.frame);
        }
        message_clear(&message);
    }
    decode_stage_stop(w->decoded);
    return error->fault;
}

int first_pass_run(FirstPass *pass, MediaError *error)
{
    Work w = {.pass = pass};
    char damage[512];
    int ret = reader_open(&w.reader, pass->source, &pass->reader, error);
    if (ret >= 0)
        ret = measure_all(&w, error);
    if (ret >= 0)
        ret = measure_file_flush(pass->file, error);
    if (ret >= 0)
        pass->damaged = reader_damage(w.reader, damage, sizeof(damage));
    decode_stage_close(&w.decoded);
    lumeq_measure_free(&w.measure);
    av_frame_free(&w.before);
    reader_close(&w.reader);
    return ret;
}
