/*
 * Tests the argument checks that the public header promises: invalid arguments return
 * LUMEQ_ERR_ARGUMENT with a message, and change nothing.
 */
#include <float.h>
#include <math.h>
#include <pthread.h>

#include "../check.h"
#include "all_stats.h"
#include "layouts.h"
#include "lumeq/lumeq.h"

#define WIDTH 64
#define HEIGHT 48
#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

/* One of each object, and a frame that fits them. */
typedef struct Bench {
    LumeqEqualizer *eq;
    LumeqContext *context;
    LumeqParams params;
    LumeqImage in, out;
    LumeqMeasure *measure;
    LumeqHistory *history;
    LumeqCurve *curve;
} Bench;

static const LumeqConfig on_cpu = {.backend = LUMEQ_BACKEND_CPU, .threads = 1};
static const LumeqMoment first_moment = {.time = 0};

static LumeqImage noise(int depth, int shift, Layout layout)
{
    LumeqImage image = {
        .width = WIDTH, .height = HEIGHT, .depth = depth, .shift = shift, .chroma_x = 1};
    CheckRandom random = check_random(0);
    layout_alloc(&image, layout);
    for (int c = 0; c < layout_components(&image); c++)
        for (int y = 0; y < layout_height(&image, c); y++)
            for (int x = 0; x < layout_width(&image, c); x++)
                layout_put(&image, c, x, y, check_below(&random, 1 << depth));
    return image;
}

static int open_bench(Bench *b)
{
    memset(b, 0, sizeof(*b));
    b->params.size = sizeof(b->params);
    lumeq_params_default(&b->params);
    b->in = noise(8, 0, LAYOUT_PLANAR);
    b->out = noise(8, 0, LAYOUT_PLANAR);
    return CHECK(lumeq_create(&b->eq, &on_cpu, NULL, 0) == 0 &&
                     lumeq_context_create(&b->context, &on_cpu, NULL, 0) == 0 &&
                     lumeq_measure(b->context, &b->measure, &b->params, &b->in, NULL, NULL) == 0 &&
                     lumeq_history_create(&b->history, &b->params, 0) == 0 &&
                     lumeq_history_put(b->history, b->measure, &first_moment) == 0 &&
                     lumeq_history_get(b->history, &b->curve) == 0,
                 "cannot set up: %s", lumeq_last_error(NULL));
}

static void close_bench(Bench *b)
{
    lumeq_curve_unref(&b->curve);
    lumeq_history_destroy(&b->history);
    lumeq_measure_free(&b->measure);
    lumeq_context_destroy(&b->context);
    lumeq_destroy(&b->eq);
    layout_free(&b->in);
    layout_free(&b->out);
    CHECK(!b->curve && !b->history && !b->measure && !b->context && !b->eq,
          "a freed pointer is not set to NULL");
}

/* Defines the test `name`, whose body is run with a bench `b`. */
#define BENCH_TEST(name)                                                                           \
    static void name##_on(Bench *b);                                                               \
    TEST(name)                                                                                     \
    {                                                                                              \
        Bench bench;                                                                               \
        if (open_bench(&bench))                                                                    \
            name##_on(&bench);                                                                     \
        close_bench(&bench);                                                                       \
    }                                                                                              \
    static void name##_on(Bench *b)

static LumeqFrame frame_of(const Bench *b)
{
    return (LumeqFrame){.size = sizeof(LumeqFrame), .in = b->in, .out = b->out};
}

