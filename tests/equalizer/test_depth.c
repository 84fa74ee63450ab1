/*
 * Samples deeper than 8 bits: the curve against a model in double precision, written from its
 * definition; properties that are exact at any depth.
 */
#include <math.h>

#include "../default_params.h"
#include "backends.h"

#define MS INT64_C(1000000)
#define CLIP_ROUNDS 4

static const LumeqParams defaults = DEFAULT_PARAMS;
static const LumeqParams full_strength = {.strength = 1, .bars = LUMEQ_BARS_IGNORE};

static const struct {
    int depth, shift;
} formats[] = {{8, 0},  {9, 0},  {10, 0}, {10, 6}, {11, 3}, {12, 0},
               {12, 4}, {13, 0}, {14, 0}, {14, 2}, {15, 0}, {16, 0}};

#define FORMATS ((int)(sizeof(formats) / sizeof(formats[0])))

typedef struct Deep {
    LumeqEqualizer *eq;
    int depth, shift, last;
    LumeqRange range;
    CheckRect in, out;
    FrameStats stats; /* of the last frame */
} Deep;

static int black_of(const Deep *d)
{
    return d->range == LUMEQ_RANGE_FULL ? 0 : 16 << (d->depth - 8);
}

static int white_of(const Deep *d)
{
    return d->range == LUMEQ_RANGE_FULL ? d->last : 235 << (d->depth - 8);
}

/* Static: it is large. */
static Deep *deep_open(LumeqBackendId id, int format, LumeqRange range, const LumeqParams *params,
                       int width, int height)
{
    static Deep d;
    d = (Deep){.eq = must_open(id, 2),
               .depth = formats[format].depth,
               .shift = formats[format].shift,
               .last = (1 << formats[format].depth) - 1,
               .range = range};
    const int row = width * (d.depth > 8 ? 2 : 1);
    d.in = check_rect(row, height, row, 0, 0);
    d.out = check_rect(row, height, -(row + 6), 2, 64);
    set_params(d.eq, params);
    return &d;
}

static void deep_close(Deep *d)
{
    lumeq_destroy(&d->eq);
    check_rect_free(&d->in);
    check_rect_free(&d->out);
}

static int pixels_of(const Deep *d)
{
    return d->in.width / (d->depth > 8 ? 2 : 1) * d->in.height;
}

/* Pixel number i, row by row. */
static void set_code(const Deep *d, int i, int code)
{
    const int sample = code << d->shift;
    if (d->depth == 8) {
        d->in.pixels[i] = (uint8_t)sample;
    } else {
        d->in.pixels[2 * i] = (uint8_t)sample;
        d->in.pixels[2 * i + 1] = (uint8_t)(sample >> 8);
    }
}

static LumeqFrame deep_frame(const Deep *d, int64_t time)
{
    return frame_at_depth(frame_of(&d->in, &d->out, d->range, time), d->depth, d->shift);
}

static void deep_run(Deep *d, int64_t time)
{
    const LumeqFrame frame = deep_frame(d, time);
    run_frame(d->eq, &frame, &d->stats);
    check_stats_at(&d->stats, &d->in, &d->out, d->depth, d->shift, 0);
    CHECK(check_rect_intact(&d->out), "depth %d: writes outside", d->depth);
}

static int out_code(const Deep *d, int i)
{
    const int size = d->depth > 8 ? 2 : 1, width = d->in.width / size;
    return code_at(&d->out, i % width * size, i / width, d->depth, d->shift);
}

/* A picture in parts of the range: a bell around `middle`, 0..1, `wide` at its foot. */
static void fill_bell(const Deep *d, double middle, double wide, uint64_t seed)
{
    for (int i = 0; i < pixels_of(d); i++) {
        const uint64_t r = check_hash(seed, (uint64_t)i);
        double bell = 0;
        for (int k = 0; k < 4; k++)
            bell += (double)(r >> (16 * k) & 65535) / 65535 / 4;
        const double at = fmin(fmax(middle + wide * (bell - 0.5), 0), 1);
        set_code(d, i, black_of(d) + (int)(at * (white_of(d) - black_of(d))));
    }
}

