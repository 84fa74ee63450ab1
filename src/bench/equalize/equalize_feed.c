#include "bench/equalize/equalize_feed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/engine.h"
#include "bench/bench.h"

/* Timings of single frames that are kept. */
#define MAX_FRAMES 4096
#define MIN_FRAMES 3

/* Of chroma, in each byte. */
#define CHROMA 100

/* Nanoseconds from one frame to the next: 60 a second. */
#define FRAME_TIME 16666667

static int samples_wide(const BenchPicture *p, int plane)
{
    return plane ? (p->width + 1) / 2 : p->width;
}

static int samples_high(const BenchPicture *p, int plane)
{
    return plane ? (p->height + 1) / 2 : p->height;
}

static size_t row_size(const BenchPicture *p, int plane)
{
    return (size_t)samples_wide(p, plane) * (p->depth > 8 ? 2 : 1);
}

size_t feed_image_size(const BenchPicture *p, int planes)
{
    size_t size = 0;
    for (int i = 0; i < planes; i++)
        size += row_size(p, i) * (size_t)samples_high(p, i);
    return size;
}

LumeqImage feed_image(const BenchPicture *p, void *memory, int planes)
{
    LumeqImage image = {
        .width = p->width, .height = p->height, .chroma_x = 1, .chroma_y = 1, .depth = p->depth};
    for (int i = 0; i < planes; i++) {
        image.plane[i] = memory ? (uint8_t *)memory + feed_image_size(p, i) : NULL;
        image.stride[i] = (ptrdiff_t)row_size(p, i);
    }
    return image;
}

LumeqImage feed_input(const BenchPicture *p, int planes)
{
    const size_t size = feed_image_size(p, planes), luma = feed_image_size(p, 1);
    uint8_t *const memory = malloc(size);
    if (memory) {
        memcpy(memory, p->luma, luma);
        memset(memory + luma, CHROMA, size - luma);
    } else {
        fprintf(stderr, "lumeq-bench: out of memory\n");
    }
    return feed_image(p, memory, planes);
}

static int open_equalizer(LumeqEqualizer **eq, const LumeqConfig *config, const LumeqParams *params)
{
    char why[256] = "";
    if (lumeq_create(eq, config, why, sizeof(why)) < 0) {
        fprintf(stderr, "lumeq-bench: %s\n", why);
        return -1;
    }
    if (lumeq_set_params(*eq, params) == 0)
        return 0;
    fprintf(stderr, "lumeq-bench: %s\n", lumeq_last_error(*eq));
    lumeq_destroy(eq);
    return -1;
}

/* The kernels without anything that a CPU may lack, on one thread: what all others have to equal.
 */
static int open_plain(LumeqEqualizer **eq, const LumeqParams *params)
{
    const LumeqConfig config = {
        .size = sizeof(config), .backend = LUMEQ_BACKEND_CPU, .threads = 1, .cpu_without = ~0u};
    return open_equalizer(eq, &config, params);
}

/* `previous`: the one before it in turn, or NULL. */
static int put_frame(LumeqEqualizer *eq, const LumeqImage *in, const LumeqImage *previous,
                     const LumeqImage *out, int number)
{
    const LumeqFrame frame = {
        .in = *in, .out = *out, .time = number * (int64_t)FRAME_TIME, .previous = previous};
    return lumeq_submit(eq, &frame);
}

static int say_error(LumeqEqualizer *eq)
{
    fprintf(stderr, "lumeq-bench: %s\n", lumeq_last_error(eq));
    return -1;
}

/* `stats` may be NULL. */
static int equalize_one(LumeqEqualizer *eq, const LumeqImage *in, const LumeqImage *previous,
                        const LumeqImage *out, int number, LumeqFrameStats *stats)
{
    int ret = put_frame(eq, in, previous, out, number);
    lumeq_flush(eq);
    if (ret == 0)
        ret = lumeq_receive(eq, NULL, stats);
    return ret < 0 ? say_error(eq) : 0;
}

void feed_close(Feed *feed)
{
    for (int i = 0; i < FEED_PICTURES && feed->eq; i++) {
        lumeq_free_host(feed->eq, feed->in[i].plane[0]);
        lumeq_free_host(feed->eq, feed->out[i].plane[0]);
    }
    lumeq_destroy(&feed->eq);
}

