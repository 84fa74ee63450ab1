/* Compares the curves of all sample formats with a model in double precision, written from their
 * definition. */
#include <math.h>

#include "../default_params.h"
#include "variants.h"

#define CLIP_ROUNDS 4

static const LumeqParams defaults = DEFAULT_PARAMS;
static const LumeqParams full_strength = {.strength = 1, .bars = LUMEQ_BARS_IGNORE};

static int last_of(const Film *f)
{
    return (1 << f->format.depth) - 1;
}

static int pixels_of(const Film *f)
{
    return f->width * f->height;
}

static int black_of(const Film *f)
{
    return f->range == LUMEQ_RANGE_FULL ? 0 : 16 << (f->format.depth - 8);
}

static int white_of(const Film *f)
{
    return f->range == LUMEQ_RANGE_FULL ? last_of(f) : 235 << (f->format.depth - 8);
}

static void deep_run(Film *f)
{
    film_run(f);
    check_stats_at(&f->stats, &f->in, &f->out, f->format.depth, f->format.shift, 0);
}

/* Draws a bell-shaped distribution. `middle`, `wide` (its width): shares of the range. */
static void fill_bell(const Film *f, double middle, double wide, uint64_t seed)
{
    for (int i = 0; i < pixels_of(f); i++) {
        const uint64_t r = check_hash(seed, (uint64_t)i);
        double bell = 0;
        for (int k = 0; k < 4; k++)
            bell += (double)(r >> (16 * k) & 65535) / 65535 / 4;
        const double at = fmin(fmax(middle + wide * (bell - 0.5), 0), 1);
        set_code(f, i, black_of(f) + (int)(at * (white_of(f) - black_of(f))));
    }
}

typedef struct Model {
    double goal[LUMEQ_MAX_BINS], smooth[LUMEQ_MAX_BINS], curve[LUMEQ_MAX_BINS];
    int frames;
} Model;

/* Clips cells of `width` bins, one for each 8-bit code. All bins of a cell lose the same share. */
static void model_clip(double *hist, int bins, int width, int black, int white, double limit)
{
    for (int round = 0; round < CLIP_ROUNDS; round++) {
        double excess = 0;
        for (int cell = 0; cell < bins; cell += width) {
            double count = 0;
            for (int i = cell; i < cell + width; i++)
                count += hist[i];
            const double kept = count > limit ? limit / count : 1;
            excess += count * (1 - kept);
            for (int i = cell; i < cell + width; i++)
                hist[i] *= kept;
        }
        for (int i = black; i <= white; i++)
            hist[i] += excess / (white - black + 1);
    }
}

/* The target T in codes, at the first code of each bin. */
static void model_target(const Film *f, double clip, double *target)
{
    static double hist[LUMEQ_MAX_BINS];
    const int codes = 1 << fraction_of(f->format.depth), bins = f->stats.values.bins;
    const int black = black_of(f) / codes, white = white_of(f) / codes;
    double counted = 0, sum = 0;
    for (int i = 0; i < bins; i++) {
        hist[i] = i >= black && i <= white ? f->stats.hist_in[i] : 0;
        target[i] = (double)i * codes;
        counted += hist[i];
    }
    const int width = bins / 256;
    if (clip > 0)
        model_clip(hist, bins, width, black, white, clip * counted * width / (white - black + 1));
    for (int i = black; i <= white; i++) {
        sum += i > black ? hist[i] : 0;
        target[i] = black_of(f) + (white_of(f) - black_of(f)) * sum / (counted - hist[black]);
    }
}

static void model_frame(Model *m, const Film *f, const LumeqParams *params, double dt)
{
    static double target[LUMEQ_MAX_BINS];
    const double alpha = m->frames && params->smooth > 0 ? 1 - exp(-dt / params->smooth) : 1;
    const double weight = params->smooth > 0 ? 1.0 / (m->frames + 1) : 1; /* in the mean target */
    const int codes = 1 << fraction_of(f->format.depth);
    model_target(f, params->clip, target);
    for (int i = 0; i < f->stats.values.bins; i++) {
        m->goal[i] += weight * (target[i] - m->goal[i]);
        m->smooth[i] += alpha * (m->goal[i] - m->smooth[i]);
        m->curve[i] = i * codes + params->strength * (m->smooth[i] - i * codes);
    }
    m->frames++;
}

