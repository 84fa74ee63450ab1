/*
 * The VapourSynth filter core.lumeq.Equalize, for API 4.
 *
 * Two nodes share one Filter. The node `frames` passes the source's frames on, measures each frame
 * the first time, and makes the curves in order. The script's node requests frames from `frames`
 * until the curve of the requested frame is known, then applies it. Packed curves are kept, so
 * the core may request frames in any order and in parallel.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <VapourSynth4.h>

#include "lumeq/lumeq.h"

#define STEP 16         /* number of frames that a request measures at a time */
#define MOST_PREVIOUS 3 /* maximum number of previous frames that a curve uses */

/* The state of a request, in frameData[0] of the script's node. 0: new. n + 1: frames from n on are
 * being measured. APPLIES: the frames to equalize are requested. */
#define APPLIES (-1)

#define SECOND INT64_C(1000000000)
#define USUAL_DURATION (SECOND / 25) /* of frames without a duration */

/* A frame's measure and curve. */
typedef struct Plan {
    LumeqMeasure *measure; /* NULL if not made yet, or if already in the history */
    LumeqMoment moment;
    LumeqTransfer transfer;
    int previous; /* number of previous frames that its curve uses */
    void *curve;  /* packed; NULL: not known yet */
    size_t size;  /* of `curve` */
} Plan;

typedef struct Filter {
    VSNode *source, *frames;
    VSVideoInfo info;
    LumeqContext *context;
    LumeqParams params;
    int64_t lookahead;    /* ns */
    int ahead;            /* the lookahead in frames */
    pthread_mutex_t lock; /* guards everything below */
    LumeqHistory *history;
    Plan *plans;  /* by frame */
    int put;      /* number of frames whose measures the history has got */
    int got;      /* number of frames whose curves are known */
    int64_t time; /* of frame `put`, in ns */
} Filter;

/* ---- parameters ---- */

typedef enum Kind { NUMBER, INTEGER, WORD } Kind;

typedef struct Argument {
    const char *name;
    Kind kind;
    size_t offset;     /* in LumeqParams */
    const char *words; /* in the order of their enumerators */
} Argument;

#define NUMBER_OF(field) NUMBER, offsetof(LumeqParams, field), NULL
#define INTEGER_OF(field) INTEGER, offsetof(LumeqParams, field), NULL
#define WORD_OF(field) WORD, offsetof(LumeqParams, field)

static const Argument arguments[] = {
    {"strength", NUMBER_OF(strength)},
    {"mode", WORD_OF(mode), "global off clahe stretch haze"},
    {"brightness", NUMBER_OF(brightness)},
    {"gamma", NUMBER_OF(gamma)},
    {"clip_limit", NUMBER_OF(clip)},
    {"smooth", NUMBER_OF(smooth)},
    {"scene_cut", INTEGER_OF(scene_cut)},
    {"deflicker", NUMBER_OF(deflicker)},
    {"denoise", NUMBER_OF(denoise)},
    {"lift", INTEGER_OF(lift)},
    {"adaptive", INTEGER_OF(adaptive)},
    {"limit", WORD_OF(limit), "none darken lighten"},
    {"chroma", WORD_OF(chroma), "scale keep"},
    {"bars", WORD_OF(bars), "auto ignore"},
    {"dither", INTEGER_OF(dither)},
    {"tiles_x", INTEGER_OF(tiles_x)},
    {"tiles_y", INTEGER_OF(tiles_y)},
    {"meter_x", INTEGER_OF(meter.x)},
    {"meter_y", INTEGER_OF(meter.y)},
    {"meter_width", INTEGER_OF(meter.width)},
    {"meter_height", INTEGER_OF(meter.height)},
    {"reference", INTEGER_OF(reference)},
};
#define ARGUMENTS (sizeof(arguments) / sizeof(arguments[0]))

/* If the script passes a word, sets *number to its index. Returns 0, or -1 with a sentence in
 * `error`. */
static int read_word(const VSMap *in, const char *name, const char *words, int *number, char *error,
                     size_t size, const VSAPI *vs)
{
    int missing, i = 0;
    const char *word = vs->mapGetData(in, name, 0, &missing);
    if (missing)
        return 0;
    for (const char *at = words; *at; i++) {
        const size_t length = strcspn(at, " ");
        if (strlen(word) == length && memcmp(at, word, length) == 0) {
            *number = i;
            return 0;
        }
        at += length + (at[length] == ' ');
    }
    snprintf(error, size, "%s is \"%s\", but must be one of %s", name, word, words);
    return -1;
}

