/*
 * Calls in any order and from any thread: random valid and invalid calls on all objects; and
 * objects that threads share or own, as the header allows.
 */
#include <pthread.h>

#include "../check.h"
#include "all_stats.h"
#include "layouts.h"
#include "lumeq/lumeq.h"

#define FEW 4
#define PICTURES 12
#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

static LumeqImage picture(int number, uint64_t seed)
{
    static const struct {
        int width, height, depth, shift, x, y;
        Layout layout;
    } shapes[] = {
        {48, 32, 8, 0, 1, 1, LAYOUT_PLANAR},  {48, 32, 8, 0, 1, 1, LAYOUT_PAIRS},
        {48, 32, 10, 0, 1, 1, LAYOUT_PLANAR}, {48, 32, 10, 6, 1, 1, LAYOUT_PAIRS},
        {17, 9, 8, 0, 0, 0, LAYOUT_GRAY},     {1, 1, 16, 0, 2, 2, LAYOUT_PLANAR},
    };
    const int n = number % COUNT(shapes);
    LumeqImage image = {.width = shapes[n].width,
                        .height = shapes[n].height,
                        .depth = shapes[n].depth,
                        .shift = shapes[n].shift,
                        .chroma_x = shapes[n].x,
                        .chroma_y = shapes[n].y};
    layout_alloc(&image, shapes[n].layout);
    for (int c = 0; c < layout_components(&image); c++)
        for (int y = 0; y < layout_height(&image, c); y++)
            for (int x = 0; x < layout_width(&image, c); x++) {
                const uint64_t r = check_hash(seed + (uint64_t)number, (uint64_t)(97 * y + x));
                layout_put(&image, c, x, y, (int)(r % (uint64_t)(1 << (image.depth - 1))));
            }
    return image;
}

/* All kinds of objects; many are NULL at any time. */
typedef struct World {
    CheckRandom random;
    LumeqContext *contexts[FEW];
    LumeqEqualizer *equalizers[FEW];
    LumeqMeasure *measures[FEW];
    LumeqHistory *histories[FEW];
    LumeqCurve *curves[FEW];
    void *memory[FEW], *memory_of[FEW];
    LumeqImage in[PICTURES];
    LumeqImage out[FEW][16]; /* a frame in flight has its own */
    int next_out[FEW];
    uint8_t bytes[1 << 17];
    size_t size; /* of the last packed object */
    FrameStats stats;
} World;

static int below(World *w, int count)
{
    return check_below(&w->random, count);
}

static LumeqParams any_params(World *w)
{
    LumeqParams p = {.size = sizeof(p)};
    lumeq_params_default(&p);
    p.mode = (LumeqMode)below(w, 4);
    p.reference = below(w, 6) == 0;
    p.dither = below(w, 2);
    p.tiles_x = below(w, 5);
    p.tiles_y = below(w, 18);
    p.smooth = below(w, 3);
    p.strength = below(w, 2) ? below(w, 12) / 10.0 : LUMEQ_STRENGTH_AUTO;
    p.deflicker = below(w, 20) == 0;
    p.denoise = below(w, 11) / 10.0;
    p.bars = (LumeqBars)below(w, 2);
    return p;
}

static LumeqFrame any_frame(World *w, int equalizer)
{
    const int n = below(w, PICTURES);
    LumeqFrame frame = {.in = w->in[n], .time = below(w, 100) * INT64_C(10000000)};
    if (below(w, 2))
        frame.previous = &w->in[below(w, PICTURES)];
    LumeqImage *out = &w->out[equalizer][w->next_out[equalizer]++ % 16];
    if (below(w, 4)) {
        layout_free(out);
        *out = w->in[below(w, 3) ? n : below(w, PICTURES)];
        layout_alloc(out, (Layout)below(w, LAYOUTS));
        frame.out = *out;
    }
    frame.duration = below(w, 3) * INT64_C(1000000);
    frame.number = below(w, 5) - 1;
    return frame;
}

static void drain(World *w, int i)
{
    lumeq_flush(w->equalizers[i]);
    while (w->equalizers[i] && lumeq_receive(w->equalizers[i], NULL, NULL) == 0)
        continue;
}

