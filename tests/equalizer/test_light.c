/* Compares manual brightness and gamma with their definition, in each mode, live and planned. */
#include <math.h>

#include "../check.h"
#include "../default_params.h"
#include "all_stats.h"
#include "equalizer/rule/curve.h"
#include "equalizer/rule/light.h"
#include "equalizer/settings.h"
#include "lumeq/lumeq.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))
#define WIDTH 64
#define HEIGHT 48
#define STEP INT64_C(40000000)

static LumeqParams lit(LumeqMode mode, double brightness, double gamma)
{
    LumeqParams p = DEFAULT_PARAMS;
    p.mode = mode;
    p.brightness = brightness;
    p.gamma = gamma;
    p.scene_cut = 0;
    return p;
}

static CurveParams curve_of(const LumeqParams *params, int depth, int full)
{
    static const LumeqClock clock;
    const LumeqImage image = {.width = WIDTH,
                              .height = HEIGHT,
                              .depth = depth,
                              .range = full ? LUMEQ_RANGE_FULL : LUMEQ_RANGE_LIMITED};
    return lumeq_curve_params(params, &image, &clock);
}

/* Brightness and gamma as lumeq.h defines them; x: share of the range. */
static long double lighten(long double x, double brightness, double gamma)
{
    const long double a = 6 * fabsl((long double)brightness);
    x = powl(x, 1 / (long double)gamma);
    return brightness >= 0 ? (1 + a) * x / (1 + a * x) : x / (1 + a - a * x);
}

/* Checks that the map is exact to within 1/256 of an 8-bit code. */
static void check_map(double brightness, double gamma, int depth, int full)
{
    const LumeqParams params = lit(LUMEQ_MODE_OFF, brightness, gamma);
    const CurveParams p = curve_of(&params, depth, full);
    const long double range = p.white - p.black, unit = 65536.0L * (1 << (depth - 8));
    long double most = 0;
    int rises = 1;
    for (int i = 0; i < p.bins; i++) {
        const int code = i << p.fraction;
        long double expected = code;
        if (code > p.black && code < p.white)
            expected = p.black + range * lighten((code - p.black) / range, brightness, gamma);
        const uint32_t value = light_bin(&p, i);
        most = fmaxl(most, fabsl(value - 65536 * expected) / unit);
        rises &= !i || value >= light_bin(&p, i - 1);
    }
    CHECK(most <= 1.0L / 256, "brightness %g, gamma %g, depth %d%s: %Lg codes away", brightness,
          gamma, depth, full ? ", full" : "", most);
    CHECK(rises, "brightness %g, gamma %g, depth %d: the map is not monotone", brightness, gamma,
          depth);
    CHECK(light_bin(&p, curve_black(&p)) == (uint32_t)p.black << 16, "black moves");
    const int white = curve_white(&p);
    if (white << p.fraction == p.white)
        CHECK(light_bin(&p, white) == (uint32_t)p.white << 16, "white moves");
}

TEST(map)
{
    static const double gammas[] = {0.1, 0.25, 0.5, 0.99, 1, 1.01, 1.3, 2.2, 5, 10};
    static const double lights[] = {-1, -0.5, -0.01, 0, 0.01, 0.2, 1};
    CheckRandom random = check_random(1);
    for (int depth = 8; depth <= 16; depth += depth == 8 ? 2 : 6)
        for (int full = 0; full < 2; full++) {
            for (int g = 0; g < COUNT(gammas); g++)
                for (int b = 0; b < COUNT(lights); b++)
                    check_map(lights[b], gammas[g], depth, full);
            for (int k = 0; k < 20; k++)
                check_map(check_below(&random, 2001) / 1000.0 - 1,
                          exp((check_below(&random, 4001) / 2000.0 - 1) * log(9.99)), depth, full);
        }
}

/* A gamma of 0 means 1. */
TEST(none)
{
    for (int n = 0; n < 18; n++) {
        const LumeqParams params = lit(LUMEQ_MODE_GLOBAL, 0, n % 2);
        const CurveParams p = curve_of(&params, 8 + n / 2, n / 2 % 2);
        CHECK(!light_is_on(&p.light), "gamma %d", n % 2);
        for (int i = 0; i < p.bins; i++)
            CHECK(light_bin(&p, i) == (uint32_t)i << (16 + p.fraction), "bin %d", i);
    }
    LumeqParams params = lit(LUMEQ_MODE_GLOBAL, 0.5, 2);
    params.reference = 1;
    const CurveParams p = curve_of(&params, 8, 1);
    CHECK(!light_is_on(&p.light), "the reference has brightness or gamma");
}