/* Returns 0, or -1 with a sentence in `error`. */
static int read_arguments(Filter *f, LumeqConfig *config, const VSMap *in, char *error, size_t size,
                          const VSAPI *vs)
{
    int missing;
    const char *word = vs->mapGetData(in, "profile", 0, &missing);
    f->params.size = sizeof(f->params);
    lumeq_params_default(&f->params);
    if (!missing && lumeq_params_profile(&f->params, word) < 0) {
        snprintf(error, size, "%s", lumeq_last_error(NULL));
        return -1;
    }
    for (size_t i = 0; i < ARGUMENTS; i++) {
        const Argument *a = &arguments[i];
        char *field = (char *)&f->params + a->offset;
        if (vs->mapNumElements(in, a->name) < 1)
            continue;
        if (a->kind == NUMBER)
            *(double *)(void *)field = vs->mapGetFloat(in, a->name, 0, NULL);
        else if (a->kind == INTEGER)
            *(int *)(void *)field = vs->mapGetIntSaturated(in, a->name, 0, NULL);
        else if (read_word(in, a->name, a->words, (int *)(void *)field, error, size, vs) < 0)
            return -1;
    }
    config->threads = vs->mapGetIntSaturated(in, "threads", 0, &missing);
    const double lookahead = vs->mapGetFloat(in, "lookahead", 0, &missing);
    if (!missing && !(lookahead >= 0 && lookahead <= 10)) {
        snprintf(error, size, "lookahead is %g, but must be 0 to 10 seconds", lookahead);
        return -1;
    }
    f->lookahead = missing ? 2 * SECOND : (int64_t)(lookahead * (double)SECOND);
    return read_word(in, "backend", "auto cpu cuda", (int *)&config->backend, error, size, vs);
}

/* ---- frames ---- */

static int64_t get_int(const VSFrame *frame, const char *name, int64_t otherwise, const VSAPI *vs)
{
    int missing;
    const int64_t value = vs->mapGetInt(vs->getFramePropertiesRO(frame), name, 0, &missing);
    return missing ? otherwise : value;
}

/* Only planes for which getWritePtr() was called may be written to. */
static LumeqImage image_of(const Filter *f, const VSFrame *frame, const VSAPI *vs)
{
    const VSVideoFormat *format = &f->info.format;
    /* _ColorRange is the older name, with the values swapped. */
    const int64_t range = get_int(frame, "_Range", !get_int(frame, "_ColorRange", 1, vs), vs);
    LumeqImage image = {.width = f->info.width,
                        .height = f->info.height,
                        .chroma_x = format->subSamplingW,
                        .chroma_y = format->subSamplingH,
                        .depth = format->bitsPerSample,
                        .range = range == 1 ? LUMEQ_RANGE_FULL : LUMEQ_RANGE_LIMITED};
    for (int i = 0; i < format->numPlanes; i++) {
        image.plane[i] = (void *)(uintptr_t)vs->getReadPtr(frame, i);
        image.stride[i] = vs->getStride(frame, i);
    }
    return image;
}

/* Sets the frame's transfer, and its moment except the time. */
static void note_frame(const Filter *f, Plan *plan, int n, const VSFrame *frame, const VSAPI *vs)
{
    const int64_t transfer = get_int(frame, "_Transfer", 0, vs);
    int64_t num = f->info.fpsDen, den = f->info.fpsNum;
    if (den < 1) { /* variable frame rate */
        num = get_int(frame, "_DurationNum", 0, vs);
        den = get_int(frame, "_DurationDen", 0, vs);
    }
    plan->moment = (LumeqMoment){
        .size = sizeof(plan->moment),
        .number = n,
        .duration = num > 0 && den > 0 ? (int64_t)((double)num / (double)den * (double)SECOND)
                                       : USUAL_DURATION,
        .interlaced = get_int(frame, "_FieldBased", 0, vs) > 0};
    plan->transfer = transfer == 16   ? LUMEQ_TRANSFER_PQ
                     : transfer == 18 ? LUMEQ_TRANSFER_HLG
                                      : LUMEQ_TRANSFER_SDR;
}

/* ---- curves ---- */

