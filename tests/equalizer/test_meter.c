/* The metered region: results are those of a picture that consists only of the region. */
#include "../check.h"
#include "all_stats.h"
#include "lumeq/lumeq.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))
#define WIDTH 161
#define HEIGHT 92
#define FRAMES 6

typedef struct Picture {
    uint16_t samples[HEIGHT][WIDTH];
    int depth;
} Picture;

/* Dark on the left, light on the right, with changes from frame to frame; `bars`: black rows above
 * and below. */
static void draw(Picture *p, int depth, int frame, int bars)
{
    CheckRandom random = {(uint64_t)frame + 1, 0};
    p->depth = depth;
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++) {
            const int code =
                (x < WIDTH / 2 ? 30 + frame : 150 + 2 * frame) + (int)check_below(&random, 40);
            const int black = y < bars || y >= HEIGHT - bars;
            p->samples[y][x] = (uint16_t)((black ? 16 : code) << (depth - 8));
        }
}

static LumeqImage image_of(const Picture *p, LumeqRect part, uint8_t *memory)
{
    const int size = p->depth > 8 ? 2 : 1;
    LumeqImage image = {.width = part.width, .height = part.height, .depth = p->depth};
    image.plane[0] = memory;
    image.stride[0] = (ptrdiff_t)part.width * size;
    for (int y = 0; y < part.height; y++)
        for (int x = 0; x < part.width; x++) {
            const uint16_t sample = p->samples[part.y + y][part.x + x];
            if (size == 2)
                memcpy(memory + y * image.stride[0] + 2 * x, &sample, 2);
            else
                memory[y * image.stride[0] + x] = (uint8_t)sample;
        }
    return image;
}

static uint8_t inputs[2 * WIDTH * HEIGHT], outputs[2 * WIDTH * HEIGHT];

static LumeqParams params_with(LumeqRect meter, LumeqBars bars)
{
    LumeqParams params = {.size = sizeof(params)};
    lumeq_params_default(&params);
    params.meter = meter;
    params.bars = bars;
    return params;
}

static void process(LumeqEqualizer *eq, const Picture *p, LumeqRect part, int number,
                    FrameStats *got)
{
    LumeqFrame frame = {.size = sizeof(frame), .time = number * INT64_C(40000000)};
    frame.in = image_of(p, part, inputs);
    frame.out = frame.in;
    frame.out.plane[0] = outputs;
    const int ret = lumeq_process(eq, &frame, ask_stats(got));
    CHECK(ret == 0, "frame %d: %s", number, lumeq_last_error(eq));
}

static LumeqEqualizer *open_with(const LumeqParams *params)
{
    LumeqEqualizer *eq = NULL;
    const LumeqConfig config = {.size = sizeof(config), .backend = LUMEQ_BACKEND_CPU, .threads = 3};
    CHECK(lumeq_create(&eq, &config, NULL, 0) == 0, "no equalizer");
    CHECK(lumeq_set_params(eq, params) == 0, "%s", lumeq_last_error(eq));
    return eq;
}

static const LumeqRect everything = {0, 0, WIDTH, HEIGHT};

static void check_part(LumeqRect meter, LumeqRect part, int depth)
{
    static Picture picture;
    static FrameStats got, expected;
    const LumeqParams metered = params_with(meter, LUMEQ_BARS_IGNORE);
    const LumeqParams all = params_with((LumeqRect){0}, LUMEQ_BARS_IGNORE);
    LumeqEqualizer *eq = open_with(&metered), *other = open_with(&all);
    for (int i = 0; i < FRAMES; i++) {
        draw(&picture, depth, i, 0);
        process(eq, &picture, everything, i, &got);
        process(other, &picture, part, i, &expected);
        const size_t size = (size_t)got.values.bins * sizeof(got.curve[0]);
        CHECK(!memcmp(got.hist_in, expected.hist_in, size),
              "%dx%d at %d, %d, depth %d: the counts differ", meter.width, meter.height, meter.x,
              meter.y, depth);
        CHECK(!memcmp(got.curve, expected.curve, size),
              "%dx%d at %d, %d, depth %d: the curve differs", meter.width, meter.height, meter.x,
              meter.y, depth);
        CHECK(got.values.mean_in == expected.values.mean_in &&
                  got.values.mean_out == expected.values.mean_out,
              "means %g, %g, not %g, %g", got.values.mean_in, got.values.mean_out,
              expected.values.mean_in, expected.values.mean_out);
        const LumeqRect a = got.values.active;
        CHECK(a.width == WIDTH && a.height == HEIGHT, "only %dx%d is equalized", a.width, a.height);
    }
    lumeq_destroy(&eq);
    lumeq_destroy(&other);
}

