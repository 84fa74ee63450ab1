/* Compares the filter, loaded by VapourSynth's core, with the library: every format, and frames in
 * any order. */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VS_USE_API_41 /* clearCoreCaches() */
#include <VapourSynth4.h>

#include "../check.h"
#include "lumeq/lumeq.h"

#define FRAMES 40
#define SECOND INT64_C(1000000000)

static const VSAPI *vs;

/* Creates a core with the plugin. Without VapourSynth, skips the test and returns NULL. */
static VSCore *start(void)
{
    void *library = dlopen(LUMEQ_VAPOURSYNTH_LIBRARY, RTLD_NOW);
    const VSAPI *(VS_CC * get)(int) = NULL;
    if (library)
        *(void **)&get = dlsym(library, "getVapourSynthAPI");
    vs = get ? get(VAPOURSYNTH_API_VERSION) : NULL;
    if (!vs) {
        check_skip("%s", library ? "the core has no API 4" : dlerror());
        return NULL;
    }
    VSCore *core = vs->createCore(ccfDisableAutoLoading);
    VSMap *in = vs->createMap();
    vs->mapSetData(in, "path", LUMEQ_VS_PLUGIN, -1, dtUtf8, maReplace);
    VSMap *out = vs->invoke(vs->getPluginByID("com.vapoursynth.std", core), "LoadPlugin", in);
    CHECK(!vs->mapGetError(out), "%s", vs->mapGetError(out));
    vs->freeMap(in);
    vs->freeMap(out);
    vs->setThreadCount(4, core);
    return core;
}

/* ---- a clip ---- */

typedef struct Shape {
    int family, depth, chroma_x, chroma_y, width, height;
    int light; /* brightness, 0 to 255 */
    int rate;  /* frames per second; 0: each frame has its own duration */
    int range, transfer, fields;
} Shape;

typedef struct Clip {
    Shape s;
    VSVideoInfo info;
    atomic_int made; /* frames */
} Clip;

static void draw(const Clip *c, VSFrame *frame, int n)
{
    CheckRandom random = check_random((uint64_t)n + 1);
    const int cut = n >= FRAMES / 2; /* brighter after a cut */
    for (int p = 0; p < c->info.format.numPlanes; p++) {
        const int w = vs->getFrameWidth(frame, p), h = vs->getFrameHeight(frame, p);
        for (int y = 0; y < h; y++) {
            uint8_t *row = vs->getWritePtr(frame, p) + y * vs->getStride(frame, p);
            for (int x = 0; x < w; x++) {
                const int code = p ? 100 + (x + y) % 50
                                   : 16 + cut * 40 + (x + y + n / 8) * c->s.light / (w + h + 9);
                const int sample = (code + check_below(&random, 4)) << (c->s.depth - 8);
                if (c->s.depth == 8)
                    row[x] = (uint8_t)sample;
                else
                    ((uint16_t *)(void *)row)[x] = (uint16_t)sample;
            }
        }
    }
    VSMap *properties = vs->getFramePropertiesRW(frame);
    vs->mapSetInt(properties, "_Range", c->s.range, maReplace);
    vs->mapSetInt(properties, "_Transfer", c->s.transfer, maReplace);
    vs->mapSetInt(properties, "_FieldBased", c->s.fields, maReplace);
    vs->mapSetInt(properties, "_DurationNum", 1 + n % 3, maReplace);
    vs->mapSetInt(properties, "_DurationDen", 40, maReplace);
}

static const VSFrame *VS_CC make_frame(int n, int reason, void *instance, void **data,
                                       VSFrameContext *request, VSCore *core, const VSAPI *api)
{
    (void)reason, (void)data, (void)request, (void)api;
    Clip *c = instance;
    VSFrame *frame = vs->newVideoFrame(&c->info.format, c->info.width, c->info.height, NULL, core);
    atomic_fetch_add(&c->made, 1);
    draw(c, frame, n);
    return frame;
}