typedef struct Model {
    double smooth[LUMEQ_MAX_BINS], curve[LUMEQ_MAX_BINS];
    int valid;
} Model;

/* A cell of `width` bins corresponds to one 8-bit code: each of its bins is cut by the same share.
 */
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

/* T, in codes, at the first code of each bin. */
static void model_target(const Deep *d, double clip, double *target)
{
    static double hist[LUMEQ_MAX_BINS];
    const int codes = 1 << fraction_of(d->depth), bins = d->stats.values.bins;
    const int black = black_of(d) / codes, white = white_of(d) / codes;
    double counted = 0, sum = 0;
    for (int i = 0; i < bins; i++) {
        hist[i] = i >= black && i <= white ? d->stats.hist_in[i] : 0;
        target[i] = (double)i * codes;
        counted += hist[i];
    }
    const int width = bins / 256;
    if (clip > 0)
        model_clip(hist, bins, width, black, white, clip * counted * width / (white - black + 1));
    for (int i = black; i <= white; i++) {
        sum += i > black ? hist[i] : 0;
        target[i] = black_of(d) + (white_of(d) - black_of(d)) * sum / (counted - hist[black]);
    }
}

static void model_frame(Model *m, const Deep *d, const LumeqParams *params, double dt)
{
    static double target[LUMEQ_MAX_BINS];
    const double alpha = m->valid && params->smooth > 0 ? 1 - exp(-dt / params->smooth) : 1;
    const int codes = 1 << fraction_of(d->depth);
    model_target(d, params->clip, target);
    for (int i = 0; i < d->stats.values.bins; i++) {
        m->smooth[i] = m->valid ? m->smooth[i] + alpha * (target[i] - m->smooth[i]) : target[i];
        m->curve[i] = i * codes + params->strength * (m->smooth[i] - i * codes);
    }
    m->valid = 1;
}

static void check_model(const Model *m, const Deep *d, double tolerance)
{
    double worst = 0;
    int falls = 0, at = 0;
    for (int i = 0; i < d->stats.values.bins; i++) {
        const double off = fabs(d->stats.curve[i] / 65536.0 - m->curve[i]);
        at = off > worst ? i : at;
        worst = fmax(worst, off);
        falls += i && d->stats.curve[i] < d->stats.curve[i - 1];
    }
    CHECK(worst <= tolerance, "depth %d, range %d: bin %d becomes %.4f, not %.4f", d->depth,
          (int)d->range, at, d->stats.curve[at] / 65536.0, m->curve[at]);
    CHECK(!falls, "depth %d: the curve falls at %d bins", d->depth, falls);
}

/*
 * Without a clip the target is off by one in Q16, and strength has as many bits. A limit is a whole
 * count below the real one: that moves the sum of n bins by n / 4 counts at most; there are 2^18
 * pixels. Smoothing adds half a Q16 of alpha a frame and forgets a share alpha of it.
 */
static double tolerance_of(const Deep *d, const LumeqParams *params)
{
    const double range = white_of(d) - black_of(d);
    const double counts = params->clip > 0 ? d->stats.values.bins / 4.0 / pixels_of(d) : 0;
    return 2.0 / 65536 + range * (1.0 / 65536 + counts + (params->smooth > 0 ? 1e-4 : 0));
}

BACKEND_TEST(curves)
{
    static const LumeqParams settings[] = {
        {.strength = 1}, {.strength = 0.6, .clip = 3}, {.strength = 0.8, .clip = 2, .smooth = 0.4}};
    for (int n = 0; n < FORMATS * 2 * 3; n++) {
        static Model model;
        const LumeqParams *params = &settings[n % 3];
        Deep *d = deep_open(id, n / 6, (LumeqRange)(n / 3 % 2), params, 512, 512);
        model.valid = 0;
        for (int frame = 0; frame < 3; frame++) {
            fill_bell(d, 0.3 + 0.05 * frame, 0.4, (uint64_t)n);
            deep_run(d, frame * 40 * MS);
            model_frame(&model, d, params, 0.04);
            check_model(&model, d, tolerance_of(d, params));
        }
        deep_close(d);
    }
}

