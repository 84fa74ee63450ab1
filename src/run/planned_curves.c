#include "run/planned_curves.h"

#include <stdlib.h>
#include <time.h>

#include "media/convert.h"
#include "media/gpu_frame.h"
#include "run/equalizer_frame.h"

struct PlannedCurves {
    PlannedOptions options;
    int64_t count; /* frames */
    int differs;
};

int planned_open(PlannedCurves **planned, const PlannedOptions *options, MediaError *error)
{
    PlannedCurves *p = *planned = calloc(1, sizeof(*p));
    if (!p)
        return media_fail(error, MEDIA_INPUT, "out of memory");
    p->options = *options;
    return 0;
}

/* Another frame than the one that was measured. */
static int note_other(PlannedCurves *p, MediaError *error)
{
    const PlannedOptions *o = &p->options;
    p->differs = 1;
    if (source_is_changed(o->source, o->path, error) < 0)
        return error->fault;
    return o->strict ? media_fail(error, MEDIA_INPUT,
                                  "%s gave other frames than when it was measured: all have to see "
                                  "the same file",
                                  o->source->name)
                     : 0;
}

int planned_take(PlannedCurves *p, const AVFrame *in, int64_t zero, LumeqCurve **curve,
                 MediaError *error)
{
    const PlannedOptions *o = &p->options;
    const int64_t shift = av_rescale_q(zero, AV_TIME_BASE_Q, in->time_base);
    const MeasuredFrame here = measured_frame(in, shift);
    MeasuredFrame measured;
    *curve = NULL;
    const int ret = o->next(o->opaque, &measured, curve, error);
    if (ret > 0)
        measured.format = convert_deeper((enum AVPixelFormat)measured.format, o->depth);
    if (ret > 0 && measured_is_same(&measured, &here)) {
        p->count++;
        return 1;
    }
    lumeq_curve_unref(curve);
    return ret < 0 ? ret : note_other(p, error);
}

static double now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

int planned_apply(const PlannedCurves *p, LumeqCurve *curve, const AVFrame *in,
                  AVFrame *const before[PLANNED_BEFORE], AVFrame *out, LumeqFrameStats *stats,
                  MediaError *error)
{
    const LumeqFrame frame = equalizer_frame(in, out);
    LumeqImage previous[PLANNED_BEFORE];
    int count = 0, on_gpu = gpu_frame_is(in) || (out && gpu_frame_is(out));
    while (count < PLANNED_BEFORE) {
        previous[count] = equalizer_before(before[count], in);
        if (!previous[count].plane[0])
            break;
        on_gpu |= gpu_frame_is(before[count++]);
    }
    const LumeqSync sync = equalizer_after(in);
    int ret = 0;
    const double begin = now_us();
    if (out)
        ret = lumeq_apply(p->options.context, curve, &frame.in, previous, count, &frame.out,
                          sync.after ? &sync : NULL);
    const double took = now_us() - begin;
    if (ret >= 0)
        ret = lumeq_curve_stats(curve, stats);
    if (ret == LUMEQ_ERR_GPU && on_gpu)
        return PLANNED_LOST;
    if (ret < 0)
        return media_fail(error, MEDIA_INPUT, "the equalizer failed: %s", lumeq_last_error(NULL));
    equalizer_place(stats, in);
    stats->equalize_us = out ? took : 0;
    return 1;
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
    free(*planned);
    *planned = NULL;
}