static int pack(Plan *plan, const LumeqCurve *curve)
{
    LumeqFrameStats stats = {.size = sizeof(stats)};
    int ret = lumeq_curve_pack(curve, NULL, &plan->size);
    if (ret == 0 && !(plan->curve = malloc(plan->size)))
        return LUMEQ_ERR_MEMORY;
    if (ret == 0)
        ret = lumeq_curve_pack(curve, plan->curve, &plan->size);
    if (ret == 0)
        ret = lumeq_curve_stats(curve, &stats);
    plan->previous = stats.previous < MOST_PREVIOUS ? stats.previous : MOST_PREVIOUS;
    return ret;
}

static int take_curves(Filter *f)
{
    LumeqCurve *curve;
    int ret;
    while ((ret = lumeq_history_get(f->history, &curve)) == 0) {
        ret = pack(&f->plans[f->got], curve);
        lumeq_curve_unref(&curve);
        if (ret < 0)
            return ret;
        f->got++;
    }
    return ret == LUMEQ_ERR_AGAIN || ret == LUMEQ_ERR_END ? 0 : ret;
}

/* Puts the next measure into the history. The first frame decides the transfer function. */
static int put(Filter *f, Plan *plan)
{
    const int64_t num = f->info.fpsNum, den = f->info.fpsDen, n = f->put;
    int ret = 0;
    if (n == 0 && plan->transfer != f->params.transfer) {
        LumeqParams params = f->params; /* a copy, since other threads read the original */
        params.transfer = plan->transfer;
        lumeq_history_destroy(&f->history);
        ret = lumeq_history_create(&f->history, &params, f->lookahead);
    }
    plan->moment.time = num > 0 ? n * den / num * SECOND + n * den % num * SECOND / num : f->time;
    f->time += plan->moment.duration;
    if (ret == 0)
        ret = lumeq_history_put(f->history, plan->measure, &plan->moment);
    lumeq_measure_free(&plan->measure);
    f->put++;
    return ret;
}

/* Makes all curves for which there are enough measures. Call it with the lock held. */
static int make_curves(Filter *f)
{
    int ret = 0;
    while (ret == 0 && f->put < f->info.numFrames && f->plans[f->put].measure) {
        ret = put(f, &f->plans[f->put]);
        if (ret == 0)
            ret = take_curves(f);
        if (ret == 0 && f->put == f->info.numFrames &&
            (ret = lumeq_history_put(f->history, NULL, NULL)) == 0)
            ret = take_curves(f);
    }
    return ret;
}

static int measure(Filter *f, int n, const VSFrame *frame, const VSFrame *before, const VSAPI *vs)
{
    const LumeqImage in = image_of(f, frame, vs), previous = image_of(f, before, vs);
    const int has_previous = n && previous.range == in.range;
    LumeqMeasure *made = NULL;
    int ret =
        lumeq_measure(f->context, &made, &f->params, &in, has_previous ? &previous : NULL, NULL);
    if (ret < 0)
        return ret;
    pthread_mutex_lock(&f->lock);
    Plan *plan = &f->plans[n];
    plan->measure = made;
    note_frame(f, plan, n, frame, vs);
    ret = make_curves(f);
    pthread_mutex_unlock(&f->lock);
    return ret;
}

/* ---- requests ---- */

static const VSFrame *fail(VSFrameContext *request, const char *what, const VSAPI *vs)
{
    char text[512];
    snprintf(text, sizeof(text), "lumeq: cannot %s: %s", what, lumeq_last_error(NULL));
    vs->setFilterError(text, request);
    return NULL;
}

static const VSFrame *VS_CC pass_frame(int n, int reason, void *instance, void **data,
                                       VSFrameContext *request, VSCore *core, const VSAPI *vs)
{
    (void)core;
    Filter *f = instance;
    if (reason == arInitial) {
        pthread_mutex_lock(&f->lock);
        const int is_new = n >= f->put && !f->plans[n].measure;
        pthread_mutex_unlock(&f->lock);
        data[0] = is_new ? f : NULL;
        if (is_new && n)
            vs->requestFrameFilter(n - 1, f->source, request);
        vs->requestFrameFilter(n, f->source, request);
    }
    if (reason != arAllFramesReady)
        return NULL;
    const VSFrame *frame = vs->getFrameFilter(n, f->source, request);
    if (data[0]) {
        const VSFrame *before = vs->getFrameFilter(n ? n - 1 : 0, f->source, request);
        const int ret = measure(f, n, frame, before, vs);
        vs->freeFrame(before);
        if (ret < 0) {
            vs->freeFrame(frame);
            return fail(request, "measure", vs);
        }
    }
    return frame;
}

