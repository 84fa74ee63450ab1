/* A frame is taken for the one that was measured only where all that is known of it is
 * the same. */
#include <libavutil/frame.h>

#include "check.h"
#include "media/compat.h"
#include "run/curve_planner.h"
#include "run/planned_curves.h"

#define SIDE 64

static const AVRational time_base = {1, 25};

static AVFrame *make_frame(void)
{
    AVFrame *frame = av_frame_alloc();
    if (!frame)
        abort();
    frame->width = frame->height = SIDE;
    frame->format = AV_PIX_FMT_GRAY8;
    frame->color_range = AVCOL_RANGE_MPEG;
    frame->time_base = time_base;
    frame->pts = 7;
    FRAME_DURATION(frame) = 1;
    return frame;
}

/* Measures this frame alone. */
static void measure(MeasureFile *file, LumeqContext *context, const LumeqParams *params,
                    const AVFrame *frame)
{
    static uint8_t picture[SIDE * SIDE];
    const LumeqImage image = {
        .plane = {picture}, .stride = {SIDE}, .width = SIDE, .height = SIDE, .depth = 8};
    const MeasuredFrame measured = measure_file_frame(frame, 0);
    LumeqMeasure *counts = NULL;
    MediaError error = {0};
    CHECK(lumeq_measure(context, &counts, params, &image, NULL, NULL) == 0, "%s",
          lumeq_last_error(NULL));
    CHECK(measure_file_add(file, &measured, counts, &error) == 0 &&
              measure_file_flush(file, &error) == 0,
          "%s", error.text);
    lumeq_measure_free(&counts);
}

static int next_curve(void *opaque, int64_t shift, AVRational base, MeasuredFrame *frame,
                      LumeqCurve **curve, MediaError *error)
{
    return curve_planner_next(opaque, shift, base, frame, curve, error);
}

/* Whether the frame is the one that was measured. */
static void check(MeasureFile *file, const LumeqParams *params, PlannedOptions options,
                  const AVFrame *frame, int same, const char *what)
{
    CurvePlanner *planner = NULL;
    PlannedCurves *planned = NULL;
    LumeqCurve *curve;
    MediaError error = {0};
    if (!CHECK(curve_planner_open(&planner, file, params, LUMEQ_MAX_LOOKAHEAD, 0, &error) == 0,
               "%s", error.text))
        return;
    options.next = next_curve;
    options.opaque = planner;
    options.count = 1;
    if (!CHECK(planned_open(&planned, &options, &error) == 0, "%s", error.text))
        return;
    const int ret = planned_take(planned, frame, 0, &curve, &error);
    lumeq_curve_unref(&curve);
    CHECK(ret == same, "%s: %d, %s", what, ret, error.text);
    CHECK(planned_differs(planned) == !same && planned_count(planned) == same,
          "%s: %lld are the same", what, (long long)planned_count(planned));
    planned_close(&planned);
    curve_planner_close(&planner);
}

static void check_all(MeasureFile *file, const LumeqParams *params, PlannedOptions options)
{
    AVFrame *frame = make_frame();
    check(file, params, options, frame, 1, "the frame");
    frame->pts++;
    check(file, params, options, frame, 0, "another time");
    frame->pts--;
    FRAME_DURATION(frame)++;
    check(file, params, options, frame, 0, "another duration");
    FRAME_DURATION(frame)--;
    frame->width++;
    check(file, params, options, frame, 0, "another width");
    frame->width--;
    frame->height++;
    check(file, params, options, frame, 0, "another height");
    frame->height--;
    frame->format = AV_PIX_FMT_GRAY10;
    check(file, params, options, frame, 0, "another format");
    frame->format = AV_PIX_FMT_GRAY8;
    frame->color_range = AVCOL_RANGE_JPEG;
    check(file, params, options, frame, 0, "another range");
    av_frame_free(&frame);
}

static void test_frames(void)
{
    static const atomic_int never;
    const SourceOptions from = {.path = LUMEQ_CLIP, .stop = &never, .max_pixels = 8192 * 8192};
    const LumeqConfig config = {.size = sizeof(config), .backend = LUMEQ_BACKEND_CPU};
    LumeqParams params = {.size = sizeof(params)};
    PlannedOptions options = {.path = LUMEQ_CLIP};
    MeasureFile *file = NULL;
    Source *source = NULL;
    MediaError error = {0};
    lumeq_params_default(&params);
    AVFrame *frame = make_frame();
    if (CHECK(source_open(&source, &from, &error) == 0 &&
                  measure_file_open(&file, NULL, &error) == 0,
              "%s", error.text) &&
        CHECK(lumeq_context_create(&options.context, &config, NULL, 0) == 0, "%s",
              lumeq_last_error(NULL))) {
        options.source = source;
        measure(file, options.context, &params, frame);
        check_all(file, &params, options);
    }
    av_frame_free(&frame);
    lumeq_context_destroy(&options.context);
    measure_file_close(&file);
    source_close(&source);
}

static const CheckTest tests[] = {
    {"frames", test_frames},
};

CHECK_MAIN(tests)