static void check_model(const Model *m, const Film *f, double tolerance)
{
    double worst = 0;
    int falls = 0, at = 0;
    for (int i = 0; i < f->stats.values.bins; i++) {
        const double off = fabs(f->stats.curve[i] / 65536.0 - m->curve[i]);
        at = off > worst ? i : at;
        worst = fmax(worst, off);
        falls += i && f->stats.curve[i] < f->stats.curve[i - 1];
    }
    CHECK(worst <= tolerance, "depth %d, range %d: bin %d becomes %.4f, not %.4f", f->format.depth,
          (int)f->range, at, f->stats.curve[at] / 65536.0, m->curve[at]);
    CHECK(!falls, "depth %d: the curve falls at %d bins", f->format.depth, falls);
}

/* Target and strength are off by one in Q16. Rounding the clip limit moves the sum of n bins by at
 * most n / 4 counts. Over time, smoothing is off by half a Q16 unit, divided by alpha. */
static double tolerance_of(const Film *f, const LumeqParams *params)
{
    const double range = white_of(f) - black_of(f);
    const double counts = params->clip > 0 ? f->stats.values.bins / 4.0 / pixels_of(f) : 0;
    return 2.0 / 65536 + range * (1.0 / 65536 + counts + (params->smooth > 0 ? 1e-4 : 0));
}

BACKEND_TEST(curves)
{
    static const LumeqParams settings[] = {
        {.strength = 1}, {.strength = 0.6, .clip = 3}, {.strength = 0.8, .clip = 2, .smooth = 0.4}};
    for (int n = 0; n < FORMATS * 2 * 3; n++) {
        static Model model;
        const LumeqParams *params = &settings[n % 3];
        FREED_BY(film_close)
        Film f = film_open(id, formats[n / 6], (LumeqRange)(n / 3 % 2), params, 512, 512);
        memset(&model, 0, sizeof(model));
        for (int frame = 0; frame < 3; frame++) {
            fill_bell(&f, 0.4 - 0.05 * frame, 0.4, (uint64_t)n);
            deep_run(&f);
            model_frame(&model, &f, params, 0.04);
            check_model(&model, &f, tolerance_of(&f, params));
        }
    }
}

/* Half of the pixels have code 100 and half code 200, in 8-bit codes. */
BACKEND_TEST(by_hand)
{
    for (int format = 0; format < FORMATS; format++) {
        FREED_BY(film_close)
        Film f = film_open(id, formats[format], LUMEQ_RANGE_LIMITED, &full_strength, 8, 8);
        const int unit = 1 << (f.format.depth - 8), codes = 1 << fraction_of(f.format.depth);
        for (int i = 0; i < 64; i++)
            set_code(&f, i, (i % 2 ? 100 : 200) * unit);
        deep_run(&f);
        const struct {
            int code;
            double becomes;
        } expected[] = {{15, 15},     {16, 16},   {99, 16},   {100, 125.5},
                        {199, 125.5}, {200, 235}, {235, 235}, {236, 236}};
        for (int k = 0; k < 8; k++) {
            const uint32_t value = f.stats.curve[expected[k].code * unit / codes];
            CHECK(value == (uint32_t)(expected[k].becomes * unit * 65536), "depth %d: %d is %g",
                  f.format.depth, expected[k].code * unit, value / 65536.0);
        }
        CHECK(out_code(&f, 1) == (int)(125.5 * unit + 0.5) && out_code(&f, 0) == 235 * unit,
              "depth %d: %d and %d", f.format.depth, out_code(&f, 1), out_code(&f, 0));
    }
}

/* Every code at least once, some more often. */
static void fill_all(const Film *f)
{
    for (int i = 0; i < pixels_of(f); i++)
        set_code(f, i,
                 i < last_of(f) + 1 ? i
                                    : (int)(check_hash(1, (uint64_t)i) % (1u << f->format.depth)));
}

/* Settings that leave the picture unchanged. Dither has no effect, as outputs are whole codes. */
BACKEND_TEST(identity)
{
    LumeqParams off = defaults, none = defaults, flat = defaults;
    off.mode = LUMEQ_MODE_OFF;
    none.strength = 0;
    flat.clip = 1;
    none.lift = flat.lift = 0;
    const LumeqParams *settings[] = {&off, &none, &flat};
    for (int n = 0; n < FORMATS * 2 * 3; n++) {
        FREED_BY(film_close)
        Film f = film_open(id, formats[n / 6], (LumeqRange)(n / 3 % 2), settings[n % 3], 300, 300);
        for (int frame = 0; frame < 3; frame++) {
            LumeqParams params = *settings[n % 3];
            params.dither = frame == 2;
            set_params(f.eq, &params);
            fill_all(&f);
            deep_run(&f);
            CHECK(check_rect_equal(&f.in, &f.out), "depth %d, shift %d: codes are moved",
                  f.format.depth, f.format.shift);
            CHECK(!memcmp(f.stats.hist_in, f.stats.hist_out,
                          (size_t)f.stats.values.bins * sizeof(f.stats.hist_in[0])) &&
                      f.stats.values.mean_in == f.stats.values.mean_out,
                  "depth %d: statistics differ", f.format.depth);
        }
    }
}