static VSNode *open_clip(Clip *c, VSCore *core)
{
    c->info = (VSVideoInfo){.fpsNum = c->s.rate,
                            .fpsDen = c->s.rate ? 1 : 0,
                            .width = c->s.width,
                            .height = c->s.height,
                            .numFrames = FRAMES};
    vs->queryVideoFormat(&c->info.format, c->s.family, stInteger, c->s.depth, c->s.chroma_x,
                         c->s.chroma_y, core);
    return vs->createVideoFilter2("Clip", &c->info, make_frame, NULL, fmParallel, NULL, 0, c, core);
}

/* ---- the filter ---- */

/* An argument of the filter: `word`, or `number` if `word` is NULL. */
typedef struct Argument {
    const char *name, *word;
    double number;
} Argument;

/* Calls core.lumeq.Equalize. Returns NULL after an error, and `said` has its text. */
static VSNode *equalize(VSNode *clip, const Argument *arguments, int count, char said[512],
                        VSCore *core)
{
    VSMap *in = vs->createMap();
    vs->mapSetNode(in, "clip", clip, maReplace);
    for (int i = 0; i < count && arguments[i].name; i++) {
        const Argument *a = &arguments[i];
        if (a->word)
            vs->mapSetData(in, a->name, a->word, -1, dtUtf8, maReplace);
        else if (a->number == (int)a->number && strcmp(a->name, "lookahead") != 0 &&
                 strcmp(a->name, "strength") != 0)
            vs->mapSetInt(in, a->name, (int)a->number, maReplace);
        else
            vs->mapSetFloat(in, a->name, a->number, maReplace);
    }
    VSMap *out = vs->invoke(vs->getPluginByNamespace("lumeq", core), "Equalize", in);
    const char *error = vs->mapGetError(out);
    snprintf(said, 512, "%s", error ? error : "");
    VSNode *node = error ? NULL : vs->mapGetNode(out, "clip", 0, NULL);
    vs->freeMap(in);
    vs->freeMap(out);
    return node;
}

/* ---- the library ---- */

static LumeqImage image_of(const Clip *c, const VSFrame *frame)
{
    LumeqImage image = {.width = c->s.width,
                        .height = c->s.height,
                        .chroma_x = c->s.chroma_x,
                        .chroma_y = c->s.chroma_y,
                        .depth = c->s.depth,
                        .range = c->s.range ? LUMEQ_RANGE_FULL : LUMEQ_RANGE_LIMITED};
    for (int p = 0; p < c->info.format.numPlanes; p++) {
        image.plane[p] = (void *)(uintptr_t)vs->getReadPtr(frame, p);
        image.stride[p] = vs->getStride(frame, p);
    }
    return image;
}

typedef struct Expected {
    VSFrame *frames[FRAMES];
    LumeqFrameStats stats[FRAMES];
} Expected;

static void take_curves(LumeqHistory *history, LumeqCurve **curves, int *count)
{
    while (*count < FRAMES && lumeq_history_get(history, &curves[*count]) == 0)
        ++*count;
}

