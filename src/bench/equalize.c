/* lumeq-bench equalize: frames a second through the library, beside what bounds them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "lumeq/lumeq.h"

/* Planes in rotation on the host, each way: more than can be in flight. */
#define BUFFERS 8

/* The pipeline and the copies alone take turns this often; the median of each counts. */
#define ROUNDS 5

typedef struct Options {
    int width, height; /* 0: all sizes */
    const char *content, *backend;
    int depth, device, threads;
    double seconds;
    int csv;
} Options;

typedef struct Case {
    const char *content, *backend;
    BenchPicture picture;
} Case;

typedef struct Result {
    double frame_us;  /* of the pipeline, one frame to the next */
    double duplex_us; /* the same for the copies alone; 0: there are none */
    BenchDevice device;
} Result;

/* An equalizer with planes to feed it with. */
typedef struct Feed {
    LumeqEqualizer *eq;
    LumeqImage in[BUFFERS], out[BUFFERS];
    int submitted, received;
} Feed;

static void feed_close(Feed *feed)
{
    for (int i = 0; i < BUFFERS && feed->eq; i++) {
        lumeq_free_host(feed->eq, feed->in[i].plane[0]);
        lumeq_free_host(feed->eq, feed->out[i].plane[0]);
    }
    lumeq_destroy(&feed->eq);
}

static size_t size_of(const BenchPicture *picture)
{
    return bench_row_size(picture) * (size_t)picture->height;
}

static LumeqImage image_of(void *memory, const BenchPicture *picture)
{
    return (LumeqImage){.plane = {memory},
                        .stride = {(ptrdiff_t)bench_row_size(picture)},
                        .width = picture->width,
                        .height = picture->height,
                        .depth = picture->depth};
}

static int feed_open(Feed *feed, const Case *c, const Options *options)
{
    char why[256] = "";
    const size_t size = size_of(&c->picture);
    const LumeqConfig config = {.backend = strcmp(c->backend, "cuda") ? LUMEQ_BACKEND_CPU
                                                                      : LUMEQ_BACKEND_CUDA,
                                .device = options->device,
                                .threads = options->threads};
    if (lumeq_create(&feed->eq, &config, why, sizeof(why)) < 0) {
        fprintf(stderr, "lumeq-bench: %s: %s\n", c->backend, why);
        return -1;
    }
    for (int i = 0; i < BUFFERS; i++) {
        feed->in[i] = image_of(lumeq_alloc_host(feed->eq, size), &c->picture);
        feed->out[i] = image_of(lumeq_alloc_host(feed->eq, size), &c->picture);
        if (!feed->in[i].plane[0] || !feed->out[i].plane[0]) {
            fprintf(stderr, "lumeq-bench: no memory for %d planes\n", 2 * BUFFERS);
            feed_close(feed);
            return -1;
        }
        memcpy(feed->in[i].plane[0], c->picture.luma, size);
        memset(feed->out[i].plane[0], 0, size);
    }
    return 0;
}

/* Fills the slots, then takes the oldest frame. */
static int feed_step(Feed *feed, LumeqFrameStats *stats)
{
    int ret = 0;
    while (ret == 0) {
        const int i = feed->submitted % BUFFERS;
        const LumeqFrame frame = {
            .in = feed->in[i], .out = feed->out[i], .time = feed->submitted * (int64_t)16666667};
        ret = lumeq_submit(feed->eq, &frame);
        feed->submitted += ret == 0;
    }
    if (ret == LUMEQ_ERR_AGAIN)
        ret = lumeq_receive(feed->eq, NULL, stats);
    if (ret < 0)
        fprintf(stderr, "lumeq-bench: %s\n", lumeq_last_error(feed->eq));
    feed->received += ret == 0;
    return ret;
}

static int drain(Feed *feed)
{
    int ret;
    lumeq_flush(feed->eq);
    while ((ret = lumeq_receive(feed->eq, NULL, NULL)) == 0)
        ;
    return ret == LUMEQ_ERR_END ? 0 : ret;
}

