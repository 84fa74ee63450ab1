/* A planned curve is taken only if the frame has the time, duration, size, format and range of the
 * measured one. */
#include <libavutil/frame.h>

#include "check.h"
#include "media/compat.h"
#include "run/curve_maker.h"

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

typedef struct Measured {
    MeasuredFrame frame;
    LumeqCurve *curve;
} Measured;

/* Measures this frame alone, and makes its curve. */
static void measure(Measured *measured, LumeqContext *context, const LumeqParams *params,
                    const AVFrame *frame)
{
    static uint8_t picture[SIDE * SIDE];
    const LumeqImage image = {
        .plane = {picture}, .stride = {SIDE}, .width = SIDE, .height = SIDE, .depth = 8};
    CurveMaker *maker = NULL;
    LumeqMeasure *counts = NULL;
    MediaError error = {0};
    const MeasuredFrame which = measured_frame(frame, 0);
    const LumeqMoment moment = measured_moment(&which, 0, 0, time_base);
    CHECK(lumeq_measure(context, &counts, params, &image, NULL, NULL) == 0, "%s",
          lumeq_last_error(NULL));
    CHECK(curve_maker_open(&maker, params, LUMEQ_MAX_LOOKAHEAD, 0, &error) == 0 &&
              curve_maker_put(maker, &which, counts, &moment, &error) == 0 &&
              curve_maker_next(maker, &measured->frame, &measured->curve, &error) == 0 &&
              curve_maker_put(maker, NULL, NULL, NULL, &error) == 0 &&
              curve_maker_next(maker, &measured->frame, &measured->curve, &error) == 1 &&
              measured_is_same(&measured->frame, &which),
          "%s", error.text);
    curve_maker_close(&maker);
    lumeq_measure_free(&counts);
}

static int next_curve(void *opaque, MeasuredFrame *frame, LumeqCurve **curve, MediaError *error)
{
    const Measured *measured = opaque;
    uint8_t bytes[8192];
    size_t size = sizeof(bytes);
    (void)error;
    *frame = measured->frame;
    *curve = NULL;
    CHECK(lumeq_curve_pack(measured->curve, bytes, &size) == 0 &&
              lumeq_curve_unpack(curve, bytes, size) == 0,
          "%s", lumeq_last_error(NULL));
    return 1;
}

/* `same`: true if the frame must get the measured frame's curve. */
static void check(Measured *measured, PlannedCurves planned, const AVFrame *frame, int same,
                  const char *what)
{
    LumeqCurve *curve;
    MediaError error = {0};
    planned.next = next_curve;
    planned.opaque = measured;
    const int ret = planned_take(&planned, frame, 0, &curve, &error);
    lumeq_curve_unref(&curve);
    CHECK(ret == same, "%s: returns %d, %s", what, ret, error.text);
    CHECK(planned.differs == !same && planned.taken == same, "%s: %lld curves were taken", what,
          (long long)planned.taken);
}

static void check_all(Measured *measured, PlannedCurves planned)
{
    AVFrame *frame = make_frame();
    check(measured, planned, frame, 1, "the measured frame");
    frame->pts++;
    check(measured, planned, frame, 0, "another time");
    frame->pts--;
    FRAME_DURATION(frame)++;
    check(measured, planned, frame, 0, "another duration");
    FRAME_DURATION(frame)--;
    frame->width++;
    check(measured, planned, frame, 0, "another width");
    frame->width--;
    frame->height++;
    check(measured, planned, frame, 0, "another height");
    frame->height--;
    frame->format = AV_PIX_FMT_GRAY10;
    check(measured, planned, frame, 0, "another format");
    frame->format = AV_PIX_FMT_GRAY8;
    frame->color_range = AVCOL_RANGE_JPEG;
    check(measured, planned, frame, 0, "another range");
    av_frame_free(&frame);
}

TEST(frames)
{
    static const atomic_int never;
    const SourceOptions from = {.path = LUMEQ_CLIP, .stop = &never, .max_pixels = 8192 * 8192};
    const LumeqConfig config = {.size = sizeof(config), .backend = LUMEQ_BACKEND_CPU};
    LumeqParams params = {.size = sizeof(params)};
    PlannedCurves planned = {.path = LUMEQ_CLIP};
    LumeqContext *context = NULL;
    Measured measured = {0};
    Source *source = NULL;
    MediaError error = {0};
    lumeq_params_default(&params);
    AVFrame *frame = make_frame();
    if (CHECK(source_open(&source, &from, &error) == 0, "%s", error.text) &&
        CHECK(lumeq_context_create(&context, &config, NULL, 0) == 0, "%s",
              lumeq_last_error(NULL))) {
        planned.source = source;
        measure(&measured, context, &params, frame);
        check_all(&measured, planned);
    }
    av_frame_free(&frame);
    lumeq_context_destroy(&context);
    lumeq_curve_unref(&measured.curve);
    source_close(&source);
}

TEST_MAIN
