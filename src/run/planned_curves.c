#include "run/planned_curves.h"

#include <stdlib.h>

#include "media/convert.h"

struct PlannedCurves {
    PlannedOptions options;
    int64_t count; /* frames */
    int differs;
};

int planned_open(PlannedCurves **planned, const PlannedOptions *options, MediaError *error)
{
    PlannedCurves *p = *planned = calloc(1, sizeof(*p));
    if (!p)
        return media_no_memory(error, MEDIA_INPUT);
    p->options = *options;
    return 0;
}

/* Handles a frame that differs from the measured one. */
static int note_other(PlannedCurves *p, MediaError *error)
{
    const PlannedOptions *o = &p->options;
    p->differs = 1;
    if (source_check_unchanged(o->source, o->path, error) < 0)
        return error->fault;
    return o->strict ? media_fail(error, MEDIA_INPUT,
                                  "the frames of %s differ from those that were measured: all "
                                  "steps need the same file",
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
    if (ret == 0 && atomic_load(o->source->stop))
        return AVERROR_EOF;
    return ret < 0 ? ret : note_other(p, error);
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
