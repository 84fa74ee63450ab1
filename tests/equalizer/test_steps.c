/*
 * Single steps give the output and statistics of lumeq_process(), for any order of frames, any
 * thread, context and output layout, and with copied histories.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "../check.h"
#include "all_stats.h"
#include "layouts.h"
#include "lumeq/lumeq.h"

#define FRAMES 18
#define CONTEXTS 3
#define THREADS 3
#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

typedef struct Film {
    int width, height, depth, shift, chroma_x, chroma_y;
    Layout layout;
    LumeqRange range;
    LumeqParams params;
    int64_t frame_time;
    int numbered;        /* frames have numbers */
    int dark;            /* luma is divided by 4, so that the lift rule filters it */
    int out_shift;       /* shift of outputs in other_layout */
    Layout other_layout; /* for a second output */
    uint64_t seed;
} Film;

static LumeqImage image_of(const Film *f, Layout layout, int shift)
{
    LumeqImage image = {.width = f->width,
                        .height = f->height,
                        .depth = f->depth,
                        .shift = shift,
                        .chroma_x = f->chroma_x,
                        .chroma_y = f->chroma_y,
                        .range = f->range};
    layout_alloc(&image, layout);
    return image;
}

/* The first scene fades out from frame 4 on. The second begins with a cut at frame 8, the third at
 * frame 12 with bars, which get narrower at frame 16. */
static int brightness(int n)
{
    return n < 4 ? 256 : n < 8 ? 256 - 50 * (n - 3) : 256;
}

static int is_bar(const Film *f, int n, int y)
{
    const int bar = n < 12 ? 0 : n < 16 ? 8 : 4;
    return y < bar || y >= f->height - bar;
}

static int is_seek(const Film *f, int n)
{
    return n && check_hash(f->seed, 1000 + (uint64_t)n) % 9 == 0;
}

CHECK_NOT_INSTRUMENTED static void draw(const Film *f, const LumeqImage *image, int n)
{
    const int scene = n < 8 ? 0 : n < 12 ? 1 : 2, codes = 1 << f->depth;
    const int black = f->range == LUMEQ_RANGE_FULL ? 0 : 16 << (f->depth - 8);
    const uint64_t seed = f->seed + (uint64_t)n;
    for (int c = 0; c < layout_components(image); c++)
        for (int y = 0; y < layout_height(image, c); y++)
            for (int x = 0; x < layout_width(image, c); x++) {
                const int64_t r = (int64_t)(check_hash(seed, (uint64_t)(1000 * y + x)) % 1024);
                const int64_t slope = (int64_t)codes * (scene ? x : y) / (scene == 2 ? 150 : 300);
                int64_t code = codes / 8 * (1 + scene) + slope + r * codes / 16384;
                code = black + (code - black) * brightness(n) / (f->dark && !c ? 1024 : 256);
                if (!c && is_bar(f, n, y))
                    code = black;
                if (code > codes - 1 || (!c && r == 7 && !f->dark)) /* some samples beyond white */
                    code = codes - 1;
                if (c == 2) /* unlike the first chroma component */
                    code = codes - 1 - code;
                layout_put(image, c, x, y, (int)code);
            }
}

static int64_t time_of(const Film *f, int n)
{
    return n % 7 == 5 ? LUMEQ_NO_TIME : 100 + n * f->frame_time;
}

/* All frames of a film: the input, and the output of lumeq_process(). */
typedef struct Frames {
    LumeqImage in[FRAMES], out[FRAMES];
    FrameStats stats[FRAMES];
} Frames;

static void must(int ret, const char *what)
{
    if (ret < 0) {
        fprintf(stderr, "cannot continue: %s: %s (--seed %llu)\n", what, lumeq_last_error(NULL),
                (unsigned long long)check_state.seed);
        exit(1);
    }
}

/* The frame before frame n, to measure noise; NULL at the start and after a seek. */
static const LumeqImage *before(const Film *f, const LumeqImage *in, int n)
{
    return n && !is_seek(f, n) ? &in[n - 1] : NULL;
}

static int is_interlaced(const Film *f, int n)
{
    return f->seed % 3 == 0 && check_hash(f->seed, 500 + (uint64_t)n) % 4 != 0;
}

