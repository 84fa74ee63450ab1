/* Calls from any thread, on objects that threads share or own as the header allows. Any order of
 * calls in one thread: tests/fuzz/fuzz_calls.c. */
#include <pthread.h>

#include "../check.h"
#include "layouts.h"
#include "lumeq/lumeq.h"

static LumeqImage picture(uint64_t seed)
{
    LumeqImage image = {.width = 48, .height = 32, .depth = 8, .chroma_x = 1, .chroma_y = 1};
    layout_alloc(&image, LAYOUT_PLANAR);
    for (int c = 0; c < layout_components(&image); c++)
        for (int y = 0; y < layout_height(&image, c); y++)
            for (int x = 0; x < layout_width(&image, c); x++)
                layout_put(&image, c, x, y, (int)(check_hash(seed, (uint64_t)(97 * y + x)) % 128));
    return image;
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
        LumeqImage in = picture(worker->seed + (uint64_t)n), out = picture(0);
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
    LumeqImage out = picture(0);
    uint8_t bytes[16384];
    size_t size = sizeof(bytes), packed = sizeof(bytes);
    CHECK(lumeq_apply(r->context, r->curve, r->in, NULL, 0, &out, NULL) == 0 &&
              lumeq_curve_pack(r->curve, bytes, &size) == 0 &&
              lumeq_measure_pack(r->measure, bytes, &packed) == 0,
          "%s", lumeq_last_error(NULL));
    r->hash = check_fnv(hash_of(&out, 0), bytes, packed);
    layout_free(&out);
    return NULL;
}

TEST(shared_curve)
{
    const LumeqMoment moment = {.number = 3};
    FREED_BY(layout_free) LumeqImage in = picture(77);
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
        readers[i] = (Reader){context, curve, measure, &in, 0, pthread_self()};
        if (!CHECK(pthread_create(&readers[i].thread, NULL, read_shared, &readers[i]) == 0,
                   "no thread"))
            exit(1);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(readers[i].thread, NULL);
        CHECK(readers[i].hash == readers[0].hash, "thread %d sees another curve", i);
    }
    lumeq_curve_unref(&curve);
}

TEST_MAIN
