/*
 * The look of the defaults on synthetic films: dull pictures gain contrast, good pictures stay the
 * same, and nothing flickers, trails or jumps.
 */
#include <math.h>

#include "../default_params.h"
#include "backends.h"

#define WIDTH 320
#define HEIGHT 180
#define PIXELS (WIDTH * HEIGHT)

static const LumeqParams defaults = DEFAULT_PARAMS;

/* Maximum slope for these pictures, which need little lift. */
#define STEEPEST 5

typedef enum Shape {
    BELL,      /* one bell */
    TWO_BUMPS, /* two bells, spaced to give the deviation */
    SLOPE,     /* all codes equally frequent */
    LAMP,      /* a bell, and a twentieth of the picture white */
} Shape;

/* A still 8-bit picture with this mean and standard deviation, and moving grain. */
typedef struct Scene {
    Shape shape;
    double mean, deviation, grain;
} Scene;

/* A nearly normally distributed number: mean 0, deviation 1, from -3.5 to 3.5. */
static double bell(uint64_t seed, uint64_t index)
{
    const uint64_t r = check_hash(seed, index);
    double sum = 0;
    for (int i = 0; i < 4; i++)
        sum += (double)(r >> (16 * i) & 65535) / 65535 - 0.5;
    return sum * 1.7320508; /* four terms with a deviation of 1 / sqrt(12) */
}

/* Pixel i's bell(), the same in all scenes. The table saves time. */
static double own_of(int i)
{
    static double all[PIXELS];
    for (int k = 0; !all[PIXELS - 1] && k < PIXELS; k++)
        all[k] = bell(1, (uint64_t)k);
    return all[i];
}

static double pixel(const Scene *s, int i)
{
    const double at = (double)i / (PIXELS - 1) - 0.5, own = own_of(i);
    const double side = i % 2 ? 0.95 : -0.95;
    switch (s->shape) {
    case BELL: return s->mean + s->deviation * own;
    case TWO_BUMPS: return s->mean + s->deviation * (side + 0.3 * own);
    case SLOPE: return s->mean + s->deviation * 3.4641016 * at;
    case LAMP: return i % 20 ? s->mean + s->deviation * own : 232;
    }
    return 0;
}

/* `light`: the share of the scene's light above black, 0..1. */
static void fill(const CheckRect *rect, const Scene *s, int frame, double light)
{
    for (int i = 0; i < PIXELS; i++) {
        const double grain = s->grain ? s->grain * bell(2 + (uint64_t)frame, (uint64_t)i) : 0;
        const double value = 16.5 + (pixel(s, i) + grain - 16) * light;
        rect->pixels[i] = (uint8_t)(value < 16 ? 16 : value > 235 ? 235 : value);
    }
}

static Film film_new(LumeqBackendId id)
{
    return film_open(id, (Format){8, 0}, LUMEQ_RANGE_LIMITED, &defaults, WIDTH, HEIGHT);
}

static void next(Film *f, const Scene *scene, double light)
{
    fill(&f->in, scene, f->frames, light);
    film_run(f);
}

static void show(Film *f, const Scene *scene, int frames)
{
    for (int n = 0; n < frames; n++)
        next(f, scene, 1);
}

static double deviation_of(const Film *f, const CheckRect *rect)
{
    double sum = 0, squares = 0;
    for (int i = 0; i < PIXELS; i++) {
        const double code = film_code(f, rect, i);
        sum += code / PIXELS;
        squares += code * code / PIXELS;
    }
    return sqrt(fmax(squares - sum * sum, 0));
}

/* Mean difference of two curves over codes, in codes. */
static double curves_apart(const uint32_t *a, const uint32_t *b)
{
    double sum = 0;
    for (int i = 0; i < 256; i++)
        sum += fabs((double)a[i] - b[i]) / 65536 / 256;
    return sum;
}

static const Scene good[] = {
    {BELL, 120, 47, 0},      {BELL, 95, 50, 0},       {BELL, 145, 46, 0},
    {SLOPE, 125, 60, 0},     {SLOPE, 105, 48, 0},     {SLOPE, 148, 50, 0},
    {TWO_BUMPS, 120, 55, 0}, {TWO_BUMPS, 100, 47, 0}, {TWO_BUMPS, 145, 60, 0},
};

