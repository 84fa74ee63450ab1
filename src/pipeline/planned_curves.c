#include "pipeline/planned_curves.h"

#include <stdlib.h>
#include <time.h>

#include "pipeline/equalizer_frame.h"

struct PlannedCurves {
    PlannedOptions options;
    LumeqHistory *history;
    LumeqMeasure *measure;
    MeasureCursor ahead, here; /* of the measure that is put next, and of the frame that comes */
    int64_t put, count;        /* measures, and frames */
    int ended, differs;
};

int planned_open(PlannedCurves **planned, const PlannedOptions *options, MediaError *error)
{
    *planned = NULL;
    PlannedCurves *p = calloc(1, sizeof(*p));
    if (!p)
        return media_fail(error, MEDIA_INPUT, "out of memory");
    p->options = *options;
    if (lumeq_history_create(&p->history, options->params, LUMEQ_MAX_LOOKAHEAD) < 0) {
        free(p);
        return media_fail(error, MEDIA_INPUT, "the curves cannot be planned: %s",
                          lumeq_last_error(NULL));
    }
    *planned = p;
    return 0;
}

static int64_t in_nanoseconds(int64_t time, AVRational base)
{
    return av_rescale_q(time, base, (AVRational){1, 1000000000});
}

/* Hands the history the next measure, or the end. `shift`: of the second pass. */
static int put_next(PlannedCurves *p, int64_t shift, AVRational base, MediaError *error)
{
    MeasuredFrame frame;
    int ret = measure_file_read(p->options.file, &p->ahead, &frame, &p->measure, error);
    if (ret < 0)
        return ret;
    if (ret == 0) {
        p->ended = 1;
        ret = lumeq_history_put(p->history, NULL, NULL);
    } else {
        const LumeqMoment moment = {
            .size = sizeof(moment),
            .number = p->put++,
            .time = in_nanoseconds(frame.pts - shift, base),
            .duration = in_nanoseconds(frame.duration, base),
        };
        ret = lumeq_history_put(p->history, p->measure, &moment);
    }
    return ret < 0 ? media_fail(error, MEDIA_INPUT, "the curves cannot be planned: %s",
                                lumeq_last_error(NULL))
                   : 0;
}

/* 1, or 0 where there is none left. */
static int next_curve(PlannedCurves *p, int64_t shift, AVRational base, LumeqCurve **curve,
                      MediaError *error)
{
    int ret;
    while ((ret = lumeq_history_get(p->history, curve)) == LUMEQ_ERR_AGAIN && !p->ended)
        if (put_next(p, shift, base, error) < 0)
            return error->fault;
    if (ret == LUMEQ_ERR_END || ret == LUMEQ_ERR_AGAIN)
        return 0;
    return ret < 0 ? media_fail(error, MEDIA_INPUT, "the curves cannot be planned: %s",
                                lumeq_last_error(NULL))
                   : 1;
}

static int is_same(const MeasuredFrame *a, const MeasuredFrame *b)
{
    return a->pts == b->pts && a->duration == b->duration && a->width == b->width &&
           a->height == b->height && a->format == b->format && a->range == b->range;
}

/* Whether the first pass had this frame next: 1 or 0. */
static int check_frame(PlannedCurves *p, const AVFrame *in, int64_t shift, MediaError *error)
{
    MeasuredFrame measured;
    const MeasuredFrame here = measure_file_frame(in, shift);
    const int ret = measure_file_read(p->options.file, &p->here, &measured, NULL, error);
    return ret > 0 ? is_same(&measured, &here) : ret;
}

static double now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static int apply(const PlannedCurves *p, const LumeqCurve *curve, const AVFrame *in,
                 const AVFrame *before, AVFrame *out, LumeqFrameStats *stats, MediaError *error)
{
    const LumeqFrame frame = equalizer_frame(in, out);
    const LumeqImage previous = equalizer_before(before, in);
    const double begin = now_us();
    int ret = 0;
    if (out)
        ret = lumeq_apply(p->options.context, curve, &frame.in, &previous,
                          previous.plane[0] != NULL, &frame.out, NULL);
    const double took = now_us() - begin;
    if (ret >= 0)
        ret = lumeq_curve_stats(curve, stats);
    if (ret < 0)
        return media_fail(error, MEDIA_INPUT, "the equalizer failed: %s", lumeq_last_error(NULL));
    stats->equalize_us = out ? took : 0;
    return 0;
}

int planned_apply(PlannedCurves *p, const AVFrame *in, const AVFrame *before, AVFrame *out,
                  int64_t zero, LumeqFrameStats *stats, MediaError *error)
{
    const int64_t shift = av_rescale_q(zero, AV_TIME_BASE_Q, in->time_base);
    LumeqCurve *curve = NULL;
    int ret = check_frame(p, in, shift, error);
    if (ret > 0)
        ret = next_curve(p, shift, in->time_base, &curve, error);
    if (ret == 0) {
        p->differs = 1;
        return source_is_changed(p->options.source, p->options.path, error);
    }
    if (ret > 0 && apply(p, curve, in, before, out, stats, error) < 0)
        ret = error->fault;
    lumeq_curve_unref(&curve);
    p->count += ret > 0;
    return ret;
}

int64_t planned_count(const PlannedCurves *p)
{
    return p->count;
}

int planned_differs(const PlannedCurves *p)
{
    return p->differs || p->count < measure_file_count(p->options.file);
}

void planned_close(PlannedCurves **planned)
{
    PlannedCurves *p = *planned;
    if (!p)
        return;
    lumeq_history_destroy(&p->history);
    lumeq_measure_free(&p->measure);
    free(p);
    *planned = NULL;
}