static int call_equalizer(World *w)
{
    const int i = below(w, FEW);
    LumeqEqualizer **eq = &w->equalizers[i];
    const LumeqParams params = any_params(w);
    LumeqFrame frame;
    switch (below(w, 12)) {
    case 0:
        if (*eq)
            return 0;
        return lumeq_create(eq, &(LumeqConfig){.backend = LUMEQ_BACKEND_CPU, .threads = 1}, NULL,
                            0);
    case 1:
        if (below(w, 4))
            return 0;
        for (int k = 0; k < FEW; k++)
            if (w->memory[k] && w->memory_of[k] == *eq) {
                lumeq_free_host(*eq, w->memory[k]);
                w->memory[k] = NULL;
            }
        lumeq_destroy(eq);
        return 0;
    case 2: return lumeq_set_params(*eq, &params);
    case 3:
    case 4: frame = any_frame(w, i); return lumeq_submit(*eq, &frame);
    case 5:
        frame = (LumeqFrame){0};
        return lumeq_receive(*eq, below(w, 2) ? &frame : NULL,
                             below(w, 2) ? ask_stats(&w->stats) : NULL);
    case 6:
        frame = any_frame(w, i);
        return lumeq_process(*eq, &frame, below(w, 2) ? ask_stats(&w->stats) : NULL);
    case 7: lumeq_flush(*eq); return 0;
    case 8: lumeq_reset(*eq); return 0;
    case 9: drain(w, i); return lumeq_rewind(*eq, below(w, LUMEQ_MAX_REWIND + 2) - 1);
    case 10:
        lumeq_history_destroy(&w->histories[i]);
        return lumeq_get_history(*eq, &w->histories[i]);
    default: break;
    }
    const int k = below(w, FEW);
    if (!*eq || w->memory[k])
        return 0;
    w->memory[k] = lumeq_alloc_host(*eq, 1 + (size_t)below(w, 5000));
    w->memory_of[k] = *eq;
    if (w->memory[k])
        memset(w->memory[k], 1, 1);
    return w->memory[k] ? 0 : LUMEQ_ERR_MEMORY;
}

static int call_step(World *w)
{
    LumeqContext **context = &w->contexts[below(w, FEW)];
    LumeqMeasure **measure = &w->measures[below(w, FEW)];
    LumeqHistory **history = &w->histories[below(w, FEW)];
    LumeqCurve **curve = &w->curves[below(w, FEW)];
    const LumeqImage *in = &w->in[below(w, PICTURES)];
    const LumeqParams params = any_params(w);
    LumeqMoment moment = {.number = below(w, 6) - 1, .time = below(w, 50) * INT64_C(20000000)};
    moment.discontinuity = below(w, 6) == 0;
    LumeqImage out;
    int ret;
    switch (below(w, 13)) {
    case 0:
        if (*context)
            return 0;
        return lumeq_context_create(
            context, &(LumeqConfig){.backend = LUMEQ_BACKEND_CPU, .threads = 1}, NULL, 0);
    case 1:
        if (below(w, 4) == 0)
            lumeq_context_destroy(context); /* measures and curves outlive it */
        return 0;
    case 2:
    case 3:
        return lumeq_measure(*context, measure, &params, in,
                             below(w, 2) ? NULL : &w->in[below(w, PICTURES)], NULL);
    case 4: lumeq_measure_free(measure); return 0;
    case 5: return lumeq_measure_finish(*measure, below(w, 2));
    case 6:
        if (*history && below(w, 3))
            return 0;
        lumeq_history_destroy(history);
        return lumeq_history_create(history, &params, below(w, 3) ? 0 : below(w, 1 << 30));
    case 7: return lumeq_history_put(*history, *measure, *measure ? &moment : NULL);
    case 8:
    case 9: lumeq_curve_unref(curve); return lumeq_history_get(*history, curve);
    case 10:
        if (!*curve)
            return lumeq_curve_stats(*curve, ask_stats(&w->stats));
        lumeq_curve_unref(&w->curves[0]);
        w->curves[0] = lumeq_curve_ref(*curve);
        return lumeq_curve_stats(w->curves[0], ask_stats(&w->stats));
    case 11: return lumeq_history_put(*history, NULL, NULL);
    default: break;
    }
    out = *in;
    layout_alloc(&out, (Layout)below(w, LAYOUTS));
    ret = lumeq_apply(*context, *curve, in, NULL, 0, &out, NULL);
    layout_free(&out);
    return ret;
}

static int call_bytes(World *w)
{
    LumeqMeasure **measure = &w->measures[below(w, FEW)];
    LumeqHistory **history = &w->histories[below(w, FEW)];
    LumeqCurve **curve = &w->curves[below(w, FEW)];
    size_t size = below(w, 8) ? sizeof(w->bytes) : (size_t)below(w, 5000);
    int ret;
    switch (below(w, 6)) {
    case 0: ret = lumeq_measure_pack(*measure, w->bytes, &size); break;
    case 1: ret = lumeq_curve_pack(*curve, w->bytes, &size); break;
    case 2: ret = lumeq_history_save(*history, w->bytes, &size); break;
    case 3: return lumeq_measure_unpack(measure, w->bytes, w->size);
    case 4: return lumeq_curve_unpack(curve, w->bytes, w->size);
    default: return lumeq_history_load(*history, w->bytes, w->size);
    }
    w->size = ret == 0 ? size : w->size;
    return ret;
}