static const Scene dull[] = {
    {BELL, 110, 8, 0},       {BELL, 125, 16, 0},      {BELL, 110, 24, 0},
    {BELL, 45, 8, 0},        {BELL, 60, 12, 0},       {BELL, 75, 18, 0},  /* dark */
    {BELL, 180, 8, 0},       {BELL, 175, 16, 0},      {BELL, 165, 22, 0}, /* foggy */
    {TWO_BUMPS, 115, 12, 0}, {TWO_BUMPS, 125, 18, 0}, {TWO_BUMPS, 120, 24, 0},
    {SLOPE, 100, 15, 0},     {SLOPE, 140, 24, 0},
};

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

/* Only samples within one code of black or white may become black or white, by rounding. */
static void check_not_clipped(const Film *f, const char *kind, int number)
{
    int black = 0, white = 0;
    for (int i = 0; i < PIXELS; i++) {
        black += f->in.pixels[i] > 17 && out_code(f, i) <= 16;
        white += f->in.pixels[i] < 234 && out_code(f, i) >= 235;
    }
    CHECK(!black && !white, "%s scene %d: %d become black, %d white", kind, number, black, white);
}

static Film film_of(LumeqBackendId id, const Scene *scene, int lift)
{
    LumeqParams params = defaults;
    Film f = film_new(id);
    params.lift = lift;
    set_params(f.eq, &params);
    show(&f, scene, 3);
    return f;
}

/* With lift, bright pictures without dark parts get darker, because lift takes them for hazy. */
BACKEND_TEST(good_pictures_stay)
{
    for (int n = 0; n < 2 * COUNT(good); n++) {
        const int i = n / 2, lift = n % 2;
        FREED_BY(film_close) Film f = film_of(id, &good[i], lift);
        const double deviation = deviation_of(&f, &f.in),
                     moved = f.stats.values.mean_out - f.stats.values.mean_in;
        CHECK(deviation > 45 && f.stats.values.mean_in >= 90 && f.stats.values.mean_in <= 150,
              "scene %d: mean %.1f, deviation %.1f", i, f.stats.values.mean_in, deviation);
        CHECK(moved < 6 && moved > (lift ? -28 : -6),
              "scene %d: mean %.1f, deviation %.1f: moved by %.2f", i, f.stats.values.mean_in,
              deviation, moved);
        if (lift)
            check_not_clipped(&f, "good", i);
    }
}

/* With lift, lighter pictures gain less contrast. */
BACKEND_TEST(dull_pictures_gain)
{
    for (int n = 0; n < 2 * COUNT(dull); n++) {
        const int i = n / 2, lift = n % 2;
        FREED_BY(film_close) Film f = film_of(id, &dull[i], lift);
        const double before = deviation_of(&f, &f.in), after = deviation_of(&f, &f.out);
        CHECK(before < 25, "scene %d: deviation %.1f", i, before);
        CHECK(after >= (lift ? 1.4 : 1.6) * before,
              "scene %d: mean %.0f, deviation %.1f becomes %.1f: %.2f times", i,
              f.stats.values.mean_in, before, after, after / before);
        if (lift)
            check_not_clipped(&f, "dull", i);
    }
}

/* The steepest slope in the darkest quarter of the range. */
static double steepest(const uint32_t *curve)
{
    double most = 0;
    for (int i = 16; i < 16 + 219 / 4; i++)
        most = fmax(most, ((double)curve[i + 1] - curve[i]) / 65536);
    return most;
}

BACKEND_TEST(noise_gain_is_limited)
{
    static const double clips[] = {1.5, 2, 3, 5};
    static const Scene dark[] = {{BELL, 40, 6, 1},      {BELL, 30, 4, 0},       {LAMP, 40, 8, 1},
                                 {TWO_BUMPS, 45, 8, 0}, {SLOPE, 45, 15, 0},     {BELL, 60, 12, 2},
                                 {BELL, 90, 10, 0},     {TWO_BUMPS, 110, 20, 0}};
    for (int n = 0; n < COUNT(dark) * 4 * 2; n++) {
        FREED_BY(film_close) Film f = film_new(id);
        LumeqParams params = defaults;
        params.lift = 0;
        params.clip = clips[n / 2 % 4];
        params.strength = n % 2 ? 1 : 0.8;
        set_params(f.eq, &params);
        show(&f, &dark[n / 8], 3);
        const double most = 1 + f.stats.values.strength * (params.clip - 1);
        CHECK(f.stats.values.noise_gain <= most + 0.02, "scene %d, clip %g: %.3f, not %.3f", n / 8,
              params.clip, f.stats.values.noise_gain, most);
        CHECK(fabs(f.stats.values.noise_gain - steepest(f.stats.curve)) < 1e-4,
              "noise gain %.5f, not %.5f", f.stats.values.noise_gain, steepest(f.stats.curve));
    }
}