/* Makes the expected frames: measures, makes curves and applies them, in order. */
static void expect(Expected *e, Clip *c, const LumeqParams *params, double lookahead, VSCore *core)
{
    LumeqContext *context = NULL;
    LumeqHistory *history = NULL;
    LumeqMeasure *measure = NULL;
    LumeqCurve *curves[FRAMES] = {NULL};
    VSFrame *in[FRAMES];
    int64_t time = 0;
    int count = 0;
    const LumeqConfig config = {.size = sizeof(config), .backend = LUMEQ_BACKEND_CPU};
    if (lumeq_context_create(&context, &config, NULL, 0) < 0 ||
        lumeq_history_create(&history, params, (int64_t)(lookahead * 1e9)) < 0)
        abort();
    for (int n = 0; n < FRAMES; n++) {
        in[n] = vs->newVideoFrame(&c->info.format, c->s.width, c->s.height, NULL, core);
        draw(c, in[n], n);
        const LumeqImage image = image_of(c, in[n]);
        const LumeqImage before = image_of(c, in[n ? n - 1 : 0]);
        const LumeqMoment moment = {.size = sizeof(moment),
                                    .number = n,
                                    .time = c->s.rate ? n * SECOND / c->s.rate : time,
                                    .duration =
                                        c->s.rate ? SECOND / c->s.rate : (1 + n % 3) * SECOND / 40,
                                    .interlaced = c->s.fields > 0};
        time += moment.duration;
        if (lumeq_measure(context, &measure, params, &image, n ? &before : NULL, NULL) < 0 ||
            lumeq_history_put(history, measure, &moment) < 0)
            abort();
        take_curves(history, curves, &count);
    }
    (void)lumeq_history_put(history, NULL, NULL);
    take_curves(history, curves, &count);
    CHECK(count == FRAMES, "%d curves", count);
    for (int n = 0; n < FRAMES; n++) {
        e->frames[n] = vs->newVideoFrame(&c->info.format, c->s.width, c->s.height, NULL, core);
        for (int p = 0; p < c->info.format.numPlanes; p++)
            (void)vs->getWritePtr(e->frames[n], p);
        const LumeqImage image = image_of(c, in[n]), out = image_of(c, e->frames[n]);
        LumeqImage before[3];
        int previous = 0;
        for (; previous < 3 && previous < n; previous++)
            before[previous] = image_of(c, in[n - 1 - previous]);
        e->stats[n].size = sizeof(e->stats[n]);
        CHECK(lumeq_curve_stats(curves[n], &e->stats[n]) == 0, "no statistics");
        CHECK(lumeq_apply(context, curves[n], &image, before, previous, &out, NULL) == 0, "%s",
              lumeq_last_error(NULL));
    }
    for (int n = 0; n < FRAMES; n++) {
        lumeq_curve_unref(&curves[n]);
        vs->freeFrame(in[n]);
    }
    lumeq_measure_free(&measure);
    lumeq_history_destroy(&history);
    lumeq_context_destroy(&context);
}

static int is_same(const Clip *c, const VSFrame *a, const VSFrame *b)
{
    for (int p = 0; p < c->info.format.numPlanes; p++) {
        const size_t bytes = (size_t)vs->getFrameWidth(a, p) * (c->s.depth > 8 ? 2 : 1);
        for (int y = 0; y < vs->getFrameHeight(a, p); y++)
            if (memcmp(vs->getReadPtr(a, p) + y * vs->getStride(a, p),
                       vs->getReadPtr(b, p) + y * vs->getStride(b, p), bytes) != 0)
                return 0;
    }
    return 1;
}

static void check_frame(const Clip *c, const Expected *e, int n, const VSFrame *frame,
                        const char *order)
{
    if (!CHECK(frame, "%s: no frame %d", order, n))
        return;
    CHECK(is_same(c, frame, e->frames[n]), "%s: frame %d differs", order, n);
    const VSMap *said = vs->getFramePropertiesRO(frame);
    const LumeqFrameStats *s = &e->stats[n];
    const struct {
        const char *name;
        double value;
    } numbers[] = {{"LumeqMeanIn", s->mean_in},    {"LumeqMeanOut", s->mean_out},
                   {"LumeqStrength", s->strength}, {"LumeqLift", s->lift},
                   {"LumeqDark", s->dark},         {"LumeqNoise", s->noise}};
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        CHECK(vs->mapGetFloat(said, numbers[i].name, 0, NULL) == numbers[i].value,
              "%s: %s of frame %d", order, numbers[i].name, n);
    CHECK(vs->mapGetInt(said, "LumeqSceneCut", 0, NULL) == s->scene_cut, "wrong cut at %d", n);
    CHECK(vs->mapGetInt(said, "LumeqFiltered", 0, NULL) == s->filtered, "wrong filter of %d", n);
    CHECK(vs->mapGetInt(said, "_Transfer", 0, NULL) == c->s.transfer, "wrong properties of %d", n);
}

/* ---- orders ---- */

typedef struct Batch {
    const VSFrame *frames[FRAMES];
    atomic_int left;
} Batch;