static Frames *run_live(const Film *f)
{
    Frames *frames = calloc(1, sizeof(*frames));
    LumeqEqualizer *eq = NULL;
    must(frames ? 0 : -1, "frames");
    must(lumeq_create(&eq, &(LumeqConfig){.backend = LUMEQ_BACKEND_CPU, .threads = 1}, NULL, 0),
         "an equalizer");
    must(lumeq_set_params(eq, &f->params), "parameters");
    for (int n = 0; n < FRAMES; n++) {
        frames->in[n] = image_of(f, f->layout, f->shift);
        frames->out[n] = image_of(f, f->layout, f->shift);
        draw(f, &frames->in[n], n);
        LumeqFrame frame = {.in = frames->in[n],
                            .out = frames->out[n],
                            .time = time_of(f, n),
                            .duration = f->frame_time,
                            .number = f->numbered ? n : 0};
        frame.previous = before(f, frames->in, n);
        frame.interlaced = is_interlaced(f, n);
        if (is_seek(f, n))
            lumeq_reset(eq);
        must(lumeq_process(eq, &frame, ask_stats(&frames->stats[n])), "live");
    }
    lumeq_destroy(&eq);
    return frames;
}

static void free_frames(Frames *frames)
{
    for (int n = 0; n < FRAMES; n++) {
        layout_free(&frames->in[n]);
        layout_free(&frames->out[n]);
    }
    free(frames);
}

static LumeqContext *contexts[CONTEXTS];

static void open_contexts(void)
{
    static const LumeqConfig configs[CONTEXTS] = {
        {.backend = LUMEQ_BACKEND_CPU, .threads = 1},
        {.backend = LUMEQ_BACKEND_CPU, .threads = 3, .cpu_without = LUMEQ_CPU_AVX512},
        {.backend = LUMEQ_BACKEND_CPU, .threads = 2, .cpu_without = ~0u},
    };
    for (int i = 0; i < CONTEXTS; i++)
        must(lumeq_context_create(&contexts[i], &configs[i], NULL, 0), "a context");
}

static void close_contexts(void)
{
    for (int i = 0; i < CONTEXTS; i++)
        lumeq_context_destroy(&contexts[i]);
}

/* Threads that work on all frames in random order; each task uses a random context. A frame's tasks
 * follow each other, so that several threads use its curve at once. */
typedef struct Crew {
    const Film *film;
    const Frames *frames;
    int order[FRAMES], tasks; /* `tasks`: tasks per frame */
    atomic_int next;
    void (*work)(struct Crew *crew, int n, int task, uint64_t random);
    LumeqMeasure *measures[FRAMES];
    LumeqCurve *curves[FRAMES];
} Crew;

static void shuffle(int *order, CheckRandom *random)
{
    for (int i = 0; i < FRAMES; i++) {
        const int at = check_below(random, i + 1);
        order[i] = order[at];
        order[at] = i;
    }
}

static void *crew_main(void *arg)
{
    Crew *crew = arg;
    int i;
    while ((i = atomic_fetch_add(&crew->next, 1)) < FRAMES * crew->tasks)
        crew->work(crew, crew->order[i / crew->tasks], i % crew->tasks,
                   check_hash(crew->film->seed, 77 + (uint64_t)i));
    return NULL;
}

static void crew_run(Crew *crew, int tasks,
                     void (*work)(Crew *crew, int n, int task, uint64_t random), uint64_t seed)
{
    pthread_t threads[THREADS];
    CheckRandom random = check_random(seed);
    int started = 0;
    shuffle(crew->order, &random);
    crew->work = work;
    crew->tasks = tasks;
    atomic_store(&crew->next, 0);
    while (started < THREADS - 1 && pthread_create(&threads[started], NULL, crew_main, crew) == 0)
        started++;
    crew_main(crew);
    while (started)
        pthread_join(threads[--started], NULL);
}

static void measure_frame(Crew *crew, int n, int task, uint64_t random)
{
    (void)task;
    must(lumeq_measure(contexts[random % CONTEXTS], &crew->measures[n], &crew->film->params,
                       &crew->frames->in[n], before(crew->film, crew->frames->in, n), NULL),
         "measure");
}

