/*
 * Tests the public API: the order of frames, and parameters and history with frames in flight.
 * Threads and layouts must not change a bit. test_contract.c tests argument errors.
 */
#include "../default_params.h"
#include "lumeq/lumeq.h"

#include <math.h>
#include <pthread.h>

#include "backends.h"

#define MS INT64_C(1000000)
#define MAX_IN_FLIGHT 16 /* more than any backend has slots */

static const LumeqParams defaults = DEFAULT_PARAMS;

/* One frame of a run and the calls before it. */
typedef struct Step {
    Picture picture;
    uint64_t seed;
    int width, height;
    int padding_in, padding_out; /* of each row, in samples; negative: bottom up */
    int offset_in, offset_out;   /* in samples */
    int depth, shift;
    ChromaShape shape;
    int luma_only; /* the output has no chroma */
    LumeqRange range;
    int64_t time, duration;
    LumeqParams params;
    int reset, measure;
} Step;

typedef struct Result {
    FrameStats stats;
    uint64_t hash; /* of the picture, 0 if it was only measured */
} Result;

typedef struct Pictures {
    CheckRect in[3], out[3];
} Pictures;

static CheckRect rect_of(const Step *step, int plane, int padding, int offset, int guard)
{
    const int size = step->depth > 8 ? 2 : 1;
    const int width = plane ? chroma_row(step->shape, step->width) : step->width;
    const int height = plane ? chroma_side(step->height, step->shape.y) : step->height;
    const int stride = padding < 0 ? padding - width : width + padding;
    return check_rect(width * size, height, stride * size, offset * size, guard);
}

static void free_pictures(Pictures *p)
{
    for (int i = 0; i < 3; i++) {
        check_rect_free(&p->in[i]);
        check_rect_free(&p->out[i]);
    }
}

/* The number of planes that are written. */
static int planes_out(const Step *step)
{
    return step->measure ? 0 : step->luma_only ? 1 : 1 + step->shape.planes;
}

static LumeqFrame step_open(const Step *step, Pictures *p)
{
    *p = (Pictures){0};
    for (int i = 0; i <= step->shape.planes; i++) {
        p->in[i] = rect_of(step, i, step->padding_in, step->offset_in, 0);
        p->out[i] = rect_of(step, i, step->padding_out, step->offset_out, 64);
        picture_fill(&p->in[i], i ? PICTURE_NOISE : step->picture, step->seed + (uint64_t)i);
    }
    LumeqFrame frame = frame_of(p->in, step->measure ? NULL : p->out, step->range, step->time);
    frame.duration = step->duration;
    frame.opaque = (void *)step;
    frame = frame_at_depth(frame, step->depth, step->shift);
    set_chroma(&frame.in, step->shape, p->in + 1);
    if (planes_out(step) > 1)
        set_chroma(&frame.out, step->shape, p->out + 1);
    return frame;
}

/* True if luma over saturated colours may be lower than the curve. */
static int is_bounded(const Step *step)
{
    return planes_out(step) > 1 && step->params.chroma == LUMEQ_CHROMA_SCALE;
}

static void check_step(const Step *step, const Pictures *p, const FrameStats *stats)
{
    const LumeqParams *params = &step->params;
    const int differs = is_bounded(step) || params->mode == LUMEQ_MODE_HAZE;
    const CheckRect *out = step->measure || differs ? NULL : &p->out[0];
    const int depth = step->depth, all = params->reference || step->range == LUMEQ_RANGE_FULL;
    const int used[2] = {all ? 0 : 16 << (depth - 8), all ? (1 << depth) - 1 : 235 << (depth - 8)};
    if (params->mode == LUMEQ_MODE_CLAHE)
        check_clahe_stats(stats, &p->in[0], out, depth, step->shift, used);
    else
        check_stats_at(stats, &p->in[0], out, depth, step->shift,
                       params->dither && !params->reference);
}

