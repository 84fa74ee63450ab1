/* lumeq-bench equalize: measures whole frames through the library, and the copies that limit them.
 * It first compares frames of each case with plain C on one thread. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/engine.h"
#include "bench/bench.h"
#include "bench/gpu.h"
#include "lumeq/lumeq.h"

typedef struct EqualizeMode {
    const char *name;
    LumeqMode mode;
    int reference;
} EqualizeMode;

#define MODES "global|clahe|stretch|off|reference|clahe-reference"

static const EqualizeMode modes[] = {
    {"global", LUMEQ_MODE_GLOBAL, 0},    {"clahe", LUMEQ_MODE_CLAHE, 0},
    {"stretch", LUMEQ_MODE_STRETCH, 0},  {"off", LUMEQ_MODE_OFF, 0},
    {"reference", LUMEQ_MODE_GLOBAL, 1}, {"clahe-reference", LUMEQ_MODE_CLAHE, 1},
};

typedef struct EqualizeOptions {
    BenchPictures pictures;
    BenchList backends, modes; /* backends: cpu, cuda; none: all available ones */
    int threads, batch;
    double seconds;
} EqualizeOptions;

/* A case is one row of the report. */
typedef struct EqualizeCase {
    const EqualizeOptions *options;
    char content[32];
    const EqualizeMode *mode;
    int on_gpu;
    BenchPicture picture;
} EqualizeCase;

/* Results, in microseconds per frame; NAN: not measured. See print_columns(). */
typedef struct EqualizeTimes {
    double cpu_total, chroma, resident, resident_chroma, host_total, frame, duplex;
} EqualizeTimes;

/* Number of input (and output) pictures, without and with batches: more than can be in flight. */
#define FEW_PICTURES 8
#define MOST_PICTURES 72

/* Limits of the number of frames that are timed alone. */
#define MAX_FRAMES 4096
#define MIN_FRAMES 3

/* Frames and copies are timed alternately this many times; the report has the medians. */
#define ROUNDS 5

#define CHROMA 100          /* smallest 8-bit chroma code */
#define CHROMA_CODES 56     /* number of chroma codes */
#define FRAME_TIME 16666667 /* nanoseconds: 60 frames per second */

/* An equalizer and the pictures that it works on, in a ring. */
typedef struct Feed {
    const EqualizeCase *of;
    LumeqEqualizer *eq;
    LumeqImage in[MOST_PICTURES], out[MOST_PICTURES];
    int pictures; /* number of pictures in the ring */
    int planes;   /* 1: luma alone; 3: with 4:2:0 chroma */
    int submitted, received;
} Feed;

/* ---- images ---- */

static LumeqParams params_of(const EqualizeMode *mode)
{
    LumeqParams params = {.size = sizeof(params)};
    lumeq_params_default(&params);
    params.mode = mode->mode;
    params.reference = mode->reference;
    return params;
}

static size_t row_size(const BenchPicture *p, int plane)
{
    return (size_t)(plane ? (p->width + 1) / 2 : p->width) * (p->depth > 8 ? 2 : 1);
}

static size_t rows(const BenchPicture *p, int plane)
{
    return (size_t)(plane ? (p->height + 1) / 2 : p->height);
}

static size_t image_size(const BenchPicture *p, int planes)
{
    size_t size = 0;
    for (int i = 0; i < planes; i++)
        size += row_size(p, i) * rows(p, i);
    return size;
}

static LumeqImage image_at(const BenchPicture *p, void *memory, int planes)
{
    LumeqImage image = {
        .width = p->width, .height = p->height, .chroma_x = 1, .chroma_y = 1, .depth = p->depth};
    for (int i = 0; i < planes; i++) {
        image.plane[i] = (uint8_t *)memory + image_size(p, i);
        image.stride[i] = (ptrdiff_t)row_size(p, i);
    }
    return image;
}

static void *allocate(const BenchPicture *p, int planes)
{
    const size_t size = image_size(p, planes);
    void *memory = size ? malloc(size) : NULL;
    if (!memory)
        bench_fail("equalize", "out of memory");
    return memory;
}

static int sample_at(const LumeqImage *image, int plane, size_t offset)
{
    const uint8_t *const at = (const uint8_t *)image->plane[plane] + offset;
    return image->depth > 8 ? at[0] | at[1] << 8 : at[0];
}