/* LIGHTEN: no output is below its input code. DARKEN: no output is above its input code. */
TEST(limits)
{
    for (int depth = 8; depth <= 16; depth += 4) {
        LumeqParams params = lit(LUMEQ_MODE_GLOBAL, 0, 1);
        for (int limit = LUMEQ_LIMIT_NONE; limit <= LUMEQ_LIMIT_LIGHTEN; limit++) {
            params.limit = (LumeqLimit)limit;
            const CurveParams p = curve_of(&params, depth, 1);
            for (int i = 0; i < p.bins; i++) {
                const uint32_t same = (uint32_t)i << (16 + p.fraction), less = same / 2;
                const uint32_t more = same + CURVE_ONE / 2;
                CHECK(curve_limited(&p, i, less) == (limit == LUMEQ_LIMIT_LIGHTEN ? same : less),
                      "limit %d, bin %d: wrong for a darker output", limit, i);
                CHECK(curve_limited(&p, i, more) == (limit == LUMEQ_LIMIT_DARKEN ? same : more),
                      "limit %d, bin %d: wrong for a lighter output", limit, i);
            }
            CHECK(limit != LUMEQ_LIMIT_DARKEN || !p.denoise, "a darkening curve is filtered");
        }
    }
}

typedef enum Content { FLAT, RAMP, DARK } Content;

static uint8_t inputs[WIDTH * HEIGHT], outputs[WIDTH * HEIGHT];

static LumeqImage draw(Content content)
{
    CheckRandom random = {7, 0};
    for (int i = 0; i < WIDTH * HEIGHT; i++)
        inputs[i] = (uint8_t)(content == FLAT   ? 60
                              : content == RAMP ? 40 + i % WIDTH * 2 + check_below(&random, 8)
                                                : 17 + i % WIDTH / 8 + check_below(&random, 30));
    return (LumeqImage){
        .plane = {inputs}, .stride = {WIDTH}, .width = WIDTH, .height = HEIGHT, .depth = 8};
}

/* Equalizes a still video, live or with lookahead. Stores its last frame in `got`, `outputs`. */
static void run(const LumeqParams *params, Content content, int planned, FrameStats *got)
{
    FREED_BY(lumeq_context_destroy) LumeqContext *context = NULL;
    FREED_BY(lumeq_history_destroy) LumeqHistory *history = NULL;
    FREED_BY(lumeq_measure_free) LumeqMeasure *measure = NULL;
    FREED_BY(lumeq_curve_unref) LumeqCurve *curve = NULL;
    const LumeqConfig config = {.size = sizeof(config), .backend = LUMEQ_BACKEND_CPU, .threads = 1};
    const LumeqImage image = draw(content);
    LumeqImage out = image;
    out.plane[0] = outputs;
    CHECK(lumeq_context_create(&context, &config, NULL, 0) == 0, "no context");
    CHECK(lumeq_history_create(&history, params, planned ? 10 * STEP : 0) == 0, "%s",
          lumeq_last_error(NULL));
    for (int i = 0; i < (planned ? 30 : 3); i++) {
        const LumeqMoment moment = {.size = sizeof(moment), .time = i * STEP};
        CHECK(lumeq_measure(context, &measure, params, &image, NULL, NULL) == 0, "no measure");
        CHECK(lumeq_history_put(history, measure, &moment) == 0, "%s", lumeq_last_error(NULL));
        for (LumeqCurve *next; lumeq_history_get(history, &next) == 0; curve = next)
            lumeq_curve_unref(&curve);
    }
    CHECK(curve && lumeq_curve_stats(curve, ask_stats(got)) == 0 &&
              lumeq_apply(context, curve, &image, NULL, 0, &out, NULL) == 0,
          "%s", lumeq_last_error(NULL));
}

static const struct {
    double brightness, gamma;
} lights[] = {{0, 1.3}, {0.4, 1}, {-0.3, 0.6}, {1, 10}};