static void step_close(const Step *step, Pictures *p, Result *result)
{
    check_step(step, p, &result->stats);
    result->hash = 0;
    for (int i = 0; i <= step->shape.planes; i++) {
        CHECK(check_rect_intact(&p->in[i]) && check_rect_intact(&p->out[i]),
              "%dx%d: writes outside plane %d", step->width, step->height, i);
        if (i < planes_out(step))
            result->hash = 31 * result->hash + picture_hash(&p->out[i]);
    }
    free_pictures(p);
}

/* Runs a step while no other frame is in flight. */
static void run_step(LumeqEqualizer *eq, const Step *step, Result *result)
{
    Pictures p;
    const LumeqFrame frame = step_open(step, &p);
    if (step->reset)
        lumeq_reset(eq);
    set_params(eq, &step->params);
    memset(result, 0, sizeof(*result));
    run_frame(eq, &frame, &result->stats);
    step_close(step, &p, result);
}

/* Keeps all slots in use while parameters change and resets happen. */
static void run_full(LumeqEqualizer *eq, const Step *steps, int count, Result *results)
{
    Pictures pictures[MAX_IN_FLIGHT];
    LumeqFrame next = {0};
    int prepared = 0, sent = 0, received = 0;
    while (received < count) {
        if (sent < count) {
            if (prepared == sent) {
                next = step_open(&steps[sent], &pictures[sent % MAX_IN_FLIGHT]);
                if (steps[sent].reset)
                    lumeq_reset(eq);
                set_params(eq, &steps[sent].params);
                prepared++;
            }
            const int ret = lumeq_submit(eq, &next);
            sent += ret == 0;
            if (ret == 0 && sent - received < MAX_IN_FLIGHT)
                continue;
            if (!CHECK(ret == LUMEQ_ERR_AGAIN && sent > received, "submit returns %d: %s", ret,
                       lumeq_last_error(eq)))
                return;
        } else {
            lumeq_flush(eq);
        }
        LumeqFrame frame = {0};
        Result *result = &results[received];
        memset(result, 0, sizeof(*result));
        if (receive_frame(eq, &frame, &result->stats) < 0)
            return;
        CHECK(frame.opaque == &steps[received], "frame %d is not the oldest", received);
        step_close(&steps[received], &pictures[received % MAX_IN_FLIGHT], result);
        received++;
    }
}

#define CHECK_SAME(a, b, ...)                                                                      \
    do {                                                                                           \
        CHECK((a)->hash == (b)->hash, __VA_ARGS__);                                                \
        CHECK(same_stats(&(a)->stats, &(b)->stats), __VA_ARGS__);                                  \
    } while (0)

/* Frame `n` of a gray film that changes slowly and has cuts. */
static Step scene(int n)
{
    static const Picture pictures[] = {PICTURE_DARK, PICTURE_DIAGONAL, PICTURE_TWO_LEVEL};
    return (Step){.picture = pictures[n / 5 % 3],
                  .seed = (uint64_t)(90 + n) << 8 | (uint64_t)(60 + 3 * n),
                  .width = 97,
                  .height = 61,
                  .depth = 8,
                  .time = n * 40 * MS + n % 3 * MS,
                  .params = defaults};
}

static int any(CheckRandom *random, int low, int high)
{
    return low + check_below(random, high - low + 1);
}

static double any_real(CheckRandom *random, double low, double high)
{
    return low + (high - low) * check_below(random, 1000001) / 1e6;
}

static LumeqParams any_params(CheckRandom *random)
{
    static const LumeqMode modes[] = {LUMEQ_MODE_GLOBAL, LUMEQ_MODE_GLOBAL,  LUMEQ_MODE_GLOBAL,
                                      LUMEQ_MODE_CLAHE,  LUMEQ_MODE_CLAHE,   LUMEQ_MODE_CLAHE,
                                      LUMEQ_MODE_OFF,    LUMEQ_MODE_STRETCH, LUMEQ_MODE_HAZE,
                                      LUMEQ_MODE_HAZE};
    const LumeqMode mode = modes[check_below(random, 10)];
    const int usual = check_below(random, 2); /* 1: fixed tiles, which keep a history */
    return (LumeqParams){
        .mode = mode,
        .reference =
            mode != LUMEQ_MODE_STRETCH && mode != LUMEQ_MODE_HAZE && !check_below(random, 8),
        .strength = check_below(random, 3) ? any_real(random, 0, 1) : 1,
        .adaptive = check_below(random, 2),
        .clip = check_below(random, 4) ? any_real(random, 1, 10) : 0,
        .smooth = check_below(random, 4) ? any_real(random, 0, 2) : 0,
        .scene_cut = check_below(random, 2),
        .tiles_x = usual ? 4 : check_below(random, LUMEQ_MAX_TILES + 1),
        .tiles_y = usual ? 3 : check_below(random, LUMEQ_MAX_TILES + 1),
        .chroma = check_below(random, 4) ? LUMEQ_CHROMA_SCALE : LUMEQ_CHROMA_KEEP,
        .dither = check_below(random, 2),
        .bars = check_below(random, 2) ? LUMEQ_BARS_AUTO : LUMEQ_BARS_IGNORE,
    };
}

