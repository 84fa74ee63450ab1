/*
 * Compares the lift rule with the model in tests/lift, and checks its promises for video with
 * changing light.
 */
#include <math.h>

#include "../check.h"
#include "../default_params.h"
#include "equalizer/rule/curve.h"
#include "equalizer/rule/lift.h"
#include "lift_vectors.h"
#include "lumeq/lumeq.h"

#define CODES 256
#define MS INT64_C(1000000)

/* Adds a hump, spike or flat part to a histogram, as make_vectors.py does. */
static void add_part(uint32_t counts[CODES], const int part[4])
{
    const int place = part[1], width = part[2], weight = part[3];
    for (int i = 0; i < CODES; i++) {
        const int64_t d = i - place, square = (int64_t)width * width;
        if (part[0] == HUMP && d * d < square)
            counts[i] += (uint32_t)(weight * (square - d * d) / square);
        else if (part[0] == FLAT ? d >= 0 && d <= width : part[0] == SPIKE && !d)
            counts[i] += (uint32_t)weight;
    }
}

/* `denoise`: the share of the noise that is filtered, Q16. */
static LiftChoice decide_as(const uint32_t counts[CODES], int full, uint32_t noise,
                            uint32_t denoise, int awaited, uint32_t clip, const CurveLight *light,
                            uint32_t nodes[CODES])
{
    uint32_t in_range[CODES];
    const int black = full ? 0 : 16, white = full ? 255 : 235;
    for (int i = 0; i < CODES; i++)
        in_range[i] = i <= white - black ? counts[i + black] : 0;
    const LiftWanted wanted = {black, white, noise, denoise, clip, awaited, 0};
    return lift_decide(in_range, wanted, light, nodes);
}

/* CRC-32 of the values, little-endian. */
static uint32_t crc_of(const uint32_t values[CODES])
{
    uint32_t crc = UINT32_MAX;
    for (int i = 0; i < 4 * CODES; i++) {
        crc ^= values[i / 4] >> i % 4 * 8 & 0xff;
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
    }
    return ~crc;
}

TEST(model)
{
    static const CurveLight none;
    for (size_t k = 0; k < sizeof(lift_vectors) / sizeof(lift_vectors[0]); k++) {
        const LiftVector *v = &lift_vectors[k];
        uint32_t counts[CODES] = {0}, nodes[CODES];
        for (int part = 0; part < 3; part++)
            if (v->parts[part][3])
                add_part(counts, v->parts[part]);
        const LiftChoice c =
            decide_as(counts, v->full, (uint32_t)v->noise, v->denoise * CURVE_ONE / 16, v->awaited,
                      v->clip < 0 ? CURVE_CLIP_AUTO : (uint32_t)v->clip, &none, nodes);
        CHECK(c.dark == v->dark && c.voids == v->voids && c.lift == v->lift && c.need == v->need,
              "%s: dark %u, void %u, lift %u, need %u; the model has %u, %u, %u, %u", v->name,
              c.dark, c.voids, c.lift, c.need, v->dark, v->voids, v->lift, v->need);
        for (int i = 0; i < 7; i++)
            CHECK(nodes[16 + 24 * i] == v->some[i], "%s: code %d becomes %u, in the model %u",
                  v->name, 16 + 24 * i, nodes[16 + 24 * i], v->some[i]);
        CHECK(crc_of(nodes) == v->crc, "%s: the curve differs", v->name);
    }
}

/* Draws a histogram of one to five random parts. */
static void draw(uint32_t counts[CODES], CheckRandom *random)
{
    memset(counts, 0, CODES * sizeof(counts[0]));
    for (int k = check_below(random, 5) + 1; k > 0; k--) {
        const int kind = check_below(random, 4), place = check_below(random, 256);
        const int part[4] = {kind == 3 ? HUMP : kind, kind == 3 ? place / 6 + 12 : place,
                             check_below(random, 100) + 1, 1 << check_below(random, 11)};
        add_part(counts, part);
    }
}