static void VS_CC take(void *user, const VSFrame *frame, int n, VSNode *node, const char *error)
{
    (void)node;
    Batch *batch = user;
    CHECK(!error, "frame %d: %s", n, error);
    batch->frames[n] = frame;
    atomic_fetch_sub(&batch->left, 1);
}

/* Requests all frames at once. */
static void check_parallel(const Clip *c, const Expected *e, VSNode *node)
{
    Batch batch = {.left = FRAMES};
    for (int n = FRAMES - 1; n >= 0; n--)
        vs->getFrameAsync(n, node, take, &batch);
    while (atomic_load(&batch.left))
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    for (int n = 0; n < FRAMES; n++) {
        check_frame(c, e, n, batch.frames[n], "in parallel");
        vs->freeFrame(batch.frames[n]);
    }
}

static void check_orders(Clip *c, const Expected *e, const Argument *arguments, int count,
                         VSNode *source, VSCore *core)
{
    static const struct {
        const char *name;
        int first, step;
    } orders[] = {{"forwards", 0, 1}, {"backwards", FRAMES - 1, FRAMES - 1}, {"mixed", 29, 17}};
    char said[512];
    for (size_t i = 0; i < 4; i++) {
        VSNode *node = equalize(source, arguments, count, said, core);
        if (!CHECK(node, "%s", said))
            return;
        vs->setCacheMode(node, cmForceDisable);
        for (int k = 0; i < 3 && k < FRAMES; k++) {
            const int n = (orders[i].first + k * orders[i].step) % FRAMES;
            const VSFrame *frame = vs->getFrame(n, node, said, sizeof(said));
            check_frame(c, e, n, frame, orders[i].name);
            vs->freeFrame(frame);
        }
        if (i == 3)
            check_parallel(c, e, node);
        vs->clearCoreCaches(core);
        atomic_store(&c->made, 0);
        vs->freeFrame(vs->getFrame(20, node, said, sizeof(said)));
        const int most = 1 + e->stats[20].previous;
        CHECK(c->made <= most, "one frame needed %d source frames, not %d", c->made, most);
        vs->freeNode(node);
    }
}

/* ---- tests ---- */