/* `reference` needs 8 bits. */
static LumeqParams any_params_for(const Step *step, CheckRandom *random)
{
    LumeqParams params = any_params(random);
    params.reference = params.reference && step->depth == 8;
    return params;
}

static void any_depth(Step *step, CheckRandom *random)
{
    static const int depths[] = {8, 8, 8, 8, 9, 10, 10, 11, 12, 12, 13, 14, 15, 16};
    step->depth = depths[check_below(random, sizeof(depths) / sizeof(depths[0]))];
    if (step->depth > 8)
        step->shift = check_below(random, 2) ? check_below(random, 17 - step->depth) : 0;
}

static void any_chroma(Step *step, CheckRandom *random)
{
    step->shape =
        (ChromaShape){check_below(random, 3), check_below(random, 3), check_below(random, 3)};
    step->luma_only = !check_below(random, 5);
}

/* Random sizes, layouts, times and settings. */
static void any_steps(Step *steps, int count, CheckRandom *random)
{
    static const int sizes[][2] = {{1, 1},   {1, 300}, {300, 1},  {97, 61},  {16, 16},
                                   {33, 17}, {257, 3}, {640, 91}, {511, 200}};
    int64_t now = 0;
    for (int n = 0; n < count; n++) {
        const int *size = sizes[check_below(random, sizeof(sizes) / sizeof(sizes[0]))];
        Step *step = &steps[n];
        *step = (Step){.picture = (Picture)check_below(random, PICTURE_COUNT),
                       .seed = (uint64_t)check_below(random, 65536),
                       .width = size[0],
                       .height = size[1],
                       .padding_in = any(random, -20, 20),
                       .padding_out = any(random, -20, 20),
                       .offset_in = check_below(random, 32),
                       .offset_out = check_below(random, 32),
                       .range = (LumeqRange)check_below(random, 2)};
        any_depth(step, random);
        any_chroma(step, random);
        now += any(random, -30, 100) * MS;
        step->time = check_below(random, 8) ? now : LUMEQ_NO_TIME;
        step->duration = check_below(random, 2) * 40 * MS;
        step->reset = !check_below(random, 10);
        step->measure = !check_below(random, 6);
        if (n && check_below(random, 3)) { /* mostly the same scene continues */
            step->picture = steps[n - 1].picture;
            step->range = steps[n - 1].range;
            step->seed = steps[n - 1].seed + 1;
            step->depth = steps[n - 1].depth;
            step->shift = steps[n - 1].shift;
        }
        step->params = n && check_below(random, 2) && step->depth == steps[n - 1].depth
                           ? steps[n - 1].params
                           : any_params_for(step, random);
    }
}

TEST(error_texts)
{
    LumeqParams usual = {.size = sizeof(usual)};
    lumeq_params_default(&usual);
    CHECK(!memcmp(&usual, &defaults, sizeof(usual)), "defaults differ from default_params.h");
    CHECK(lumeq_version() == LUMEQ_VERSION, "%d, not %d", lumeq_version(), LUMEQ_VERSION);
    for (int a = LUMEQ_ERR_GPU; a <= 0; a++) {
        CHECK(lumeq_error_string(a)[0], "no text for %d", a);
        for (int b = LUMEQ_ERR_GPU; b < a; b++)
            CHECK(strcmp(lumeq_error_string(a), lumeq_error_string(b)) != 0, "%d and %d: %s", a, b,
                  lumeq_error_string(a));
    }
    CHECK(lumeq_error_string(1) && lumeq_error_string(-1000), "no text for an unknown error");
}

