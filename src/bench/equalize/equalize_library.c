/* Measures frames through the library, and the copies that limit them. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/engine.h"
#include "bench/copies.h"
#include "bench/equalize/equalize.h"

/* Pictures on the host for each direction, more than can be in flight: without batches, and with.
 */
#define FEW_PICTURES 8
#define MOST_PICTURES 72

/* Single frames that are timed. */
#define MAX_FRAMES 4096
#define MIN_FRAMES 3

/* Frames and copies alternate this many times; medians count. */
#define ROUNDS 5

#define CHROMA 100          /* byte of uniform chroma, */
#define CHROMA_CODES 56     /* or the first of this many codes */
#define FRAME_TIME 16666667 /* nanoseconds: 60 frames per second */
#define COPY_SECONDS 0.05

/* An equalizer and the pictures that it works on, in a ring. */
typedef struct Feed {
    const EqualizeCase *of;
    LumeqEqualizer *eq;
    LumeqImage in[MOST_PICTURES], out[MOST_PICTURES];
    int pictures; /* used in turn, more than there are frames in flight */
    int planes;   /* 1: luma alone; 3: with 4:2:0 chroma */
    int submitted, received;
} Feed;

const char *const equalize_backends[EQUALIZE_BACKENDS] = {"cpu", "naive", "improved", "cuda"};

/* ---- images ---- */

LumeqParams equalize_params(const EqualizeMode *mode)
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

size_t equalize_image_size(const BenchPicture *p, int planes)
{
    size_t size = 0;
    for (int i = 0; i < planes; i++)
        size += row_size(p, i) * rows(p, i);
    return size;
}

LumeqImage equalize_image(const BenchPicture *p, void *memory, int planes)
{
    LumeqImage image = {
        .width = p->width, .height = p->height, .chroma_x = 1, .chroma_y = 1, .depth = p->depth};
    for (int i = 0; i < planes; i++) {
        image.plane[i] = memory ? (uint8_t *)memory + equalize_image_size(p, i) : NULL;
        image.stride[i] = (ptrdiff_t)row_size(p, i);
    }
    return image;
}

static void *allocate(const BenchPicture *p, int planes)
{
    void *memory = malloc(equalize_image_size(p, planes));
    if (!memory)
        bench_refuse("equalize", "out of memory");
    return memory;
}

LumeqImage equalize_input(const BenchPicture *p, int planes)
{
    const size_t luma = equalize_image_size(p, 1);
    uint8_t *const memory = allocate(p, planes);
    if (memory) {
        memcpy(memory, p->luma, luma);
        memset(memory + luma, CHROMA, equalize_image_size(p, planes) - luma);
    }
    return equalize_image(p, memory, planes);
}

static int sample_at(const LumeqImage *image, int plane, size_t offset)
{
    const uint8_t *const at = (const uint8_t *)image->plane[plane] + offset;
    return image->depth > 8 ? at[0] | at[1] << 8 : at[0];
}

int equalize_compare(const EqualizeCase *c, const char *what, const LumeqImage *got,
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
        return bench_refuse("equalize",
                            "%s, %dx%d %s: %s: sample %zu of row %zu of plane %d is %d; expected "
                            "%d",
                            equalize_backends[c->backend], got->width, got->height, c->content,
                            what, at % stride / sample, at / stride, i, sample_at(got, i, at),
                            sample_at(expected, i, at));
    }
    return 0;
}

/* ---- equalizers ---- */

static int open_equalizer(LumeqEqualizer **eq, const LumeqConfig *config, const LumeqParams *params)
{
    char why[256] = "";
    if (lumeq_create(eq, config, why, sizeof(why)) < 0)
        return bench_refuse("equalize", "%s", why);
    if (lumeq_set_params(*eq, params) == 0)
        return 0;
    bench_refuse("equalize", "%s", lumeq_last_error(*eq));
    lumeq_destroy(eq);
    return -1;
}

/* Opens plain C on one thread: all other results must equal it. */
static int open_plain(LumeqEqualizer **eq, const LumeqParams *params)
{
    const LumeqConfig config = {
        .size = sizeof(config), .backend = LUMEQ_BACKEND_CPU, .threads = 1, .cpu_without = ~0u};
    return open_equalizer(eq, &config, params);
}

/* `previous`: the frame before it, or NULL. */
static int submit(LumeqEqualizer *eq, const LumeqImage *in, const LumeqImage *previous,
                  const LumeqImage *out, int number)
{
    const LumeqFrame frame = {
        .in = *in, .out = *out, .time = number * (int64_t)FRAME_TIME, .previous = previous};
    return lumeq_submit(eq, &frame);
}