static int make_pictures(Feed *feed, const BenchPicture *picture)
{
    const size_t size = feed_image_size(picture, 1);
    for (int i = 0; i < FEED_PICTURES; i++) {
        feed->in[i] = feed_image(picture, lumeq_alloc_host(feed->eq, size), 1);
        feed->out[i] = feed_image(picture, lumeq_alloc_host(feed->eq, size), 1);
        if (!feed->in[i].plane[0] || !feed->out[i].plane[0]) {
            fprintf(stderr, "lumeq-bench: no memory for %d pictures of %zu bytes\n",
                    2 * FEED_PICTURES, size);
            return -1;
        }
        memcpy(feed->in[i].plane[0], picture->luma, size);
        memset(feed->out[i].plane[0], 0, size);
    }
    return 0;
}

int feed_open(Feed *feed, const EqualizeCase *c, int device)
{
    const LumeqParams params = equalize_params(c->mode);
    const int on_gpu = c->backend == EQUALIZE_CUDA;
    const LumeqConfig config = {.size = sizeof(config),
                                .backend = on_gpu ? LUMEQ_BACKEND_CUDA : LUMEQ_BACKEND_CPU,
                                .device = device,
                                .threads = c->threads,
                                .cpu_without = engine_cpu_without(),
                                .no_stage_times = 1};
    *feed = (Feed){.of = c};
    if (open_equalizer(&feed->eq, &config, &params) < 0)
        return -1;
    if (make_pictures(feed, &c->picture) == 0)
        return 0;
    feed_close(feed);
    return -1;
}

static const LumeqImage *before(const Feed *feed, int picture)
{
    return &feed->in[(picture + FEED_PICTURES - 1) % FEED_PICTURES];
}

/* Fills the slots, then takes the oldest frame. */
static int feed_step(Feed *feed)
{
    int ret = 0;
    while (ret == 0) {
        const int i = feed->submitted % FEED_PICTURES;
        ret = put_frame(feed->eq, &feed->in[i], before(feed, i), &feed->out[i], feed->submitted);
        feed->submitted += ret == 0;
    }
    if (ret == LUMEQ_ERR_AGAIN)
        ret = lumeq_receive(feed->eq, NULL, NULL);
    feed->received += ret == 0;
    return ret < 0 ? say_error(feed->eq) : 0;
}

/* A GPU that was lost is replaced by the CPU, which is not what was to be measured. */
static int still_there(const Feed *feed)
{
    const char *const wanted = equalize_backends[feed->of->backend];
    return strcmp(lumeq_backend_name(feed->eq), wanted) ? say_error(feed->eq) : 0;
}

static int drain(Feed *feed)
{
    int ret;
    lumeq_flush(feed->eq);
    while ((ret = lumeq_receive(feed->eq, NULL, NULL)) == 0)
        feed->received++;
    return ret == LUMEQ_ERR_END ? still_there(feed) : say_error(feed->eq);
}

int feed_time(Feed *feed, double seconds, double *us)
{
    for (int i = 0; i < 2 * FEED_PICTURES; i++)
        if (feed_step(feed) < 0)
            return -1;
    const int before = feed->received;
    const double start = bench_now_us();
    double now = start;
    while (now - start < seconds * 1e6) {
        if (feed_step(feed) < 0)
            return -1;
        now = bench_now_us();
    }
    *us = (now - start) / (feed->received - before);
    return drain(feed);
}

int feed_time_alone(Feed *feed, double seconds, double *us)
{
    static double times[MAX_FRAMES];
    int count = -MIN_FRAMES; /* warm-ups come first */
    const double end = bench_now_us() + seconds * 1e6;
    while (count < MIN_FRAMES || (count < MAX_FRAMES && bench_now_us() < end)) {
        const int i = feed->submitted % FEED_PICTURES;
        const double start = bench_now_us();
        if (equalize_one(feed->eq, &feed->in[i], before(feed, i), &feed->out[i], feed->submitted++,
                         NULL) < 0)
            return -1;
        if (count >= 0)
            times[count] = bench_now_us() - start;
        count++;
    }
    *us = bench_median(times, count);
    return still_there(feed);
}

static void free_resident(LumeqEqualizer *eq, Feed *resident)
{
    for (int i = 0; i < FEED_PICTURES; i++) {
        lumeq_free_device(eq, resident->in[i].plane[0]);
        lumeq_free_device(eq, resident->out[i].plane[0]);
    }
}

/* The feed's pictures in the GPU's memory. */
static int make_resident(Feed *resident, const Feed *feed, LumeqEqualizer *copier)
{
    const BenchPicture *picture = &feed->of->picture;
    const size_t size = feed_image_size(picture, 1);
    int ret = 0;
    for (int i = 0; i < FEED_PICTURES && ret == 0; i++) {
        resident->in[i] = feed_image(picture, lumeq_alloc_device(feed->eq, size), 1);
        resident->out[i] = feed_image(picture, lumeq_alloc_device(feed->eq, size), 1);
        resident->in[i].memory = resident->out[i].memory = LUMEQ_MEMORY_CUDA;
        if (!resident->in[i].plane[0] || !resident->out[i].plane[0]) {
            fprintf(stderr, "lumeq-bench: no GPU memory for %d pictures of %zu bytes\n",
                    2 * FEED_PICTURES, size);
            return -1;
        }
        ret = equalize_one(copier, &feed->in[i], NULL, &resident->in[i], i, NULL);
    }
    return ret;
}