/* Flicker: mean change of mean_out - mean_in from frame to frame, in a still picture with grain. */
BACKEND_TEST(grain_does_not_flicker)
{
    static const Scene scenes[] = {{BELL, 110, 12, 2},  {BELL, 45, 8, 3},
                                   {BELL, 180, 15, 2},  {LAMP, 50, 8, 2},
                                   {SLOPE, 120, 20, 4}, {TWO_BUMPS, 120, 22, 3}};
    for (int i = 0; i < COUNT(scenes); i++) {
        FREED_BY(film_close) Film f = film_new(id);
        double flicker = 0, before = 0;
        for (int n = 0; n < 50; n++) {
            next(&f, &scenes[i], 1);
            const double more = f.stats.values.mean_out - f.stats.values.mean_in;
            flicker += n ? fabs(more - before) / 49 : 0;
            before = more;
        }
        CHECK(flicker <= 0.15, "scene %d: %.3f codes a frame", i, flicker);
    }
}

/* From the second frame of the new scene on, the curve is the final one. */
static void check_cut(LumeqBackendId id, const Scene *from, const Scene *to)
{
    uint32_t curve[256];
    FREED_BY(film_close) Film f = film_new(id);
    show(&f, from, 10);
    show(&f, to, 2);
    const double light = f.stats.values.mean_out;
    memcpy(curve, f.stats.curve, sizeof(curve));
    show(&f, to, 75);
    const double apart = curves_apart(curve, f.stats.curve);
    CHECK(apart < 0.5 && fabs(light - f.stats.values.mean_out) < 0.5,
          "mean %.0f to %.0f: the curve is %.2f codes, the light %.2f from where it settles",
          from->mean, to->mean, apart, light - f.stats.values.mean_out);
}

BACKEND_TEST(cuts_settle)
{
    for (int i = 0; i < COUNT(dull); i++) {
        if (!check_drawn(i))
            continue;
        check_cut(id, &good[i % COUNT(good)], &dull[i]);
        check_cut(id, &dull[i], &good[i % COUNT(good)]);
    }
}

static const Scene flashed[] = {
    {BELL, 100, 14, 0}, {BELL, 60, 10, 0}, {SLOPE, 110, 24, 0}, {BELL, 110, 30, 0}};

/* Two frames after one lighter frame, light is as before, to within `most` codes. */
static void check_flash(LumeqBackendId id, const Scene *scene, double lighter, double most)
{
    Scene flash = *scene;
    FREED_BY(film_close) Film f = film_new(id);
    uint32_t curve[256];
    flash.mean += lighter;
    show(&f, scene, 40);
    const double before = f.stats.values.mean_out;
    memcpy(curve, f.stats.curve, sizeof(curve));
    show(&f, &flash, 1);
    show(&f, scene, 2);
    const double apart = curves_apart(curve, f.stats.curve);
    CHECK(apart <= most && fabs(f.stats.values.mean_out - before) <= most,
          "mean %g, %g lighter: the curve is %.2f codes, the light %.2f from what it was",
          scene->mean, lighter, apart, f.stats.values.mean_out - before);
}

/* Flashes are at least 15 codes lighter. Weaker flashes are no cut if the histogram is wide. */
BACKEND_TEST(flash_leaves_no_trail)
{
    static const double flashes[] = {15, 17, 20, 25, 26, 27, 30, 50, 80, 110};
    for (int i = 0; i < COUNT(flashed) * COUNT(flashes); i++)
        check_flash(id, &flashed[i / COUNT(flashes)], flashes[i % COUNT(flashes)], 0.5);
}