TEST(rises)
{
    CHECK(lift_reach(0, CURVE_ONE / 2) == 0 && lift_reach(CURVE_ONE / 2, CURVE_ONE) == 0 &&
              lift_reach(CURVE_ONE / 3, CURVE_ONE / 2) > CURVE_ONE * 99 / 100,
          "a lift from black, to white, or from 1/3 to 1/2");
    CheckRandom random = check_random(1);
    for (int k = 0; k < 3000; k++) {
        uint32_t counts[CODES], nodes[CODES], again[CODES];
        draw(counts, &random);
        const int full = k & 1, black = full ? 0 : 16, white = full ? 255 : 235;
        const uint32_t noise = (uint32_t)check_below(&random, 1200);
        const uint32_t clips[] = {CURVE_CLIP_AUTO, CURVE_CLIP_AUTO, 0, CURVE_ONE,
                                  (uint32_t)check_below(&random, 1000 * CURVE_ONE) + CURVE_ONE};
        const uint32_t clip = clips[check_below(&random, 5)];
        for (int i = 0; i < CODES; i++)
            counts[i] *= 256;
        CurveLight light = {0, 0};
        if (check_below(&random, 2)) {
            light.power = CURVE_LIGHT_ONE / 10 * (uint32_t)(check_below(&random, 100) + 1);
            light.lift = (int32_t)CURVE_LIGHT_ONE / 10 * (check_below(&random, 121) - 60);
        }
        const LiftChoice c = decide_as(counts, full, noise, CURVE_ONE, 0, clip, &light, nodes);
        int rises = 1;
        for (int i = 1; i < CODES; i++)
            rises &= nodes[i] >= nodes[i - 1];
        CHECK(rises && nodes[black] == (uint32_t)black << 8 && nodes[white] <= (uint32_t)white << 8,
              "picture %d: from %u to %u", k, nodes[black], nodes[white]);
        CHECK(c.dark <= CURVE_ONE && c.lift <= LIFT_MOST && c.need <= CURVE_ONE,
              "picture %d: dark %u, lift %u, need %u", k, c.dark, c.lift, c.need);
        for (int i = 0; i < CODES; i++)
            counts[i] *= 16;
        decide_as(counts, full, noise, CURVE_ONE, 0, clip, &light, again);
        CHECK(memcmp(nodes, again, sizeof(nodes)) == 0,
              "picture %d: 16 times the counts give another curve", k);
    }
}

/* More brightness never makes a picture much darker. */
TEST(brightens)
{
    for (int k = 0; k < 14 * 8; k++) {
        uint32_t counts[CODES] = {0}, nodes[CODES];
        add_part(counts, (const int[]){HUMP, 30 + k % 14 * 10, 15 + k / 14 * 10, 1000});
        double was = 0;
        for (int step = 0; step < 60; step++) {
            const CurveLight light = {0, (int32_t)CURVE_LIGHT_ONE / 20 * step};
            decide_as(counts, 0, 60, 0, 1, CURVE_CLIP_AUTO, &light, nodes);
            double sum = 0, all = 0;
            for (int i = 16; i < CODES; i++) {
                sum += counts[i] / 256.0 * nodes[i];
                all += counts[i];
            }
            CHECK(sum / all > was - 4, "picture %d, step %d: a mean of %g, before %g", k, step,
                  sum / all, was);
            was = sum / all;
        }
    }
}

#define WIDTH 64
#define HEIGHT 64

typedef struct Video {
    LumeqEqualizer *eq;
    uint8_t in[WIDTH * HEIGHT], out[WIDTH * HEIGHT], was[WIDTH * HEIGHT];
    uint32_t hist[LUMEQ_MAX_BINS], curve[LUMEQ_MAX_BINS];
    LumeqFrameStats stats;
    int64_t time;
    int started;
} Video;

static Video *video_open(const LumeqParams *params)
{
    const LumeqConfig config = {.size = sizeof(config), .backend = LUMEQ_BACKEND_CPU, .threads = 1};
    Video *v = calloc(1, sizeof(*v));
    if (!v)
        abort();
    CHECK(lumeq_create(&v->eq, &config, NULL, 0) == 0, "%s", lumeq_last_error(NULL));
    CHECK(lumeq_set_params(v->eq, params) == 0, "%s", lumeq_last_error(v->eq));
    return v;
}

static void video_close(Video *v)
{
    lumeq_destroy(&v->eq);
    free(v);
}

static LumeqImage image_of(uint8_t *plane)
{
    return (LumeqImage){
        .plane = {plane}, .stride = {WIDTH}, .width = WIDTH, .height = HEIGHT, .depth = 8};
}