static void set_statistics(VSFrame *frame, const LumeqCurve *curve, const VSAPI *vs)
{
    LumeqFrameStats s = {.size = sizeof(s)};
    VSMap *properties = vs->getFramePropertiesRW(frame);
    if (lumeq_curve_stats(curve, &s) < 0)
        return;
    vs->mapSetFloat(properties, "LumeqMeanIn", s.mean_in, maReplace);
    vs->mapSetFloat(properties, "LumeqMeanOut", s.mean_out, maReplace);
    vs->mapSetFloat(properties, "LumeqStrength", s.strength, maReplace);
    vs->mapSetFloat(properties, "LumeqLift", s.lift, maReplace);
    vs->mapSetFloat(properties, "LumeqDark", s.dark, maReplace);
    vs->mapSetFloat(properties, "LumeqNoise", s.noise, maReplace);
    vs->mapSetInt(properties, "LumeqSceneCut", s.scene_cut, maReplace);
    vs->mapSetInt(properties, "LumeqFiltered", s.filtered, maReplace);
}

static const VSFrame *apply(Filter *f, int n, VSFrameContext *request, VSCore *core,
                            const VSAPI *vs)
{
    const Plan *plan = &f->plans[n]; /* complete: no lock needed */
    const VSFrame *in = vs->getFrameFilter(n, f->frames, request);
    VSFrame *out = vs->newVideoFrame(&f->info.format, f->info.width, f->info.height, in, core);
    for (int i = 0; i < f->info.format.numPlanes; i++)
        (void)vs->getWritePtr(out, i);
    const LumeqImage from = image_of(f, in, vs), to = image_of(f, out, vs);
    const VSFrame *before[MOST_PREVIOUS] = {NULL};
    LumeqImage previous[MOST_PREVIOUS];
    int count = 0;
    for (; count < plan->previous && count < n; count++) {
        before[count] = vs->getFrameFilter(n - 1 - count, f->frames, request);
        previous[count] = image_of(f, before[count], vs);
    }
    LumeqCurve *curve = NULL;
    int ret = lumeq_curve_unpack(&curve, plan->curve, plan->size);
    if (ret == 0)
        ret = lumeq_apply(f->context, curve, &from, previous, count, &to, NULL);
    if (ret == 0)
        set_statistics(out, curve, vs);
    lumeq_curve_unref(&curve);
    for (int i = 0; i < count; i++)
        vs->freeFrame(before[i]);
    vs->freeFrame(in);
    if (ret == 0)
        return out;
    vs->freeFrame(out);
    return fail(request, "equalize", vs);
}

/* Requests frames to measure, until the curve of frame n is known. Then requests frame n itself and
 * the previous frames that its curve uses. */
static void request_frames(Filter *f, int n, void **data, VSFrameContext *request, const VSAPI *vs)
{
    pthread_mutex_lock(&f->lock);
    const int first = f->put, is_known = n < f->got;
    pthread_mutex_unlock(&f->lock);
    int last = n + f->ahead < first ? first : n + f->ahead;
    if (last > first + STEP - 1)
        last = first + STEP - 1;
    data[0] = (void *)(intptr_t)(is_known ? APPLIES : first + 1);
    for (int i = is_known ? n - f->plans[n].previous : first; i <= (is_known ? n : last); i++)
        if (i >= 0 && i < f->info.numFrames)
            vs->requestFrameFilter(i, f->frames, request);
}

static const VSFrame *VS_CC equalize_frame(int n, int reason, void *instance, void **data,
                                           VSFrameContext *request, VSCore *core, const VSAPI *vs)
{
    Filter *f = instance;
    const int first = (int)(intptr_t)data[0];
    if (reason == arError)
        return NULL;
    if (reason == arAllFramesReady && first == APPLIES)
        return apply(f, n, request, core, vs);
    /* Releases measured frames, or a request far ahead would hold all frames before it. */
    for (int i = first; first > 0 && i < first + STEP; i++)
        vs->releaseFrameEarly(f->frames, i - 1, request);
    request_frames(f, n, data, request, vs);
    return NULL;
}

/* ---- life ---- */

static void VS_CC free_filter(void *instance, VSCore *core, const VSAPI *vs)
{
    (void)core;
    Filter *f = instance;
    for (int i = 0; f->plans && i < f->info.numFrames; i++) {
        lumeq_measure_free(&f->plans[i].measure);
        free(f->plans[i].curve);
    }
    free(f->plans);
    lumeq_history_destroy(&f->history);
    lumeq_context_destroy(&f->context);
    vs->freeNode(f->source);
    pthread_mutex_destroy(&f->lock);
    free(f);
}

