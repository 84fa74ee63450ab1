#include "run/curve_maker.h"

#include <stdlib.h>
#include <string.h>

#include <libavutil/fifo.h>

#include "media/compat.h"
#include "media/convert.h"
#include "media/gpu_frame.h"

#define FIRST_FRAMES 256 /* initial capacity of `frames` */

struct CurveMaker {
    LumeqHistory *history;
    AVFifo *frames; /* of MeasuredFrame: in the history, but without a curve yet */
    int depth;
};

MeasuredFrame measured_frame(const AVFrame *frame, int64_t shift)
{
    return (MeasuredFrame){
        .pts = frame->pts + shift,
        .duration = FRAME_DURATION(frame),
        .width = frame->width,
        .height = frame->height,
        .format = gpu_frame_format(frame),
        .range = frame->color_range,
        .interlaced = FRAME_IS_INTERLACED(frame),
    };
}

bool measured_is_same(const MeasuredFrame *a, const MeasuredFrame *b)
{
    return a->pts == b->pts && a->duration == b->duration && a->width == b->width &&
           a->height == b->height && a->format == b->format && a->range == b->range &&
           a->interlaced == b->interlaced;
}

LumeqMoment measured_moment(const MeasuredFrame *frame, int64_t number, int64_t shift,
                            AVRational base)
{
    const AVRational nanoseconds = {1, 1000000000};
    return (LumeqMoment){
        .size = sizeof(LumeqMoment),
        .number = number,
        .time = av_rescale_q(frame->pts - shift, base, nanoseconds),
        .duration = av_rescale_q(frame->duration, base, nanoseconds),
        .interlaced = frame->interlaced,
    };
}

uint32_t measure_mark(const void *packed, size_t size)
{
    uint8_t last[4] = {0};
    if (size >= sizeof(last))
        memcpy(last, (const uint8_t *)packed + size - sizeof(last), sizeof(last));
    return last[0] | (uint32_t)last[1] << 8 | (uint32_t)last[2] << 16 | (uint32_t)last[3] << 24;
}

static int cannot_plan(MediaError *error)
{
    return media_fail(error, MEDIA_INPUT, "cannot plan the curves: %s", lumeq_last_error(NULL));
}

int curve_maker_open(CurveMaker **maker, const LumeqParams *params, int64_t lookahead, int depth,
                     MediaError *error)
{
    LumeqParams wanted = *params;
    CurveMaker *m = *maker = calloc(1, sizeof(*m));
    if (!m)
        return media_no_memory(error, MEDIA_INPUT);
    m->depth = depth;
    m->frames = av_fifo_alloc2(FIRST_FRAMES, sizeof(MeasuredFrame), AV_FIFO_FLAG_AUTO_GROW);
    if (!m->frames)
        return media_no_memory(error, MEDIA_INPUT);
    if (!lookahead)
        wanted.deflicker = 0; /* needs a lookahead */
    return lumeq_history_create(&m->history, &wanted, lookahead) < 0 ? cannot_plan(error) : 0;
}

int curve_maker_put(CurveMaker *m, const MeasuredFrame *frame, LumeqMeasure *measure,
                    const LumeqMoment *moment, MediaError *error)
{
    int ret = 0;
    if (frame && m->depth > convert_layout((enum AVPixelFormat)frame->format).depth)
        ret = lumeq_measure_deepen(measure, m->depth);
    if (ret >= 0)
        ret = lumeq_history_put(m->history, frame ? measure : NULL, frame ? moment : NULL);
    if (ret < 0)
        return cannot_plan(error);
    return frame && av_fifo_write(m->frames, frame, 1) < 0 ? media_no_memory(error, MEDIA_INPUT)
                                                           : 0;
}

int curve_maker_next(CurveMaker *m, MeasuredFrame *frame, LumeqCurve **curve, MediaError *error)
{
    const int ret = lumeq_history_get(m->history, curve);
    if (ret < 0)
        return ret == LUMEQ_ERR_AGAIN || ret == LUMEQ_ERR_END ? 0 : cannot_plan(error);
    (void)av_fifo_read(m->frames, frame, 1);
    return 1;
}