/* Equalizes `in`, 40 ms after the previous frame. */
static void video_frame(Video *v)
{
    const LumeqImage previous = image_of(v->was);
    LumeqFrame frame = {.size = sizeof(frame),
                        .in = image_of(v->in),
                        .out = image_of(v->out),
                        .time = v->time,
                        .previous = v->started ? &previous : NULL};
    v->stats = (LumeqFrameStats){.size = sizeof(v->stats), .hist_in = v->hist, .curve = v->curve};
    CHECK(lumeq_process(v->eq, &frame, &v->stats) == 0, "%s", lumeq_last_error(v->eq));
    memcpy(v->was, v->in, sizeof(v->was));
    v->time += 40 * MS;
    v->started = 1;
}

/* Paints a ramp over `width` codes from `dark` on, times `light`, plus noise. */
static void paint(Video *v, double dark, double width, double light, int noise, CheckRandom *random)
{
    for (int i = 0; i < WIDTH * HEIGHT; i++) {
        const double place = (i % WIDTH + i / WIDTH) / (double)(WIDTH + HEIGHT);
        const int more = noise ? check_below(random, 2 * noise + 1) - noise : 0;
        const double code = 16 + light * (dark - 16 + width * place) + more;
        v->in[i] = (uint8_t)(code < 16 ? 16 : code > 235 ? 235 : code);
    }
}

/* Mean distance of the curve from `was` over the picture's samples, in codes. */
static double moved(const Video *v, const uint32_t *was)
{
    double sum = 0;
    for (int i = 0; i < CODES; i++)
        sum += v->hist[i] * fabs((double)v->curve[i] - was[i]);
    return sum / 65536 / (WIDTH * HEIGHT);
}

static const LumeqParams usual = DEFAULT_PARAMS;

/* A car with its lights on comes through a dull picture every three seconds. */
TEST(passing_cars)
{
    Video *v = video_open(&usual);
    CheckRandom random = check_random(1);
    double sum = 0, most = 0, least = 9, greatest = 0;
    for (int frame = 0; frame < 400; frame++) {
        uint32_t was[CODES];
        memcpy(was, v->curve, sizeof(was));
        paint(v, 90, 50, 1, 2, &random);
        const int left = (frame % 75 - 35) * 3 - 30;
        for (int i = 0; i < WIDTH * HEIGHT; i++) {
            const int x = i % WIDTH - left, y = i / WIDTH;
            if (x >= 0 && x < 30 && y >= 12 && y < 56)
                v->in[i] = (uint8_t)(x > 24 ? 230 : 30 + x);
        }
        video_frame(v);
        if (frame < 75)
            continue;
        const double step = moved(v, was);
        sum += step;
        most = step > most ? step : most;
        least = v->stats.strength < least ? v->stats.strength : least;
        greatest = v->stats.strength > greatest ? v->stats.strength : greatest;
    }
    CHECK(sum / 325 <= 0.15 && most <= 0.8,
          "the curve moves by %.3f codes a frame, at most by %.3f", sum / 325, most);
    CHECK(greatest - least <= 0.5, "the strength goes from %.2f to %.2f", least, greatest);
    video_close(v);
}

/* A dark picture of noise, whose mean must not rise by more than `most` codes. */
typedef struct Lens {
    int dark, width, noise[2]; /* noise: before frame 50, and from then on */
    int awaits;                /* await_noise */
    int frames, most;
} Lens;

TEST(covered_lens)
{
    static const Lens lenses[] = {{17, 2, {1, 4}, 0, 100, 1},
                                  {17, 1, {4, 4}, 1, 20, 2},
                                  {17, 1, {11, 11}, 1, 20, 2},
                                  {24, 1, {5, 5}, 1, 20, 2},
                                  {24, 1, {10, 10}, 1, 20, 2}};
    for (size_t i = 0; i < sizeof(lenses) / sizeof(lenses[0]); i++) {
        const Lens *lens = &lenses[i];
        LumeqParams params = DEFAULT_PARAMS;
        params.await_noise = lens->awaits;
        Video *v = video_open(&params);
        CheckRandom random = check_random(1);
        for (int frame = 0; frame < lens->frames; frame++) {
            paint(v, lens->dark, lens->width, 1, lens->noise[frame >= 50], &random);
            video_frame(v);
            CHECK(v->stats.mean_out <= v->stats.mean_in + lens->most,
                  "lens %zu, frame %d: from %.2f to %.2f", i, frame, v->stats.mean_in,
                  v->stats.mean_out);
        }
        for (int frame = 0; frame < 30; frame++) {
            memset(v->in, 16, sizeof(v->in));
            video_frame(v);
            if (frame) /* the first black frame still assumes some of the earlier noise */
                CHECK(memcmp(v->in, v->out, sizeof(v->in)) == 0, "black is changed");
        }
        video_close(v);
    }
}

