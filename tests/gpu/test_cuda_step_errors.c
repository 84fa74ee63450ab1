/*
 * Single steps with a fake CUDA. If a call fails or the GPU hangs, results are right, a lost GPU is
 * not called again, asynchronous calls do not wait, and nothing is leaked.
 */
#include <stdlib.h>

#include "../check.h"
#include "../default_params.h"
#include "fake_cuda.h"
#include "lumeq/lumeq.h"

enum { FRAMES = 5, WIDTH = 64, HEIGHT = 48, SIZE = WIDTH * HEIGHT * 3, PACKED = 1 << 20 };

typedef struct Run {
    uint8_t out[FRAMES][SIZE];
    uint8_t packed[FRAMES][PACKED];
    size_t packed_size[FRAMES];
} Run;

static uint8_t input[FRAMES][SIZE];

static LumeqImage picture(uint8_t *memory, int n, int planar)
{
    const int deep = n % 2, sample = 1 + deep, luma = WIDTH * HEIGHT * sample;
    LumeqImage image = {.plane = {memory, memory + luma},
                        .stride = {WIDTH * sample, WIDTH * sample / (1 + planar)},
                        .width = WIDTH,
                        .height = HEIGHT,
                        .chroma_x = 1,
                        .chroma_y = 1,
                        .depth = deep ? 10 : 8,
                        .shift = deep && !planar ? 6 : 0};
    if (planar) {
        image.plane[2] = memory + luma + luma / 4;
        image.stride[2] = image.stride[1];
    }
    return image;
}

static LumeqImage input_of(int n)
{
    return picture(input[n], n, 0);
}

static LumeqParams params_of(int n)
{
    LumeqParams params = DEFAULT_PARAMS;
    params.mode = n > 1 ? LUMEQ_MODE_CLAHE : LUMEQ_MODE_GLOBAL;
    params.reference = n == 4;
    params.tiles_x = params.tiles_y = 3;
    return params;
}

static void fill_inputs(void)
{
    for (int n = 0; n < FRAMES; n++) {
        CheckRandom random = {(uint64_t)n, 0};
        for (int i = 0; i < SIZE; i++)
            input[n][i] = (uint8_t)(40 + 3 * n + check_below(&random, 20 + 4 * n));
    }
}

static int warnings;

static void count_warnings(void *user, LumeqLogLevel level, const char *text)
{
    (void)user;
    warnings += level == LUMEQ_LOG_WARNING && strstr(text, "the CPU goes on without the GPU");
}

static LumeqContext *open_fake(LumeqBackendId id, void *cuda_context)
{
    LumeqContext *context = NULL;
    char why[256] = "";
    const LumeqConfig config = {
        .backend = id, .threads = 1, .log = count_warnings, .cuda_context = cuda_context};
    warnings = 0;
    const int ret = lumeq_context_create(&context, &config, why, sizeof(why));
    CHECK(ret == 0, "create returns %d: %s", ret, why);
    return context;
}

static LumeqCurve *curve_of(const LumeqMeasure *measure, int n)
{
    const LumeqParams params = params_of(n);
    const LumeqMoment moment = {.number = n};
    LumeqHistory *history = NULL;
    LumeqCurve *curve = NULL;
    CHECK(lumeq_history_create(&history, &params, 0) == 0 &&
              lumeq_history_put(history, measure, &moment) == 0 &&
              lumeq_history_get(history, &curve) == 0,
          "%s", lumeq_last_error(NULL));
    lumeq_history_destroy(&history);
    return curve;
}

static void step(LumeqContext *context, Run *run, int n)
{
    const LumeqParams params = params_of(n);
    const LumeqImage in = input_of(n), out = picture(run->out[n], n, 1);
    LumeqMeasure *measure = NULL;
    int ret = lumeq_measure(context, &measure, &params, &in, NULL, NULL);
    if (!CHECK(ret == 0, "measure %d returns %d: %s", n, ret, lumeq_last_error(NULL)))
        return;
    run->packed_size[n] = PACKED;
    CHECK(lumeq_measure_pack(measure, run->packed[n], &run->packed_size[n]) == 0, "%s",
          lumeq_last_error(NULL));
    LumeqCurve *curve = curve_of(measure, n);
    ret = lumeq_apply(context, curve, &in, NULL, 0, &out, NULL);
    CHECK(ret == 0, "apply %d returns %d: %s", n, ret, lumeq_last_error(NULL));
    lumeq_curve_unref(&curve);
    lumeq_measure_free(&measure);
}