TEST(parts)
{
    static const struct {
        LumeqRect meter, part;
    } cases[] = {
        {{0, 0, 0, 0}, {0, 0, WIDTH, HEIGHT}},
        {{0, 0, WIDTH, HEIGHT}, {0, 0, WIDTH, HEIGHT}},
        {{3, 5, 70, 41}, {3, 5, 70, 41}},
        {{90, 0, 71, 90}, {90, 0, 71, 90}},
        {{17, 89, 1, 1}, {17, 89, 1, 1}},
        {{160, 1, 1, 88}, {160, 1, 1, 88}},
        {{100, 60, 1000, 1000}, {100, 60, 61, 32}}, /* clipped to the picture */
        {{161, 0, 20, 20}, {0, 0, WIDTH, HEIGHT}},  /* outside the picture */
        {{0, 92, 2000, 20}, {0, 0, WIDTH, HEIGHT}},
        {{0, 0, -1, -1}, {40, 23, 81, 46}}, /* the middle */
    };
    for (int i = 0; i < COUNT(cases); i++)
        for (int depth = 8; depth <= 10; depth += 2)
            check_part(cases[i].meter, cases[i].part, depth);
}

/* Samples of bars within the region do not count. */
TEST(bars_within)
{
    static Picture picture;
    static FrameStats got;
    static const struct {
        LumeqRect meter;
        uint32_t counted;
    } cases[] = {
        {{0, 0, 0, 0}, WIDTH * (HEIGHT - 24)},
        {{10, 0, 100, 90}, 100 * (HEIGHT - 24)},
        {{10, 20, 100, 40}, 100 * 40},
        {{10, 4, 100, 40}, 100 * 32},
    };
    for (int i = 0; i < COUNT(cases); i++) {
        const LumeqParams params = params_with(cases[i].meter, LUMEQ_BARS_AUTO);
        FREED_BY(lumeq_destroy) LumeqEqualizer *eq = open_with(&params);
        for (int frame = 0; frame < 40; frame++) {
            draw(&picture, 8, 0, 12);
            process(eq, &picture, everything, frame, &got);
        }
        uint32_t sum = 0;
        for (int code = 0; code < 256; code++)
            sum += got.hist_in[code];
        CHECK(got.values.active.height == HEIGHT - 24, "%d rows of picture",
              got.values.active.height);
        CHECK(sum == cases[i].counted, "case %d: %u samples, not %u", i, sum, cases[i].counted);
    }
}

/* A LumeqMeasure keeps its region, even if packed. The lookahead uses this region. */
TEST(planned)
{
    static Picture picture;
    static FrameStats got;
    static uint8_t bytes[1 << 16];
    const LumeqParams params = params_with((LumeqRect){0, 0, 70, 90}, LUMEQ_BARS_AUTO);
    const LumeqParams others = params_with((LumeqRect){0, 0, 70, 91}, LUMEQ_BARS_AUTO);
    const LumeqConfig config = {.size = sizeof(config), .backend = LUMEQ_BACKEND_CPU};
    FREED_BY(lumeq_context_destroy) LumeqContext *context = NULL;
    FREED_BY(lumeq_history_destroy) LumeqHistory *history = NULL;
    FREED_BY(lumeq_history_destroy) LumeqHistory *other = NULL;
    FREED_BY(lumeq_measure_free) LumeqMeasure *measure = NULL;
    LumeqCurve *curve = NULL;
    CHECK(lumeq_context_create(&context, &config, NULL, 0) == 0 &&
              lumeq_history_create(&history, &params, 1000000000) == 0 &&
              lumeq_history_create(&other, &others, 0) == 0,
          "no context or no history");
    for (int i = 0; i < FRAMES; i++) {
        draw(&picture, 8, i, 0);
        const LumeqImage in = image_of(&picture, everything, inputs);
        const LumeqMoment moment = {.size = sizeof(moment), .time = i * INT64_C(40000000)};
        size_t size = sizeof(bytes);
        CHECK(lumeq_measure(context, &measure, &params, &in, NULL, NULL) == 0 &&
                  lumeq_measure_pack(measure, bytes, &size) == 0 &&
                  lumeq_measure_unpack(&measure, bytes, size) == 0 &&
                  lumeq_history_put(history, measure, &moment) == 0,
              "%s", lumeq_last_error(NULL));
        CHECK(lumeq_history_put(other, measure, &moment) == LUMEQ_ERR_ARGUMENT,
              "a measure of another region is accepted");
    }
    CHECK(lumeq_history_put(history, NULL, NULL) == 0, "the end is refused");
    int count = 0;
    for (; lumeq_history_get(history, &curve) == 0; count++) {
        uint32_t sum = 0;
        CHECK(lumeq_curve_stats(curve, ask_stats(&got)) == 0, "no statistics");
        for (int code = 0; code < 256; code++)
            sum += got.hist_in[code];
        CHECK(sum == 70 * 90 && got.values.mean_in < 100, "%u samples, mean %g", sum,
              got.values.mean_in);
        lumeq_curve_unref(&curve);
    }
    CHECK(count == FRAMES, "%d curves", count);
}

TEST_MAIN