static int compare(const EqualizeCase *c, const char *what, const LumeqImage *got,
                   const LumeqImage *expected)
{
    const size_t sample = got->depth > 8 ? 2 : 1;
    for (int i = 0; i < 3 && got->plane[i]; i++) {
        const uint8_t *const a = got->plane[i], *const b = expected->plane[i];
        const size_t stride = (size_t)got->stride[i];
        size_t at = 0;
        if (!memcmp(a, b, stride * rows(&c->picture, i)))
            continue;
        while (a[at] == b[at])
            at++;
        at -= at % sample;
        return bench_fail("equalize",
                          "%s, %dx%d %s: %s: sample %zu of row %zu of plane %d is %d; expected "
                          "%d",
                          c->on_gpu ? "cuda" : "cpu", got->width, got->height, c->content, what,
                          at % stride / sample, at / stride, i, sample_at(got, i, at),
                          sample_at(expected, i, at));
    }
    return 0;
}

/* ---- equalizers ---- */

static int open_equalizer(LumeqEqualizer **eq, const LumeqConfig *config, const LumeqParams *params)
{
    char why[256] = "";
    if (lumeq_create(eq, config, why, sizeof(why)) < 0)
        return bench_fail("equalize", "%s", why);
    if (lumeq_set_params(*eq, params) == 0)
        return 0;
    bench_fail("equalize", "%s", lumeq_last_error(*eq));
    lumeq_destroy(eq);
    return -1;
}

/* `previous`: the frame before `in`, or NULL. */
static int submit(LumeqEqualizer *eq, const LumeqImage *in, const LumeqImage *previous,
                  const LumeqImage *out, int number)
{
    const LumeqFrame frame = {
        .in = *in, .out = *out, .time = number * (int64_t)FRAME_TIME, .previous = previous};
    return lumeq_submit(eq, &frame);
}

static int equalize_one(LumeqEqualizer *eq, const LumeqImage *in, const LumeqImage *previous,
                        const LumeqImage *out, int number)
{
    int ret = submit(eq, in, previous, out, number);
    lumeq_flush(eq);
    if (ret == 0)
        ret = lumeq_receive(eq, NULL, NULL);
    return ret < 0 ? bench_fail("equalize", "%s", lumeq_last_error(eq)) : 0;
}

/* ---- feeding ---- */

static int alloc_pictures(Feed *feed, LumeqMemory memory)
{
    LumeqContext *context = lumeq_get_context(feed->eq);
    const BenchPicture *picture = &feed->of->picture;
    const size_t size = image_size(picture, feed->planes);
    for (int i = 0; i < 2 * feed->pictures; i++) {
        LumeqImage *image = i % 2 ? &feed->out[i / 2] : &feed->in[i / 2];
        void *at = memory == LUMEQ_MEMORY_CUDA ? lumeq_alloc_device(context, size)
                                               : lumeq_alloc_host(context, size);
        if (!at)
            return bench_fail("equalize", "no memory for %d pictures of %zu bytes",
                              2 * feed->pictures, size);
        *image = image_at(picture, at, feed->planes);
        image->memory = memory;
    }
    return 0;
}

static void free_pictures(const Feed *feed)
{
    LumeqContext *context = lumeq_get_context(feed->eq);
    for (int i = 0; i < 2 * feed->pictures; i++) {
        const LumeqImage *image = i % 2 ? &feed->out[i / 2] : &feed->in[i / 2];
        (image->memory == LUMEQ_MEMORY_CUDA ? lumeq_free_device : lumeq_free_host)(context,
                                                                                   image->plane[0]);
    }
}

static void feed_close(Feed *feed)
{
    if (feed->eq)
        free_pictures(feed);
    lumeq_destroy(&feed->eq);
}

/* Fills luma with the picture, moved by some samples, so that the noise of frames differs. */
static void fill_luma(const LumeqImage *image, const BenchPicture *picture, int samples)
{
    const size_t size = image_size(picture, 1),
                 moved = (size_t)samples * (picture->depth > 8 ? 2 : 1);
    uint8_t *const to = image->plane[0];
    memcpy(to, picture->luma, moved);
    memcpy(to + moved, picture->luma, size - moved);
}