/* Microseconds from one frame to the next, the slots full. */
static int time_pipeline(Feed *feed, double seconds, double *us)
{
    for (int i = 0; i < 2 * BUFFERS; i++)
        if (feed_step(feed, NULL) < 0)
            return -1;
    const int before = feed->received;
    const double start = bench_now_us();
    double now = start;
    while (now - start < seconds * 1e6) {
        if (feed_step(feed, NULL) < 0)
            return -1;
        now = bench_now_us();
    }
    *us = (now - start) / (feed->received - before);
    return drain(feed);
}

static int time_duplex(const Feed *feed, const Options *options, double seconds, double *us)
{
    char text[256] = "";
    void *up[BUFFERS], *down[BUFFERS];
    for (int i = 0; i < BUFFERS; i++) {
        up[i] = feed->in[i].plane[0];
        down[i] = feed->out[i].plane[0];
    }
    const size_t size = (size_t)feed->in[0].stride[0] * (size_t)feed->in[0].height;
    int ret =
        bench_duplex(us, options->device, up, down, BUFFERS, size, 2 * BUFFERS, text, sizeof(text));
    const int count = ret < 0 ? 0 : 1 + (int)(seconds * 1e6 / *us);
    if (ret == 0)
        ret = bench_duplex(us, options->device, up, down, BUFFERS, size, count, text, sizeof(text));
    if (ret < 0)
        fprintf(stderr, "lumeq-bench: %s\n", text);
    return ret;
}

static int measure(const Case *c, const Options *options, Result *result)
{
    const int on_gpu = !strcmp(c->backend, "cuda");
    double pipeline[ROUNDS], duplex[ROUNDS] = {0};
    char text[256] = "";
    Feed feed = {0};
    int ret = feed_open(&feed, c, options);
    for (int round = 0; round < ROUNDS && ret == 0; round++) {
        if (on_gpu)
            ret = time_duplex(&feed, options, options->seconds / ROUNDS, &duplex[round]);
        if (ret == 0)
            ret = time_pipeline(&feed, options->seconds / ROUNDS, &pipeline[round]);
    }
    feed_close(&feed);
    if (ret < 0)
        return ret;
    result->frame_us = bench_median(pipeline, ROUNDS);
    result->duplex_us = bench_median(duplex, ROUNDS);
    if (on_gpu) {
        ret = bench_device(&result->device, options->device, &c->picture, text, sizeof(text));
        if (ret < 0)
            fprintf(stderr, "lumeq-bench: %s\n", text);
    }
    return ret;
}

static void print_head(const Options *options)
{
    if (options->csv)
        printf(
            "backend,width,height,depth,content,frames_per_s,duplex_frames_per_s,share_of_duplex,"
            "device_equalize_us,device_chroma_us,device_clahe_us,device_histogram_us,device_copy_"
            "us\n");
    else
        printf("%-8s %-10s %5s %-8s %12s %12s %7s %12s %10s %9s %13s %9s\n", "backend", "size",
               "depth", "content", "frames/s", "duplex/s", "share", "equalize us", "+chroma us",
               "CLAHE us", "histogram us", "copy us");
}

static void print_result(const Case *c, const Options *options, const Result *r)
{
    const double rate = 1e6 / r->frame_us, duplex = r->duplex_us > 0 ? 1e6 / r->duplex_us : 0;
    const double share = r->duplex_us / r->frame_us;
    char size[32];
    const int width = c->picture.width, height = c->picture.height, depth = c->picture.depth;
    snprintf(size, sizeof(size), "%dx%d", width, height);
    if (options->csv)
        printf("%s,%d,%d,%d,%s,%.1f,%.1f,%.3f,%.2f,%.2f,%.2f,%.2f,%.2f\n", c->backend, width,
               height, depth, c->content, rate, duplex, share, r->device.equalize_us,
               r->device.chroma_us, r->device.clahe_us, r->device.histogram_us, r->device.copy_us);
    else if (duplex > 0)
        printf("%-8s %-10s %5d %-8s %12.1f %12.1f %6.1f%% %12.2f %10.2f %9.2f %13.2f %9.2f\n",
               c->backend, size, depth, c->content, rate, duplex, 100 * share,
               r->device.equalize_us, r->device.chroma_us, r->device.clahe_us,
               r->device.histogram_us, r->device.copy_us);
    else
        printf("%-8s %-10s %5d %-8s %12.1f\n", c->backend, size, depth, c->content, rate);
    fflush(stdout);
}