BACKEND_TEST(destroy)
{
    lumeq_destroy(NULL);
    LumeqEqualizer *eq = NULL;
    lumeq_destroy(&eq);

    eq = must_open(id, 3);
    lumeq_destroy(&eq);
    CHECK(!eq, "the pointer is not set to NULL");

    /* with a frame in flight */
    const Step step = scene(0);
    Pictures p;
    const LumeqFrame frame = step_open(&step, &p);
    eq = must_open(id, 3);
    CHECK(lumeq_submit(eq, &frame) == 0, "%s", lumeq_last_error(eq));
    lumeq_destroy(&eq);
    free_pictures(&p);
}

static void check_times(const LumeqFrameStats *stats)
{
    const double us[LUMEQ_STAGES] = {stats->upload_us, stats->equalize_us, stats->download_us};
    for (int i = 0; i < LUMEQ_STAGES; i++) {
        const double begin = stats->stage_begin_us[i], end = stats->stage_end_us[i];
        CHECK(begin >= 0 && end >= begin && end < PATIENCE_S * 1e6, "stage %d from %g to %g", i,
              begin, end);
        CHECK(fabs(end - begin - us[i]) < 1, "stage %d takes %g from %g to %g", i, us[i], begin,
              end);
    }
    CHECK(stats->equalize_us > 0, "equalizing took no time");
    CHECK(stats->stage_end_us[LUMEQ_STAGE_EQUALIZE] >= stats->stage_end_us[LUMEQ_STAGE_UPLOAD],
          "equalized before it was uploaded");
}

BACKEND_TEST(order)
{
    FREED_BY(lumeq_destroy) LumeqEqualizer *eq = must_open(id, 0);
    const Step step = scene(0);
    Pictures p[MAX_IN_FLIGHT];
    int slots = -1;
    for (int round = 0; round < 3; round++) {
        CHECK(lumeq_receive(eq, NULL, NULL) == LUMEQ_ERR_AGAIN,
              "receives without a frame in flight");
        int sent = 0;
        for (; sent < MAX_IN_FLIGHT; sent++) {
            LumeqFrame frame = step_open(&step, &p[sent]);
            frame.opaque = &p[sent];
            const int ret = lumeq_submit(eq, &frame);
            if (ret == 0)
                continue;
            CHECK(ret == LUMEQ_ERR_AGAIN, "submit returns %d", ret);
            free_pictures(&p[sent]);
            break;
        }
        CHECK(sent >= 1 && sent < MAX_IN_FLIGHT && (slots < 0 || sent == slots),
              "%d slots, earlier %d", sent, slots);
        slots = sent;
        if (round) /* receive waits when no slot is free, and after a flush */
            lumeq_flush(eq);
        for (int n = 0; n < slots; n++) {
            LumeqFrame frame = {0};
            FrameStats stats = {0};
            const int ret = n && !round ? receive_frame(eq, &frame, &stats)
                                        : lumeq_receive(eq, &frame, ask_stats(&stats));
            CHECK(ret == 0, "receive returns %d", ret);
            CHECK(frame.opaque == &p[n] && frame.in.plane[0] == p[n].in[0].pixels &&
                      frame.out.plane[0] == p[n].out[0].pixels && frame.in.width == 97 &&
                      frame.out.height == 61 && frame.time == step.time,
                  "frame %d is not what was submitted", n);
            check_times(&stats.values);
            check_stats(&stats, &p[n].in[0], &p[n].out[0]);
            free_pictures(&p[n]);
        }
        const int end = round ? LUMEQ_ERR_END : LUMEQ_ERR_AGAIN;
        CHECK(lumeq_receive(eq, NULL, NULL) == end, "not %d after the last frame", end);
        CHECK(lumeq_receive(eq, NULL, NULL) == end, "not %d the second time", end);

        Result result;
        run_step(eq, &step, &result); /* a new frame ends the state END */
    }
    lumeq_flush(eq);
    CHECK(lumeq_receive(eq, NULL, NULL) == LUMEQ_ERR_END,
          "no END after a flush with nothing in flight");
}