/* Fills chroma with colours on both sides of gray. */
static void fill_chroma(const LumeqImage *image, const BenchPicture *picture)
{
    for (int i = 1; i < 3; i++)
        for (size_t y = 0; y < rows(picture, i); y++) {
            uint8_t *const row = (uint8_t *)image->plane[i] + y * row_size(picture, i);
            for (int x = 0; x < (picture->width + 1) / 2; x++) {
                const int code = CHROMA + x % CHROMA_CODES;
                if (picture->depth > 8)
                    ((uint16_t *)(void *)row)[x] = (uint16_t)(code << (picture->depth - 8));
                else
                    row[x] = (uint8_t)code;
            }
        }
}

static int feed_open(Feed *feed, const EqualizeCase *c, int planes)
{
    const LumeqParams params = params_of(c->mode);
    const BenchPicture *picture = &c->picture;
    const LumeqConfig config = {.size = sizeof(config),
                                .backend = c->on_gpu ? LUMEQ_BACKEND_CUDA : LUMEQ_BACKEND_CPU,
                                .device = c->options->pictures.device,
                                .threads = c->options->threads,
                                .cpu_without = engine_cpu_without(),
                                .no_stage_times = 1,
                                .batch = c->options->batch};
    *feed = (Feed){.of = c,
                   .pictures = c->options->batch > 1 ? MOST_PICTURES : FEW_PICTURES,
                   .planes = planes};
    if (open_equalizer(&feed->eq, &config, &params) < 0)
        return -1;
    if (alloc_pictures(feed, LUMEQ_MEMORY_HOST) < 0) {
        feed_close(feed);
        return -1;
    }
    for (int i = 0; i < feed->pictures; i++) {
        fill_luma(&feed->in[i], picture, i % 2);
        if (planes > 1)
            fill_chroma(&feed->in[i], picture);
        memset(feed->out[i].plane[0], 0, image_size(picture, planes));
    }
    return 0;
}

static const LumeqImage *before(const Feed *feed, int picture)
{
    return &feed->in[(picture + feed->pictures - 1) % feed->pictures];
}

/* Submits the next frames until the library accepts no more, or `end` frames have been submitted.
 * Then receives the oldest frame. */
static int feed_step(Feed *feed, int end)
{
    int ret = 0;
    while (ret == 0 && feed->submitted < end) {
        const int i = feed->submitted % feed->pictures;
        ret = submit(feed->eq, &feed->in[i], before(feed, i), &feed->out[i], feed->submitted);
        feed->submitted += ret == 0;
    }
    if (feed->submitted == end)
        lumeq_flush(feed->eq);
    if (ret == 0 || ret == LUMEQ_ERR_AGAIN)
        ret = lumeq_receive(feed->eq, NULL, NULL);
    feed->received += ret == 0;
    return ret < 0 ? bench_fail("equalize", "%s", lumeq_last_error(feed->eq)) : 0;
}

/* Fails if the GPU was lost, because the library then continues on the CPU. */
static int check_backend(const Feed *feed)
{
    return strcmp(lumeq_backend_name(feed->eq), feed->of->on_gpu ? "cuda" : "cpu")
               ? bench_fail("equalize", "%s", lumeq_last_error(feed->eq))
               : 0;
}

/* Measures the time per frame with as many frames in flight as possible. */
static int time_frames(Feed *feed, double seconds, double *us)
{
    for (int i = 0; i < 2 * feed->pictures; i++)
        if (feed_step(feed, INT32_MAX) < 0)
            return -1;
    const int first = feed->received;
    const double start = bench_now_us();
    double now = start;
    while (now - start < seconds * 1e6) {
        if (feed_step(feed, INT32_MAX) < 0)
            return -1;
        now = bench_now_us();
    }
    *us = (now - start) / (feed->received - first);
    while (feed->received < feed->submitted)
        if (feed_step(feed, feed->submitted) < 0)
            return -1;
    return check_backend(feed);
}

/* Measures the median time of a frame alone, from before it is submitted until it is received. */
static int time_alone(Feed *feed, double seconds, double *us)
{
    static double times[MAX_FRAMES];
    int count = -MIN_FRAMES; /* warm-ups come first */
    const double end = bench_now_us() + seconds * 1e6;
    while (count < MIN_FRAMES || (count < MAX_FRAMES && bench_now_us() < end)) {
        const int i = feed->submitted % feed->pictures;
        const double start = bench_now_us();
        if (equalize_one(feed->eq, &feed->in[i], before(feed, i), &feed->out[i],
                         feed->submitted++) < 0)
            return -1;
        if (count >= 0)
            times[count] = bench_now_us() - start;
        count++;
    }
    feed->received = feed->submitted;
    *us = bench_median(times, count);
    return check_backend(feed);
}