TEST(random_calls)
{
    World *w = calloc(1, sizeof(*w));
    if (!CHECK(w != NULL, "no memory"))
        return;
    w->random = check_random(1);
    for (int i = 0; i < PICTURES; i++)
        w->in[i] = picture(i, 5);
    int64_t calls = 0, good = 0;
    int kinds[8] = {0};
    printf("random_calls: --seed %llu\n", (unsigned long long)check_state.seed);
    for (const time_t end = time(NULL) + check_state.seconds; time(NULL) < end;)
        for (int n = 0; n < 200; n++, calls++) {
            const int kind = below(w, 8);
            const int ret = kind < 3 ? call_equalizer(w) : kind < 7 ? call_step(w) : call_bytes(w);
            good += ret == 0;
            if (CHECK(ret <= 0 && ret >= LUMEQ_ERR_MEMORY, "call %lld answers %d", (long long)calls,
                      ret))
                kinds[-ret]++;
        }
    printf("random_calls: %lld calls, %lld of them good\n", (long long)calls, (long long)good);
    CHECK(good > calls / 8 && kinds[1] && kinds[2], "%lld of %lld calls", (long long)good,
          (long long)calls);
    for (int i = 0; i < FEW; i++) {
        drain(w, i);
        for (int k = 0; k < FEW; k++)
            if (w->memory[k] && w->memory_of[k] == w->equalizers[i])
                lumeq_free_host(w->equalizers[i], w->memory[k]);
        lumeq_destroy(&w->equalizers[i]);
        lumeq_measure_free(&w->measures[i]);
        lumeq_history_destroy(&w->histories[i]);
        lumeq_curve_unref(&w->curves[i]);
        for (int k = 0; k < COUNT(w->out[i]); k++)
            layout_free(&w->out[i][k]);
    }
    for (int i = 0; i < FEW; i++)
        lumeq_context_destroy(&w->contexts[i]);
    for (int i = 0; i < PICTURES; i++)
        layout_free(&w->in[i]);
    free(w);
}

#define THREADS 4
#define FRAMES 10

/* A thread that equalizes its own film, and its output. */
typedef struct Worker {
    LumeqContext *context; /* NULL: live */
    LumeqMode mode;
    uint64_t seed, hash;
    pthread_t thread;
} Worker;

static uint64_t hash_of(const LumeqImage *image, uint64_t hash)
{
    for (int c = 0; c < layout_components(image); c++)
        for (int y = 0; y < layout_height(image, c); y++)
            for (int x = 0; x < layout_width(image, c); x++)
                hash = check_hash(hash, (uint64_t)layout_get(image, c, x, y));
    return hash;
}

static int live_frame(LumeqEqualizer *eq, const LumeqImage *in, const LumeqImage *out, int n)
{
    LumeqFrame frame = {.in = *in, .out = *out, .time = n * INT64_C(40000000)};
    return lumeq_process(eq, &frame, NULL);
}

static int step_frame(LumeqContext *context, LumeqHistory *history, const LumeqParams *params,
                      const LumeqImage *in, const LumeqImage *out, int n)
{
    const LumeqMoment moment = {.time = n * INT64_C(40000000)};
    LumeqMeasure *measure = NULL;
    LumeqCurve *curve = NULL;
    int ret = lumeq_measure(context, &measure, params, in, NULL, NULL);
    if (ret == 0)
        ret = lumeq_history_put(history, measure, &moment);
    if (ret == 0)
        ret = lumeq_history_get(history, &curve);
    if (ret == 0)
        ret = lumeq_apply(context, curve, in, NULL, 0, out, NULL);
    lumeq_curve_unref(&curve);
    lumeq_measure_free(&measure);
    return ret;
}

static void *equalize_film(void *arg)
{
    Worker *worker = arg;
    LumeqEqualizer *eq = NULL;
    LumeqHistory *history = NULL;
    LumeqParams params = {.size = sizeof(params)};
    lumeq_params_default(&params);
    params.mode = worker->mode;
    int ret = lumeq_history_create(&history, &params, 0);
    if (ret == 0)
        ret =
            lumeq_create(&eq, &(LumeqConfig){.backend = LUMEQ_BACKEND_CPU, .threads = 2}, NULL, 0);
    if (ret == 0)
        ret = lumeq_set_params(eq, &params);
    for (int n = 0; n < FRAMES && ret == 0; n++) {
        LumeqImage in = picture(0, worker->seed + (uint64_t)n), out = picture(0, 0);
        ret = worker->context ? step_frame(worker->context, history, &params, &in, &out, n)
                              : live_frame(eq, &in, &out, n);
        worker->hash = hash_of(&out, worker->hash);
        layout_free(&in);
        layout_free(&out);
    }
    CHECK(ret == 0, "%d: %s, %s", ret, lumeq_last_error(NULL), eq ? lumeq_last_error(eq) : "");
    lumeq_history_destroy(&history);
    lumeq_destroy(&eq);
    return NULL;
}

