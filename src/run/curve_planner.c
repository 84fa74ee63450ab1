#include "run/curve_planner.h"

#include <stdlib.h>

#include "media/convert.h"

struct CurvePlanner {
    MeasureFile *file;
    LumeqHistory *history;
    LumeqMeasure *measure;
    MeasureCursor ahead, here; /* of the measure that is put next, and of the curve that comes */
    int depth;                 /* that they get, or 0 */
    int64_t put;
    int ended;
};

static int cannot_plan(MediaError *error)
{
    return media_fail(error, MEDIA_INPUT, "the curves cannot be planned: %s",
                      lumeq_last_error(NULL));
}

int curve_planner_open(CurvePlanner **planner, MeasureFile *file, const LumeqParams *params,
                       int64_t lookahead, int depth, MediaError *error)
{
    *planner = NULL;
    CurvePlanner *p = calloc(1, sizeof(*p));
    if (!p)
        return media_fail(error, MEDIA_INPUT, "out of memory");
    p->file = file;
    p->depth = depth;
    if (lumeq_history_create(&p->history, params, lookahead) < 0) {
        free(p);
        return cannot_plan(error);
    }
    *planner = p;
    return 0;
}

static int64_t in_nanoseconds(int64_t time, AVRational base)
{
    return av_rescale_q(time, base, (AVRational){1, 1000000000});
}

/* The next measure, as deep as the frames are: 1, 0 after the last, or a fault. */
static int read_ahead(CurvePlanner *p, MeasuredFrame *frame, MediaError *error)
{
    const int ret = measure_file_read(p->file, &p->ahead, frame, &p->measure, error);
    if (ret > 0 && p->depth > convert_layout((enum AVPixelFormat)frame->format).depth &&
        lumeq_measure_deepen(p->measure, p->depth) < 0)
        return cannot_plan(error);
    return ret;
}

/* Hands the history the next measure, or the end. */
static int put_next(CurvePlanner *p, int64_t shift, AVRational base, MediaError *error)
{
    MeasuredFrame frame;
    int ret = read_ahead(p, &frame, error);
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
            .interlaced = frame.interlaced,
        };
        ret = lumeq_history_put(p->history, p->measure, &moment);
    }
    return ret < 0 ? cannot_plan(error) : 0;
}

int curve_planner_next(CurvePlanner *p, int64_t shift, AVRational base, MeasuredFrame *frame,
                       LumeqCurve **curve, MediaError *error)
{
    int ret = measure_file_read(p->file, &p->here, frame, NULL, error);
    if (ret <= 0)
        return ret;
    while ((ret = lumeq_history_get(p->history, curve)) == LUMEQ_ERR_AGAIN && !p->ended)
        if (put_next(p, shift, base, error) < 0)
            return error->fault;
    if (ret == LUMEQ_ERR_END || ret == LUMEQ_ERR_AGAIN)
        return 0;
    return ret < 0 ? cannot_plan(error) : 1;
}

static int judge(LumeqHistory *history, const LumeqMeasure *measure, const MeasuredFrame *frame,
                 int64_t shift, AVRational base, MediaError *error)
{
    const LumeqMoment moment = {
        .size = sizeof(moment),
        .time = in_nanoseconds(frame->pts - shift, base),
        .duration = in_nanoseconds(frame->duration, base),
    };
    LumeqFrameStats stats = {.size = sizeof(stats)};
    LumeqCurve *curve = NULL;
    int ret = lumeq_history_put(history, measure, &moment);
    if (ret == 0)
        ret = lumeq_history_get(history, &curve);
    if (ret == 0)
        ret = lumeq_curve_stats(curve, &stats);
    lumeq_curve_unref(&curve);
    return ret < 0 ? cannot_plan(error) : stats.filtered;
}

int curve_planner_filtered(MeasureFile *file, const LumeqParams *params, int64_t shift,
                           AVRational base, int64_t *filtered, MediaError *error)
{
    LumeqParams plain = *params;
    LumeqHistory *history = NULL;
    LumeqMeasure *measure = NULL;
    MeasureCursor cursor = {0};
    MeasuredFrame frame;
    plain.deflicker = 0; /* is for those that look ahead */
    *filtered = 0;
    int ret = lumeq_history_create(&history, &plain, 0) < 0 ? cannot_plan(error) : 0;
    while (ret >= 0 && (ret = measure_file_read(file, &cursor, &frame, &measure, error)) > 0) {
        ret = judge(history, measure, &frame, shift, base, error);
        *filtered += ret > 0;
    }
    lumeq_measure_free(&measure);
    lumeq_history_destroy(&history);
    return ret;
}

void curve_planner_close(CurvePlanner **planner)
{
    CurvePlanner *p = *planner;
    if (!p)
        return;
    lumeq_history_destroy(&p->history);
    lumeq_measure_free(&p->measure);
    free(p);
    *planner = NULL;
}