/* `stats` may be NULL. */
static int equalize_one(LumeqEqualizer *eq, const LumeqImage *in, const LumeqImage *previous,
                        const LumeqImage *out, int number, LumeqFrameStats *stats)
{
    int ret = submit(eq, in, previous, out, number);
    lumeq_flush(eq);
    if (ret == 0)
        ret = lumeq_receive(eq, NULL, stats);
    return ret < 0 ? bench_refuse("equalize", "%s", lumeq_last_error(eq)) : 0;
}

int equalize_expected(LumeqImage *out, const LumeqImage *in, const EqualizeMode *mode)
{
    LumeqParams params = equalize_params(mode);
    const int planes = in->plane[1] ? 3 : 1;
    const BenchPicture picture = {NULL, in->width, in->height, in->depth};
    LumeqEqualizer *eq = NULL;
    params.bars = LUMEQ_BARS_IGNORE;
    *out = equalize_image(&picture, allocate(&picture, planes), planes);
    const int ret = !out->plane[0] || open_plain(&eq, &params) < 0
                        ? -1
                        : equalize_one(eq, in, NULL, out, 0, NULL);
    lumeq_destroy(&eq);
    return ret;
}

/* ---- feeding ---- */

static void feed_close(Feed *feed)
{
    for (int i = 0; i < feed->pictures && feed->eq; i++) {
        lumeq_free_host(lumeq_get_context(feed->eq), feed->in[i].plane[0]);
        lumeq_free_host(lumeq_get_context(feed->eq), feed->out[i].plane[0]);
    }
    lumeq_destroy(&feed->eq);
}

/* Colours on both sides of gray. */
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

static int feed_open(Feed *feed, const EqualizeCase *c, int device, int planes)
{
    const LumeqParams params = equalize_params(c->mode);
    const BenchPicture *picture = &c->picture;
    const size_t size = equalize_image_size(picture, planes);
    const LumeqConfig config = {.size = sizeof(config),
                                .backend = c->backend == EQUALIZE_CUDA ? LUMEQ_BACKEND_CUDA
                                                                       : LUMEQ_BACKEND_CPU,
                                .device = device,
                                .threads = c->threads,
                                .cpu_without = engine_cpu_without(),
                                .no_stage_times = 1,
                                .batch = c->batch};
    *feed =
        (Feed){.of = c, .pictures = c->batch > 1 ? MOST_PICTURES : FEW_PICTURES, .planes = planes};
    if (open_equalizer(&feed->eq, &config, &params) < 0)
        return -1;
    for (int i = 0; i < feed->pictures; i++) {
        feed->in[i] =
            equalize_image(picture, lumeq_alloc_host(lumeq_get_context(feed->eq), size), planes);
        feed->out[i] =
            equalize_image(picture, lumeq_alloc_host(lumeq_get_context(feed->eq), size), planes);
        if (!feed->in[i].plane[0] || !feed->out[i].plane[0]) {
            feed_close(feed);
            return bench_refuse("equalize", "no memory for %d pictures of %zu bytes",
                                2 * feed->pictures, size);
        }
        memcpy(feed->in[i].plane[0], picture->luma, equalize_image_size(picture, 1));
        if (planes > 1)
            fill_chroma(&feed->in[i], picture);
        memset(feed->out[i].plane[0], 0, size);
    }
    return 0;
}

static const LumeqImage *before(const Feed *feed, int picture)
{
    return &feed->in[(picture + feed->pictures - 1) % feed->pictures];
}

/* Submits the next frames until the library accepts no more, or `end` frames have been submitted.
 * Then receives the oldest frame. */
static int feed_step(Feed *feed, int end, LumeqFrameStats *stats)
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
        ret = lumeq_receive(feed->eq, NULL, stats);
    feed->received += ret == 0;
    return ret < 0 ? bench_refuse("equalize", "%s", lumeq_last_error(feed->eq)) : 0;
}

/* After a GPU is lost the library continues on the CPU: the measurement fails then. */
static int check_backend(const Feed *feed)
{
    return strcmp(lumeq_backend_name(feed->eq), equalize_backends[feed->of->backend])
               ? bench_refuse("equalize", "%s", lumeq_last_error(feed->eq))
               : 0;
}