static void work(LumeqContext *context, Run *run)
{
    memset(run, 0, sizeof(*run));
    for (int n = 0; n < FRAMES; n++)
        step(context, run, n);
}

static const Run *expected_run(void)
{
    static Run expected;
    if (!expected.packed_size[0]) {
        fill_inputs();
        LumeqContext *cpu = open_fake(LUMEQ_BACKEND_CPU, NULL);
        work(cpu, &expected);
        lumeq_context_destroy(&cpu);
    }
    return &expected;
}

static void compare(const Run *run, const char *what, long call)
{
    const Run *expected = expected_run();
    for (int n = 0; n < FRAMES; n++) {
        CHECK(run->packed_size[n] == expected->packed_size[n] &&
                  !memcmp(run->packed[n], expected->packed[n], run->packed_size[n]),
              "%s at call %ld: measure %d differs", what, call, n);
        CHECK(!memcmp(run->out[n], expected->out[n], SIZE), "%s at call %ld: frame %d differs",
              what, call, n);
    }
}

static void check_empty(const char *what, long call)
{
    CHECK(!fake_cuda.pinned && !fake_cuda.on_device && !fake_cuda.events && !fake_cuda.streams,
          "%s at call %ld: %zu bytes pinned and %zu on the device, %d events and %d streams left",
          what, call, fake_cuda.pinned, fake_cuda.on_device, fake_cuda.events, fake_cuda.streams);
}

/* Equalizes a frame. Returns true if that makes no CUDA calls, because the GPU is lost. */
static int is_lost(LumeqContext *context)
{
    static Run run;
    const long calls = fake_cuda.calls;
    memset(&run, 0, sizeof(run));
    step(context, &run, 0);
    return fake_cuda.calls == calls;
}

static void fail_at_any_call(cudaError_t error, int sticky, int own)
{
    static Run run;
    static int callers;
    char what[64];
    expected_run();
    snprintf(what, sizeof(what), "error %d, %s", (int)error, sticky ? "for ever" : "once");
    for (int k = 1, failed = 1; failed; k++) {
        void *wanted = own ? &callers : NULL;
        fake_cuda_start((FakeCuda){.error = error, .sticky = sticky, .context = wanted});
        LumeqContext *context = open_fake(LUMEQ_BACKEND_AUTO, wanted);
        fake_cuda.fail_at = fake_cuda.calls + k;
        work(context, &run);
        compare(&run, what, k);
        failed = fake_cuda.failed;
        if (!failed)
            fake_cuda.fail_at = 0;
        const size_t memory = fake_cuda.on_device;
        const int lost = is_lost(context);
        CHECK(failed || fake_cuda.on_device == memory, "memory grows");
        if (sticky && failed)
            CHECK(lost && warnings == 1, "%s at call %d: %d warnings", what, k, warnings);
        fake_cuda.fail_at = 0;
        const long calls = fake_cuda.calls;
        lumeq_context_destroy(&context);
        if (lost)
            CHECK(fake_cuda.calls == calls, "%s at call %d: a lost GPU is called", what, k);
        else
            check_empty(what, k);
        CHECK(!fake_cuda.pushed && !fake_cuda.outside,
              "%s at call %d: %d contexts left, %ld calls outside", what, k, fake_cuda.pushed,
              fake_cuda.outside);
        CHECK(failed || k > 10 * FRAMES, "only %d calls could fail", k);
    }
}

TEST(failing_once_at_any_call)
{
    fail_at_any_call(cudaErrorMemoryAllocation, 0, 0);
    fail_at_any_call(cudaErrorInvalidValue, 0, 1);
}

/* ---- without waiting ----------------------------------------------------------------------- */

typedef struct Device {
    uint8_t *in, *out;
    cudaStream_t stream;
    cudaEvent_t ready, finished;
} Device;

