#include "run/live_curves.h"

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