/* Workers give the same output one by one and concurrently. */
static void run_workers(Worker *workers, int count)
{
    uint64_t expected[THREADS];
    for (int i = 0; i < count; i++) {
        Worker alone = {.mode = workers[i].mode, .seed = workers[i].seed};
        equalize_film(&alone);
        expected[i] = alone.hash;
    }
    for (int i = 0; i < count; i++)
        if (!CHECK(pthread_create(&workers[i].thread, NULL, equalize_film, &workers[i]) == 0,
                   "no thread"))
            exit(1);
    for (int i = 0; i < count; i++) {
        pthread_join(workers[i].thread, NULL);
        CHECK(workers[i].hash == expected[i], "thread %d has other bits", i);
    }
}

TEST(two_equalizers)
{
    Worker workers[2] = {{.seed = 1}, {.seed = 2, .mode = LUMEQ_MODE_CLAHE}};
    run_workers(workers, 2);
}

static void contexts(int count)
{
    LumeqContext *made[THREADS] = {NULL};
    Worker workers[THREADS];
    for (int i = 0; i < count; i++)
        CHECK(lumeq_context_create(&made[i],
                                   &(LumeqConfig){.backend = LUMEQ_BACKEND_CPU, .threads = 2}, NULL,
                                   0) == 0,
              "%s", lumeq_last_error(NULL));
    for (int i = 0; i < THREADS; i++)
        workers[i] = (Worker){.context = made[i % count],
                              .seed = 10 + (uint64_t)i,
                              .mode = i % 2 ? LUMEQ_MODE_CLAHE : LUMEQ_MODE_GLOBAL};
    run_workers(workers, THREADS);
    for (int i = 0; i < count; i++)
        lumeq_context_destroy(&made[i]);
}

TEST(one_context)
{
    contexts(1);
}

TEST(two_contexts)
{
    contexts(2);
}

/* All threads read a curve; the last one frees it. */
typedef struct Reader {
    LumeqContext *context;
    LumeqCurve *curve;
    const LumeqMeasure *measure;
    const LumeqImage *in;
    uint64_t hash;
    pthread_t thread;
} Reader;

static void *read_shared(void *arg)
{
    Reader *r = arg;
    LumeqImage out = picture(0, 0);
    uint8_t bytes[16384];
    size_t size = sizeof(bytes), packed = sizeof(bytes);
    CHECK(lumeq_apply(r->context, r->curve, r->in, NULL, 0, &out, NULL) == 0 &&
              lumeq_curve_pack(r->curve, bytes, &size) == 0 &&
              lumeq_measure_pack(r->measure, bytes, &packed) == 0,
          "%s", lumeq_last_error(NULL));
    r->hash = check_fnv(hash_of(&out, 0), bytes, packed);
    lumeq_curve_unref(&r->curve);
    layout_free(&out);
    return NULL;
}

TEST(shared_curve)
{
    const LumeqMoment moment = {.number = 3};
    FREED_BY(layout_free) LumeqImage in = picture(0, 77);
    FREED_BY(lumeq_context_destroy) LumeqContext *context = NULL;
    LumeqHistory *history = NULL;
    FREED_BY(lumeq_measure_free) LumeqMeasure *measure = NULL;
    LumeqCurve *curve = NULL;
    Reader readers[THREADS];
    CHECK(lumeq_context_create(&context, &(LumeqConfig){.backend = LUMEQ_BACKEND_CPU}, NULL, 0) ==
                  0 &&
              lumeq_history_create(&history, NULL, 0) == 0 &&
              lumeq_measure(context, &measure, NULL, &in, NULL, NULL) == 0 &&
              lumeq_history_put(history, measure, &moment) == 0 &&
              lumeq_history_get(history, &curve) == 0,
          "%s", lumeq_last_error(NULL));
    lumeq_history_destroy(&history);
    for (int i = 0; i < THREADS; i++) {
        readers[i] = (Reader){context, lumeq_curve_ref(curve), measure, &in, 0, pthread_self()};
        if (!CHECK(pthread_create(&readers[i].thread, NULL, read_shared, &readers[i]) == 0,
                   "no thread"))
            exit(1);
    }
    lumeq_curve_unref(&curve);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(readers[i].thread, NULL);
        CHECK(readers[i].hash == readers[0].hash, "thread %d sees another curve", i);
    }
}

TEST_MAIN