/* Called when the script's node is freed. Frees `frames`, which frees the filter. */
static void VS_CC free_equalizer(void *instance, VSCore *core, const VSAPI *vs)
{
    (void)core;
    vs->freeNode(((Filter *)instance)->frames);
}

/* Returns 0, or -1 with a sentence in `error`. */
static int open_filter(Filter *f, const VSMap *in, char *error, size_t size, const VSAPI *vs)
{
    LumeqConfig config = {.size = sizeof(config)};
    const VSVideoFormat *format = &f->info.format;
    if ((format->colorFamily != cfGray && format->colorFamily != cfYUV) ||
        format->sampleType != stInteger || format->bitsPerSample > 16 || format->subSamplingW > 2 ||
        format->subSamplingH > 2 || f->info.width < 1) {
        snprintf(error, size,
                 "the clip must be gray or YUV of 8 to 16 bits, of one size; "
                 "core.resize converts it");
        return -1;
    }
    if (read_arguments(f, &config, in, error, size, vs) < 0 ||
        lumeq_context_create(&f->context, &config, error, size) < 0)
        return -1;
    if (lumeq_history_create(&f->history, &f->params, f->lookahead) < 0) {
        snprintf(error, size, "%s", lumeq_last_error(NULL));
        return -1;
    }
    const double rate = f->info.fpsNum > 0 ? (double)f->info.fpsNum / (double)f->info.fpsDen : 25;
    f->ahead = (int)((double)f->lookahead / (double)SECOND * rate) + (f->lookahead > 0);
    f->plans = calloc((size_t)f->info.numFrames, sizeof(*f->plans));
    if (!f->plans)
        snprintf(error, size, "out of memory");
    return f->plans ? 0 : -1;
}

static void VS_CC create(const VSMap *in, VSMap *out, void *unused, VSCore *core, const VSAPI *vs)
{
    (void)unused;
    char error[512] = "lumeq: ";
    Filter *f = calloc(1, sizeof(*f));
    VSCoreInfo info;
    if (!f) {
        vs->mapSetError(out, "lumeq: out of memory");
        return;
    }
    pthread_mutex_init(&f->lock, NULL);
    f->source = vs->mapGetNode(in, "clip", 0, NULL);
    f->info = *vs->getVideoInfo(f->source);
    if (open_filter(f, in, error + strlen(error), sizeof(error) - strlen(error), vs) < 0) {
        vs->mapSetError(out, error);
        free_filter(f, core, vs);
        return;
    }
    const VSFilterDependency source = {f->source, rpGeneral};
    f->frames = vs->createVideoFilter2("LumeqFrames", &f->info, pass_frame, free_filter, fmParallel,
                                       &source, 1, f, core);
    /* The cache keeps frames from when they are measured until they are equalized. */
    vs->getCoreInfo(core, &info);
    vs->setCacheMode(f->frames, cmForceEnable);
    vs->setCacheOptions(f->frames, 1, f->ahead + 2 * info.numThreads + MOST_PREVIOUS + 1, 0);
    const VSFilterDependency frames = {f->frames, rpGeneral};
    vs->createVideoFilter(out, "Equalize", &f->info, equalize_frame, free_equalizer, fmParallel,
                          &frames, 1, f, core);
}

VS_EXTERNAL_API(void) VapourSynthPluginInit2(VSPlugin *plugin, const VSPLUGINAPI *vspapi)
{
    static const char *const types[] = {[NUMBER] = "float", [INTEGER] = "int", [WORD] = "data"};
    char signature[1024] = "clip:vnode;profile:data:opt;lookahead:float:opt;backend:data:opt;"
                           "threads:int:opt;";
    for (size_t i = 0; i < ARGUMENTS; i++) {
        const size_t length = strlen(signature);
        snprintf(signature + length, sizeof(signature) - length, "%s:%s:opt;", arguments[i].name,
                 types[arguments[i].kind]);
    }
    vspapi->configPlugin("org.lumeq.lumeq", "lumeq", "Makes dark, dull and foggy video clear",
                         VS_MAKE_VERSION(LUMEQ_VERSION_MAJOR, LUMEQ_VERSION_MINOR),
                         VAPOURSYNTH_API_VERSION, 0, plugin);
    vspapi->registerFunction("Equalize", signature, "clip:vnode;", create, NULL, plugin);
}