/* Night scenes are lifted from the first frame on. Only the darkest scenes wait until noise is
 * measured. After the third frame, light stays nearly constant. */
TEST(light_is_soon_still)
{
    LumeqParams live = DEFAULT_PARAMS;
    live.await_noise = 1;
    for (int narrow = 0; narrow < 2; narrow++) {
        const int width = narrow ? 16 : 60;
        Video *v = video_open(&live), *picture = video_open(&usual);
        CheckRandom random = check_random(1);
        double first = 0, before = 0;
        for (int frame = 0; frame < 50; frame++) {
            paint(v, 17, width, 1, 0, &random);
            v->in[frame] ^= 1; /* a repeated frame's noise is unknown */
            video_frame(v);
            first = frame ? first : v->stats.mean_out;
            const double most = frame > 2 ? 1 : narrow ? 100 : 7;
            CHECK(!frame || fabs(v->stats.mean_out - before) < most,
                  "width %d, frame %d: %.2f to %.2f", width, frame, before, v->stats.mean_out);
            before = v->stats.mean_out;
        }
        memcpy(picture->in, v->in, sizeof(picture->in));
        video_frame(picture);
        CHECK(fabs(picture->stats.mean_out - before) < 5, "width %d: alone %.2f, video %.2f", width,
              picture->stats.mean_out, before);
        CHECK(narrow ? first < before - 9 : first > before - 6, "width %d: first %.2f, then %.2f",
              width, first, before);
        video_close(v);
        video_close(picture);
    }
}

/* A fade from black and back: the light is monotone and does not overshoot. */
TEST(fades)
{
    /* darkest code, width, noise */
    static const double scenes[][3] = {{18, 40, 0}, {40, 120, 0}, {22, 200, 0}, {30, 60, 2}};
    CheckRandom random = check_random(1);
    for (int scene = 0; scene < 4; scene++) {
        Video *v = video_open(&usual);
        const int noise = (int)scenes[scene][2];
        double before = 0, most = 0;
        for (int frame = 0; frame < 10; frame++) {
            memset(v->in, 16, sizeof(v->in));
            video_frame(v);
        }
        for (int frame = 0; frame < 150; frame++) {
            paint(v, scenes[scene][0], scenes[scene][1], frame < 50 ? frame / 50.0 : 1, noise,
                  &random);
            video_frame(v);
            CHECK(v->stats.mean_out >= before - 0.5, "scene %d, frame %d: %.2f after %.2f", scene,
                  frame, v->stats.mean_out, before);
            before = v->stats.mean_out;
            most = before > most ? before : most;
        }
        CHECK(most <= before + 2.5, "scene %d: up to %.2f, then %.2f", scene, most, before);
        for (int frame = 0; frame <= 50; frame++) {
            paint(v, scenes[scene][0], scenes[scene][1], 1 - frame / 50.0, noise, &random);
            video_frame(v);
            CHECK(v->stats.mean_out <= before + 0.5, "scene %d, %d frames down: %.2f after %.2f",
                  scene, frame, v->stats.mean_out, before);
            before = v->stats.mean_out;
        }
        video_close(v);
    }
}

/* A film that begins within a fade: light does not overshoot. */
TEST(begins_within_a_fade)
{
    static const double scenes[][2] = {{18, 40}, {30, 60}, {40, 120}};
    CheckRandom random = check_random(1);
    for (int i = 0; i < 9; i++) {
        const double *scene = scenes[i % 3], begin = 0.3 + i / 3 * 0.2;
        Video *v = video_open(&usual);
        double most = 0;
        for (int frame = 0; frame < 150; frame++) {
            paint(v, scene[0], scene[1], fmin(begin + frame / 12.0, 1), 0, &random);
            video_frame(v);
            most = fmax(most, v->stats.mean_out);
        }
        CHECK(most <= v->stats.mean_out + 5, "scene %d from %.1f: up to %.2f, then %.2f", i % 3,
              begin, most, v->stats.mean_out);
        video_close(v);
    }
}