static Device open_device(int n)
{
    Device d = {0};
    void *memory = NULL;
    CHECK(cudaMalloc(&memory, SIZE) == cudaSuccess, "no memory");
    d.in = memory;
    CHECK(cudaMalloc(&memory, SIZE) == cudaSuccess, "no memory");
    d.out = memory;
    memcpy(d.in, input[n], SIZE);
    memset(d.out, 0, SIZE);
    cudaStreamCreateWithFlags(&d.stream, cudaStreamNonBlocking);
    cudaEventCreate(&d.ready);
    cudaEventCreate(&d.finished);
    return d;
}

static void close_device(Device *d)
{
    cudaFree(d->in);
    cudaFree(d->out);
    cudaStreamDestroy(d->stream);
    cudaEventDestroy(d->ready);
    cudaEventDestroy(d->finished);
}

/* Keeps the caller's stream busy for `seconds`. Then the event `ready` happens. */
static void be_busy(const Device *d, double seconds)
{
    fake_cuda.hangs = 1;
    fake_cuda.stage_takes = seconds;
    cudaMemsetAsync(d->out, 0, SIZE, d->stream);
    cudaEventRecord(d->ready, d->stream);
    fake_cuda.hangs = 0;
}

static void asynchronous_with(LumeqContext *context, int by_stream, int n)
{
    Device d = open_device(n);
    const LumeqParams params = params_of(n);
    LumeqImage in = picture(d.in, n, 0), out = picture(d.out, n, 1);
    in.memory = out.memory = LUMEQ_MEMORY_CUDA;
    LumeqMeasure *first = NULL, *measure = NULL;
    CHECK(lumeq_measure(context, &first, &params, &in, NULL, NULL) == 0, "%s",
          lumeq_last_error(NULL));
    LumeqCurve *curve = curve_of(first, n);
    be_busy(&d, 5);
    const double begin = fake_cuda.now;
    const LumeqSync sync = {.stream = by_stream ? d.stream : NULL,
                            .ready = by_stream ? NULL : d.ready,
                            .finished = d.finished};
    CHECK(lumeq_measure(context, &measure, &params, &in, NULL, &sync) == 0, "%s",
          lumeq_last_error(NULL));
    for (int i = 0; i < 3; i++) /* each call uses temporary memory of its own */
        CHECK(lumeq_apply(context, curve, &in, NULL, 0, &out, &sync) == 0, "%s",
              lumeq_last_error(NULL));
    CHECK(lumeq_measure_finish(measure, 0) == LUMEQ_ERR_AGAIN, "the measure is finished already");
    CHECK(cudaEventQuery(d.finished) == cudaErrorNotReady, "the frame is finished already");
    CHECK(fake_cuda.now < begin + 1, "calls waited %.1f s", fake_cuda.now - begin);
    CHECK(lumeq_measure_finish(measure, 1) == 0, "%s", lumeq_last_error(NULL));
    CHECK(fake_cuda.now > begin + 4, "calls waited only %.1f s", fake_cuda.now - begin);
    cudaEventSynchronize(d.finished);
    size_t size = PACKED;
    static uint8_t packed[PACKED];
    CHECK(lumeq_measure_pack(measure, packed, &size) == 0 &&
              !memcmp(packed, expected_run()->packed[n], size),
          "the measure differs");
    CHECK(!memcmp(d.out, expected_run()->out[n], SIZE), "the frame differs");
    lumeq_curve_unref(&curve);
    lumeq_measure_free(&first);
    lumeq_measure_free(&measure);
    close_device(&d);
}

TEST(asynchronous)
{
    expected_run();
    fake_cuda_start((FakeCuda){0});
    LumeqContext *context = open_fake(LUMEQ_BACKEND_CUDA, NULL);
    for (int n = 0; n < FRAMES; n++)
        asynchronous_with(context, n % 2, n);
    lumeq_context_destroy(&context);
    check_empty("asynchronous", 0);
}

