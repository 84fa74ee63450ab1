/* Runs tests over the backends that this machine has, frame by frame. */
#ifndef LUMEQ_TESTS_BACKENDS_H
#define LUMEQ_TESTS_BACKENDS_H

#include <sched.h>

#include "lumeq/lumeq.h"
#include "pictures.h"

#define BACKENDS 2
#define PATIENCE_S 60 /* a frame that takes longer is lost */

static const struct {
    const char *name;
    LumeqBackendId id;
} backends[BACKENDS] = {{"cpu", LUMEQ_BACKEND_CPU}, {"cuda", LUMEQ_BACKEND_CUDA}};

/* NULL where the backend is not on this machine; `why` says so. */
static inline LumeqEqualizer *open_equalizer(LumeqBackendId id, int threads, char *why,
                                             size_t why_size)
{
    LumeqEqualizer *eq = NULL;
    const LumeqConfig config = {.backend = id, .threads = threads};
    const int ret = lumeq_create(&eq, &config, why, why_size);
    CHECK(ret == 0 || ret == LUMEQ_ERR_UNAVAILABLE, "create answers %d: %s", ret, why);
    CHECK(!eq == (ret < 0), "create answers %d, but an equalizer was %smade", ret,
          eq ? "" : "not ");
    return eq;
}

/* One that is known to be there. */
static inline LumeqEqualizer *must_open(LumeqBackendId id, int threads)
{
    char why[256] = "";
    LumeqEqualizer *eq = open_equalizer(id, threads, why, sizeof(why));
    if (!eq) {
        fprintf(stderr, "cannot go on: %s\n", why);
        exit(1);
    }
    return eq;
}

/* Calls test(id) for each backend; says once which are not there. */
static inline void for_each_backend(void (*test)(LumeqBackendId id))
{
    static int told[BACKENDS];
    for (int i = 0; i < BACKENDS; i++) {
        char why[256] = "";
        LumeqEqualizer *eq = open_equalizer(backends[i].id, 1, why, sizeof(why));
        if (eq) {
            CHECK(!strcmp(lumeq_backend_name(eq), backends[i].name), "%s is called %s",
                  backends[i].name, lumeq_backend_name(eq));
            lumeq_destroy(&eq);
            test(backends[i].id);
        } else if (!told[i]++) {
            printf("%s: skipped: %s\n", backends[i].name, why);
        }
    }
}

/* Defines the test `name`, whose body is run with each backend as `id`. */
#define BACKEND_TEST(name)                                                                         \
    static void name##_on(LumeqBackendId id);                                                      \
    static void name(void)                                                                         \
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

/* Waits for the oldest frame in flight: with slots free, "again" only means "not done yet". */
static inline int receive_frame(LumeqEqualizer *eq, LumeqFrame *frame, LumeqFrameStats *stats)
{
    const time_t start = time(NULL);
    int ret;
    while ((ret = lumeq_receive(eq, frame, stats)) == LUMEQ_ERR_AGAIN) {
        if (time(NULL) - start > PATIENCE_S)
            break;
        sched_yield();
    }
    CHECK(ret == 0, "receive answers %d: %s", ret, lumeq_last_error(eq));
    return ret;
}

/* One frame in and out, none being in flight. */
static inline int run_frame(LumeqEqualizer *eq, const LumeqFrame *frame, LumeqFrameStats *stats)
{
    const int ret = lumeq_submit(eq, frame);
    return CHECK(ret == 0, "submit answers %d: %s", ret, lumeq_last_error(eq))
               ? receive_frame(eq, NULL, stats)
               : ret;
}

static inline int run_redo(LumeqEqualizer *eq, const LumeqFrame *frame, LumeqFrameStats *stats)
{
    const int ret = lumeq_redo(eq, frame);
    return CHECK(ret == 0, "redo answers %d: %s", ret, lumeq_last_error(eq))
               ? receive_frame(eq, NULL, stats)
               : ret;
}

static inline void set_params(LumeqEqualizer *eq, const LumeqParams *params)
{
    const int ret = lumeq_set_params(eq, params);
    CHECK(ret == 0, "set_params answers %d: %s", ret, lumeq_last_error(eq));
}

/* Statistics against the picture that was read and the one that was written (NULL: none). */
static inline void check_stats(const LumeqFrameStats *stats, const CheckRect *in,
                               const CheckRect *out)
{
    static const uint32_t half = 1u << 15;
    uint32_t hist_in[256] = {0}, hist_out[256] = {0};
    double sum_in = 0, sum_out = 0;
    int wrong = 0;
    for (int y = 0; y < in->height; y++) {
        for (int x = 0; x < in->width; x++) {
            const int code = check_row(in, y)[x];
            const int mapped = (int)((stats->curve[code] + half) >> 16);
            if (out)
                wrong += check_row(out, y)[x] != mapped;
            hist_in[code]++;
            hist_out[mapped & 255]++;
            sum_in += code;
            sum_out += mapped;
        }
    }
    const double pixels = (double)in->width * in->height;
    CHECK(stats->bins == 256, "%d bins", stats->bins);
    CHECK(!wrong, "%d pixels of %dx%d are not what the curve says", wrong, in->width, in->height);
    CHECK(!memcmp(stats->hist_in, hist_in, sizeof(hist_in)), "not the input's histogram");
    CHECK(!memcmp(stats->hist_out, hist_out, sizeof(hist_out)), "not the output's histogram");
    CHECK(stats->mean_in == sum_in / pixels, "%g, not %g", stats->mean_in, sum_in / pixels);
    CHECK(stats->mean_out == sum_out / pixels, "%g, not %g", stats->mean_out, sum_out / pixels);
}

#endif