/* Lights up the upper `percent` of the picture; returns the mean of the rest. */
static double light_up(Film *f, const Scene *scene, int percent, int on)
{
    const int rows = HEIGHT * percent / 100;
    fill(&f->in, scene, f->frames, 1);
    for (int y = 0; y < rows && on; y++)
        memset(check_row(&f->in, y), 200, (size_t)WIDTH);
    film_run(f);
    double sum = 0;
    for (int y = HEIGHT / 2; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            sum += check_row(&f->out, y)[x];
    return sum / (WIDTH * (HEIGHT - HEIGHT / 2));
}

/* If a lamp, a car or a screen lights up, the rest of the picture never jumps. */
BACKEND_TEST(a_part_does_not_move_the_rest)
{
    static const int percents[] = {5, 7, 10, 15}, periods[] = {1, 3, 12};
    const Scene scene = {BELL, 80, 17, 1};
    for (int i = 0; i < COUNT(percents) * COUNT(periods); i++) {
        const int percent = percents[i % COUNT(percents)], period = periods[i / COUNT(percents)];
        FREED_BY(film_close) Film f = film_new(id);
        double last = light_up(&f, &scene, percent, 0), most = 0;
        for (int n = 1; n < 40; n++) {
            const double now = light_up(&f, &scene, percent, n / period % 2);
            most = fmax(most, fabs(now - last));
            last = now;
        }
        CHECK(most < 6, "%d %% every %d frames: the rest moves by %.1f codes", percent, period,
              most);
    }
}

enum { FADE = 25, BLACK = 12 };

/* Runs the next frame of a fade. Light must be monotone, and change by at most STEEPEST times the
 * input's change plus 1.5 codes. */
static void check_fade(Film *f, const Scene *scene, double light, int down)
{
    const double most = STEEPEST;
    const double in = f->stats.values.mean_in, out = f->stats.values.mean_out;
    next(f, scene, light);
    const double step = f->stats.values.mean_out - out, given = f->stats.values.mean_in - in;
    CHECK((down ? step : -step) <= 0.25, "mean %g at %.2f: light goes from %.1f to %.1f",
          scene->mean, light, out, f->stats.values.mean_out);
    CHECK(fabs(step) <= most * fabs(given) + 1.5,
          "mean %g at %.2f: light goes from %.1f to %.1f, the input's changes by %.1f", scene->mean,
          light, out, f->stats.values.mean_out, given);
    CHECK(!f->stats.values.scene_cut, "mean %g at %.2f: taken for a cut", scene->mean, light);
}

/* Fades to black in a second, stays black for half a second, and fades in again. */
BACKEND_TEST(fades_are_smooth)
{
    static const Scene scenes[] = {{BELL, 110, 14, 0},  {BELL, 60, 10, 0},
                                   {BELL, 175, 14, 0},  {SLOPE, 125, 60, 0},
                                   {SLOPE, 110, 20, 0}, {TWO_BUMPS, 120, 40, 0}};
    for (int i = 0; i < 2 * COUNT(scenes); i++) {
        const Scene *scene = &scenes[i / 2];
        const int from_start = i % 2; /* the film begins with black */
        FREED_BY(film_close) Film f = film_new(id);
        next(&f, scene, !from_start);
        for (int n = FADE - 1; n >= 0 && !from_start; n--)
            check_fade(&f, scene, (double)n / FADE, 1);
        for (int n = 0; n < BLACK; n++)
            check_fade(&f, scene, 0, 1);
        for (int n = 1; n <= FADE; n++)
            check_fade(&f, scene, (double)n / FADE, 0);
        for (int n = 0; n < FADE; n++)
            next(&f, scene, 1);
    }
}

BACKEND_TEST(container_of_ten_bits)
{
    for (int i = 0; i < COUNT(dull) + COUNT(good); i++) {
        FREED_BY(film_close) Film f = film_new(id);
        FREED_BY(film_close)
        Film deep = film_open(id, (Format){10, 0}, LUMEQ_RANGE_LIMITED, &defaults, WIDTH, HEIGHT);
        show(&f, i < COUNT(dull) ? &dull[i] : &good[i - COUNT(dull)], 1);
        for (int k = 0; k < PIXELS; k++)
            set_code(&deep, k, 4 * in_code(&f, k));
        film_run(&deep);
        double worst = 0;
        for (int code = 0; code < 256; code++)
            worst =
                fmax(worst, fabs(deep.stats.curve[4 * code] / 4.0 - f.stats.curve[code]) / 65536);
        CHECK(worst < 0.5, "scene %d: the curves are %.2f codes apart", i, worst);
        CHECK(fabs(deep.stats.values.strength - f.stats.values.strength) < 0.01,
              "scene %d: strength %.3f and %.3f", i, deep.stats.values.strength,
              f.stats.values.strength);
    }
}

TEST_MAIN