/* The first frames are those that feed_check() has looked at. */
static int check_resident(Feed *resident, const Feed *feed, LumeqEqualizer *copier)
{
    const BenchPicture *picture = &feed->of->picture;
    void *const memory = malloc(feed_image_size(picture, 1));
    const LumeqImage got = feed_image(picture, memory, 1);
    int ret = memory ? 0 : -1;
    if (!memory)
        fprintf(stderr, "lumeq-bench: out of memory\n");
    lumeq_reset(feed->eq);
    for (int i = 0; i < FEED_PICTURES && ret == 0; i++)
        ret = equalize_one(feed->eq, &resident->in[i], before(resident, i), &resident->out[i], i,
                           NULL);
    for (int i = 0; i < FEED_PICTURES && ret == 0; i++) {
        ret = equalize_one(copier, &resident->out[i], NULL, &got, i, NULL);
        if (ret == 0)
            ret = feed_compare(feed->of, "a frame in the GPU's memory", &got, &feed->out[i]);
    }
    free(memory);
    return ret;
}

int feed_time_resident(const Feed *feed, int device, double seconds, double *us)
{
    const LumeqConfig config = {
        .size = sizeof(config), .backend = LUMEQ_BACKEND_CUDA, .device = device};
    LumeqParams params = {.size = sizeof(params)};
    LumeqEqualizer *copier = NULL;
    Feed resident = {.of = feed->of, .eq = feed->eq, .submitted = FEED_PICTURES};
    lumeq_params_default(&params);
    params.mode = LUMEQ_MODE_OFF;
    int ret = open_equalizer(&copier, &config, &params);
    if (ret == 0)
        ret = make_resident(&resident, feed, copier);
    if (ret == 0)
        ret = check_resident(&resident, feed, copier);
    if (ret == 0)
        ret = feed_time(&resident, seconds, us);
    free_resident(feed->eq, &resident);
    lumeq_destroy(&copier);
    return ret;
}

int feed_time_duplex(const Feed *feed, int device, double seconds, double *us)
{
    char text[256] = "";
    void *up[FEED_PICTURES], *down[FEED_PICTURES];
    for (int i = 0; i < FEED_PICTURES; i++) {
        up[i] = feed->in[i].plane[0];
        down[i] = feed->out[i].plane[0];
    }
    const size_t size = feed_image_size(&feed->of->picture, 1);
    const int warm = 2 * FEED_PICTURES;
    int ret = bench_duplex(us, device, up, down, FEED_PICTURES, size, warm, text, sizeof(text));
    const int count = ret < 0 ? 0 : 1 + (int)(seconds * 1e6 / *us);
    if (ret == 0)
        ret = bench_duplex(us, device, up, down, FEED_PICTURES, size, count, text, sizeof(text));
    if (ret < 0)
        fprintf(stderr, "lumeq-bench: %s\n", text);
    return ret;
}

int feed_expected(LumeqImage *out, const LumeqImage *in, const EqualizeMode *mode)
{
    LumeqParams params = equalize_params(mode);
    const int planes = in->plane[1] ? 3 : 1;
    const BenchPicture picture = {NULL, in->width, in->height, in->depth};
    LumeqEqualizer *eq = NULL;
    params.bars = LUMEQ_BARS_IGNORE;
    *out = feed_image(&picture, malloc(feed_image_size(&picture, planes)), planes);
    if (!out->plane[0])
        fprintf(stderr, "lumeq-bench: out of memory\n");
    const int ret = !out->plane[0] || open_plain(&eq, &params) < 0
                        ? -1
                        : equalize_one(eq, in, NULL, out, 0, NULL);
    lumeq_destroy(&eq);
    return ret;
}

static int sample_at(const LumeqImage *image, int plane, size_t offset)
{
    const uint8_t *const at = (const uint8_t *)image->plane[plane] + offset;
    return image->depth > 8 ? at[0] | at[1] << 8 : at[0];
}

static int say_difference(const EqualizeCase *c, const char *what, const LumeqImage *got,
                          const LumeqImage *expected, int plane, size_t at)
{
    const size_t stride = (size_t)got->stride[plane];
    const size_t sample = got->depth > 8 ? 2 : 1;
    fprintf(stderr,
            "lumeq-bench equalize: %s, %dx%d %s: %s: sample %zu of row %zu of plane %d is %d; "
            "expected %d\n",
            equalize_backends[c->backend], got->width, got->height, c->content, what,
            at % stride / sample, at / stride, plane, sample_at(got, plane, at / sample * sample),
            sample_at(expected, plane, at / sample * sample));
    return -1;
}