/* Checks that a call fails and sets a new message of `eq`, or of the thread if `eq` is NULL. */
#define REFUSED(eq, call)                                                                          \
    do {                                                                                           \
        (void)lumeq_measure_finish(NULL, 0); /* sets another message */                            \
        const int answer = (call);                                                                 \
        CHECK(answer == LUMEQ_ERR_ARGUMENT, #call " returns %d", answer);                          \
        CHECK(lumeq_last_error(eq)[0] && strlen(lumeq_last_error(eq)) < 256 &&                     \
                  strcmp(lumeq_last_error(eq), "`measure` is NULL") != 0,                          \
              #call " has the message '%s'", lumeq_last_error(eq));                                \
    } while (0)

BENCH_TEST(null_for_objects)
{
    LumeqFrame frame = frame_of(b);
    LumeqFrameStats stats = {.size = sizeof(stats)};
    size_t size = 0;
    CHECK(lumeq_measure_finish(NULL, 0) == LUMEQ_ERR_ARGUMENT, "finishes NULL");
    REFUSED(NULL, lumeq_create(NULL, &on_cpu, NULL, 0));
    REFUSED(NULL, lumeq_context_create(NULL, &on_cpu, NULL, 0));
    REFUSED(NULL, lumeq_list_gpus(NULL, 1, NULL, 0));
    REFUSED(NULL, lumeq_set_params(NULL, &b->params));
    REFUSED(b->eq, lumeq_set_params(b->eq, NULL));
    REFUSED(NULL, lumeq_submit(NULL, &frame));
    REFUSED(b->eq, lumeq_submit(b->eq, NULL));
    REFUSED(NULL, lumeq_receive(NULL, &frame, &stats));
    REFUSED(NULL, lumeq_process(NULL, &frame, &stats));
    REFUSED(b->eq, lumeq_process(b->eq, NULL, &stats));
    CHECK(lumeq_process(b->eq, &frame, NULL) == 0, "%s", lumeq_last_error(b->eq));

    LumeqMeasure *measure = NULL;
    REFUSED(NULL, lumeq_measure(NULL, &measure, &b->params, &b->in, NULL, NULL));
    REFUSED(NULL, lumeq_measure(b->context, NULL, &b->params, &b->in, NULL, NULL));
    REFUSED(NULL, lumeq_measure(b->context, &measure, &b->params, NULL, NULL, NULL));
    CHECK(!measure, "a refused call makes a measure");
    REFUSED(NULL, lumeq_measure_pack(NULL, NULL, &size));
    REFUSED(NULL, lumeq_measure_pack(b->measure, NULL, NULL));
    REFUSED(NULL, lumeq_measure_unpack(NULL, "", 1));
    REFUSED(NULL, lumeq_measure_unpack(&measure, NULL, 1));
    REFUSED(NULL, lumeq_history_create(NULL, &b->params, 0));
    REFUSED(NULL, lumeq_history_put(NULL, b->measure, &first_moment));
    REFUSED(NULL, lumeq_history_put(b->history, b->measure, NULL));
    REFUSED(NULL, lumeq_history_put(b->history, NULL, &first_moment));
    REFUSED(NULL, lumeq_history_get(NULL, &b->curve));
    REFUSED(NULL, lumeq_history_get(b->history, NULL));
    REFUSED(NULL, lumeq_history_set_params(NULL, &b->params));
    REFUSED(NULL, lumeq_history_set_params(b->history, NULL));
    REFUSED(NULL, lumeq_history_copy(NULL, b->history));
    REFUSED(NULL, lumeq_history_copy(b->history, NULL));
    REFUSED(NULL, lumeq_curve_stats(NULL, &stats));
    REFUSED(NULL, lumeq_curve_stats(b->curve, NULL));
    REFUSED(NULL, lumeq_curve_pack(NULL, NULL, &size));
    REFUSED(NULL, lumeq_curve_pack(b->curve, NULL, NULL));
    REFUSED(NULL, lumeq_curve_unpack(NULL, "", 1));
    REFUSED(NULL, lumeq_curve_unpack(&b->curve, NULL, 1));
    REFUSED(NULL, lumeq_apply(NULL, b->curve, &b->in, NULL, 0, &b->out, NULL));
    REFUSED(NULL, lumeq_apply(b->context, NULL, &b->in, NULL, 0, &b->out, NULL));
    REFUSED(NULL, lumeq_apply(b->context, b->curve, NULL, NULL, 0, &b->out, NULL));
    REFUSED(NULL, lumeq_apply(b->context, b->curve, &b->in, NULL, 0, NULL, NULL));
    REFUSED(NULL, lumeq_apply(b->context, b->curve, &b->in, NULL, 1, &b->out, NULL));
    const LumeqCodes codes = {0, 1};
    REFUSED(NULL, lumeq_is_sliver(NULL, &codes, 0));
    REFUSED(NULL, lumeq_is_sliver(&codes, NULL, 0));
    CHECK(lumeq_measure(b->context, &measure, NULL, &b->in, NULL, NULL) == 0,
          "no default parameters: %s", lumeq_last_error(NULL));
    lumeq_measure_free(&measure);
}

/* Functions without an error code ignore NULL. */
TEST(null_is_ignored)
{
    LumeqEqualizer *eq = NULL;
    LumeqContext *context = NULL;
    LumeqMeasure *measure = NULL;
    LumeqHistory *history = NULL;
    LumeqCurve *curve = NULL;
    lumeq_params_default(NULL);
    lumeq_context_destroy(NULL);
    lumeq_context_destroy(&context);
    lumeq_measure_free(NULL);
    lumeq_measure_free(&measure);
    lumeq_history_destroy(NULL);
    lumeq_history_destroy(&history);
    lumeq_curve_unref(NULL);
    lumeq_curve_unref(&curve);
    lumeq_destroy(NULL);
    lumeq_destroy(&eq);
    lumeq_flush(NULL);
    lumeq_reset(NULL);
    lumeq_free_host(NULL, NULL);
    lumeq_free_device(NULL, NULL);
    CHECK(!lumeq_alloc_host(NULL, 1) && !lumeq_alloc_device(NULL, 1),
          "allocates without a context");
    CHECK(!lumeq_get_context(NULL) && !lumeq_context_backend_name(NULL)[0], "NULL has a context");
    CHECK(lumeq_backend_name(NULL)[0] == '\0', "NULL has a backend");
    CHECK(lumeq_last_error(NULL) != NULL, "no text");
    CHECK(lumeq_build_info()[0] && lumeq_version() == LUMEQ_VERSION, "not this version");
    CHECK(lumeq_list_gpus(NULL, 0, NULL, 0) < 64, "too many GPUs");
}

/* Larger than any struct of this version. */
#define FUTURE 512

/* Calls `takes` with structs of wrong and of right sizes. `wide`: the offset of a member of 8
 * bytes; sizes that end inside this member are wrong. */
static void try_sizes(const char *name, const void *of, size_t size, size_t wide,
                      int (*takes)(Bench *bench, void *from), Bench *b)
{
    const size_t wrong[] = {1,        7,        wide + 1, wide + 4,        wide + 7,
                            size - 1, size + 1, 65537,    (size_t)1 << 40, SIZE_MAX};
    _Alignas(max_align_t) uint8_t memory[FUTURE] = {0};
    for (int i = 0; i < COUNT(wrong); i++) {
        memcpy(memory, of, size);
        memcpy(memory, &wrong[i], sizeof(wrong[i]));
        const int ret = takes(b, memory);
        CHECK(ret == LUMEQ_ERR_ARGUMENT, "%s of %zu bytes: %d", name, wrong[i], ret);
    }
    static const size_t later[] = {FUTURE};
    const size_t right[] = {0, size, later[0]};
    for (int i = 0; i < COUNT(right); i++) {
        memset(memory, 0, sizeof(memory));
        memcpy(memory, of, size);
        memcpy(memory, &right[i], sizeof(right[i]));
        const int ret = takes(b, memory);
        CHECK(ret == 0, "%s of %zu bytes: %d: %s", name, right[i], ret, lumeq_last_error(NULL));
    }
    for (size_t at = size; at < FUTURE; at += FUTURE - 1 - size) {
        memset(memory, 0, sizeof(memory));
        memcpy(memory, of, size);
        memcpy(memory, later, sizeof(later[0]));
        memory[at] = 1;
        const int ret = takes(b, memory);
        CHECK(ret == LUMEQ_ERR_ARGUMENT, "%s of a later version, with byte %zu set: %d", name, at,
              ret);
    }
}

static int take_config(Bench *b, void *config)
{
    LumeqEqualizer *eq = NULL;
    LumeqContext *context = NULL;
    (void)b;
    const int ret = lumeq_create(&eq, config, NULL, 0);
    CHECK(lumeq_context_create(&context, config, NULL, 0) == ret && !eq == (ret < 0) &&
              !context == (ret < 0),
          "equalizers and contexts accept different configs");
    lumeq_destroy(&eq);
    lumeq_context_destroy(&context);
    return ret;
}

static int take_params(Bench *b, void *params)
{
    LumeqHistory *history = NULL;
    LumeqMeasure *measure = NULL;
    const int ret = lumeq_set_params(b->eq, params);
    CHECK(lumeq_history_create(&history, params, 0) == ret && !history == (ret < 0) &&
              lumeq_measure(b->context, &measure, params, &b->in, NULL, NULL) == ret,
          "set_params returns %d, other calls do not", ret);
    lumeq_history_destroy(&history);
    lumeq_measure_free(&measure);
    return ret;
}

static int take_frame(Bench *b, void *frame)
{
    LumeqFrame before;
    memcpy(&before, frame, sizeof(before));
    int ret = lumeq_submit(b->eq, frame);
    if (ret == 0) {
        lumeq_flush(b->eq);
        ret = lumeq_receive(b->eq, frame, NULL);
        CHECK(((LumeqFrame *)frame)->size == before.size, "the caller's size is changed");
    }
    const int processed = lumeq_process(b->eq, frame, NULL);
    CHECK(processed == ret, "process returns %d, not %d", processed, ret);
    return ret;
}

static int give_frame(Bench *b, void *frame)
{
    const LumeqFrame whole = frame_of(b);
    CHECK(lumeq_submit(b->eq, &whole) == 0, "%s", lumeq_last_error(b->eq));
    lumeq_flush(b->eq);
    const int ret = lumeq_receive(b->eq, frame, NULL);
    if (ret < 0)
        CHECK(lumeq_receive(b->eq, NULL, NULL) == 0, "a refused call loses the frame");
    return ret;
}

static int give_stats(Bench *b, void *stats)
{
    LumeqFrame frame = frame_of(b);
    const int ret = lumeq_curve_stats(b->curve, stats);
    const int processed = lumeq_process(b->eq, &frame, stats);
    CHECK(processed == ret, "process returns %d, curve_stats %d", processed, ret);
    CHECK(ret < 0 || lumeq_curve_stats(b->curve, stats) == 0, "fails the second time");
    CHECK(lumeq_receive(b->eq, NULL, NULL) != 0, "a refused call leaves its frame in flight");
    return ret;
}

static int take_moment(Bench *b, void *moment)
{
    const int ret = lumeq_history_put(b->history, b->measure, moment);
    if (ret < 0)
        return ret;
    lumeq_curve_unref(&b->curve);
    return lumeq_history_get(b->history, &b->curve);
}

BENCH_TEST(sizes)
{
    const LumeqFrame frame = frame_of(b);
    const LumeqFrameStats stats = {0};
    try_sizes("LumeqConfig", &on_cpu, sizeof(on_cpu), offsetof(LumeqConfig, log), take_config, b);
    try_sizes("LumeqParams", &b->params, sizeof(b->params), offsetof(LumeqParams, clip),
              take_params, b);
    try_sizes("LumeqFrame", &frame, sizeof(frame), offsetof(LumeqFrame, number), take_frame, b);
    try_sizes("LumeqFrameStats", &stats, sizeof(stats), offsetof(LumeqFrameStats, hist_out),
              give_stats, b);
    try_sizes("LumeqMoment", &first_moment, sizeof(first_moment), offsetof(LumeqMoment, time),
              take_moment, b);
    /* LumeqFrame as output: only its size is checked. */
    static const size_t wrong[] = {1, 7, 12, 65537, SIZE_MAX};
    for (int i = 0; i < COUNT(wrong); i++) {
        LumeqFrame got = {.size = wrong[i]};
        CHECK(give_frame(b, &got) == LUMEQ_ERR_ARGUMENT, "a frame of %zu bytes", wrong[i]);
    }
}

/* Functions write only members within the caller's size. */
BENCH_TEST(short_structs)
{
    LumeqParams params;
    memset(&params, 0xEE, sizeof(params));
    params.size = offsetof(LumeqParams, clip);
    lumeq_params_default(&params);
    CHECK(params.strength == LUMEQ_STRENGTH_AUTO && params.size == offsetof(LumeqParams, clip),
          "members within the size are not filled");
    for (size_t i = offsetof(LumeqParams, clip); i < sizeof(params); i++)
        CHECK(((uint8_t *)&params)[i] == 0xEE, "byte %zu is written", i);
    static const size_t wrong[] = {1, 7, offsetof(LumeqParams, clip) + 4, 65537, SIZE_MAX};
    for (int i = 0; i < COUNT(wrong); i++) {
        LumeqParams untouched, same;
        memset(&untouched, 0xEE, sizeof(untouched));
        untouched.size = wrong[i];
        memcpy(&same, &untouched, sizeof(same));
        lumeq_params_default(&untouched);
        CHECK(!memcmp(&same, &untouched, sizeof(same)), "%zu bytes are filled", wrong[i]);
    }

    LumeqFrameStats stats;
    uint32_t curve[LUMEQ_MAX_BINS];
    memset(&stats, 0, sizeof(stats));
    memset(curve, 0xEE, sizeof(curve));
    stats.size = offsetof(LumeqFrameStats, mean_in);
    stats.curve = curve;
    stats.mean_in = -7;
    CHECK(lumeq_curve_stats(b->curve, &stats) == 0, "%s", lumeq_last_error(NULL));
    CHECK(stats.bins == 256 && stats.mean_in == -7 && !stats.hist_in, "other members are filled");
    CHECK(curve[255] <= 255 << 16 && curve[256] == 0xEEEEEEEE, "the curve has another length");
}

static void process(Bench *b, FrameStats *stats)
{
    LumeqFrame frame = frame_of(b);
    lumeq_reset(b->eq);
    CHECK(lumeq_process(b->eq, &frame, ask_stats(stats)) == 0, "%s", lumeq_last_error(b->eq));
}

BENCH_TEST(params_out_of_range)
{
    static const LumeqParams right[] = {
        {0},
        {.reference = -1, .strength = 1, .clip = 1, .smooth = LUMEQ_MAX_SMOOTH, .scene_cut = -1},
        {.mode = LUMEQ_MODE_OFF, .reference = INT32_MAX, .strength = 0.5, .clip = LUMEQ_MAX_CLIP},
        {.smooth = 1e-12, .scene_cut = INT32_MAX, .adaptive = INT32_MIN, .dither = -7},
        {.tiles_x = LUMEQ_MAX_TILES, .tiles_y = 1, .chroma = LUMEQ_CHROMA_KEEP},
        {.mode = LUMEQ_MODE_STRETCH, .bars = LUMEQ_BARS_IGNORE},
    };
    static FrameStats before, after;
    for (int i = 0; i < COUNT(right); i++) {
        LumeqParams p = right[i];
        CHECK(take_params(b, &p) == 0, "parameters %d: %s", i, lumeq_last_error(b->eq));
    }
    process(b, &before);
#define PARAM(field, value)                                                                        \
    do {                                                                                           \
        LumeqParams p = b->params;                                                                 \
        p.field = (value);                                                                         \
        CHECK(take_params(b, &p) == LUMEQ_ERR_ARGUMENT, #field " = " #value);                      \
    } while (0)
#define NUMBER(field, low, high)                                                                   \
    do {                                                                                           \
        PARAM(field, nextafter(low, -10));                                                         \
        PARAM(field, nextafter(high, INFINITY));                                                   \
        PARAM(field, (double)NAN);                                                                 \
        PARAM(field, (double)INFINITY);                                                            \
        PARAM(field, -(double)INFINITY);                                                           \
    } while (0)
    PARAM(mode, (LumeqMode)-1);
    PARAM(mode, (LumeqMode)5);
    NUMBER(strength, 0.0, 1.0);
    NUMBER(clip, 0.0, LUMEQ_MAX_CLIP);
    PARAM(clip, 0.999);
    PARAM(clip, DBL_MIN);
    NUMBER(smooth, 0.0, LUMEQ_MAX_SMOOTH);
    NUMBER(deflicker, 0.0, 1.0);
    NUMBER(denoise, 0.0, 1.0);
    PARAM(denoise, -0.5);
    PARAM(denoise, nextafter(LUMEQ_DENOISE_AUTO, -2));
    NUMBER(brightness, -1.0, 1.0);
    NUMBER(gamma, 0.0, LUMEQ_MAX_GAMMA);
    PARAM(gamma, 0.0999);
    PARAM(tiles_x, -1);
    PARAM(tiles_x, LUMEQ_MAX_TILES + 1);
    PARAM(tiles_y, INT32_MIN);
    PARAM(tiles_y, INT32_MAX);
    PARAM(chroma, (LumeqChroma)2);
    PARAM(chroma, (LumeqChroma)-1);
    PARAM(bars, (LumeqBars)2);
    PARAM(bars, (LumeqBars)-1);
    PARAM(meter, ((LumeqRect){-1, 0, 5, 5}));
    PARAM(meter, ((LumeqRect){0, -1, 5, 5}));
    PARAM(meter, ((LumeqRect){0, 0, 5, 0}));
    PARAM(meter, ((LumeqRect){0, 0, 0, 5}));
    PARAM(meter, ((LumeqRect){0, 0, -1, 5}));
    PARAM(meter, ((LumeqRect){0, 0, -2, -2}));
    PARAM(meter, ((LumeqRect){0, 0, 5, -1}));
    LumeqParams p = b->params;
    p.mode = LUMEQ_MODE_STRETCH;
    p.reference = 1;
    CHECK(take_params(b, &p) == LUMEQ_ERR_ARGUMENT, "accepts a reference in mode stretch");
    LumeqHistory *history = NULL;
    REFUSED(NULL, lumeq_history_create(&history, &b->params, -1));
    REFUSED(NULL, lumeq_history_create(&history, &b->params, INT64_MIN));
    REFUSED(NULL, lumeq_history_create(&history, &b->params, LUMEQ_MAX_LOOKAHEAD + 1));
    p = b->params;
    p.deflicker = 0.5;
    REFUSED(NULL, lumeq_history_create(&history, &p, 0));
    REFUSED(b->eq, lumeq_set_params(b->eq, &p));
    process(b, &after);
    CHECK(same_stats(&before, &after), "refused parameters have an effect");
}

TEST(config_out_of_range)
{
#define CONFIG(field, value)                                                                       \
    do {                                                                                           \
        LumeqConfig c = on_cpu;                                                                    \
        c.field = (value);                                                                         \
        CHECK(take_config(NULL, &c) == LUMEQ_ERR_ARGUMENT, #field " = " #value);                   \
    } while (0)
    CONFIG(backend, (LumeqBackendId)-1);
    CONFIG(backend, (LumeqBackendId)3);
    CONFIG(device, -1);
    CONFIG(threads, -1);
    CONFIG(threads, 257);
    CONFIG(batch, -1);
    CONFIG(batch, LUMEQ_MAX_BATCH + 1);
    char why[8] = "before", none = 'x';
    LumeqEqualizer *eq = (LumeqEqualizer *)&none;
    const LumeqConfig bad = {.threads = -1};
    CHECK(lumeq_create(&eq, &bad, why, sizeof(why)) < 0 && !eq && strlen(why) == 7, "'%s'", why);
    CHECK(lumeq_create(&eq, &bad, &none, 0) < 0 && none == 'x', "a `why` of 0 bytes is written");
    CHECK(lumeq_create(&eq, &bad, &none, 1) < 0 && !none, "a `why` of 1 byte is not terminated");
    CHECK(lumeq_create(&eq, NULL, why, sizeof(why)) == 0 && strlen(why) == 7, "defaults: %s", why);
    CHECK(!lumeq_last_error(eq)[0], "a new equalizer has an error: %s", lumeq_last_error(eq));
    lumeq_destroy(&eq);

    LumeqConfig absent = {.backend = LUMEQ_BACKEND_CUDA, .device = 9999};
    CHECK(lumeq_create(&eq, &absent, why, sizeof(why)) == LUMEQ_ERR_UNAVAILABLE && !eq && why[0],
          "GPU 9999: %s", why);
    absent.backend = LUMEQ_BACKEND_AUTO;
    CHECK(lumeq_create(&eq, &absent, NULL, 0) == 0 && !strcmp(lumeq_backend_name(eq), "cpu"),
          "the CPU does not replace GPU 9999");
    lumeq_destroy(&eq);
    REFUSED(NULL, lumeq_list_gpus(NULL, -1, NULL, 0));
}

/* Passes an invalid image to each function that reads one. */
static void refuse_input(Bench *b, const LumeqImage *image, const char *what)
{
    LumeqMeasure *measure = b->measure;
    LumeqFrame frame = frame_of(b);
    frame.in = *image;
    CHECK(lumeq_submit(b->eq, &frame) == LUMEQ_ERR_ARGUMENT, "submit: %s", what);
    CHECK(lumeq_measure(b->context, &measure, &b->params, image, NULL, NULL) ==
                  LUMEQ_ERR_ARGUMENT &&
              measure == b->measure,
          "measure: %s", what);
    CHECK(lumeq_measure(b->context, &measure, &b->params, &b->in, image, NULL) ==
                  LUMEQ_ERR_ARGUMENT &&
              measure == b->measure,
          "previous frame: %s", what);
    frame = frame_of(b);
    frame.previous = image;
    CHECK(lumeq_submit(b->eq, &frame) == LUMEQ_ERR_ARGUMENT, "submit: previous frame: %s", what);
    CHECK(lumeq_apply(b->context, b->curve, image, NULL, 0, &b->out, NULL) == LUMEQ_ERR_ARGUMENT,
          "apply: %s", what);
}

static void refuse_output(Bench *b, const LumeqImage *image, const char *what)
{
    LumeqFrame frame = frame_of(b);
    frame.out = *image;
    CHECK(lumeq_submit(b->eq, &frame) == LUMEQ_ERR_ARGUMENT, "submit: output: %s", what);
    CHECK(lumeq_apply(b->context, b->curve, &b->in, NULL, 0, image, NULL) == LUMEQ_ERR_ARGUMENT,
          "apply: output: %s", what);
}

BENCH_TEST(images_out_of_range)
{
#define IMAGE(field, value)                                                                        \
    do {                                                                                           \
        LumeqImage image = b->in;                                                                  \
        image.field = (value);                                                                     \
        refuse_input(b, &image, #field " = " #value);                                              \
        image = b->out;                                                                            \
        image.field = (value);                                                                     \
        refuse_output(b, &image, #field " = " #value);                                             \
    } while (0)
    IMAGE(width, 0);
    IMAGE(width, LUMEQ_MAX_SIDE + 1);
    IMAGE(height, 0);
    IMAGE(height, INT32_MAX);
    IMAGE(depth, 7);
    IMAGE(depth, 17);
    IMAGE(shift, 1);
    IMAGE(shift, -1);
    IMAGE(range, (LumeqRange)2);
    IMAGE(memory, (LumeqMemory)2);
    IMAGE(memory, LUMEQ_MEMORY_CUDA); /* the backend is the CPU */
    IMAGE(stride[0], WIDTH - 1);
    IMAGE(stride[0], 1 - WIDTH);
    IMAGE(stride[0], 0);
    IMAGE(stride[0], PTRDIFF_MIN);
    IMAGE(stride[0], PTRDIFF_MAX);
    IMAGE(stride[1], WIDTH / 2 - 1);
    IMAGE(stride[2], WIDTH / 2 - 1);
    IMAGE(chroma_x, -1);
    IMAGE(chroma_x, 3);
    IMAGE(chroma_y, -1);
    IMAGE(chroma_y, 3);
    LumeqImage unlike[] = {b->in, b->in, b->in, b->in};
    unlike[0].width--;
    unlike[1].height--;
    unlike[2].range = LUMEQ_RANGE_FULL;
    unlike[3].depth = 10;
    unlike[3].width /= 2;
    for (int i = 0; i < COUNT(unlike); i++) {
        LumeqFrame frame = frame_of(b);
        LumeqMeasure *measure = NULL;
        unlike[i].plane[1] = unlike[i].plane[2] = NULL;
        frame.previous = &unlike[i];
        REFUSED(b->eq, lumeq_submit(b->eq, &frame));
        REFUSED(NULL, lumeq_measure(b->context, &measure, &b->params, &b->in, &unlike[i], NULL));
    }
    LumeqImage other = b->in;
    other.plane[0] = NULL;
    refuse_input(b, &other, "no luma");
    other = b->in;
    other.plane[1] = other.plane[2] = NULL;
    const LumeqFrame no_chroma = {.in = other, .out = b->out};
    REFUSED(b->eq, lumeq_submit(b->eq, &no_chroma));
    REFUSED(NULL, lumeq_apply(b->context, b->curve, &other, NULL, 0, &b->out, NULL));
    other = b->out;
    other.plane[0] = NULL;
    REFUSED(NULL, lumeq_apply(b->context, b->curve, &b->in, NULL, 0, &other, NULL));
    REFUSED(NULL, lumeq_apply(b->context, b->curve, &b->in, &b->in, -1, &b->out, NULL));
    other = b->in;
    other.width--;
    REFUSED(NULL, lumeq_apply(b->context, b->curve, &other, NULL, 0, &b->out, NULL));
}

/* Each refusal sets a message with `word`. Refused frames do not change the history. */
BENCH_TEST(frames_that_do_not_fit)
{
    static FrameStats stats[2];
    LumeqFrame good = frame_of(b), again = good;
    CHECK(lumeq_process(b->eq, &again, NULL) == 0, "%s", lumeq_last_error(b->eq));
    layout_put(&b->in, 0, 3, 3, 200);
#define REFUSE(word, change)                                                                       \
    do {                                                                                           \
        LumeqFrame frame = good;                                                                   \
        change;                                                                                    \
        REFUSED(b->eq, lumeq_submit(b->eq, &frame));                                               \
        CHECK(strstr(lumeq_last_error(b->eq), word), "%s: '%s'", #change,                          \
              lumeq_last_error(b->eq));                                                            \
        CHECK(lumeq_receive(b->eq, NULL, NULL) < 0, "%s is in flight", #change);                   \
    } while (0)
    REFUSE("area", frame.in.width = frame.in.height = frame.in.stride[0] = LUMEQ_MAX_SIDE;
           frame.out.plane[0] = frame.in.plane[1] = frame.in.plane[2] = NULL);
    REFUSE("stride", frame.in.stride[0] = (ptrdiff_t)INT32_MAX + 1);
    REFUSE("stride", frame.out.stride[0] = -(ptrdiff_t)INT32_MAX - 1);
    REFUSE("size", frame.out.width--);
    REFUSE("size", frame.out.height--);
    REFUSE("range", frame.out.range = LUMEQ_RANGE_FULL);
    REFUSE("stride", frame.out.memory = LUMEQ_MEMORY_CUDA; frame.out.stride[0] = PTRDIFF_MIN);
    REFUSE("chroma", frame.out.chroma_x = 2);
    REFUSE("chroma", frame.out.chroma_y = 1);
    REFUSE("chroma", frame.in.plane[1] = NULL);
    REFUSE("shorter", frame.in.plane[2] = frame.out.plane[2] = NULL); /* interleaved chroma */
    for (int i = 0; i < 2; i++) {
        LumeqFrame frame = good;
        lumeq_reset(b->eq);
        if (i) /* measure only */
            frame.out.plane[0] = frame.out.plane[1] = NULL;
        CHECK(lumeq_process(b->eq, &frame, ask_stats(&stats[i])) == 0, "%s",
              lumeq_last_error(b->eq));
    }
    CHECK(same_stats(&stats[0], &stats[1]), "statistics differ without an output");

    LumeqImage in = noise(10, 0, LAYOUT_GRAY), out = noise(10, 0, LAYOUT_GRAY);
    good = (LumeqFrame){.in = in, .out = out};
    REFUSE("depth", frame.in.depth = 8);
    REFUSE("depth", frame.out.depth = 12);
    REFUSE("0 to 6", frame.in.shift = frame.out.shift = 7);
    REFUSE("0 to 0", frame.in.depth = frame.out.depth = 16; frame.in.shift = 1);
    REFUSE("unused low bits", frame.out.shift = 7);
    REFUSE("odd", frame.in.plane[0] = (uint8_t *)in.plane[0] + 1);
    REFUSE("odd", frame.out.plane[0] = (uint8_t *)out.plane[0] + 1);
    REFUSE("odd", frame.in.stride[0] = 2 * WIDTH + 1);
    REFUSE("odd", frame.out.stride[0] = -2 * WIDTH - 1);
    b->params.reference = 1;
    CHECK(lumeq_set_params(b->eq, &b->params) == 0, "%s", lumeq_last_error(b->eq));
    REFUSE("reference", frame.time = 0);
    LumeqMeasure *measure = NULL;
    REFUSED(NULL, lumeq_measure(b->context, &measure, &b->params, &in, NULL, NULL));
    b->params.mode = LUMEQ_MODE_OFF; /* off ignores the reference */
    CHECK(lumeq_set_params(b->eq, &b->params) == 0 && lumeq_process(b->eq, &good, NULL) == 0, "%s",
          lumeq_last_error(b->eq));
    CHECK(!layout_differences(&in, &out), "mode off changes samples");
    layout_free(&in);
    layout_free(&out);
}

/* Processes a frame whose output lies `x`, `y` from its input, in a buffer of 3x3 frames. Bit 0 of
 * `turned`: the input is bottom up; bit 1: the output is bottom up. */
static int process_at(Bench *b, uint8_t *memory, int x, int y, int turned)
{
    const ptrdiff_t pitch = 3 * WIDTH;
    uint8_t *const in = memory + pitch * HEIGHT + WIDTH, *out = in + x + pitch * y;
    LumeqFrame frame = frame_of(b);
    for (int k = 1; k < 3; k++)
        frame.in.plane[k] = frame.out.plane[k] = NULL;
    frame.in.plane[0] = turned & 1 ? in + pitch * (HEIGHT - 1) : in;
    frame.in.stride[0] = turned & 1 ? -pitch : pitch;
    frame.out.plane[0] = turned & 2 ? out + pitch * (HEIGHT - 1) : out;
    frame.out.stride[0] = turned & 2 ? -pitch : pitch;
    return lumeq_process(b->eq, &frame, NULL);
}

/* An output may lie between the rows of the input, but not overlap their samples. */
BENCH_TEST(overlapping_output)
{
    static const int xs[] = {-WIDTH, 1 - WIDTH, -1, 0, 1, WIDTH - 1, WIDTH},
                     ys[] = {-HEIGHT, 1 - HEIGHT, -1, 0, 1, HEIGHT - 1, HEIGHT};
    uint8_t *memory = calloc(9, WIDTH * HEIGHT);
    for (int i = 0; i < COUNT(xs); i++)
        for (int k = 0; k < COUNT(ys); k++)
            for (int turned = 0; turned < 4; turned++) {
                const int shared = abs(xs[i]) < WIDTH && abs(ys[k]) < HEIGHT;
                const int ret = process_at(b, memory, xs[i], ys[k], turned);
                CHECK(ret == (shared ? LUMEQ_ERR_ARGUMENT : 0), "%d at %d, %d, turned %d", ret,
                      xs[i], ys[k], turned);
            }
    free(memory);
    LumeqFrame frame = frame_of(b);
    frame.out.plane[2] = (uint8_t *)frame.in.plane[0] + frame.in.stride[0] - 1;
    REFUSED(b->eq, lumeq_process(b->eq, &frame, NULL));
    REFUSED(NULL, lumeq_apply(b->context, b->curve, &b->in, NULL, 0, &frame.out, NULL));
}

BENCH_TEST(calls_out_of_range)
{
    LumeqFrame frame = frame_of(b);
    frame.number = -1;
    REFUSED(b->eq, lumeq_submit(b->eq, &frame));
    const LumeqMoment before_all = {.number = INT64_MIN};
    REFUSED(NULL, lumeq_history_put(b->history, b->measure, &before_all));
    const LumeqSync sync = {.size = sizeof(sync)};
    frame = frame_of(b);
    frame.sync = &sync;
    REFUSED(b->eq, lumeq_submit(b->eq, &frame));
    LumeqMeasure *measure = NULL;
    REFUSED(NULL, lumeq_measure(b->context, &measure, &b->params, &b->in, NULL, &sync));
    REFUSED(NULL, lumeq_apply(b->context, b->curve, &b->in, NULL, 0, &b->out, &sync));

    LumeqHistory *tiled = NULL;
    b->params.mode = LUMEQ_MODE_CLAHE;
    CHECK(lumeq_history_create(&tiled, &b->params, 0) == 0, "%s", lumeq_last_error(NULL));
    REFUSED(NULL, lumeq_history_put(tiled, b->measure, &first_moment));
    lumeq_history_destroy(&tiled);
}

/* Times and numbers may jump or go back. */
BENCH_TEST(wild_times)
{
    static const int64_t times[] = {
        0, INT64_MAX, LUMEQ_NO_TIME, INT64_MIN + 1, -1, INT64_MAX, INT64_MIN, 5, INT64_MAX - 1};
    for (int i = 0; i < COUNT(times); i++) {
        LumeqFrame frame = frame_of(b);
        frame.time = times[i];
        frame.duration = times[COUNT(times) - 1 - i];
        frame.number = times[i] < 0 ? 0 : times[i];
        CHECK(lumeq_process(b->eq, &frame, NULL) == 0, "%s", lumeq_last_error(b->eq));
        LumeqMoment moment = {.time = frame.time, .duration = frame.duration};
        moment.number = frame.number;
        moment.discontinuity = i % 3 == 2;
        CHECK(take_moment(b, &moment) == 0, "%s", lumeq_last_error(NULL));
    }
}

typedef struct Log {
    int infos, warnings;
    char last[256];
} Log;

static void note(void *user, LumeqLogLevel level, const char *text)
{
    Log *log = user;
    log->infos += level == LUMEQ_LOG_INFO;
    log->warnings += level == LUMEQ_LOG_WARNING;
    snprintf(log->last, sizeof(log->last), "%s", text);
}

TEST(log_callback)
{
    Log log = {0};
    LumeqConfig config = on_cpu;
    LumeqEqualizer *eq = NULL;
    LumeqContext *context = NULL;
    char why[256];
    config.log = note;
    config.log_user = &log;
    CHECK(lumeq_create(&eq, &config, why, sizeof(why)) == 0, "%s", why);
    CHECK(log.infos == 1 && !log.warnings && !strcmp(log.last, why), "the log has '%s', why '%s'",
          log.last, why);
    CHECK(!strchr(log.last, '\n'), "the line ends with a newline");
    CHECK(lumeq_context_create(&context, &config, why, sizeof(why)) == 0, "%s", why);
    CHECK(log.infos == 2 && !log.warnings && !strcmp(log.last, why), "the log has '%s'", log.last);
    lumeq_context_destroy(&context);
    lumeq_destroy(&eq);
    config.threads = -1;
    CHECK(lumeq_create(&eq, &config, NULL, 0) < 0 && log.infos == 2,
          "a failure is logged as success");
}

static void *fail_elsewhere(void *arg)
{
    CHECK(lumeq_last_error(NULL)[0] == '\0', "a new thread has the text '%s'",
          lumeq_last_error(NULL));
    CHECK(lumeq_history_create(NULL, NULL, 0) == LUMEQ_ERR_ARGUMENT, "creates a history at NULL");
    CHECK(strstr(lumeq_last_error(NULL), "history") != NULL, "'%s'", lumeq_last_error(NULL));
    return arg;
}

/* Each thread and each equalizer has its own error message. */
BENCH_TEST(last_error)
{
    pthread_t thread;
    CHECK(lumeq_set_params(b->eq, NULL) < 0 && lumeq_last_error(b->eq)[0], "no text");
    char of_equalizer[256];
    snprintf(of_equalizer, sizeof(of_equalizer), "%s", lumeq_last_error(b->eq));
    CHECK(lumeq_measure_finish(NULL, 0) < 0, "finishes NULL");
    CHECK(strstr(lumeq_last_error(NULL), "measure") != NULL, "'%s'", lumeq_last_error(NULL));
    CHECK(!strcmp(of_equalizer, lumeq_last_error(b->eq)), "the equalizer's text has changed");
    if (CHECK(pthread_create(&thread, NULL, fail_elsewhere, NULL) == 0, "no thread"))
        pthread_join(thread, NULL);
    CHECK(strstr(lumeq_last_error(NULL), "measure") != NULL, "another thread's text: '%s'",
          lumeq_last_error(NULL));
}

/* Calls that fail change nothing. */
BENCH_TEST(process)
{
    LumeqFrame frame = frame_of(b);
    frame.opaque = b;
    CHECK(lumeq_process(b->eq, &frame, NULL) == 0, "%s", lumeq_last_error(b->eq));
    CHECK(frame.opaque == b && frame.out.plane[0] == b->out.plane[0] && !frame.sync,
          "the frame is changed");
    CHECK(lumeq_submit(b->eq, &frame) == 0, "%s", lumeq_last_error(b->eq));
    CHECK(lumeq_process(b->eq, &frame, NULL) == LUMEQ_ERR_AGAIN,
          "accepts a frame while another is in flight");
    lumeq_flush(b->eq);
    CHECK(lumeq_receive(b->eq, NULL, NULL) == 0, "%s", lumeq_last_error(b->eq));
    LumeqFrameStats bad = {.size = 3};
    CHECK(lumeq_process(b->eq, &frame, &bad) == LUMEQ_ERR_ARGUMENT,
          "accepts statistics of 3 bytes");
    CHECK(lumeq_process(b->eq, &frame, NULL) == 0, "refused with nothing in flight: %s",
          lumeq_last_error(b->eq));
}

static void step(Bench *b, LumeqHistory *history, int64_t time, FrameStats *stats)
{
    const LumeqMoment moment = {.time = time, .discontinuity = time == 0};
    LumeqCurve *curve = NULL;
    CHECK(lumeq_measure(b->context, &b->measure, &b->params, &b->in, NULL, NULL) == 0 &&
              lumeq_history_put(history, b->measure, &moment) == 0 &&
              lumeq_history_get(history, &curve) == 0 &&
              lumeq_curve_stats(curve, ask_stats(stats)) == 0,
          "%s", lumeq_last_error(NULL));
    lumeq_curve_unref(&curve);
}

/* A frame put into a copy of a history does not change the original. Changed parameters apply to
 * the next frame, as in the equalizer. */
BENCH_TEST(changed_history)
{
    static FrameStats live, stepwise, tried;
    LumeqHistory *copy = NULL;
    CHECK(lumeq_history_create(&copy, NULL, 0) == 0, "%s", lumeq_last_error(NULL));
    for (int n = 0; n < 12; n++) {
        const int64_t time = n * INT64_C(40000000);
        for (int y = 0; y < HEIGHT; y++)
            layout_put(&b->in, 0, n, y, n < 6 ? 30 + n : 200);
        if (n % 3 == 2) {
            b->params.brightness = n / 12.;
            b->params.meter = (LumeqRect){0, 0, n, 8};
            CHECK(lumeq_set_params(b->eq, &b->params) == 0 &&
                      lumeq_history_copy(copy, b->history) == 0 &&
                      lumeq_history_set_params(copy, &b->params) == 0,
                  "%s", lumeq_last_error(NULL));
            step(b, copy, time, &tried);
            CHECK(lumeq_history_set_params(b->history, &b->params) == 0, "%s",
                  lumeq_last_error(NULL));
        }
        LumeqFrame frame = frame_of(b);
        frame.time = time;
        step(b, b->history, time, &stepwise);
        CHECK(n % 3 != 2 || same_stats(&tried, &stepwise), "frame %d differs from that of the copy",
              n);
        CHECK(lumeq_process(b->eq, &frame, ask_stats(&live)) == 0, "%s", lumeq_last_error(b->eq));
        CHECK(same_stats(&live, &stepwise), "frame %d differs from the equalizer's", n);
    }
    lumeq_history_destroy(&copy);
    CHECK(lumeq_history_create(&copy, NULL, 1) == 0, "%s", lumeq_last_error(NULL));
    CHECK(lumeq_history_copy(copy, b->history) == LUMEQ_ERR_ARGUMENT &&
              lumeq_history_copy(b->history, copy) == LUMEQ_ERR_ARGUMENT &&
              lumeq_history_set_params(copy, &b->params) == LUMEQ_ERR_ARGUMENT,
          "accepts a history with lookahead");
    lumeq_history_destroy(&copy);
}

/* Arrays that are NULL do not affect the other statistics. */
BENCH_TEST(wanted_arrays)
{
    static const struct {
        LumeqMode mode;
        int depth;
    } cases[] = {{LUMEQ_MODE_GLOBAL, 8},  {LUMEQ_MODE_GLOBAL, 10}, {LUMEQ_MODE_GLOBAL, 16},
                 {LUMEQ_MODE_CLAHE, 8},   {LUMEQ_MODE_CLAHE, 14},  {LUMEQ_MODE_OFF, 8},
                 {LUMEQ_MODE_STRETCH, 12}};
    for (int i = 0; i < COUNT(cases); i++) {
        static FrameStats all;
        LumeqImage deep = noise(cases[i].depth, 0, LAYOUT_GRAY);
        LumeqFrame frame = {.in = deep};
        b->params.mode = cases[i].mode;
        lumeq_reset(b->eq);
        CHECK(lumeq_set_params(b->eq, &b->params) == 0 &&
                  lumeq_process(b->eq, &frame, ask_stats(&all)) == 0,
              "%s", lumeq_last_error(b->eq));
        for (int wanted = 0; wanted < 8; wanted++) {
            static FrameStats some;
            memset(&some, 0xEE, sizeof(some));
            LumeqFrameStats *ask = ask_stats(&some);
            ask->hist_in = wanted & 1 ? some.hist_in : NULL;
            ask->hist_out = wanted & 2 ? some.hist_out : NULL;
            ask->curve = wanted & 4 ? some.curve : NULL;
            frame = (LumeqFrame){.in = deep};
            lumeq_reset(b->eq);
            CHECK(lumeq_process(b->eq, &frame, ask) == 0, "%s", lumeq_last_error(b->eq));
            const size_t bytes = (size_t)ask->bins * sizeof(uint32_t);
            const uint32_t *const got[] = {some.hist_in, some.hist_out, some.curve};
            const uint32_t *const had[] = {all.hist_in, all.hist_out, all.curve};
            for (int k = 0; k < 3; k++) {
                CHECK(wanted >> k & 1 ? !memcmp(got[k], had[k], bytes) : got[k][0] == 0xEEEEEEEE,
                      "array %d, wanted mask %d", k, wanted);
                CHECK(ask->bins == LUMEQ_MAX_BINS || got[k][ask->bins] == 0xEEEEEEEE,
                      "array %d is written beyond its end", k);
            }
            CHECK(ask->mean_in == all.values.mean_in && ask->mean_out == all.values.mean_out &&
                      ask->noise_gain == all.values.noise_gain,
                  "other statistics depend on the arrays");
        }
        layout_free(&deep);
    }
}

TEST(profiles)
{
    LumeqParams p = {.size = sizeof(p)};
    lumeq_params_default(&p);
    p.await_noise = 1;
    CHECK(lumeq_params_profile(&p, "thermal") == 0 && p.mode == LUMEQ_MODE_CLAHE &&
              p.code_range == LUMEQ_CODE_RANGE_USED && p.await_noise,
          "%s", lumeq_last_error(NULL));
    CHECK(lumeq_params_profile(&p, "night") == 0 && p.mode == LUMEQ_MODE_GLOBAL &&
              p.code_range == LUMEQ_CODE_RANGE_FULL,
          "the previous profile has an effect");
    const LumeqParams before = p;
    CHECK(lumeq_params_profile(&p, "nigth") == LUMEQ_ERR_ARGUMENT &&
              strstr(lumeq_last_error(NULL), "medical-gray, night"),
          "%s", lumeq_last_error(NULL));
    CHECK(lumeq_params_profile(&p, NULL) == LUMEQ_ERR_ARGUMENT, "NULL");
    CHECK(lumeq_params_profile(NULL, "fog") == LUMEQ_ERR_ARGUMENT, "NULL");
    CHECK(!memcmp(&before, &p, sizeof(p)), "a refused profile changed parameters");
}

/* Stretches 100 codes of 14 bits, stored with a shift and bottom up. The output leaves 1/16 of the
 * range free at each end. */
TEST(stretch)
{
    uint16_t samples[64 * 100], out[64 * 100];
    for (int i = 0; i < 64 * 100; i++)
        samples[i] = (uint16_t)((8000 + i / 64) << 2 | 3);
    LumeqImage in = {.plane = {samples + 64 * 99},
                     .stride = {-128},
                     .width = 64,
                     .height = 100,
                     .depth = 14,
                     .shift = 2,
                     .range = LUMEQ_RANGE_FULL};
    LumeqImage to = in;
    to.plane[0] = out;
    to.stride[0] = 128;
    to.shift = 0;
    LumeqCodes used = {0, 0}, window = {0, 0};
    int noise = 0;
    FREED_BY(lumeq_stretch_destroy) LumeqStretch *s = NULL;
    CHECK(lumeq_stretch_create(&s, NULL) == 0, "no memory");
    CHECK(lumeq_measure_codes(&in, &used, &noise) == 1 && used.low == 8000 && used.high == 8099 &&
              noise == 1,
          "%d to %d, noise %d", used.low, used.high, noise);
    CHECK(lumeq_stretch_window(s, LUMEQ_CODE_RANGE_FULL, &in, 0, &window) == 0, "FULL");
    CHECK(lumeq_stretch_window(s, LUMEQ_CODE_RANGE_AUTO, &in, 0, &window) == 1 &&
              window.low == 8000 && window.high == 8099,
          "AUTO: %d to %d", window.low, window.high);
    CHECK(lumeq_stretch_write(s, &window, &in, &to) == 0 && out[0] == 16383 - 1023 &&
              out[64 * 99] == 1023,
          "%d and %d", out[0], out[64 * 99]);
    CHECK(lumeq_stretch_write(s, &window, &in, &in) == 0 && samples[0] == 1023 << 2, "in place: %d",
          samples[0]);

    LumeqImage bad[] = {in, in, in, in};
    bad[0].depth = 8;
    bad[1].memory = LUMEQ_MEMORY_CUDA;
    bad[2].plane[1] = out;
    bad[3].width = 0;
    for (int i = 0; i < 4; i++) {
        CHECK(lumeq_measure_codes(&bad[i], &used, NULL) == LUMEQ_ERR_ARGUMENT, "%d", i);
        CHECK(lumeq_stretch_write(s, &window, &in, &bad[i]) == LUMEQ_ERR_ARGUMENT, "%d", i);
        CHECK(lumeq_stretch_window(s, LUMEQ_CODE_RANGE_USED, &bad[i], 0, &window) ==
                  LUMEQ_ERR_ARGUMENT,
              "%d", i);
    }
    const LumeqCodes wrong[] = {{100, 100}, {-1, 9}, {0, 16384}};
    for (int i = 0; i < 3; i++)
        CHECK(lumeq_stretch_write(s, &wrong[i], &in, &to) == LUMEQ_ERR_ARGUMENT, "window %d", i);
    CHECK(lumeq_stretch_window(s, (LumeqCodeRange)3, &in, 0, &window) == LUMEQ_ERR_ARGUMENT, "3");
    CHECK(lumeq_stretch_create(NULL, NULL) == LUMEQ_ERR_ARGUMENT, "NULL");
}

TEST_MAIN
