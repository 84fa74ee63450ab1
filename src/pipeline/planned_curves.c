#include "pipeline/planned_curves.h"

#include <stdlib.h>
#include <time.h>

#include "media/convert.h"
#include "media/gpu_frame.h"
#include "pipeline/equalizer_frame.h"

#define KEPT_BINS 256 /* of a histogram, at most */

struct PlannedCurves {
    PlannedOptions options;
    int64_t count; /* frames */
    int differs;
    LumeqCurve *again; /* of the frame that was lost */
    LumeqMeasure *measure;
};

int planned_counts(const LumeqParams *params, const LumeqCurve *curve)
{
    LumeqFrameStats stats = {.size = sizeof(stats)};
    return params->mode != LUMEQ_MODE_CLAHE && params->mode != LUMEQ_MODE_HAZE &&
           lumeq_curve_stats(curve, &stats) == 0 && stats.bins > KEPT_BINS;
}

int planned_open(PlannedCurves **planned, const PlannedOptions *options, MediaError *error)
{
    PlannedCurves *p = *planned = calloc(1, sizeof(*p));
    if (!p)
        return media_fail(error, MEDIA_INPUT, "out of memory");
    p->options = *options;
    return 0;
}

/* Takes the next curve, if this is the next frame that was measured: 1 or 0. */
static int take_curve(PlannedCurves *p, const AVFrame *in, int64_t shift, LumeqCurve **curve,
                      MediaError *error)
{
    const PlannedOptions *o = &p->options;
    const MeasuredFrame here = measure_file_frame(in, shift);
    MeasuredFrame measured;
    *curve = p->again;
    p->again = NULL;
    if (*curve)
        return 1;
    const int ret = o->next(o->opaque, shift, in->time_base, &measured, curve, error);
    if (ret > 0)
        measured.format = convert_deeper((enum AVPixelFormat)measured.format, o->depth);
    if (ret <= 0 || measured_is_same(&measured, &here))
        return ret;
    lumeq_curve_unref(curve);
    return 0;
}

static double now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

/* The histograms of a frame that came without; what the library answers. */
static int count_again(PlannedCurves *p, LumeqCurve *curve, const LumeqImage *in,
                       const LumeqSync *sync)
{
    const PlannedOptions *o = &p->options;
    if (!o->counts || !planned_counts(o->params, curve))
        return 0;
    int ret = lumeq_measure(o->context, &p->measure, o->params, in, NULL, sync);
    if (ret >= 0)
        ret = lumeq_measure_finish(p->measure, 1);
    return ret < 0 ? ret : lumeq_curve_count(curve, p->measure);
}

static int apply(PlannedCurves *p, LumeqCurve *curve, const AVFrame *in,
                 AVFrame *const before[PLANNED_BEFORE], AVFrame *out, LumeqFrameStats *stats,
                 MediaError *error)
{
    const LumeqFrame frame = equalizer_frame(in, out);
    LumeqImage previous[PLANNED_BEFORE];
    int count = 0;
    while (count < PLANNED_BEFORE) {
        previous[count] = equalizer_before(before[count], in);
        if (!previous[count].plane[0])
            break;
        count++;
    }
    const LumeqSync sync = equalizer_after(in);
    int ret = count_again(p, curve, &frame.in, sync.after ? &sync : NULL);
    const double begin = now_us();
    if (ret >= 0 && out)
        ret = lumeq_apply(p->options.context, curve, &frame.in, previous, count, &frame.out,
                          sync.after ? &sync : NULL);
    const double took = now_us() - begin;
    if (ret >= 0)
        ret = lumeq_curve_stats(curve, stats);
    int on_gpu = gpu_frame_is(in) || (out && gpu_frame_is(out));
    for (int i = 0; i < count; i++)
        on_gpu |= gpu_frame_is(before[i]);
    if (ret == LUMEQ_ERR_GPU && on_gpu)
        return PLANNED_LOST;
    if (ret < 0)
        return media_fail(error, MEDIA_INPUT, "the equalizer failed: %s", lumeq_last_error(NULL));
    equalizer_place(stats, in);
    stats->equalize_us = out ? took : 0;
    return 1;
}

int planned_apply(PlannedCurves *p, const AVFrame *in, AVFrame *const before[PLANNED_BEFORE],
                  AVFrame *out, int64_t zero, LumeqFrameStats *stats, MediaError *error)
{
    const int64_t shift = av_rescale_q(zero, AV_TIME_BASE_Q, in->time_base);
    LumeqCurve *curve = NULL;
    int ret = take_curve(p, in, shift, &curve, error);
    if (ret == 0) {
        p->differs = 1;
        ret = source_is_changed(p->options.source, p->options.path, error);
        if (ret == 0 && p->options.strict)
            ret = media_fail(error, MEDIA_INPUT,
                             "%s gave other frames than when it was measured: all have to see the "
                             "same file",
                             p->options.source->name);
        return ret;
    }
    if (ret > 0)
        ret = apply(p, curve, in, before, out, stats, error);
    if (ret == PLANNED_LOST)
        p->again = curve;
    else
        lumeq_curve_unref(&curve);
    p->count += ret == 1;
    return ret;
}

void planned_skip(PlannedCurves *p)
{
    lumeq_curve_unref(&p->again);
    p->count++;
}

int64_t planned_count(const PlannedCurves *p)
{
    return p->count;
}

int planned_differs(const PlannedCurves *p)
{
    return p->differs || p->count < p->options.count;
}

void planned_close(PlannedCurves **planned)
{
    if (*planned) {
        lumeq_curve_unref(&(*planned)->again);
        lumeq_measure_free(&(*planned)->measure);
    }
    free(*planned);
    *planned = NULL;
}