/* ---- checks ---- */

/* Runs the first frames, with as many in flight as possible, and compares them with plain C. Call
 * it before other functions use the feed. */
static int feed_check(Feed *feed)
{
    const LumeqConfig config = {
        .size = sizeof(config), .backend = LUMEQ_BACKEND_CPU, .threads = 1, .cpu_without = ~0u};
    const LumeqParams params = params_of(feed->of->mode);
    const BenchPicture *picture = &feed->of->picture;
    void *const memory = allocate(picture, feed->planes);
    const LumeqImage expected = image_at(picture, memory, feed->planes);
    LumeqEqualizer *plain = NULL;
    int ret = memory ? 0 : -1;
    while (ret == 0 && feed->received < feed->pictures)
        ret = feed_step(feed, feed->pictures);
    if (ret == 0)
        ret = check_backend(feed);
    if (ret == 0)
        ret = open_equalizer(&plain, &config, &params);
    for (int i = 0; i < feed->pictures && ret == 0; i++) {
        char what[48];
        snprintf(what, sizeof(what), "frame %d of the library", i);
        ret = equalize_one(plain, &feed->in[i], before(feed, i), &expected, i);
        if (ret == 0)
            ret = compare(feed->of, what, &feed->out[i], &expected);
    }
    lumeq_destroy(&plain);
    free(memory);
    return ret;
}

/* ---- frames in GPU memory ---- */

/* Equalizes the first frames in GPU memory and compares them with those of feed_check(). */
static int check_resident(Feed *resident, const Feed *feed, LumeqEqualizer *copier)
{
    const BenchPicture *picture = &feed->of->picture;
    void *const memory = allocate(picture, feed->planes);
    const LumeqImage got = image_at(picture, memory, feed->planes);
    int ret = memory ? 0 : -1;
    lumeq_reset(feed->eq);
    for (int i = 0; i < feed->pictures && ret == 0; i++)
        ret = equalize_one(feed->eq, &resident->in[i], before(resident, i), &resident->out[i], i);
    for (int i = 0; i < feed->pictures && ret == 0; i++) {
        ret = equalize_one(copier, &resident->out[i], NULL, &got, i);
        if (ret == 0)
            ret = compare(feed->of, "a frame in GPU memory", &got, &feed->out[i]);
    }
    free(memory);
    return ret;
}

/* Like time_frames(), with copies of the pictures that stay in GPU memory. Call it right after
 * feed_check(). */
static int time_resident(const Feed *feed, double seconds, double *us)
{
    const LumeqConfig config = {.size = sizeof(config),
                                .backend = LUMEQ_BACKEND_CUDA,
                                .device = feed->of->options->pictures.device};
    LumeqParams params = {.size = sizeof(params)};
    LumeqEqualizer *copier = NULL;
    Feed resident = {.of = feed->of,
                     .eq = feed->eq,
                     .pictures = feed->pictures,
                     .planes = feed->planes,
                     .submitted = feed->pictures,
                     .received = feed->pictures};
    lumeq_params_default(&params);
    params.mode = LUMEQ_MODE_OFF;
    int ret = open_equalizer(&copier, &config, &params);
    if (ret == 0)
        ret = alloc_pictures(&resident, LUMEQ_MEMORY_CUDA);
    for (int i = 0; i < feed->pictures && ret == 0; i++)
        ret = equalize_one(copier, &feed->in[i], NULL, &resident.in[i], i);
    if (ret == 0)
        ret = check_resident(&resident, feed, copier);
    if (ret == 0)
        ret = time_frames(&resident, seconds, us);
    free_pictures(&resident);
    lumeq_destroy(&copier);
    return ret;
}

/* ---- measurements ---- */

static int measure_cpu(Feed *feed, EqualizeTimes *t)
{
    const double seconds = feed->of->options->seconds;
    const int ret = time_alone(feed, seconds, &t->cpu_total);
    return ret < 0 ? ret : time_frames(feed, seconds, &t->frame);
}