/* Checks that the curve consists of brightness and gamma alone. */
static void check_alone(const LumeqParams *params, Content content, int planned, const char *what)
{
    static FrameStats got;
    const CurveParams p = curve_of(params, 8, 0);
    /* Tiles and the lift rule round to 8 fraction bits. The lift rule amplifies this rounding. */
    const int fine = params->mode == LUMEQ_MODE_CLAHE || (params->lift && planned) ? 1024 : 0;
    run(params, content, planned, &got);
    for (int i = 16; i <= 235; i++)
        CHECK(abs((int)(got.curve[i] - light_bin(&p, i))) <= fine, "%s%s: %d becomes %u, not %u",
              what, planned ? ", planned" : "", i, got.curve[i], light_bin(&p, i));
    for (int i = 0; i < WIDTH * HEIGHT; i += 7) {
        const int code = (int)((got.curve[inputs[i]] + CURVE_ONE / 2) >> 16);
        CHECK(abs(outputs[i] - code) <= 1, "%s: %d is written as %d, not %d", what, inputs[i],
              outputs[i], code);
    }
}

TEST(alone)
{
    for (int k = 0; k < COUNT(lights); k++)
        for (int planned = 0; planned < 2; planned++)
            for (int lift = 0; lift < 2; lift++) {
                LumeqParams params = lit(LUMEQ_MODE_OFF, lights[k].brightness, lights[k].gamma);
                params.lift = lift;
                check_alone(&params, RAMP, planned, "mode off");
                params.mode = LUMEQ_MODE_GLOBAL;
                check_alone(&params, FLAT, planned, "a flat picture");
                if (lift)
                    continue;
                params.strength = params.adaptive = 0;
                check_alone(&params, RAMP, planned, "no strength");
                params.mode = LUMEQ_MODE_STRETCH;
                check_alone(&params, RAMP, planned, "stretch without strength");
                params.mode = LUMEQ_MODE_CLAHE;
                check_alone(&params, RAMP, planned, "tiles without strength");
            }
}

/* Runs at full strength, not adaptive: once without brightness and gamma, once with those of
 * lights[light]. Returns the parameters of the second run. */
static LumeqParams run_literal(LumeqMode mode, int light, int planned, FrameStats *without,
                               FrameStats *with)
{
    LumeqParams params = lit(mode, 0, 1);
    params.lift = params.adaptive = 0;
    params.strength = 1;
    run(&params, RAMP, planned, without);
    params.brightness = lights[light].brightness;
    params.gamma = lights[light].gamma;
    run(&params, RAMP, planned, with);
    return params;
}

/* Strength blends two curves: brightness and gamma alone, and the equalization without them. */
TEST(literal)
{
    static FrameStats got, full;
    for (int k = 0; k < COUNT(lights); k++)
        for (int planned = 0; planned < 2; planned++) {
            LumeqParams params = run_literal(LUMEQ_MODE_GLOBAL, k, planned, &full, &got);
            CHECK(!memcmp(got.curve, full.curve, 256 * sizeof(got.curve[0])),
                  "brightness or gamma has an effect at full strength");
            params.strength = 0.25;
            run(&params, RAMP, planned, &got);
            const CurveParams p = curve_of(&params, 8, 0);
            for (int i = 16; i <= 235; i++) {
                const double mixed = 0.75 * light_bin(&p, i) + 0.25 * full.curve[i];
                CHECK(fabs(got.curve[i] - mixed) <= 1, "%d: %u, not %g", i, got.curve[i], mixed);
            }
        }
}

/* Stretching comes before brightness and gamma. */
TEST(stretched)
{
    static FrameStats got, plain;
    for (int k = 0; k < COUNT(lights); k++)
        for (int planned = 0; planned < 2; planned++) {
            (void)run_literal(LUMEQ_MODE_STRETCH, k, planned, &plain, &got);
            for (int i = 16; i <= 235; i++) {
                const double x = (plain.curve[i] / 65536.0 - 16) / 219;
                const long double y = 16 + 219 * lighten(x, lights[k].brightness, lights[k].gamma);
                CHECK(fabsl(got.curve[i] / 65536.0 - y) <= 1.0 / 128, "%d: %g, not %Lg", i,
                      got.curve[i] / 65536.0, y);
            }
        }
}