/* Resets, new parameters and a flush do not affect frames in flight. */
BACKEND_TEST(full_slots_equal_single_frames)
{
    enum { COUNT = 40, FLUSHED = 13 };
    static Step steps[COUNT];
    static Result results[COUNT];
    CheckRandom random = check_random(1);
    any_steps(steps, COUNT, &random);
    LumeqEqualizer *eq = must_open(id, 2), *other = must_open(id, 2);
    run_full(eq, steps, FLUSHED, results);
    CHECK(lumeq_receive(eq, NULL, NULL) == LUMEQ_ERR_END, "no END after a flush");
    run_full(eq, steps + FLUSHED, COUNT - FLUSHED, results + FLUSHED);
    for (int n = 0; n < COUNT; n++) {
        Result expected;
        run_step(other, &steps[n], &expected);
        CHECK_SAME(&results[n], &expected, "frame %d", n);
    }
    lumeq_destroy(&eq);
    lumeq_destroy(&other);
}

BACKEND_TEST(measure_only)
{
    LumeqEqualizer *eq = must_open(id, 0), *other = must_open(id, 0);
    for (int n = 0; n < 12; n++) {
        Step step = scene(n);
        Result result, expected;
        run_step(other, &step, &expected);
        step.measure = n % 3 != 2;
        run_step(eq, &step, &result);
        CHECK(same_stats(&result.stats, &expected.stats), "frame %d", n);
        CHECK(step.measure || result.hash == expected.hash, "frame %d", n);
    }
    lumeq_destroy(&eq);
    lumeq_destroy(&other);
}

/* Mode off leaves pictures unchanged, but the history continues as in mode global. */
BACKEND_TEST(mode_off_keeps_history)
{
    int changed = 0;
    LumeqEqualizer *eq = must_open(id, 0), *other = must_open(id, 0);
    for (int n = 0; n < 12; n++) {
        Step step = scene(n);
        Result result, expected;
        run_step(other, &step, &expected);
        const int off = n % 4 != 3;
        step.params.mode = off ? LUMEQ_MODE_OFF : LUMEQ_MODE_GLOBAL;
        step.params.reference = off && n % 2; /* mode off ignores the reference */
        run_step(eq, &step, &result);
        CHECK(result.stats.values.curve_speed == expected.stats.values.curve_speed &&
                  result.stats.values.scene_cut == expected.stats.values.scene_cut,
              "frame %d", n);
        if (off) {
            CHECK(
                !memcmp(result.stats.hist_out, result.stats.hist_in, sizeof(result.stats.hist_in)),
                "frame %d is changed", n);
            changed += result.hash != expected.hash;
        } else {
            CHECK_SAME(&result, &expected, "frame %d", n);
        }
    }
    CHECK(changed > 4, "only %d frames are changed with the mode on", changed);
    lumeq_destroy(&eq);
    lumeq_destroy(&other);
}

/* Reference frames do not change the history. Passing time does, so frames have no times here. */
BACKEND_TEST(reference_keeps_no_history)
{
    LumeqEqualizer *eq = must_open(id, 0), *other = must_open(id, 0);
    for (int n = 0; n < 15; n++) {
        Step step = scene(n);
        Result result, expected;
        const int reference = n % 3 != 1;
        step.params.reference = reference;
        step.params.lift = 0; /* lifted pictures are dithered by frame number */
        step.time = LUMEQ_NO_TIME;
        run_step(eq, &step, &result);
        if (reference) {
            CHECK(result.stats.values.curve_speed == 0 && !result.stats.values.scene_cut,
                  "frame %d", n);
        } else {
            run_step(other, &step, &expected);
            CHECK_SAME(&result, &expected, "frame %d", n);
        }
    }
    lumeq_destroy(&eq);
    lumeq_destroy(&other);
}