static int measure_gpu(Feed *feed, EqualizeTimes *t)
{
    const EqualizeCase *c = feed->of;
    const double seconds = c->options->seconds / ROUNDS;
    double frame[ROUNDS], duplex[ROUNDS];
    int ret = time_resident(feed, seconds, &t->resident);
    for (int i = 0; i < ROUNDS && ret == 0; i++) {
        ret = bench_copies(&duplex[i], c->options->pictures.device, image_size(&c->picture, 1),
                           seconds);
        if (ret == 0)
            ret = time_frames(feed, seconds, &frame[i]);
    }
    if (ret == 0)
        ret = time_alone(feed, seconds, &t->host_total);
    if (ret < 0)
        return ret;
    t->frame = bench_median(frame, ROUNDS);
    t->duplex = bench_median(duplex, ROUNDS);
    return 0;
}

static int measure(const EqualizeCase *c, EqualizeTimes *t)
{
    Feed feed = {0};
    int ret = feed_open(&feed, c, 1);
    if (ret == 0)
        ret = feed_check(&feed);
    if (ret == 0)
        ret = (c->on_gpu ? measure_gpu : measure_cpu)(&feed, t);
    feed_close(&feed);
    if (ret == 0)
        ret = feed_open(&feed, c, 3);
    if (ret == 0)
        ret = feed_check(&feed);
    if (ret == 0)
        ret = c->on_gpu ? time_resident(&feed, c->options->seconds, &t->resident_chroma)
                        : time_alone(&feed, c->options->seconds, &t->chroma);
    feed_close(&feed);
    return ret;
}

/* ---- options ---- */

const BenchOption bench_equalize_options[] = {
    BENCH_PICTURE_OPTIONS("1920x1080,3840x2160", "natural,noise,flat", "8|10|12|16"),
    {"--backend", "NAME,..", "cpu, cuda [all available]",
     BENCH_STORE(LIST, EqualizeOptions, backends), .allowed = "cpu|cuda"},
    {"--modes", "NAME,..", "modes: " MODES " [global]", BENCH_STORE(LIST, EqualizeOptions, modes),
     .allowed = MODES},
    {"--threads", "N", "CPU threads; 0: one per core [0]",
     BENCH_RANGE(INT, EqualizeOptions, threads, 0, 256)},
    {"--batch", "N", "launch up to N frames at once on a GPU [1]",
     BENCH_RANGE(INT, EqualizeOptions, batch, 1, LUMEQ_MAX_BATCH)},
    {"--seconds", "S", "duration of a measurement; see below [1]",
     BENCH_RANGE(DOUBLE, EqualizeOptions, seconds, 0.01, 3600)},
    BENCH_FORMAT_OPTIONS,
};

static void print_columns(void)
{
    printf("\nMeasured columns of --csv, with the table's headings; luma only, except \"chroma\".\n"
           "A value that was not measured is empty with --csv, and \"-\" in the table.\n"
           "  cpu_total_us, CPU us           time of one frame alone on the CPU\n"
           "  chroma_us, +chroma             the same with 4:2:0 chroma; most modes scale it\n"
           "  resident_us, live us           time per frame in GPU memory, many in flight\n"
           "  resident_chroma_us, +chroma    the same with 4:2:0 chroma\n"
           "  host_total_us, host us         time of one frame alone from and to pinned memory\n"
           "  frames_per_s, frames/s         rate from host memory to host memory (pinned for a\n"
           "                                 GPU), with as many frames in flight as possible\n"
           "  duplex_frames_per_s, duplex/s  rate of copies alone, in both directions at once\n"
           "  share_of_duplex, share         frames_per_s / duplex_frames_per_s\n\n"
           "A measurement takes --seconds, or less after 4096 single frames. On a GPU it takes\n"
           "a fifth of that (resident_chroma_us: all), and rates are medians of five runs.\n"
           "The first frames of each case must equal those of plain C on one thread, bit for\n"
           "bit; otherwise there is no row, and the exit code is 1.\n\n"
           "For comparison: CV-CUDA publishes 25.4 us for HistogramEq, 19.6 for CLAHE and 3.0\n"
           "for Histogram: 1080p, one channel, H100 PCIe at 1,095 MHz, batches of 16, 64 and\n"
           "128 independent pictures. lumeq's frames depend on each other, and modes global\n"
           "and clahe also find black bars and measure noise.\n" BENCH_ORIGIN_HELP);
}