/* Measures the time per frame with as many frames in flight as possible. */
static int time_frames(Feed *feed, double seconds, double *us)
{
    for (int i = 0; i < 2 * feed->pictures; i++)
        if (feed_step(feed, INT32_MAX, NULL) < 0)
            return -1;
    const int first = feed->received;
    const double start = bench_now_us();
    double now = start;
    while (now - start < seconds * 1e6) {
        if (feed_step(feed, INT32_MAX, NULL) < 0)
            return -1;
        now = bench_now_us();
    }
    *us = (now - start) / (feed->received - first);
    while (feed->received < feed->submitted)
        if (feed_step(feed, feed->submitted, NULL) < 0)
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
        if (equalize_one(feed->eq, &feed->in[i], before(feed, i), &feed->out[i], feed->submitted++,
                         NULL) < 0)
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

/* Histogram and curve that the library reports. */
typedef struct Reported {
    LumeqFrameStats stats;
    uint32_t hist_in[LUMEQ_MAX_BINS], curve[LUMEQ_MAX_BINS];
} Reported;

static LumeqFrameStats *stats_of(Reported *reported)
{
    reported->stats = (LumeqFrameStats){
        .size = sizeof(reported->stats), .hist_in = reported->hist_in, .curve = reported->curve};
    return &reported->stats;
}

static int compare_bins(const EqualizeCase *c, const char *what, const uint32_t *got,
                        const uint32_t *expected, int bins)
{
    for (int i = 0; i < bins; i++)
        if (got[i] != expected[i])
            return bench_refuse("equalize", "%s, %dx%d %s: %s: bin %d is %u; expected %u",
                                equalize_backends[c->backend], c->picture.width, c->picture.height,
                                c->content, what, i, got[i], expected[i]);
    return 0;
}

/* Compares the first frames with plain C. `reported` has an element more than there are pictures.
 */
static int compare_frames(const Feed *feed, Reported *reported, LumeqEqualizer *plain)
{
    const BenchPicture *picture = &feed->of->picture;
    void *const memory = allocate(picture, feed->planes);
    const LumeqImage expected = equalize_image(picture, memory, feed->planes);
    Reported *const right = &reported[feed->pictures];
    int ret = memory ? 0 : -1;
    for (int i = 0; i < feed->pictures && ret == 0; i++) {
        char what[48];
        snprintf(what, sizeof(what), "frame %d of the library", i);
        ret = equalize_one(plain, &feed->in[i], before(feed, i), &expected, i, stats_of(right));
        if (ret == 0)
            ret = equalize_compare(feed->of, what, &feed->out[i], &expected);
        snprintf(what, sizeof(what), "frame %d of the library: histogram", i);
        if (ret == 0)
            ret = compare_bins(feed->of, what, reported[i].hist_in, right->hist_in,
                               right->stats.bins);
        snprintf(what, sizeof(what), "frame %d of the library: curve", i);
        if (ret == 0)
            ret = compare_bins(feed->of, what, reported[i].curve, right->curve, right->stats.bins);
    }
    free(memory);
    return ret;
}

/* Runs the first frames, with as many in flight as possible, and compares them with plain C. Call
 * it before anything else. */
static int feed_check(Feed *feed)
{
    const LumeqParams params = equalize_params(feed->of->mode);
    Reported *const reported = calloc(feed->pictures + 1, sizeof(*reported));
    LumeqEqualizer *plain = NULL;
    int ret = reported ? 0 : bench_refuse("equalize", "out of memory");
    while (ret == 0 && feed->received < feed->pictures)
        ret = feed_step(feed, feed->pictures, stats_of(&reported[feed->received]));
    if (ret == 0)
        ret = check_backend(feed);
    if (ret == 0)
        ret = open_plain(&plain, &params);
    if (ret == 0)
        ret = compare_frames(feed, reported, plain);
    lumeq_destroy(&plain);
    free(reported);
    return ret;
}

/* ---- frames in GPU memory ---- */

/* Copies the feed's pictures to GPU memory. `copier` is an equalizer in mode off. */
static int make_resident(Feed *resident, const Feed *feed, LumeqEqualizer *copier)
{
    const BenchPicture *picture = &feed->of->picture;
    const size_t size = equalize_image_size(picture, 1);
    int ret = 0;
    for (int i = 0; i < feed->pictures && ret == 0; i++) {
        resident->in[i] =
            equalize_image(picture, lumeq_alloc_device(lumeq_get_context(feed->eq), size), 1);
        resident->out[i] =
            equalize_image(picture, lumeq_alloc_device(lumeq_get_context(feed->eq), size), 1);
        resident->in[i].memory = resident->out[i].memory = LUMEQ_MEMORY_CUDA;
        if (!resident->in[i].plane[0] || !resident->out[i].plane[0])
            return bench_refuse("equalize", "no GPU memory for %d pictures of %zu bytes",
                                2 * feed->pictures, size);
        ret = equalize_one(copier, &feed->in[i], NULL, &resident->in[i], i, NULL);
    }
    return ret;
}

/* Compares the first frames with those that feed_check() has checked. */
static int check_resident(Feed *resident, const Feed *feed, LumeqEqualizer *copier)
{
    const BenchPicture *picture = &feed->of->picture;
    void *const memory = allocate(picture, 1);
    const LumeqImage got = equalize_image(picture, memory, 1);
    int ret = memory ? 0 : -1;
    lumeq_reset(feed->eq);
    for (int i = 0; i < feed->pictures && ret == 0; i++)
        ret = equalize_one(feed->eq, &resident->in[i], before(resident, i), &resident->out[i], i,
                           NULL);
    for (int i = 0; i < feed->pictures && ret == 0; i++) {
        ret = equalize_one(copier, &resident->out[i], NULL, &got, i, NULL);
        if (ret == 0)
            ret = equalize_compare(feed->of, "a frame in GPU memory", &got, &feed->out[i]);
    }
    free(memory);
    return ret;
}

/* Like time_frames(), with pictures that stay in GPU memory. Call it right after feed_check(). */
static int time_resident(const Feed *feed, double seconds, double *us)
{
    const LumeqConfig config = {
        .size = sizeof(config), .backend = LUMEQ_BACKEND_CUDA, .device = feed->of->device};
    LumeqParams params = {.size = sizeof(params)};
    LumeqEqualizer *copier = NULL;
    Feed resident = {.of = feed->of,
                     .eq = feed->eq,
                     .pictures = feed->pictures,
                     .submitted = feed->pictures,
                     .received = feed->pictures};
    lumeq_params_default(&params);
    params.mode = LUMEQ_MODE_OFF;
    int ret = open_equalizer(&copier, &config, &params);
    if (ret == 0)
        ret = make_resident(&resident, feed, copier);
    if (ret == 0)
        ret = check_resident(&resident, feed, copier);
    if (ret == 0)
        ret = time_frames(&resident, seconds, us);
    for (int i = 0; i < feed->pictures; i++) {
        lumeq_free_device(lumeq_get_context(feed->eq), resident.in[i].plane[0]);
        lumeq_free_device(lumeq_get_context(feed->eq), resident.out[i].plane[0]);
    }
    lumeq_destroy(&copier);
    return ret;
}

/* ---- measurements ---- */

static int time_copies(const EqualizeCase *c, int device, BenchWay way, double seconds, double *us)
{
    char text[256] = "";
    long count;
    return bench_copies(us, &count, device, way, equalize_image_size(&c->picture, 1), seconds, text,
                        sizeof(text)) < 0
               ? bench_refuse("equalize", "%s", text)
               : 0;
}

int equalize_copies(const EqualizeCase *c, BenchValue *row)
{
    const int ret = time_copies(c, c->device, BENCH_UP, COPY_SECONDS, &row[EQ_UPLOAD_US].number);
    return ret < 0
               ? ret
               : time_copies(c, c->device, BENCH_DOWN, COPY_SECONDS, &row[EQ_DOWNLOAD_US].number);
}

static int measure_cpu(Feed *feed, BenchValue *row)
{
    const EqualizeCase *c = feed->of;
    Feed coloured = {0};
    double us = 0;
    int ret = time_alone(feed, c->seconds, &row[EQ_CPU_TOTAL_US].number);
    if (ret == 0)
        ret = time_frames(feed, c->seconds, &us);
    row[EQ_FRAMES_PER_S].number = 1e6 / us;
    if (ret == 0)
        ret = feed_open(&coloured, c, c->device, 3);
    if (ret == 0)
        ret = feed_check(&coloured);
    if (ret == 0)
        ret = time_alone(&coloured, c->seconds, &row[EQ_CHROMA_US].number);
    feed_close(&coloured);
    return ret;
}

static int measure_gpu(Feed *feed, BenchValue *row)
{
    const EqualizeCase *c = feed->of;
    const double seconds = c->seconds / ROUNDS;
    double frame[ROUNDS], duplex[ROUNDS];
    int ret = time_resident(feed, seconds, &row[EQ_RESIDENT_US].number);
    for (int i = 0; i < ROUNDS && ret == 0; i++) {
        ret = time_copies(c, c->device, BENCH_BOTH, seconds, &duplex[i]);
        if (ret == 0)
            ret = time_frames(feed, seconds, &frame[i]);
    }
    if (ret == 0)
        ret = time_alone(feed, seconds, &row[EQ_HOST_TOTAL_US].number);
    if (ret < 0)
        return ret;
    row[EQ_FRAMES_PER_S].number = 1e6 / bench_median(frame, ROUNDS);
    row[EQ_DUPLEX_FRAMES_PER_S].number = 1e6 / bench_median(duplex, ROUNDS);
    return 0;
}

int equalize_library(const EqualizeCase *c, BenchValue *row)
{
    Feed feed = {0};
    int ret = feed_open(&feed, c, c->device, 1);
    if (ret == 0)
        ret = feed_check(&feed);
    if (ret == 0)
        ret = (c->backend == EQUALIZE_CUDA ? measure_gpu : measure_cpu)(&feed, row);
    feed_close(&feed);
    row[EQ_CHECKED].text = ret == 0 ? "yes" : NULL;
    return ret;
}

/* ---- several GPUs ---- */

/* One of the GPUs that work at the same time. */
typedef struct Worker {
    const EqualizeCase *of;
    Feed feed;
    double frame_us[ROUNDS], duplex_us[ROUNDS];
    int device, round, ret;
    pthread_t thread;
} Worker;

static void *work_open(void *data)
{
    Worker *const w = data;
    w->ret = feed_open(&w->feed, w->of, w->device, 1);
    return NULL;
}

static void *work_copy(void *data)
{
    Worker *const w = data;
    w->ret =
        time_copies(w->of, w->device, BENCH_BOTH, w->of->seconds / ROUNDS, &w->duplex_us[w->round]);
    return NULL;
}

static void *work_equalize(void *data)
{
    Worker *const w = data;
    w->ret = time_frames(&w->feed, w->of->seconds / ROUNDS, &w->frame_us[w->round]);
    return NULL;
}

/* Runs all workers at the same time, each in a thread of its own. */
static int run_all(Worker *workers, int count, void *(*work)(void *))
{
    int started = 0, ret = 0;
    while (started < count &&
           pthread_create(&workers[started].thread, NULL, work, &workers[started]) == 0)
        started++;
    if (started < count)
        ret = bench_refuse("equalize", "no thread can be started for GPU %d", started);
    for (int i = 0; i < started; i++) {
        pthread_join(workers[i].thread, NULL);
        if (workers[i].ret < 0)
            ret = -1;
    }
    return ret;
}

/* Fills a row for each worker, and one for all of them. */
static void fill_rows(Worker *workers, int count, double alone, EqualizeRow *rows)
{
    double frames = 0, copies = 0;
    for (int i = 0; i <= count; i++) {
        bench_report_clear(rows[i], EQUALIZE_COLUMNS);
        rows[i][EQ_CHECKED].text = "yes";
    }
    for (int i = 0; i < count; i++) {
        frames += rows[i][EQ_FRAMES_PER_S].number = 1e6 / bench_median(workers[i].frame_us, ROUNDS);
        copies += rows[i][EQ_DUPLEX_FRAMES_PER_S].number =
            1e6 / bench_median(workers[i].duplex_us, ROUNDS);
    }
    rows[count][EQ_FRAMES_PER_S].number = frames;
    rows[count][EQ_DUPLEX_FRAMES_PER_S].number = copies;
    rows[count][EQ_LINEARITY].number = frames / alone;
}

int equalize_together(const EqualizeCase *c, int count, double alone, EqualizeRow *rows)
{
    static Worker workers[EQUALIZE_MAX_DEVICES];
    for (int i = 0; i < count; i++)
        workers[i] = (Worker){.of = c, .device = i};
    int ret = run_all(workers, count, work_open);
    for (int i = 0; i < count && ret == 0; i++)
        ret = feed_check(&workers[i].feed);
    for (int round = 0; round < ROUNDS && ret == 0; round++) {
        for (int i = 0; i < count; i++)
            workers[i].round = round;
        ret = run_all(workers, count, work_copy);
        if (ret == 0)
            ret = run_all(workers, count, work_equalize);
    }
    if (ret == 0)
        fill_rows(workers, count, alone, rows);
    for (int i = 0; i < count; i++)
        feed_close(&workers[i].feed);
    return ret;
}