/* The third frame already uses the measured noise, as later frames do. */
TEST(noise_is_soon_known)
{
    Video *v = video_open(&usual);
    CheckRandom random = check_random(1);
    double third = 0;
    for (int frame = 0; frame < 100; frame++) {
        paint(v, 20, 30, 1, 8, &random);
        video_frame(v);
        if (frame == 2)
            third = v->stats.mean_out;
    }
    CHECK(v->stats.noise > 3, "noise %.2f", v->stats.noise);
    CHECK(fabs(third - v->stats.mean_out) < 2, "the third frame's mean is %.2f, later %.2f", third,
          v->stats.mean_out);
    video_close(v);
}

/* A given strength turns off the default lift. Tiles have no lift. Without a lift, strength AUTO is
 * 0.8, adaptive. */
TEST(without_lift)
{
    LumeqParams wins = DEFAULT_PARAMS, no_lift = DEFAULT_PARAMS, adaptive = DEFAULT_PARAMS;
    LumeqParams clahe = DEFAULT_PARAMS, old = {.size = offsetof(LumeqParams, lift)};
    wins.strength = 0.5;
    no_lift.lift = 0;
    adaptive.strength = 0.8;
    adaptive.adaptive = 1;
    clahe.mode = LUMEQ_MODE_CLAHE;
    LumeqParams tiles = clahe;
    tiles.lift = 0;
    tiles.clip = 3;
    const LumeqParams *const same[][2] = {{&wins, &wins}, {&no_lift, &adaptive}, {&clahe, &tiles}};
    for (int i = 0; i < 3; i++) {
        Video *v = video_open(same[i][0]), *other = video_open(same[i][1]);
        CheckRandom random = check_random(1);
        paint(v, 20, 60, 1, 2, &random);
        memcpy(other->in, v->in, sizeof(v->in));
        video_frame(v);
        video_frame(other);
        CHECK(memcmp(v->out, other->out, sizeof(v->out)) == 0, "pair %d differs", i);
        CHECK(v->stats.lift == 1 && !v->stats.filtered && v->stats.dark == 0, "pair %d: lift %g", i,
              v->stats.lift);
        CHECK(i || fabs(v->stats.strength - 0.5) < 1e-4, "strength %g", v->stats.strength);
        video_close(v);
        video_close(other);
    }
    lumeq_params_default(&old); /* as in versions without lift */
    CHECK(old.lift == 0 && old.strength == LUMEQ_STRENGTH_AUTO, "lift %d", old.lift);
}

/* Without denoising, no previous frame is requested, and noisy video is lifted less. With half of
 * the denoising, the lift is in between. */
TEST(denoise)
{
    LumeqParams params = usual;
    double lift[3], noise[3];
    for (int k = 0; k < 3; k++) {
        params.denoise = (const double[]){LUMEQ_DENOISE_AUTO, 0.5, 0}[k];
        Video *v = video_open(&params);
        CheckRandom random = check_random(1);
        noise[k] = 0;
        for (int frame = 0; frame < 30; frame++) {
            uint8_t was[WIDTH * HEIGHT];
            memcpy(was, v->out, sizeof(was));
            paint(v, 20, 20, 1, 5, &random);
            video_frame(v);
            for (int i = 0; i < WIDTH * HEIGHT && frame > 20; i++)
                noise[k] += abs(v->out[i] - was[i]);
        }
        lift[k] = v->stats.lift;
        CHECK(v->stats.dark > 0.9 && v->stats.noise > 1 && v->stats.previous == (k < 2),
              "denoise %g: dark %.2f, noise %.2f, %d frames before", params.denoise, v->stats.dark,
              v->stats.noise, v->stats.previous);
        video_close(v);
    }
    CHECK(lift[0] > lift[1] && lift[1] > lift[2] && lift[2] > 1, "lifted %.2f, %.2f, %.2f times",
          lift[0], lift[1], lift[2]);
    CHECK(noise[0] / lift[0] < 0.7 * noise[2] / lift[2] && noise[1] / lift[1] < noise[2] / lift[2],
          "noise / lift: %.0f, %.0f, %.0f", noise[0] / lift[0], noise[1] / lift[1],
          noise[2] / lift[2]);
}