/* Neither has gaps. */
int feed_compare(const EqualizeCase *c, const char *what, const LumeqImage *got,
                 const LumeqImage *expected)
{
    for (int i = 0; i < 3 && got->plane[i]; i++) {
        const uint8_t *const a = got->plane[i], *const b = expected->plane[i];
        const size_t size = (size_t)got->stride[i] * (size_t)samples_high(&c->picture, i);
        size_t at = 0;
        if (!memcmp(a, b, size))
            continue;
        while (a[at] == b[at])
            at++;
        return say_difference(c, what, got, expected, i, at);
    }
    return 0;
}

static int compare_bins(const EqualizeCase *c, const char *what, const char *which,
                        const uint32_t *got, const uint32_t *expected, int bins)
{
    for (int i = 0; i < bins; i++)
        if (got[i] != expected[i]) {
            fprintf(stderr,
                    "lumeq-bench equalize: %s, %dx%d %s: %s: %s: bin %d is %u; expected %u\n",
                    equalize_backends[c->backend], c->picture.width, c->picture.height, c->content,
                    what, which, i, got[i], expected[i]);
            return -1;
        }
    return 0;
}

/* Histogram and curve, as the library tells them. */
typedef struct Told {
    LumeqFrameStats stats;
    uint32_t hist_in[LUMEQ_MAX_BINS], curve[LUMEQ_MAX_BINS];
} Told;

static LumeqFrameStats *ask(Told *told)
{
    told->stats = (LumeqFrameStats){
        .size = sizeof(told->stats), .hist_in = told->hist_in, .curve = told->curve};
    return &told->stats;
}

static int compare_stats(const EqualizeCase *c, const char *what, const Told *got,
                         const Told *expected)
{
    const int bins = expected->stats.bins;
    const int ret = compare_bins(c, what, "histogram", got->hist_in, expected->hist_in, bins);
    return ret < 0 ? ret : compare_bins(c, what, "curve", got->curve, expected->curve, bins);
}

/* Plain C makes the same of each frame in turn. */
static int compare_frames(const Feed *feed, const Told *told, LumeqEqualizer *plain,
                          Told *expected_told)
{
    const BenchPicture *picture = &feed->of->picture;
    void *const memory = malloc(feed_image_size(picture, 1));
    const LumeqImage expected = feed_image(picture, memory, 1);
    int ret = memory ? 0 : -1;
    if (!memory)
        fprintf(stderr, "lumeq-bench: out of memory\n");
    for (int i = 0; i < FEED_PICTURES && ret == 0; i++) {
        char what[32];
        snprintf(what, sizeof(what), "frame %d of the library", i);
        ret = equalize_one(plain, &feed->in[i], before(feed, i), &expected, i, ask(expected_told));
        if (ret == 0)
            ret = feed_compare(feed->of, what, &feed->out[i], &expected);
        if (ret == 0)
            ret = compare_stats(feed->of, what, &told[i], expected_told);
    }
    free(memory);
    return ret;
}

/* The first frames with the slots full, and what is told of them. */
static int run_frames(Feed *feed, Told *told)
{
    for (int received = 0; received < FEED_PICTURES; received++) {
        int ret = 0;
        while (ret == 0 && feed->submitted < FEED_PICTURES) {
            const int i = feed->submitted;
            ret = put_frame(feed->eq, &feed->in[i], before(feed, i), &feed->out[i], i);
            feed->submitted += ret == 0;
        }
        if (feed->submitted == FEED_PICTURES)
            lumeq_flush(feed->eq);
        if (ret == 0 || ret == LUMEQ_ERR_AGAIN)
            ret = lumeq_receive(feed->eq, NULL, ask(&told[received]));
        if (ret < 0)
            return say_error(feed->eq);
    }
    return still_there(feed);
}

int feed_check(Feed *feed)
{
    const LumeqParams params = equalize_params(feed->of->mode);
    Told *const told = calloc(FEED_PICTURES + 1, sizeof(*told));
    LumeqEqualizer *plain = NULL;
    if (!told)
        fprintf(stderr, "lumeq-bench: out of memory\n");
    int ret = told ? run_frames(feed, told) : -1;
    if (ret == 0)
        ret = open_plain(&plain, &params);
    if (ret == 0)
        ret = compare_frames(feed, told, plain, &told[FEED_PICTURES]);
    lumeq_destroy(&plain);
    free(told);
    return ret;
}