/* Brightness and gamma make a lifted picture lighter or darker. Live and planned curves agree. */
TEST(lifted)
{
    static FrameStats got, plain, planned;
    for (int k = 0; k < COUNT(lights); k++) {
        const LumeqParams usual = lit(LUMEQ_MODE_GLOBAL, 0, 1);
        const LumeqParams params = lit(LUMEQ_MODE_GLOBAL, lights[k].brightness, lights[k].gamma);
        run(&usual, DARK, 0, &plain);
        run(&params, DARK, 0, &got);
        run(&params, DARK, 1, &planned);
        const int lighter = lights[k].brightness >= 0;
        int same = 1, rises = 1;
        for (int i = 17; i <= 235; i++)
            rises &= got.curve[i] >= got.curve[i - 1];
        CHECK(rises && got.curve[16] == 16 << 16 && got.curve[235] <= 235 << 16, "the curve falls");
        CHECK(lighter ? got.values.mean_out > plain.values.mean_out + 5
                      : got.values.mean_out < plain.values.mean_out - 1,
              "%g, %g: %g, without it %g", lights[k].brightness, lights[k].gamma,
              got.values.mean_out, plain.values.mean_out);
        for (int i = 16; i <= 235; i++)
            same &= abs((int)(got.curve[i] - planned.curve[i])) <= 1 << 12;
        CHECK(same, "%g, %g: the planned curve of a still picture differs from the live one",
              lights[k].brightness, lights[k].gamma);
    }
}

static void one_more(LumeqEqualizer *eq, int number, FrameStats *got)
{
    LumeqFrame frame = {.size = sizeof(frame), .in = draw(DARK), .time = number * STEP};
    frame.out = frame.in;
    frame.out.plane[0] = outputs;
    CHECK(lumeq_process(eq, &frame, ask_stats(got)) == 0, "%s", lumeq_last_error(eq));
}

static int same_curve(const FrameStats *a, const FrameStats *b)
{
    int most = 0;
    for (int i = 16; i <= 235; i++) {
        const int apart = abs((int)(a->curve[i] - b->curve[i]));
        most = apart > most ? apart : most;
    }
    return most <= 1 << 10;
}

/* A changed parameter takes full effect in the next frame. */
static void check_at_once(LumeqParams params, int number)
{
    static FrameStats got, expected, usual;
    const LumeqConfig config = {.size = sizeof(config), .backend = LUMEQ_BACKEND_CPU, .threads = 1};
    const LumeqParams plain = lit(LUMEQ_MODE_GLOBAL, 0, 1);
    FREED_BY(lumeq_destroy) LumeqEqualizer *eq = NULL;
    run(&params, DARK, 0, &expected);
    CHECK(lumeq_create(&eq, &config, NULL, 0) == 0 && lumeq_set_params(eq, &plain) == 0,
          "no equalizer");
    for (int i = 0; i < 3; i++)
        one_more(eq, i, &usual);
    CHECK(lumeq_set_params(eq, &params) == 0, "%s", lumeq_last_error(eq));
    one_more(eq, 3, &got);
    CHECK(same_curve(&got, &expected) && !same_curve(&got, &usual),
          "settings %d: no effect at once", number);
    CHECK(lumeq_set_params(eq, &plain) == 0, "%s", lumeq_last_error(eq));
    one_more(eq, 4, &got);
    CHECK(same_curve(&got, &usual), "settings %d: the effect stays", number);
}

TEST(at_once)
{
    const LumeqParams plain = lit(LUMEQ_MODE_GLOBAL, 0, 1);
    LumeqParams others[] = {plain, plain, plain, plain};
    others[0].clip = 1.5;
    others[1].mode = LUMEQ_MODE_STRETCH;
    others[2].meter = (LumeqRect){WIDTH / 2, 0, WIDTH / 2, HEIGHT};
    others[3].strength = 0.8; /* a given strength turns off the lift */
    for (int k = 0; k < COUNT(others); k++)
        check_at_once(others[k], k);
    for (int k = 0; k < COUNT(lights); k++)
        check_at_once(lit(LUMEQ_MODE_GLOBAL, lights[k].brightness, lights[k].gamma), 10 + k);
}

TEST_MAIN