/* Half of all pixels a quarter up the range, half three quarters. */
BACKEND_TEST(by_hand)
{
    for (int format = 0; format < FORMATS; format++) {
        Deep *d = deep_open(id, format, LUMEQ_RANGE_LIMITED, &full_strength, 8, 8);
        const int unit = 1 << (d->depth - 8), codes = 1 << fraction_of(d->depth);
        for (int i = 0; i < 64; i++)
            set_code(d, i, (i % 2 ? 100 : 200) * unit);
        deep_run(d, 0);
        const struct {
            int code;
            double becomes;
        } expected[] = {{15, 15},     {16, 16},   {99, 16},   {100, 125.5},
                        {199, 125.5}, {200, 235}, {235, 235}, {236, 236}};
        for (int k = 0; k < 8; k++) {
            const uint32_t value = d->stats.curve[expected[k].code * unit / codes];
            CHECK(value == (uint32_t)(expected[k].becomes * unit * 65536), "depth %d: %d is %g",
                  d->depth, expected[k].code * unit, value / 65536.0);
        }
        CHECK(out_code(d, 1) == (int)(125.5 * unit + 0.5) && out_code(d, 0) == 235 * unit,
              "depth %d: %d and %d", d->depth, out_code(d, 1), out_code(d, 0));
        deep_close(d);
    }
}

/* Every code there is, and more of some. */
static void fill_all(const Deep *d)
{
    for (int i = 0; i < pixels_of(d); i++)
        set_code(d, i, i < d->last + 1 ? i : (int)(check_hash(1, (uint64_t)i) % (1u << d->depth)));
}

BACKEND_TEST(identity)
{
    LumeqParams off = defaults, none = defaults, flat = defaults;
    off.mode = LUMEQ_MODE_OFF;
    none.strength = 0;
    flat.clip = 1;
    none.lift = flat.lift = 0;
    const LumeqParams *settings[] = {&off, &none, &flat};
    for (int n = 0; n < FORMATS * 2 * 3; n++) {
        Deep *d = deep_open(id, n / 6, (LumeqRange)(n / 3 % 2), settings[n % 3], 300, 300);
        for (int frame = 0; frame < 2; frame++) {
            fill_all(d);
            deep_run(d, frame * 40 * MS);
            CHECK(check_rect_equal(&d->in, &d->out), "depth %d, shift %d: codes are moved",
                  d->depth, d->shift);
            CHECK(!memcmp(d->stats.hist_in, d->stats.hist_out,
                          (size_t)d->stats.values.bins * sizeof(d->stats.hist_in[0])) &&
                      d->stats.values.mean_in == d->stats.values.mean_out,
                  "depth %d: statistics are moved", d->depth);
        }
        deep_close(d);
    }
}

/* Black and white stay, and so do codes beyond; codes between are strictly monotone. */
BACKEND_TEST(ends_and_order)
{
    LumeqParams params = full_strength;
    params.smooth = 0.5;
    params.clip = 8;
    for (int n = 0; n < FORMATS * 2; n++) {
        Deep *d = deep_open(id, n / 2, (LumeqRange)(n % 2), &params, 300, 300);
        for (int frame = 0; frame < 3; frame++) {
            fill_all(d);
            for (int i = d->last + 1; i < pixels_of(d); i++) /* much of it dark */
                set_code(d, i, black_of(d) + i % (1 << (d->depth - 3)));
            deep_run(d, frame * 40 * MS);
            int moved = 0, falls = 0, same = 0;
            for (int code = 0; code <= d->last; code++) {
                const int out = out_code(d, code);
                moved += (code <= black_of(d) || code >= white_of(d)) && out != code;
                falls += code && out < out_code(d, code - 1);
                same += out == code;
            }
            CHECK(!moved && !falls, "depth %d: %d codes are moved, %d fall", d->depth, moved,
                  falls);
            CHECK(same < d->last / 2, "depth %d: nothing is equalized", d->depth);
        }
        deep_close(d);
    }
}

