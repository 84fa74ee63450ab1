/* Runs tests over the backends that this machine has, and checks each frame's statistics. */
#ifndef LUMEQ_TESTS_BACKENDS_H
#define LUMEQ_TESTS_BACKENDS_H

#include <math.h>
#include <sched.h>

#include "all_stats.h"
#include "chroma_shape.h"
#include "lumeq/lumeq.h"
#include "pictures.h"

#define BACKENDS 2
#define PATIENCE_S 60 /* timeout of a frame */

static const struct {
    const char *name;
    LumeqBackendId id;
} backends[BACKENDS] = {{"cpu", LUMEQ_BACKEND_CPU}, {"cuda", LUMEQ_BACKEND_CUDA}};

/* NULL if this machine lacks the backend; `why` has the reason. */
static inline LumeqEqualizer *open_equalizer(LumeqBackendId id, int threads, char *why,
                                             size_t why_size)
{
    LumeqEqualizer *eq = NULL;
    const LumeqConfig config = {.backend = id, .threads = threads};
    const int ret = lumeq_create(&eq, &config, why, why_size);
    CHECK(ret == 0 || ret == LUMEQ_ERR_UNAVAILABLE, "create returns %d: %s", ret, why);
    CHECK(!eq == (ret < 0), "create returns %d, but an equalizer was %screated", ret,
          eq ? "" : "not ");
    return eq;
}

static inline LumeqEqualizer *must_open(LumeqBackendId id, int threads)
{
    char why[256] = "";
    LumeqEqualizer *eq = open_equalizer(id, threads, why, sizeof(why));
    if (!eq) {
        fprintf(stderr, "cannot continue: %s\n", why);
        exit(1);
    }
    return eq;
}

static inline void for_each_backend(void (*test)(LumeqBackendId id))
{
    static int reported[BACKENDS];
    for (int i = 0; i < BACKENDS; i++) {
        char why[256] = "";
        LumeqEqualizer *eq = open_equalizer(backends[i].id, 1, why, sizeof(why));
        if (eq) {
            CHECK(!strcmp(lumeq_backend_name(eq), backends[i].name), "backend %s has the name %s",
                  backends[i].name, lumeq_backend_name(eq));
            lumeq_destroy(&eq);
            test(backends[i].id);
        } else if (!reported[i]++) {
            printf("%s: skipped: %s\n", backends[i].name, why);
        }
    }
}