/* For one curve, the filter's tables equal the model's tables(). Tolerance increases with the
 * slope, and is 0 where the curve is not steep. */
TEST(tables)
{
    static CurveTable table;
    static CurveResult result = {.lift = {.dark = CURVE_ONE, .noise = 160 << 10}};
    CurveParams p = {.depth = 8,
                     .bins = CODES,
                     .black = 16,
                     .white = 235,
                     .strength = CURVE_ONE,
                     .lift = 1,
                     .denoise = CURVE_ONE,
                     .chroma = 1};
    for (int i = 0; i < CODES; i++) /* 4 times as steep up to code 46, then a line to white */
        result.bin[i].curve = (uint32_t)(i < 16    ? i * 65536
                                         : i < 46  ? (16 + 4 * (i - 16)) * 65536
                                         : i < 235 ? 136 * 65536 + (i - 46) * (99 * 65536 / 189)
                                                   : i * 65536);
    for (int past = 0; past < 2; past++) {
        p.past = past;
        curve_fill_table(&p, &result, &table);
        const LiftTables *t = &table.lift;
        const int left = past ? 91 : 128, most = 64 * 5 * 160 / 128 * left / 64 * 3 / 8;
        CHECK(t->luma_on && t->chroma_on && t->noisy && t->past == past && t->alone == !past &&
                  t->speck == (past ? 640 : 1920) && t->near == 375 &&
                  t->edge == (past ? 1120 : 1632),
              "speck %d, near %d, edge %d", t->speck, t->near, t->edge);
        CHECK((t->node[30] & 0xffff) == (16 + 4 * 14) * 256 && t->node[30] >> 16 == 4 * 256,
              "node %x", t->node[30]);
        CHECK((int)(t->tolerance[30] & 0xffff) == most && t->tolerance[30] >> 16 == 4 * 375,
              "tolerance %x, not %d", t->tolerance[30], most);
        CHECK(t->tolerance[150] == 0, "tolerance %x where the curve is flat", t->tolerance[150]);
        CHECK(table.gain[40].gain == 4096 + 3 * (4096 * 85 / 100) && t->chroma[40] > 0 &&
                  table.gain[20].gain < 10000 && !t->chroma[18],
              "gain %u, tolerance of chroma %u", table.gain[40].gain, t->chroma[40]);
    }
    static CurveTable half, off, clean;
    p.denoise = CURVE_ONE / 2;
    curve_fill_table(&p, &result, &half);
    CHECK(half.lift.noisy && half.lift.past == 1 && half.lift.near == table.lift.near &&
              half.lift.speck == 320 && half.lift.tolerance[30] >> 16 == 4 * 187 &&
              (half.lift.tolerance[30] & 0xffff) < (table.lift.tolerance[30] & 0xffff),
          "half: past %d, near %d, speck %d, tolerance %x", half.lift.past, half.lift.near,
          half.lift.speck, half.lift.tolerance[30]);
    p.denoise = 0;
    curve_fill_table(&p, &result, &off);
    p.past = 0;
    result.lift.noise = 0;
    curve_fill_table(&p, &result, &clean);
    CHECK(!off.lift.noisy && !off.lift.past && off.lift.luma_on &&
              memcmp(off.lift.tolerance, clean.lift.tolerance, sizeof(off.lift.tolerance)) == 0 &&
              off.lift.edge == clean.lift.edge,
          "off: noisy %d, past %d", off.lift.noisy, off.lift.past);
    CHECK(memcmp(off.gain, table.gain, sizeof(off.gain)) == 0 &&
              off.gain[19].gain < clean.gain[19].gain && off.gain[40].gain == clean.gain[40].gain,
          "colour does not start later in noise that is not filtered");
    result.lift.voids = CURVE_ONE;
    curve_fill_table(&p, &result, &off);
    CHECK(off.gain[21].gain < clean.gain[21].gain && off.gain[40].gain <= 2 * CURVE_GAIN_ONE,
          "in a void, colour does not start later and gain less");
    p.lift = 0;
    curve_fill_table(&p, &result, &table);
    CHECK(!table.lift.luma_on && !table.lift.chroma_on, "a picture without lift is filtered");
}

TEST_MAIN