static void move_history(const Film *f, LumeqHistory **history)
{
    LumeqHistory *other = NULL;
    must(lumeq_history_create(&other, &f->params, 0), "a history");
    must(lumeq_history_copy(other, *history), "copy");
    lumeq_history_destroy(history);
    *history = other;
}

static void run_history(Crew *crew)
{
    const Film *f = crew->film;
    FREED_BY(lumeq_history_destroy) LumeqHistory *history = NULL;
    must(lumeq_history_create(&history, &f->params, 0), "a history");
    for (int n = 0; n < FRAMES; n++) {
        const LumeqMoment moment = {.number = f->numbered ? n : 0,
                                    .time = time_of(f, n),
                                    .duration = f->frame_time,
                                    .discontinuity = is_seek(f, n),
                                    .interlaced = is_interlaced(f, n)};
        must(lumeq_history_put(history, crew->measures[n], &moment), "put");
        must(lumeq_history_get(history, &crew->curves[n]), "get");
        if (check_hash(f->seed, 300 + (uint64_t)n) % 4 == 0)
            move_history(f, &history);
    }
    must(lumeq_history_put(history, NULL, NULL), "end");
    LumeqCurve *none = NULL;
    CHECK(lumeq_history_get(history, &none) == LUMEQ_ERR_END && !none,
          "no END after the last curve");
}

static void name_film(const Film *f, char *text, size_t size)
{
    snprintf(text, size, "mode %d%s, %dx%d, depth %d (%d), layout %d -> %d (%d), tiles %dx%d",
             (int)f->params.mode, f->params.reference ? " (reference)" : "", f->width, f->height,
             f->depth, f->shift, (int)f->layout, (int)f->other_layout, f->out_shift,
             f->params.tiles_x, f->params.tiles_y);
}

static void check_output(Crew *crew, int n, uint64_t random, Layout layout, int shift)
{
    const LumeqImage *live = &crew->frames->out[n];
    FREED_BY(layout_free) LumeqImage out = image_of(crew->film, layout, shift);
    const LumeqImage *previous = before(crew->film, crew->frames->in, n);
    const int ret = lumeq_apply(contexts[random % CONTEXTS], crew->curves[n], &crew->frames->in[n],
                                previous, previous != NULL, &out, NULL);
    char name[160];
    name_film(crew->film, name, sizeof(name));
    CHECK(ret == 0, "%s, frame %d: %d: %s", name, n, ret, lumeq_last_error(NULL));
    const int differences = ret ? 0 : layout_differences(&out, live);
    CHECK(!differences, "%s, frame %d, layout %d: %d samples differ", name, n, (int)layout,
          differences);
}

static void apply_frame(Crew *crew, int n, int task, uint64_t random)
{
    const Film *f = crew->film;
    if (task < 2)
        check_output(crew, n, random, task ? f->other_layout : f->layout,
                     task ? f->out_shift : f->shift);
    else if (f->layout != LAYOUT_GRAY && f->params.chroma == LUMEQ_CHROMA_KEEP)
        check_output(crew, n, random, LAYOUT_GRAY, f->shift); /* luma needs no chroma */
}

static int filtered; /* number of frames filtered with the previous frame */

static void check_stats(const Crew *crew)
{
    char name[160];
    name_film(crew->film, name, sizeof(name));
    for (int n = 0; n < FRAMES; n++) {
        FrameStats *stats = calloc(1, sizeof(*stats));
        if (CHECK(stats && lumeq_curve_stats(crew->curves[n], ask_stats(stats)) == 0,
                  "no statistics"))
            CHECK(same_stats(stats, &crew->frames->stats[n]), "%s: statistics of frame %d", name,
                  n);
        filtered += stats->values.previous > 0;
        free(stats);
    }
}

static void crew_clear(Crew *crew)
{
    for (int n = 0; n < FRAMES; n++) {
        lumeq_measure_free(&crew->measures[n]);
        lumeq_curve_unref(&crew->curves[n]);
    }
}

static void check_film(const Film *f)
{
    Frames *frames = run_live(f);
    Crew crew = {.film = f, .frames = frames};
    crew_run(&crew, 1, measure_frame, f->seed);
    run_history(&crew);
    check_stats(&crew);
    crew_run(&crew, 3, apply_frame, f->seed + 1);
    crew_clear(&crew);
    free_frames(frames);
}