static void letterbox(const CheckRect *rect, int bar)
{
    for (int y = 0; y < rect->height; y++)
        if (y < bar || y >= rect->height - bar)
            memset(check_row(rect, y), 16, (size_t)rect->width);
}

static void submit_letterboxed(LumeqEqualizer *eq, int n, int bar, Pictures *p)
{
    Step step = scene(n);
    step.width = 320;
    step.height = 240;
    step.time = n * 40 * MS;
    const LumeqFrame frame = step_open(&step, p);
    letterbox(&p->in[0], bar);
    set_params(eq, &defaults);
    CHECK(lumeq_submit(eq, &frame) == 0, "%s", lumeq_last_error(eq));
}

/* A reset does not affect the frame in flight. That frame then does not affect later frames. */
BACKEND_TEST(reset_in_flight)
{
    LumeqEqualizer *eq = must_open(id, 0), *other = must_open(id, 0), *fresh = must_open(id, 0);
    FrameStats result = {0}, expected = {0};
    for (int n = 0; n < 8; n++) {
        LumeqEqualizer *same = n < 4 ? other : fresh;
        Pictures p, q;
        submit_letterboxed(eq, n, n < 4 ? 24 : 40, &p);
        submit_letterboxed(same, n, n < 4 ? 24 : 40, &q);
        if (n == 3)
            lumeq_reset(eq);
        receive_frame(eq, NULL, &result);
        receive_frame(same, NULL, &expected);
        CHECK(same_stats(&result, &expected), "frame %d: %d rows are active, not %d", n,
              result.values.active.height, expected.values.active.height);
        free_pictures(&p);
        free_pictures(&q);
    }
    lumeq_destroy(&eq);
    lumeq_destroy(&other);
    lumeq_destroy(&fresh);
}

/* Neither the number of threads nor the layout in memory changes a bit. */
TEST(threads)
{
    static const int counts[] = {1, 2, 3, 7, 256};
    static const int sizes[][2] = {{1, 1},
                                   {1, 4000},
                                   {4000, 1},
                                   {65, 33},
                                   {7, 9999},
                                   {9999, 7},
                                   {1921 / CHECK_SLOWER, 1083 / CHECK_SLOWER}};
    static const Picture pictures[] = {PICTURE_DARK, PICTURE_NOISE, PICTURE_DARK};
    for (int s = 0; s < (int)(sizeof(sizes) / sizeof(sizes[0])); s++) {
        Result expected[3];
        for (int c = 0; c < (int)(sizeof(counts) / sizeof(counts[0])); c++) {
            if (c > 0 && !check_drawn(s + c))
                continue;
            FREED_BY(lumeq_destroy) LumeqEqualizer *eq = must_open(LUMEQ_BACKEND_CPU, counts[c]);
            for (int n = 0; n < 3; n++) {
                Step step = scene(n);
                Result result;
                step.picture = pictures[n];
                step.width = sizes[s][0];
                step.height = sizes[s][1];
                step.padding_in = n == 1 ? -3 - c : 5 * c;
                step.padding_out = n == 2 ? -1 - 15 * c : 31 * c;
                step.offset_in = 7 * c % 16;
                step.offset_out = (3 * c + s) % 16;
                step.shape = (ChromaShape){n, 1, 1};
                step.params.dither = n == 2;
                run_step(eq, &step, &result);
                if (c == 0)
                    expected[n] = result;
                else
                    CHECK_SAME(&result, &expected[n], "%dx%d, %d threads, frame %d", step.width,
                               step.height, counts[c], n);
            }
        }
    }
}

enum { TOGETHER = CHECK_SLOWER > 1 ? 6 : 15 };

typedef struct Lane {
    LumeqEqualizer *eq;
    Step steps[TOGETHER];
    Result results[TOGETHER];
} Lane;

static void *run_lane(void *arg)
{
    Lane *lane = arg;
    run_full(lane->eq, lane->steps, TOGETHER, lane->results);
    return NULL;
}