/* If all codes of a bin are equally frequent, hist_out is exact. */
BACKEND_TEST(output_histograms)
{
    for (int format = 0; format < FORMATS; format++) {
        Deep *d = deep_open(id, format, LUMEQ_RANGE_LIMITED, &full_strength, 512, 512);
        static uint32_t expected[LUMEQ_MAX_BINS];
        const int codes = 1 << fraction_of(d->depth);
        double mean = 0;
        memset(expected, 0, sizeof(expected));
        for (int i = 0; i < pixels_of(d); i++) /* the sixteen codes of a bin in a row */
            set_code(d, i,
                     (int)(check_hash(5, (uint64_t)(i / 16)) % 60 + 700) * (d->last + 1) / 4096 +
                         i % 16 % codes);
        deep_run(d, 0);
        for (int i = 0; i < pixels_of(d); i++) {
            expected[out_code(d, i) / codes]++;
            mean += (double)out_code(d, i) / pixels_of(d);
        }
        CHECK(!memcmp(expected, d->stats.hist_out,
                      (size_t)d->stats.values.bins * sizeof(expected[0])),
              "depth %d: not the output's histogram", d->depth);
        CHECK(fabs(mean - d->stats.values.mean_out) <= (codes - 1) / 2.0 + 1e-6,
              "depth %d: %g, not %g", d->depth, d->stats.values.mean_out, mean);
        deep_close(d);
    }
}

/* Every depth finds the same cuts. */
BACKEND_TEST(cuts)
{
    LumeqParams params = full_strength;
    params.smooth = 5;
    params.scene_cut = 1;
    for (int format = 0; format < FORMATS; format++) {
        Deep *d = deep_open(id, format, LUMEQ_RANGE_FULL, &params, 128, 128);
        static const double middles[] = {0.3, 0.32, 0.55, 0.55, 0.42};
        for (int frame = 0; frame < 5; frame++) {
            fill_bell(d, middles[frame], 0.3, (uint64_t)frame);
            deep_run(d, frame * 40 * MS);
            CHECK(d->stats.values.scene_cut == (frame == 2 || frame == 4),
                  "depth %d, frame %d: cut %d", d->depth, frame, d->stats.values.scene_cut);
        }
        deep_close(d);
    }
}

/* Any 16 bits, below the codes and above them. check_stats_at() knows how they count. */
BACKEND_TEST(malformed_samples)
{
    for (int n = 0; n < FORMATS * 2; n++) {
        const LumeqParams *params = n % 2 ? &defaults : &full_strength;
        Deep *d = deep_open(id, n / 2, LUMEQ_RANGE_FULL, params, 257, 31);
        for (int frame = 0; frame < 3; frame++) {
            for (int i = 0; i < pixels_of(d) && d->depth > 8; i++) {
                d->in.pixels[2 * i] = (uint8_t)check_hash(3, (uint64_t)i);
                d->in.pixels[2 * i + 1] = (uint8_t)(frame ? check_hash(4, (uint64_t)i) : 255);
            }
            deep_run(d, frame * 40 * MS);
        }
        deep_close(d);
    }
}

/* A change of format acts like a reset, also between depths with as many bins, and between ranges.
 */
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
        Deep *fresh = deep_open(id, format, range, &params, 96, 64);
        for (int frame = 0; frame < 3; frame++) {
            fill_bell(fresh, 0.3 + 0.02 * frame + 0.05 * (n % 3), 0.3, (uint64_t)n);
            const LumeqFrame first = deep_frame(fresh, (n * 3 + frame) * 40 * MS);
            run_frame(eq, &first, &stats);
            const uint64_t hash = picture_hash(&fresh->out);
            deep_run(fresh, (n * 3 + frame) * 40 * MS);
            /* Filtered pictures are dithered by frame number. */
            const int same = stats.values.filtered || hash == picture_hash(&fresh->out);
            CHECK(same && same_stats(&stats, &fresh->stats),
                  "depth %d, range %d, frame %d: what was before is seen", fresh->depth, (int)range,
                  frame);
            if (frame == 1) { /* another time */
                run_redo(eq, &first, &stats);
                CHECK(same_stats(&stats, &fresh->stats), "depth %d: redo", fresh->depth);
            }
        }
        deep_close(fresh);
    }
}

BACKEND_TEST(depth_and_range_may_change)
{
    shapes_change(id, LUMEQ_MODE_GLOBAL);
    shapes_change(id, LUMEQ_MODE_STRETCH);
}

TEST_MAIN