TEST(has_the_bits_of_the_library_in_any_order)
{
    const struct {
        Shape clip;
        Argument arguments[3];
    } cases[] = {
        {{cfYUV, 8, 1, 1, 64, 48, 120, 25, 0, 1, 0}, {{NULL, NULL, 0}}},
        {{cfYUV, 8, 1, 1, 162, 94, 12, 25, 0, 1, 0}, {{NULL, NULL, 0}}},       /* dark: filtered */
        {{cfYUV, 8, 1, 1, 64, 48, 12, 25, 0, 1, 0}, {{"lookahead", NULL, 0}}}, /* live */
        {{cfYUV, 10, 1, 0, 66, 34, 60, 0, 0, 1, 0}, {{"lookahead", NULL, 0.5}}}, /* variable rate */
        {{cfYUV, 16, 0, 0, 64, 48, 60, 50, 1, 1, 0}, {{"strength", NULL, 1}}},
        {{cfGray, 8, 0, 0, 64, 48, 60, 25, 1, 1, 0}, {{"profile", "fog", 0}}},
        {{cfGray, 16, 0, 0, 64, 48, 30, 25, 0, 1, 0}, {{"deflicker", NULL, 0.5}}},
        {{cfYUV, 10, 1, 1, 64, 48, 40, 25, 0, 16, 0}, {{NULL, NULL, 0}}},
        {{cfYUV, 10, 1, 1, 64, 48, 40, 25, 0, 18, 2}, {{NULL, NULL, 0}}},
        {{cfYUV, 9, 2, 2, 64, 48, 60, 25, 0, 1, 0}, {{"mode", "clahe", 0}, {"tiles_x", NULL, 4}}},
        {{cfYUV, 8, 1, 1, 64, 48, 60, 25, 0, 1, 0},
         {{"limit", "lighten", 0}, {"gamma", NULL, 1.5}}},
    };
    VSCore *core = start();
    for (size_t i = 0; core && i < sizeof(cases) / sizeof(cases[0]); i++) {
        if (i && !check_drawn((int)i))
            continue;
        Clip c = {.s = cases[i].clip};
        const Argument *a = cases[i].arguments;
        LumeqParams params = {.size = sizeof(params)};
        double lookahead = 2;
        lumeq_params_default(&params);
        for (int k = 0; k < 3 && a[k].name; k++) {
            if (strcmp(a[k].name, "lookahead") == 0)
                lookahead = a[k].number;
            else if (strcmp(a[k].name, "strength") == 0)
                params.strength = a[k].number;
            else if (strcmp(a[k].name, "profile") == 0)
                (void)lumeq_params_profile(&params, a[k].word);
            else if (strcmp(a[k].name, "deflicker") == 0)
                params.deflicker = a[k].number;
            else if (strcmp(a[k].name, "mode") == 0)
                params.mode = LUMEQ_MODE_CLAHE;
            else if (strcmp(a[k].name, "tiles_x") == 0)
                params.tiles_x = (int)a[k].number;
            else if (strcmp(a[k].name, "limit") == 0)
                params.limit = LUMEQ_LIMIT_LIGHTEN;
            else
                params.gamma = a[k].number;
        }
        params.transfer = c.s.transfer == 16   ? LUMEQ_TRANSFER_PQ
                          : c.s.transfer == 18 ? LUMEQ_TRANSFER_HLG
                                               : LUMEQ_TRANSFER_SDR;
        Expected e = {0};
        VSNode *source = open_clip(&c, core);
        expect(&e, &c, &params, lookahead, core);
        check_orders(&c, &e, a, 3, source, core);
        for (int n = 0; n < FRAMES; n++)
            vs->freeFrame(e.frames[n]);
        vs->freeNode(source);
    }
    if (core)
        vs->freeCore(core);
}

TEST(refuses_with_a_message)
{
    const struct {
        Shape clip;
        Argument argument;
        const char *said;
    } cases[] = {
        {{cfRGB, 8, 0, 0, 64, 48, 0, 25, 0, 1, 0},
         {NULL, NULL, 0},
         "must be gray or YUV of 8 to 16 bits"},
        {{cfYUV, 8, 1, 1, 64, 48, 0, 25, 0, 1, 0},
         {"mode", "best", 0},
         "mode is \"best\", but must be one of "},
        {{cfYUV, 8, 1, 1, 64, 48, 0, 25, 0, 1, 0}, {"backend", "gpu", 0}, "backend is \"gpu\""},
        {{cfYUV, 8, 1, 1, 64, 48, 0, 25, 0, 1, 0}, {"profile", "nigth", 0}, "nigth"},
        {{cfYUV, 8, 1, 1, 64, 48, 0, 25, 0, 1, 0}, {"strength", NULL, 2}, "strength"},
        {{cfYUV, 8, 1, 1, 64, 48, 0, 25, 0, 1, 0},
         {"lookahead", NULL, 11},
         "lookahead is 11, but must be 0 to 10 seconds"},
        {{cfYUV, 8, 1, 1, 64, 48, 0, 25, 0, 1, 0}, {"lookahead", NULL, -1}, "lookahead is -1, "},
        {{cfYUV, 8, 1, 1, 64, 48, 0, 25, 0, 1, 0}, {"threads", NULL, 1000}, "threads"},
    };
    VSCore *core = start();
    for (size_t i = 0; core && i < sizeof(cases) / sizeof(cases[0]); i++) {
        Clip c = {.s = cases[i].clip};
        char said[512];
        VSNode *source = open_clip(&c, core);
        VSNode *node = equalize(source, &cases[i].argument, 1, said, core);
        CHECK(!node && strncmp(said, "lumeq: ", 7) == 0 && strstr(said, cases[i].said),
              "case %d: '%s'", (int)i, said);
        vs->freeNode(source);
    }
    if (core)
        vs->freeCore(core);
}

TEST_MAIN