static int read_options(EqualizeOptions *o, int argc, char **argv)
{
    *o = (EqualizeOptions){.pictures = {.bits = "8",
                                        .contents = {3, {BENCH_NATURAL, BENCH_NOISE, BENCH_FLAT}},
                                        .common.seed = 1},
                           .modes.count = 1,
                           .batch = 1,
                           .seconds = 1};
    bench_take_sizes(o, "1920x1080,3840x2160");
    const int ret = bench_arguments("equalize", bench_equalize_options, o, argc, argv);
    if (ret > 0)
        print_columns();
    for (int i = 0; i < o->modes.count && ret == 0; i++) {
        const EqualizeMode *mode = &modes[o->modes.items[i]];
        if (mode->reference && strcmp(o->pictures.bits, "8") != 0)
            return bench_fail("equalize", "mode %s is for --depth 8, not %s", mode->name,
                              o->pictures.bits);
    }
    return ret;
}

/* ---- rows ---- */

static int run_case(const EqualizeCase *c)
{
    EqualizeTimes t = {NAN, NAN, NAN, NAN, NAN, NAN, NAN};
    char size[32];
    if (measure(c, &t) < 0)
        return -1;
    snprintf(size, sizeof(size), "%dx%d", c->picture.width, c->picture.height);
    const double cores = fmin(fmax((double)sysconf(_SC_NPROCESSORS_ONLN), 1), 256);
    const double threads =
        c->options->threads ? c->options->threads : cores; /* the library's default */
    bench_text("size", "size", 9, size);
    bench_text("content", "content", 9, c->content);
    bench_text("backend", "backend", 7, c->on_gpu ? "cuda" : "cpu");
    bench_text("mode", "mode", 8, c->mode->name);
    bench_number("depth", NULL, 0, 0, c->picture.depth);
    bench_number("threads", "thr", 3, 0, c->on_gpu ? NAN : threads);
    bench_number("device", "GPU", 3, 0, c->on_gpu ? c->options->pictures.device : NAN);
    bench_number("batch", "batch", 5, 0, c->on_gpu ? c->options->batch : NAN);
    bench_number("cpu_total_us", "CPU us", 9, 2, t.cpu_total);
    bench_number("chroma_us", "+chroma", 8, 2, t.chroma);
    bench_number("resident_us", "live us", 8, 2, t.resident);
    bench_number("resident_chroma_us", "+chroma", 8, 2, t.resident_chroma);
    bench_number("host_total_us", "host us", 8, 1, t.host_total);
    bench_number("frames_per_s", "frames/s", 9, 1, 1e6 / t.frame);
    bench_number("duplex_frames_per_s", "duplex/s", 9, 1, 1e6 / t.duplex);
    bench_number("share_of_duplex", "share", 5, 3, t.duplex / t.frame);
    bench_end_row();
    return 0;
}

int bench_equalize(int argc, char **argv)
{
    static EqualizeOptions o;
    const BenchPictures *const p = &o.pictures;
    char gpu[128] = "";
    int ret = read_options(&o, argc, argv);
    if (ret)
        return ret < 0;
    const int all = !o.backends.count, needs_gpu = bench_list_has(&o.backends, 1);
    int has_gpu = 0;
    if (needs_gpu || all)
        has_gpu =
            bench_find_gpu("equalize", "backend cuda", p->device, needs_gpu, gpu, sizeof(gpu));
    if (has_gpu < 0)
        return 1;
    bench_report_begin(p->common.csv, bench_command_line(argc, argv), has_gpu ? gpu : NULL);
    for (int i = 0; i < p->sizes; i++)
        for (int k = 0; k < p->contents.count; k++) {
            EqualizeCase c = {.options = &o};
            bench_word(c.content, BENCH_CONTENTS, p->contents.items[k]);
            if (bench_make_picture(&c.picture, p, i, k) < 0)
                return 1;
            for (c.on_gpu = 0; c.on_gpu < 2; c.on_gpu++)
                for (int m = 0; m < o.modes.count; m++) {
                    c.mode = &modes[o.modes.items[m]];
                    if (c.on_gpu ? has_gpu : all || bench_list_has(&o.backends, 0))
                        ret |= run_case(&c);
                }
            free(c.picture.luma);
        }
    return ret != 0;
}