/* Each CUDA call fails once. The step then fails, or its result is right. */
TEST(asynchronous_errors)
{
    expected_run();
    for (int k = 1, failed = 1; failed; k++) {
        fake_cuda_start((FakeCuda){.error = cudaErrorInvalidValue});
        LumeqContext *context = open_fake(LUMEQ_BACKEND_AUTO, NULL);
        Device d = open_device(0);
        const LumeqParams params = params_of(0);
        LumeqImage in = picture(d.in, 0, 0), out = picture(d.out, 0, 1);
        in.memory = out.memory = LUMEQ_MEMORY_CUDA;
        const LumeqSync sync = {.stream = d.stream, .ready = d.ready, .finished = d.finished};
        LumeqMeasure *measure = NULL, *plain = NULL;
        CHECK(lumeq_measure(context, &plain, &params, &in, NULL, NULL) == 0, "%s",
              lumeq_last_error(NULL));
        LumeqCurve *curve = curve_of(plain, 0);
        fake_cuda.fail_at = fake_cuda.calls + k;
        const int measured = lumeq_measure(context, &measure, &params, &in, NULL, &sync);
        const int applied = lumeq_apply(context, curve, &in, NULL, 0, &out, &sync);
        const int ret = measure ? lumeq_measure_finish(measure, 1) : LUMEQ_ERR_GPU;
        failed = fake_cuda.failed;
        fake_cuda.fail_at = 0;
        CHECK((measured == 0 || measured == LUMEQ_ERR_GPU) && !measure == (measured < 0) &&
                  (applied == 0 || applied == LUMEQ_ERR_GPU) &&
                  (ret == 0 || ret == LUMEQ_ERR_GPU) && (failed || applied + ret == 0),
              "call %d: measure %d, apply %d, finish %d", k, measured, applied, ret);
        if (applied == 0)
            CHECK(!memcmp(d.out, expected_run()->out[0], SIZE), "call %d: the frame differs", k);
        lumeq_measure_free(&measure);
        lumeq_measure_free(&plain);
        lumeq_curve_unref(&curve);
        close_device(&d);
        lumeq_context_destroy(&context);
        CHECK(failed || k > 20, "only %d calls could fail", k);
    }
    check_empty("asynchronous", 0);
}

/* ---- live ---------------------------------------------------------------------------------- */

/* Submitting a frame with sync waits until the frame is measured. In the reference mode it does not
 * wait. */
TEST(live_without_waiting)
{
    static uint8_t *pinned;
    LumeqParams params = DEFAULT_PARAMS;
    expected_run();
    fake_cuda_start((FakeCuda){0});
    LumeqEqualizer *eq = NULL;
    CHECK(lumeq_create(&eq, NULL, NULL, 0) == 0, "%s", lumeq_last_error(NULL));
    pinned = lumeq_alloc_host(lumeq_get_context(eq), (size_t)FRAMES * SIZE);
    for (int n = 0; n < FRAMES; n++) {
        Device d = open_device(n);
        LumeqFrame frame = {
            .in = picture(pinned + n * SIZE, n, 0), .out = picture(d.out, n, 1), .number = n};
        memcpy(pinned + n * SIZE, input[n], SIZE);
        frame.out.memory = LUMEQ_MEMORY_CUDA;
        params.reference = frame.in.depth == 8;
        CHECK(lumeq_set_params(eq, &params) == 0, "%s", lumeq_last_error(eq));
        be_busy(&d, 5);
        const double begin = fake_cuda.now;
        const LumeqSync sync = {
            .stream = n % 2 ? d.stream : NULL, .ready = d.ready, .finished = d.finished};
        frame.sync = &sync;
        CHECK(lumeq_submit(eq, &frame) == 0, "%s", lumeq_last_error(eq));
        const double waited = fake_cuda.now - begin;
        CHECK(params.reference ? waited < 1 : waited < 6, "calls waited %.1f s", waited);
        if (params.reference) {
            CHECK(lumeq_receive(eq, NULL, NULL) == LUMEQ_ERR_AGAIN,
                  "the frame is received already");
            CHECK(cudaEventQuery(d.finished) == cudaErrorNotReady, "the frame is finished already");
        }
        lumeq_flush(eq);
        CHECK(lumeq_receive(eq, NULL, NULL) == 0, "%s", lumeq_last_error(eq));
        CHECK(cudaEventQuery(d.finished) == cudaSuccess, "the frame is not finished");
        close_device(&d);
    }
    lumeq_free_host(lumeq_get_context(eq), pinned);
    lumeq_destroy(&eq);
    check_empty("live", 0);
}

/* The tests below come last, because pinned memory of a lost GPU is never freed. */