/* Two equalizers in two threads do not affect each other. */
BACKEND_TEST(two_at_once)
{
    static Lane lanes[2];
    for (int i = 0; i < 2; i++) {
        lanes[i].eq = must_open(id, 3);
        for (int n = 0; n < TOGETHER; n++) {
            lanes[i].steps[n] = scene(i ? n : TOGETHER - n);
            lanes[i].steps[n].width = 640; /* several bands */
            lanes[i].steps[n].height = 361;
        }
    }
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, run_lane, &lanes[0]) == 0, "no thread");
    run_lane(&lanes[1]);
    pthread_join(thread, NULL);
    for (int i = 0; i < 2; i++) {
        LumeqEqualizer *alone = must_open(id, 1);
        for (int n = 0; n < TOGETHER; n++) {
            Result expected;
            run_step(alone, &lanes[i].steps[n], &expected);
            CHECK_SAME(&lanes[i].results[n], &expected, "lane %d, frame %d", i, n);
        }
        lumeq_destroy(&alone);
        lumeq_destroy(&lanes[i].eq);
    }
}

static void *use_host_memory(void *arg)
{
    static const size_t sizes[] = {1, 63, 64, 65, 4096, 100001, 1 << 20};
    LumeqEqualizer *eq = arg;
    for (int round = 0; round < 8; round++) {
        uint8_t *memory[7];
        for (int i = 0; i < 7; i++) {
            memory[i] = lumeq_alloc_host(lumeq_get_context(eq), sizes[i]);
            CHECK(memory[i] && (uintptr_t)memory[i] % 64 == 0, "%zu bytes at %p", sizes[i],
                  (void *)memory[i]);
            if (memory[i])
                memset(memory[i], i + 1, sizes[i]);
        }
        for (int i = 0; i < 7; i++) {
            CHECK(memory[i] && memory[i][0] == i + 1 && memory[i][sizes[i] - 1] == i + 1,
                  "two blocks overlap");
            lumeq_free_host(lumeq_get_context(eq), memory[i]);
        }
    }
    lumeq_free_host(lumeq_get_context(eq), NULL);
    return NULL;
}

/* Any thread may allocate host memory while frames are computed. Frames may be in host memory. */
BACKEND_TEST(host_memory)
{
    LumeqEqualizer *eq = must_open(id, 2), *other = must_open(id, 2);
    CHECK(!lumeq_alloc_host(lumeq_get_context(eq), SIZE_MAX), "allocates SIZE_MAX bytes");
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, use_host_memory, eq) == 0, "no thread");
    for (int n = 0; n < 8; n++) {
        const Step step = scene(n);
        Pictures p;
        Result result = {0}, expected;
        LumeqFrame frame = step_open(&step, &p);
        const size_t size = (size_t)step.width * (size_t)step.height;
        uint8_t *in = lumeq_alloc_host(lumeq_get_context(eq), size),
                *out = lumeq_alloc_host(lumeq_get_context(eq), size);
        if (CHECK(in && out, "no memory")) {
            memcpy(in, p.in[0].pixels, size);
            frame.in.plane[0] = in;
            frame.out.plane[0] = out;
            run_frame(eq, &frame, &result.stats);
            memcpy(p.out[0].pixels, out, size);
        }
        lumeq_free_host(lumeq_get_context(eq), in);
        lumeq_free_host(lumeq_get_context(eq), out);
        step_close(&step, &p, &result);
        run_step(other, &step, &expected);
        CHECK_SAME(&result, &expected, "frame %d", n);
    }
    pthread_join(thread, NULL);
    lumeq_destroy(&eq);
    lumeq_destroy(&other);
}

/* Only a GPU has device memory. */
BACKEND_TEST(device_memory)
{
    FREED_BY(lumeq_destroy) LumeqEqualizer *eq = must_open(id, 1);
    void *memory = lumeq_alloc_device(lumeq_get_context(eq), 1000);
    CHECK(!memory == (id == LUMEQ_BACKEND_CPU) && (uintptr_t)memory % 256 == 0,
          "1000 bytes of the device at %p", memory);
    CHECK(!lumeq_alloc_device(lumeq_get_context(eq), SIZE_MAX), "allocates SIZE_MAX bytes");
    lumeq_free_device(lumeq_get_context(eq), memory);
    lumeq_free_device(lumeq_get_context(eq), NULL);
}

TEST_MAIN