static int run_case(Case *c, const Options *options)
{
    Result result = {0};
    void *const luma = c->picture.luma = malloc(size_of(&c->picture));
    if (!luma || bench_fill(&c->picture, c->content, 1) < 0) {
        free(luma);
        return -1;
    }
    const int ret = measure(c, options, &result);
    if (ret == 0)
        print_result(c, options, &result);
    free(luma);
    return ret;
}

static int run_all(const Options *options)
{
    static const int sizes[][2] = {{1280, 720}, {1920, 1080}, {3840, 2160}, {7680, 4320}};
    static const char *const contents[] = {"natural", "noise", "flat"};
    static const char *const backends[] = {"cpu", "cuda"};
    int failed = 0;
    for (int b = 0; b < 2; b++)
        for (int s = 0; s < 4; s++)
            for (int k = 0; k < 3; k++) {
                Case c = {.backend = options->backend ? options->backend : backends[b],
                          .content = options->content ? options->content : contents[k],
                          .picture = {.width = options->width ? options->width : sizes[s][0],
                                      .height = options->height ? options->height : sizes[s][1],
                                      .depth = options->depth}};
                const int again =
                    (options->backend && b) || (options->content && k) || (options->width && s);
                if (!again && run_case(&c, options) < 0)
                    failed = 1;
            }
    return failed;
}

static int is_one_of(const char *value, const char *const *choices)
{
    for (; *choices; choices++)
        if (!strcmp(value, *choices))
            return 1;
    return 0;
}

static int read_number(const char *value, double low, double high, double *number)
{
    char *end;
    *number = strtod(value, &end);
    return end != value && !*end && *number >= low && *number <= high ? 0 : -1;
}

/* 0, or -1 when the option is not known or its value out of range. */
static int take(Options *options, const char *name, const char *value)
{
    static const char *const contents[] = {"natural", "noise", "flat", NULL};
    static const char *const backends[] = {"cpu", "cuda", NULL};
    static const char *const depths[] = {"8", "10", "12", "16", NULL};
    double number = 0;
    int ret = 0;
    char end;
    if (!strcmp(name, "--content") && is_one_of(value, contents))
        options->content = value;
    else if (!strcmp(name, "--backend") && is_one_of(value, backends))
        options->backend = value;
    else if (!strcmp(name, "--depth") && is_one_of(value, depths))
        options->depth = atoi(value);
    else if (!strcmp(name, "--device") && (ret = read_number(value, 0, 255, &number)) == 0)
        options->device = (int)number;
    else if (!strcmp(name, "--threads") && (ret = read_number(value, 0, 256, &number)) == 0)
        options->threads = (int)number;
    else if (!strcmp(name, "--seconds") && (ret = read_number(value, 0.01, 3600, &number)) == 0)
        options->seconds = number;
    else if (strcmp(name, "--size") != 0 ||
             sscanf(value, "%dx%d%c", &options->width, &options->height, &end) != 2 ||
             options->width < 1 || options->height < 1 || options->width > LUMEQ_MAX_SIDE ||
             options->height > LUMEQ_MAX_SIDE)
        ret = -1;
    return ret;
}

static int parse(Options *options, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--csv")) {
            options->csv = 1;
        } else if (i + 1 == argc || take(options, argv[i], argv[i + 1]) < 0) {
            fprintf(stderr,
                    "lumeq-bench equalize: %s %s is not understood; lumeq-bench shows what is\n",
                    argv[i], i + 1 < argc ? argv[i + 1] : "(without a value)");
            return -1;
        } else {
            i++;
        }
    }
    return 0;
}

int bench_equalize(int argc, char **argv)
{
    Options options = {.depth = 8, .seconds = 1};
    if (parse(&options, argc, argv) < 0)
        return 2;
    print_head(&options);
    return run_all(&options);
}