static Film any_film(uint64_t seed)
{
    static const int subsamplings[][2] = {{1, 1}, {1, 0}, {0, 0}, {2, 0}, {2, 2}, {0, 1}};
    CheckRandom random = check_random(seed);
    const int *sub = subsamplings[check_below(&random, COUNT(subsamplings))];
    Film f = {.width = 41 + check_below(&random, 60),
              .height = 40 + check_below(&random, 40),
              .depth = check_below(&random, 3) ? 8 + check_below(&random, 9) : 8,
              .chroma_x = sub[0],
              .chroma_y = sub[1],
              .layout = (Layout)check_below(&random, LAYOUTS),
              .range = (LumeqRange)check_below(&random, 2),
              .frame_time = check_below(&random, 2) ? 40000000 : 300000000,
              .numbered = check_below(&random, 2),
              .seed = check_hash(check_state.seed, seed)};
    if (f.depth > 8 && check_below(&random, 2))
        f.shift = check_below(&random, 17 - f.depth);
    f.out_shift = f.depth > 8 ? check_below(&random, 17 - f.depth) : 0;
    f.other_layout = f.layout == LAYOUT_PAIRS    ? LAYOUT_PLANAR
                     : f.layout == LAYOUT_PLANAR ? LAYOUT_PAIRS
                                                 : LAYOUT_GRAY;
    f.params.size = sizeof(f.params);
    lumeq_params_default(&f.params);
    f.params.adaptive = check_below(&random, 2);
    f.params.lift = check_below(&random, 2);
    f.params.denoise = (const double[]){LUMEQ_DENOISE_AUTO, 0, 0.4}[check_below(&random, 3)];
    f.params.strength = check_below(&random, 11) / 10.0;
    f.params.smooth = check_below(&random, 3) / 2.0;
    f.params.clip = (const double[]){2.5, 0, LUMEQ_CLIP_AUTO}[check_below(&random, 3)];
    f.params.scene_cut = check_below(&random, 3) != 0;
    if (check_below(&random, 2)) {
        f.params.brightness = check_below(&random, 21) / 10.0 - 1;
        f.params.gamma = (const double[]){0, 0.1, 0.7, 1.4, 10}[check_below(&random, 5)];
        f.params.transfer = (LumeqTransfer)check_below(&random, 3);
    }
    f.params.dither = check_below(&random, 2);
    f.params.chroma = (LumeqChroma)(check_below(&random, 4) == 0);
    f.params.bars = (LumeqBars)(check_below(&random, 4) == 0);
    return f;
}

static void check_mode(LumeqMode mode, int reference)
{
    static const int tiles[][2] = {{0, 0}, {3, 5}, {7, 1}, {1, 16}, {16, 16}};
    for (int n = 0; n < 16; n++) {
        if (!check_drawn(n + (int)mode))
            continue;
        Film f = any_film(100 * (uint64_t)mode + (uint64_t)n);
        if (n < 9 || reference)
            f.depth = reference ? 8 : 8 + n;
        const int most = f.depth > 8 ? 16 - f.depth : 0;
        f.shift = f.shift < most ? f.shift : most;
        f.out_shift = f.out_shift < most ? f.out_shift : most;
        if (n % 2) {
            f.dark = f.params.lift = 1;
            f.params.strength = LUMEQ_STRENGTH_AUTO;
            f.params.denoise = n < 10 ? LUMEQ_DENOISE_AUTO : 0.4;
        }
        f.params.mode = mode;
        f.params.reference = reference;
        f.params.tiles_x = tiles[n % COUNT(tiles)][0];
        f.params.tiles_y = tiles[n % COUNT(tiles)][1];
        check_film(&f);
    }
}

TEST(modes)
{
    open_contexts();
    for (int mode = LUMEQ_MODE_GLOBAL; mode <= LUMEQ_MODE_HAZE; mode++)
        check_mode((LumeqMode)mode, 0);
    check_mode(LUMEQ_MODE_GLOBAL, 1);
    check_mode(LUMEQ_MODE_CLAHE, 1);
    CHECK(filtered > 0, "no frame is filtered with the previous frame");
    close_contexts();
}

TEST_MAIN