/* If all codes of a bin are equally frequent, hist_out is exact. */
BACKEND_TEST(output_histograms)
{
    for (int format = 0; format < FORMATS; format++) {
        FREED_BY(film_close)
        Film f = film_open(id, formats[format], LUMEQ_RANGE_LIMITED, &full_strength, 512, 512);
        static uint32_t expected[LUMEQ_MAX_BINS];
        const int codes = 1 << fraction_of(f.format.depth);
        double mean = 0;
        memset(expected, 0, sizeof(expected));
        for (int i = 0; i < pixels_of(&f); i++) /* all codes of a bin in turn */
            set_code(&f, i,
                     (int)(check_hash(5, (uint64_t)(i / 16)) % 60 + 700) * (last_of(&f) + 1) /
                             4096 +
                         i % 16 % codes);
        deep_run(&f);
        for (int i = 0; i < pixels_of(&f); i++) {
            expected[out_code(&f, i) / codes]++;
            mean += (double)out_code(&f, i) / pixels_of(&f);
        }
        CHECK(
            !memcmp(expected, f.stats.hist_out, (size_t)f.stats.values.bins * sizeof(expected[0])),
            "depth %d: hist_out differs from the output's histogram", f.format.depth);
        CHECK(fabs(mean - f.stats.values.mean_out) <= (codes - 1) / 2.0 + 1e-6,
              "depth %d: %g, not %g", f.format.depth, f.stats.values.mean_out, mean);
    }
}

/* Every depth finds the same cuts. */
BACKEND_TEST(cuts)
{
    LumeqParams params = full_strength;
    params.smooth = 5;
    params.scene_cut = 1;
    for (int format = 0; format < FORMATS; format++) {
        FREED_BY(film_close)
        Film f = film_open(id, formats[format], LUMEQ_RANGE_FULL, &params, 128, 128);
        static const double middles[] = {0.3, 0.32, 0.55, 0.55, 0.42};
        for (int frame = 0; frame < 5; frame++) {
            fill_bell(&f, middles[frame], 0.3, (uint64_t)frame);
            deep_run(&f);
            CHECK(f.stats.values.scene_cut == (frame == 2 || frame == 4),
                  "depth %d, frame %d: cut %d", f.format.depth, frame, f.stats.values.scene_cut);
        }
    }
}

/* A change of format acts like a reset, also between depths with equally many bins, and between
 * ranges. */
static void shapes_change(LumeqBackendId id, LumeqMode mode)
{
    static const int order[] = {8, 10, 10, 12, 14, 16, 16, 12, 8, 9, 8, 8};
    LumeqParams params = defaults;
    params.smooth = 10;
    params.mode = mode;
    FREED_BY(lumeq_destroy) LumeqEqualizer *eq = must_open(id, 2);
    set_params(eq, &params);
    for (int n = 0; n < 12; n++) {
        int format = 0;
        while (formats[format].depth != order[n])
            format++;
        static FrameStats stats;
        const LumeqRange range = n % 2 ? LUMEQ_RANGE_FULL : LUMEQ_RANGE_LIMITED;
        FREED_BY(film_close) Film fresh = film_open(id, formats[format], range, &params, 96, 64);
        fresh.frames = 3 * n;
        for (int frame = 0; frame < 3; frame++) {
            fill_bell(&fresh, 0.3 + 0.02 * frame + 0.05 * (n % 3), 0.3, (uint64_t)n);
            const LumeqFrame first = film_frame(&fresh);
            fresh.frames--;
            run_frame(eq, &first, &stats);
            const uint64_t hash = picture_hash(&fresh.out);
            deep_run(&fresh);
            /* Filtered pictures are dithered by frame number, so they may differ. */
            const int same = stats.values.filtered || hash == picture_hash(&fresh.out);
            CHECK(same && same_stats(&stats, &fresh.stats),
                  "depth %d, range %d, frame %d: depends on the previous format",
                  fresh.format.depth, (int)range, frame);
        }
    }
}

BACKEND_TEST(depth_and_range_may_change)
{
    shapes_change(id, LUMEQ_MODE_GLOBAL);
    shapes_change(id, LUMEQ_MODE_STRETCH);
}

TEST_MAIN
