#include "run/measure_pass.h"

#include <string.h>

#include "media/compat.h"
#include "media/gpu_frame.h"
#include "run/equalizer_frame.h"

/* Number of frames to keep before the first measured frame. The marks of two of them show whether a
 * part was decoded correctly. To mark a frame, the one before is needed. Later, one is enough. */
#define BEFORE 3

typedef struct Work {
    MeasurePass *pass;
    Input *input;
    LumeqMeasure *measure;
    AVFrame *before[BEFORE]; /* the nearest first */
    int64_t damage;          /* Decoded.damage of the previous frame */
    int began;
} Work;

static int fail_lost(MediaError *error)
{
    return media_fail(error, MEDIA_LOST, "frames were lost because the GPU failed");
}

static int mark_of(Work *w, const AVFrame *frame, const AVFrame *before, uint32_t *mark,
                   MediaError *error)
{
    size_t size = 0;
    int ret =
        equalizer_measure(w->pass->context, &w->measure, w->pass->params, frame, before, error);
    if (ret < 0)
        return ret == MEDIA_LOST ? fail_lost(error) : ret;
    ret = lumeq_measure_pack(w->measure, NULL, &size);
    uint8_t *bytes = ret < 0 ? NULL : av_malloc(size);
    if (bytes)
        ret = lumeq_measure_pack(w->measure, bytes, &size);
    if (bytes && ret >= 0)
        *mark = measure_mark(bytes, size);
    av_free(bytes);
    return bytes && ret >= 0 ? 0 : media_no_memory(error, MEDIA_INPUT);
}

int measure_pass_marks(LumeqContext *context, const LumeqParams *params, AVFrame *const frames[3],
                       uint32_t marks[2], MediaError *error)
{
    MeasurePass pass = {.context = context, .params = params};
    Work w = {.pass = &pass};
    int ret = 0;
    for (int i = 0; i < 2; i++) {
        marks[i] = 0;
        if (ret == 0 && frames[i])
            ret = mark_of(&w, frames[i], frames[i + 1], &marks[i], error);
    }
    lumeq_measure_free(&w.measure);
    return ret;
}

/* Measures a frame against the previous one. Clones both, since equalizer_colocate() may download
 * one. */
static int measure_frame(Work *w, const AVFrame *frame, MediaError *error)
{
    AVFrame *in = av_frame_clone(frame);
    AVFrame *before = w->before[0] ? av_frame_clone(w->before[0]) : NULL;
    int ret = in && (before || !w->before[0]) ? 0 : media_no_memory(error, MEDIA_INPUT);
    if (ret >= 0 && equalizer_colocate(w->pass->input.decoder.memory, before, in) < 0)
        ret = fail_lost(error);
    if (ret >= 0)
        ret = equalizer_measure(w->pass->context, &w->measure, w->pass->params, in, before, error);
    if (ret == MEDIA_LOST) {
        (void)fail_lost(error);
        gpu_frame_mark_lost(gpu_frame_is(frame) ? frame : w->before[0]);
    }
    gpu_frame_free(&before);
    gpu_frame_free(&in);
    return ret;
}

static int take(Work *w, const Decoded *decoded, MediaError *error)
{
    MeasurePass *pass = w->pass;
    AVFrame *frame = decoded->frame;
    const int64_t shift = av_rescale_q(input_zero(w->input), AV_TIME_BASE_Q, frame->time_base);
    const int64_t damage = w->damage;
    w->damage = decoded->damage;
    if (frame->pts + shift < pass->from_pts)
        return 0;
    int ret = 0;
    if (!w->began)
        ret = measure_pass_marks(pass->context, pass->params, w->before, pass->before, error);
    w->began = 1;
    if (ret >= 0)
        ret = measure_frame(w, frame, error);
    MeasuredFrame which = measured_frame(frame, shift);
    which.damaged = decoded->damage > damage;
    return ret < 0 ? ret : pass->take(pass->opaque, frame, &which, &w->measure, error);
}

static int measure_all(Work *w, MediaError *error)
{
    int ret = input_start(w->input, NULL, error);
    while (ret >= 0) {
        Frame *frame = NULL;
        ret = input_take(w->input, &frame, QUEUE_WAIT, error);
        if (ret >= 0 && frame->decoded.frame) {
            ret = take(w, &frame->decoded, error);
            const int last = w->began ? 0 : BEFORE - 1;
            for (int i = last; i < BEFORE; i++)
                gpu_frame_free(&w->before[i]);
            memmove(&w->before[1], &w->before[0], (size_t)last * sizeof(w->before[0]));
            w->before[0] = frame->decoded.frame;
            frame->decoded.frame = NULL;
        }
        frame_free(&frame);
    }
    input_stop(w->input);
    w->pass->report = input_report(w->input);
    if (error->fault == MEDIA_LOST &&
        !input_decoding(w->input)->lossless) { /* no fault: the measures just end here */
        *error = (MediaError){0};
        w->pass->report.damage.lost_frames++;
    }
    return error->fault;
}

int measure_pass_run(MeasurePass *pass, MediaError *error)
{
    Work w = {.pass = pass};
    int ret = input_open(&w.input, pass->source, &pass->input, error);
    if (ret >= 0)
        ret = measure_all(&w, error);
    lumeq_measure_free(&w.measure);
    for (int i = 0; i < BEFORE; i++)
        gpu_frame_free(&w.before[i]);
    input_close(&w.input);
    return ret;
}