/* A hanging GPU is lost after the time limit, whether the test waits or polls. The CPU continues
 * with frames in host memory. */
static void hang(int wait)
{
    static Run run;
    expected_run();
    fake_cuda_start((FakeCuda){0});
    LumeqContext *context = open_fake(LUMEQ_BACKEND_AUTO, NULL);
    Device d = open_device(0);
    const LumeqParams params = params_of(0);
    LumeqImage in = picture(d.in, 0, 0);
    in.memory = LUMEQ_MEMORY_CUDA;
    const LumeqSync sync = {.stream = d.stream};
    LumeqMeasure *measure = NULL;
    fake_cuda.hangs = 1;
    const double begin = fake_cuda.now;
    CHECK(lumeq_measure(context, &measure, &params, &in, NULL, &sync) == 0, "%s",
          lumeq_last_error(NULL));
    int ret = LUMEQ_ERR_AGAIN;
    for (int i = 0; i < 1000 && ret == LUMEQ_ERR_AGAIN; i++) {
        ret = lumeq_measure_finish(measure, wait);
        fake_cuda.now += 0.03;
    }
    CHECK(ret == LUMEQ_ERR_GPU, "finish returns %d", ret);
    CHECK(fake_cuda.now > begin + 9.9 && fake_cuda.now < begin + 11.5,
          "the GPU is lost after %.1f s", fake_cuda.now - begin);
    CHECK(strstr(lumeq_last_error(NULL), "no progress") != NULL, "the message is %s",
          lumeq_last_error(NULL));
    work(context, &run);
    compare(&run, "a hang", 0);
    CHECK(lumeq_measure(context, &measure, &params, &in, NULL, &sync) == LUMEQ_ERR_GPU,
          "a lost GPU measures");
    CHECK(is_lost(context), "a lost GPU is called");
    lumeq_measure_free(&measure);
    lumeq_context_destroy(&context);
}

TEST(hangs)
{
    hang(1);
    hang(0);
}

/* Without sync, calls wait for the GPU until the CPU takes over. */
TEST(hangs_while_waiting)
{
    static Run run;
    expected_run();
    fake_cuda_start((FakeCuda){0});
    LumeqContext *context = open_fake(LUMEQ_BACKEND_AUTO, NULL);
    fake_cuda.hangs = 1;
    work(context, &run);
    compare(&run, "a hang", 0);
    CHECK(fake_cuda.now > 9.9 && fake_cuda.now < 11.5, "lost after %.1f s", fake_cuda.now);
    lumeq_context_destroy(&context);
}

/* If the GPU wakes up, its pending copies do not overwrite the CPU's results. */
TEST(wakes_up)
{
    expected_run();
    fake_cuda_start((FakeCuda){.late = 1});
    LumeqContext *context = open_fake(LUMEQ_BACKEND_AUTO, NULL);
    void *pinned = NULL;
    CHECK(cudaHostAlloc(&pinned, (size_t)2 * SIZE, 0) == cudaSuccess, "no memory");
    memset(pinned, 0, SIZE);
    memcpy((uint8_t *)pinned + SIZE, input[0], SIZE);
    const LumeqParams params = params_of(0);
    const LumeqImage in = picture((uint8_t *)pinned + SIZE, 0, 0), out = picture(pinned, 0, 1);
    LumeqMeasure *measure = NULL;
    CHECK(lumeq_measure(context, &measure, &params, &in, NULL, NULL) == 0, "%s",
          lumeq_last_error(NULL));
    LumeqCurve *curve = curve_of(measure, 0);
    fake_cuda.hangs = 1;
    CHECK(lumeq_apply(context, curve, &in, NULL, 0, &out, NULL) == 0, "%s", lumeq_last_error(NULL));
    CHECK(is_lost(context), "the GPU is not lost");
    fake_cuda_wake();
    CHECK(!memcmp(pinned, expected_run()->out[0], SIZE), "the frame differs");
    lumeq_curve_unref(&curve);
    lumeq_measure_free(&measure);
    lumeq_context_destroy(&context);
}

TEST(lost_at_any_call)
{
    fail_at_any_call(cudaErrorLaunchFailure, 1, 0);
    fail_at_any_call(cudaErrorLaunchFailure, 1, 1);
}

TEST_MAIN