/* Defines the test `name`, whose body is run with each backend as `id`. */
#define BACKEND_TEST(name)                                                                         \
    static void name##_on(LumeqBackendId id);                                                      \
    TEST(name)                                                                                     \
    {                                                                                              \
        for_each_backend(name##_on);                                                               \
    }                                                                                              \
    static void name##_on(LumeqBackendId id)

static inline LumeqImage image_of(const CheckRect *rect, LumeqRange range)
{
    return (LumeqImage){.plane = {rect->pixels},
                        .stride = {rect->stride},
                        .width = rect->width,
                        .height = rect->height,
                        .depth = 8,
                        .range = range};
}

/* out NULL: measure only */
static inline LumeqFrame frame_of(const CheckRect *in, const CheckRect *out, LumeqRange range,
                                  int64_t time)
{
    LumeqFrame frame = {.in = image_of(in, range), .time = time};
    if (out)
        frame.out = image_of(out, range);
    return frame;
}

/* Takes a frame of bytes and describes its memory as samples of this depth. */
static inline LumeqFrame frame_at_depth(LumeqFrame frame, int depth, int shift)
{
    LumeqImage *const images[2] = {&frame.in, &frame.out};
    for (int i = 0; i < 2; i++) {
        images[i]->width /= depth > 8 ? 2 : 1;
        images[i]->depth = depth;
        images[i]->shift = shift;
    }
    return frame;
}

/* Waits for the oldest frame in flight. It polls because lumeq_receive() does not wait while slots
 * are free. */
static inline int receive_frame(LumeqEqualizer *eq, LumeqFrame *frame, FrameStats *stats)
{
    const time_t start = time(NULL);
    int ret;
    while ((ret = lumeq_receive(eq, frame, ask_stats(stats))) == LUMEQ_ERR_AGAIN) {
        if (time(NULL) - start > PATIENCE_S)
            break;
        sched_yield();
    }
    CHECK(ret == 0, "receive returns %d: %s", ret, lumeq_last_error(eq));
    return ret;
}

/* Equalizes a frame while no other is in flight. */
static inline int run_frame(LumeqEqualizer *eq, const LumeqFrame *frame, FrameStats *stats)
{
    const int ret = lumeq_submit(eq, frame);
    return CHECK(ret == 0, "submit returns %d: %s", ret, lumeq_last_error(eq))
               ? receive_frame(eq, NULL, stats)
               : ret;
}

static inline void set_params(LumeqEqualizer *eq, const LumeqParams *params)
{
    const int ret = lumeq_set_params(eq, params);
    CHECK(ret == 0, "set_params returns %d: %s", ret, lumeq_last_error(eq));
}

/* The sample at byte x of a row. */
static inline int sample_at(const CheckRect *rect, int x, int y, int depth)
{
    const uint8_t *bytes = check_row(rect, y) + x;
    return depth > 8 ? bytes[0] | bytes[1] << 8 : bytes[0];
}

static inline int code_at(const CheckRect *rect, int x, int y, int depth, int shift)
{
    const int code = sample_at(rect, x, y, depth) >> shift, last = (1 << depth) - 1;
    return code < last ? code : last;
}

/* The binary logarithm of the number of codes in a bin. */
static inline int fraction_of(int depth)
{
    return depth > 12 ? depth - 12 : 0;
}

/* The curve's output, interpolated between bins. */
static inline double code_on_curve(const FrameStats *stats, int code, int depth)
{
    const int codes = 1 << fraction_of(depth), bin = code / codes;
    const double from = stats->curve[bin] / 65536.0;
    const double to = bin + 1 < stats->values.bins ? stats->curve[bin + 1] / 65536.0 : 1 << depth;
    return from + (to - from) * (code % codes) / codes;
}

/* True if the code is the rounded or dithered value. Nodes of the curve are rounded to 1/256 code,
 * so values between nodes may be off by 1/512. */
static inline int is_rounded(int code, double value, int depth, int dither)
{
    if (dither)
        return fabs(code - value) < 1;
    const double slack = fraction_of(depth) ? 1.0 / 512 : 0;
    return (value >= code - 0.5 - slack && value < code + 0.5 + slack) || code == (1 << depth) - 1;
}

static inline int is_active(const FrameStats *stats, int x, int y)
{
    const LumeqRect *a = &stats->values.active;
    return x >= a->x && x < a->x + a->width && y >= a->y && y < a->y + a->height;
}

typedef struct Counts {
    uint32_t in[LUMEQ_MAX_BINS], out[LUMEQ_MAX_BINS];
    double sum_in, sum_out, pixels;
    int wrong; /* samples that differ from the curve */
} Counts;

/* Counts one row. `out` NULL: counts the curve's outputs. The output's histogram ignores dither. */
static inline void count_row(Counts *counts, const FrameStats *stats, const CheckRect *in,
                             const CheckRect *out, int y, int depth, int shift, int dither)
{
    const int size = depth > 8 ? 2 : 1, last = (1 << depth) - 1, fraction = fraction_of(depth);
    for (int x = 0; x < in->width; x += size) {
        if (!is_active(stats, x / size, y)) {
            counts->wrong += out && sample_at(in, x, y, depth) != sample_at(out, x, y, depth);
            continue;
        }
        const int code = code_at(in, x, y, depth, shift);
        const double value = code_on_curve(stats, code, depth);
        int mapped = (int)(value + 0.5) < last ? (int)(value + 0.5) : last;
        if (out) {
            const int written = code_at(out, x, y, depth, shift);
            counts->wrong += !is_rounded(written, value, depth, dither) ||
                             sample_at(out, x, y, depth) != written << shift;
            mapped = dither ? mapped : written;
        }
        counts->in[code >> fraction]++;
        counts->out[mapped >> fraction]++;
        counts->sum_in += code;
        counts->sum_out += mapped;
        counts->pixels++;
    }
}

/* Checks the input's histogram and mean, and the number of samples. If bins have several codes, the
 * mean is exact to within half a bin. */
static inline int check_counts(const FrameStats *stats, const Counts *c, int depth)
{
    const int fraction = fraction_of(depth), bins = 1 << (depth - fraction);
    const double half = fraction ? ((1 << fraction) - 1) / 2.0 + 1e-6 : 0;
    double counted = 0;
    if (!CHECK(stats->values.bins == bins, "%d bins", stats->values.bins))
        return 0;
    for (int i = 0; i < bins; i++)
        counted += stats->hist_out[i];
    CHECK(counted == c->pixels, "the output's histogram counts %g pixels", counted);
    CHECK(!memcmp(stats->hist_in, c->in, (size_t)bins * sizeof(c->in[0])), "hist_in is wrong");
    return CHECK(fabs(stats->values.mean_in - c->sum_in / c->pixels) <= half, "mean_in %g, not %g",
                 stats->values.mean_in, c->sum_in / c->pixels);
}

/* Compares statistics with the input and the output (NULL if only measured). Filtered outputs are
 * not checked, because they differ from the curve. */
static inline void check_stats_at(const FrameStats *stats, const CheckRect *in,
                                  const CheckRect *out, int depth, int shift, int dither)
{
    Counts c = {0};
    out = stats->values.filtered ? NULL : out;
    for (int y = 0; y < in->height; y++)
        count_row(&c, stats, in, out, y, depth, shift, dither);
    CHECK(!c.wrong, "%d pixels of %d bytes x %d, depth %d, differ from the curve", c.wrong,
          in->width, in->height, depth);
    if (!check_counts(stats, &c, depth) || fraction_of(depth))
        return;
    CHECK(!memcmp(stats->hist_out, c.out, sizeof(c.out[0]) << depth), "hist_out is wrong");
    CHECK(stats->values.mean_out == c.sum_out / c.pixels, "mean_out %g, not %g",
          stats->values.mean_out, c.sum_out / c.pixels);
}

/* Checks statistics and output of modes with tiles. Samples outside the active picture or outside
 * the codes used[0]..used[1] must not change. Other samples must stay within these codes. */
static inline void check_clahe_stats(const FrameStats *stats, const CheckRect *in,
                                     const CheckRect *out, int depth, int shift, const int used[2])
{
    Counts c = {0};
    const int size = depth > 8 ? 2 : 1, bins = stats->values.bins;
    int wrong = 0, falls = 0;
    for (int y = 0; y < in->height; y++) {
        count_row(&c, stats, in, NULL, y, depth, shift, 0);
        for (int x = 0; x < in->width && out; x += size) {
            const int code = code_at(in, x, y, depth, shift),
                      active = is_active(stats, x / size, y);
            const int sample = active ? code << shift : sample_at(in, x, y, depth);
            const int written = sample_at(out, x, y, depth);
            const int is_used = active && code >= used[0] && code <= used[1];
            wrong += is_used ? written < used[0] << shift || written > used[1] << shift
                             : written != sample;
        }
    }
    CHECK(!wrong, "%d bytes x %d, depth %d: %d samples are wrong", in->width, in->height, depth,
          wrong);
    if (!check_counts(stats, &c, depth))
        return;
    for (int i = 1; i < bins; i++)
        falls += stats->curve[i] < stats->curve[i - 1];
    CHECK(!falls && stats->curve[bins - 1] / 65536.0 < 1 << depth, "the curve falls %d times",
          falls);
    CHECK(stats->values.mean_out >= 0 && stats->values.mean_out <= (1 << depth) - 1,
          "the output has a mean of %g", stats->values.mean_out);
}

static inline void check_stats(const FrameStats *stats, const CheckRect *in, const CheckRect *out)
{
    check_stats_at(stats, in, out, 8, 0, 0);
}

typedef struct Format {
    int depth, shift;
} Format;

static const Format formats[] = {{8, 0},  {9, 0},  {9, 7},  {10, 0}, {10, 6}, {11, 5}, {12, 0},
                                 {12, 4}, {13, 0}, {14, 0}, {14, 2}, {15, 1}, {16, 0}};

#define FORMATS ((int)(sizeof(formats) / sizeof(formats[0])))

/* A film of one format and size, at 25 frames a second. */
typedef struct Film {
    LumeqEqualizer *eq;
    Format format;
    LumeqRange range;
    int width, height;
    CheckRect in, out;
    FrameStats stats; /* of the last frame */
    int frames;
} Film;

static inline Film film_open(LumeqBackendId id, Format format, LumeqRange range,
                             const LumeqParams *params, int width, int height)
{
    const int row = width * (format.depth > 8 ? 2 : 1);
    Film f = {.eq = must_open(id, 2),
              .format = format,
              .range = range,
              .width = width,
              .height = height,
              .in = check_rect(row, height, row, 0, 0),
              .out = check_rect(row, height, -(row + 6), 2, 64)};
    set_params(f.eq, params);
    return f;
}

static inline void film_close(Film *f)
{
    lumeq_destroy(&f->eq);
    check_rect_free(&f->in);
    check_rect_free(&f->out);
}

/* Sets pixel i, counted row by row. */
static inline void set_code(const Film *f, int i, int code)
{
    const int sample = code << f->format.shift;
    if (f->format.depth == 8) {
        f->in.pixels[i] = (uint8_t)sample;
    } else {
        f->in.pixels[2 * i] = (uint8_t)sample;
        f->in.pixels[2 * i + 1] = (uint8_t)(sample >> 8);
    }
}

static inline int film_code(const Film *f, const CheckRect *rect, int i)
{
    const int size = f->format.depth > 8 ? 2 : 1;
    return code_at(rect, i % f->width * size, i / f->width, f->format.depth, f->format.shift);
}

static inline int in_code(const Film *f, int i)
{
    return film_code(f, &f->in, i);
}

static inline int out_code(const Film *f, int i)
{
    return film_code(f, &f->out, i);
}

static inline LumeqFrame film_frame(Film *f)
{
    return frame_at_depth(frame_of(&f->in, &f->out, f->range, f->frames++ * INT64_C(40000000)),
                          f->format.depth, f->format.shift);
}

static inline void film_run(Film *f)
{
    const LumeqFrame frame = film_frame(f);
    run_frame(f->eq, &frame, &f->stats);
    CHECK(check_rect_intact(&f->out), "depth %d: writes outside", f->format.depth);
}

#endif