int curve_maker_judge(CurveMaker *m, const MeasuredFrame *frame, LumeqMeasure *measure,
                      const LumeqMoment *moment, MediaError *error)
{
    LumeqFrameStats stats = {.size = sizeof(stats)};
    MeasuredFrame same;
    LumeqCurve *curve = NULL;
    int ret = curve_maker_put(m, frame, measure, moment, error);
    if (ret >= 0)
        ret = curve_maker_next(m, &same, &curve, error);
    if (ret > 0 && lumeq_curve_stats(curve, &stats) < 0)
        ret = cannot_plan(error);
    lumeq_curve_unref(&curve);
    return ret < 0 ? ret : stats.filtered != 0;
}

void curve_maker_close(CurveMaker **maker)
{
    CurveMaker *m = *maker;
    if (!m)
        return;
    lumeq_history_destroy(&m->history);
    av_fifo_freep2(&m->frames);
    free(m);
    *maker = NULL;
}

/* ---- live curves ---- */

int live_curves_open(LiveCurves *c, LumeqContext *context, const LumeqParams *params,
                     MediaError *error)
{
    c->context = context;
    if (lumeq_history_create(&c->history, NULL, 0) < 0)
        return media_no_memory(error, MEDIA_INPUT);
    return live_curves_set(c, params, error);
}

int live_curves_set(LiveCurves *c, const LumeqParams *params, MediaError *error)
{
    c->params = *params;
    c->params.deflicker = 0;
    return lumeq_history_set_params(c->history, &c->params) < 0
               ? media_fail(error, MEDIA_USAGE, "%s", lumeq_last_error(NULL))
               : 0;
}

int live_curves_make(LiveCurves *c, Frame *f, MediaError *error)
{
    const AVFrame *in = f->decoded.frame;
    const int ret =
        equalizer_measure(c->context, &c->measure, &c->params, in, f->previous[0], error);
    if (ret != 0)
        return ret;
    const LumeqFrame frame = equalizer_frame(in, NULL);
    const LumeqMoment moment = {
        .size = sizeof(moment),
        .number = f->sequence,
        .time = frame.time,
        .duration = frame.duration,
        .discontinuity = f->first,
        .interlaced = frame.interlaced,
    };
    if (lumeq_history_put(c->history, c->measure, &moment) < 0 ||
        lumeq_history_get(c->history, &f->curve) < 0)
        return equalizer_failed(error);
    return 0;
}

void live_curves_close(LiveCurves *c)
{
    lumeq_measure_free(&c->measure);
    lumeq_history_destroy(&c->history);
}

/* ---- planned curves ---- */

int planned_take(PlannedCurves *p, const AVFrame *in, int64_t zero, LumeqCurve **curve,
                 MediaError *error)
{
    const int64_t shift = av_rescale_q(zero, AV_TIME_BASE_Q, in->time_base);
    const MeasuredFrame here = measured_frame(in, shift);
    MeasuredFrame measured;
    *curve = NULL;
    const int ret = p->next(p->opaque, &measured, curve, error);
    if (ret > 0)
        measured.format = convert_deeper((enum AVPixelFormat)measured.format, p->depth);
    if (ret > 0 && measured_is_same(&measured, &here)) {
        p->taken++;
        return 1;
    }
    lumeq_curve_unref(curve);
    if (ret == 0 && atomic_load(p->source->options.stop))
        return AVERROR_EOF;
    if (ret < 0)
        return ret;
    p->differs = true;
    if (source_check_unchanged(p->source, p->path, error) < 0)
        return error->fault;
    return p->strict ? media_fail(error, MEDIA_INPUT,
                                  "the frames of %s differ from those that were measured: all "
                                  "steps need the same file",
                                  p->source->name)
                     : 0;
}
