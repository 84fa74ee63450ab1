/*
 * Frames in flight with a fake CUDA. If a call fails or the GPU hangs, no frame is lost, the output
 * stays the same, and a lost GPU is not called again.
 */
#include "../check.h"
#include "../default_params.h"
#include "../equalizer/all_stats.h"
#include "fake_cuda.h"
#include "lumeq/lumeq.h"

#define FRAMES 10
#define MOST_WIDTH 96
#define MOST_HEIGHT 64
#define SIZE (MOST_WIDTH * MOST_HEIGHT * 3 / 2)

typedef struct Run {
    uint8_t in[FRAMES][SIZE], out[FRAMES][SIZE];
    uint8_t *pinned; /* NULL: outputs are ordinary memory */
    FrameStats stats[FRAMES];
    int received, refused;
    long calls_when_lost; /* 0: not lost */
} Run;

/* The size changes in mid-run, and two of three frames have chroma. */
static LumeqImage picture(uint8_t *memory, int n)
{
    const int width = n < 4 ? 64 : n < 7 ? MOST_WIDTH : 80;
    const int height = n < 4 ? 48 : MOST_HEIGHT;
    return (LumeqImage){.plane = {memory, n % 3 ? memory + width * height : NULL},
                        .stride = {width, width},
                        .width = width,
                        .height = height,
                        .chroma_x = 1,
                        .chroma_y = 1,
                        .depth = 8};
}

static uint8_t *output_of(Run *run, int n)
{
    return run->pinned ? run->pinned + n * SIZE : run->out[n];
}

static LumeqFrame frame_of(Run *run, int n)
{
    return (LumeqFrame){.in = picture(run->in[n], n),
                        .out = picture(output_of(run, n), n),
                        .time = INT64_C(40000000) * n,
                        .opaque = run->in[n]};
}

static void note_loss(const LumeqEqualizer *eq, Run *run)
{
    if (!run->calls_when_lost && !strcmp(lumeq_backend_name(eq), "cpu"))
        run->calls_when_lost = fake_cuda.calls;
}

static void copy_out(Run *run, int n)
{
    if (run->pinned)
        memcpy(run->out[n], run->pinned + n * SIZE, SIZE);
}

static int take(LumeqEqualizer *eq, Run *run)
{
    LumeqFrame frame = {.size = sizeof(frame)};
    const int n = run->received;
    const int ret = lumeq_receive(eq, &frame, ask_stats(&run->stats[n < FRAMES ? n : 0]));
    note_loss(eq, run);
    if (ret < 0)
        return ret;
    if (!CHECK(n < FRAMES && frame.opaque == run->in[n], "the wrong frame is received as number %d",
               n))
        return LUMEQ_ERR_END;
    CHECK(frame.out.plane[0] == output_of(run, n), "the output of frame %d has moved", n);
    copy_out(run, n);
    run->received++;
    return 0;
}

/* Submits a frame until it is accepted. If necessary, receives the oldest frame first. */
static void hand_in(LumeqEqualizer *eq, Run *run, int n)
{
    const LumeqFrame frame = frame_of(run, n);
    int ret;
    for (int tries = 0; tries < 100; tries++) {
        ret = lumeq_submit(eq, &frame);
        note_loss(eq, run);
        if (ret == LUMEQ_ERR_AGAIN)
            take(eq, run);
        else if (ret == LUMEQ_ERR_UNAVAILABLE)
            run->refused++;
        else
            break;
    }
    CHECK(ret == 0, "submit returns %d: %s", ret, lumeq_last_error(eq));
}

/* STEPS: the host computes the curves. REFERENCE: the GPU does. BOTH: frames of both kinds. */
typedef enum Way { STEPS, REFERENCE, BOTH, WAYS } Way;
static Way way;

static void set_mode(LumeqEqualizer *eq, int n)
{
    LumeqParams params = DEFAULT_PARAMS;
    params.mode = n % 5 > 2 ? LUMEQ_MODE_CLAHE : LUMEQ_MODE_GLOBAL;
    params.reference = way == REFERENCE || (way == BOTH && n / 2 % 2);
    params.tiles_x = params.tiles_y = 2;
    lumeq_set_params(eq, &params);
}

static void play(LumeqEqualizer *eq, Run *run, int from, int to)
{
    for (int n = from; n < to; n++) {
        CheckRandom random = {(uint64_t)n, 0};
        for (int i = 0; i < SIZE; i++)
            run->in[n][i] = (uint8_t)(40 + 3 * n + check_below(&random, 20 + 4 * (n % 5)));
        set_mode(eq, n);
        hand_in(eq, run, n);
    }
}

static void take_all(LumeqEqualizer *eq, Run *run)
{
    lumeq_flush(eq);
    while (take(eq, run) == 0)
        ;
    CHECK(run->received == FRAMES, "%d of %d frames were received: %s", run->received, FRAMES,
          lumeq_last_error(eq));
}

static void play_with(LumeqEqualizer *eq, Run *run)
{
    play(eq, run, 0, FRAMES);
    take_all(eq, run);
}

static int untimed; /* LumeqConfig.real_time and no_stage_times */
static int batch;   /* LumeqConfig.batch */

static LumeqEqualizer *open_fake(LumeqBackendId id)
{
    LumeqEqualizer *eq = NULL;
    char why[256] = "";
    const LumeqConfig config = {.backend = id,
                                .threads = 1,
                                .real_time = untimed,
                                .no_stage_times = untimed,
                                .batch = batch};
    const int ret = lumeq_create(&eq, &config, why, sizeof(why));
    CHECK(ret == 0, "create returns %d: %s", ret, why);
    return eq;
}

static LumeqEqualizer *start(Run *run, FakeCuda cuda, LumeqBackendId id)
{
    memset(run, 0, sizeof(*run));
    fake_cuda_start(cuda);
    return open_fake(id);
}

static const Run *expected_run(void)
{
    static Run expected[WAYS];
    if (!expected[way].received) {
        LumeqEqualizer *eq = open_fake(LUMEQ_BACKEND_CPU);
        play_with(eq, &expected[way]);
        lumeq_destroy(&eq);
    }
    return &expected[way];
}

static void compare(const Run *run, const char *what, long call)
{
    const Run *expected = expected_run();
    for (int n = 0; n < FRAMES; n++) {
        const LumeqImage image = picture(NULL, n);
        const size_t luma = (size_t)image.width * (size_t)image.height;
        CHECK(!memcmp(run->out[n], expected->out[n], n % 3 ? luma * 3 / 2 : luma),
              "%s, way %d, at call %ld: frame %d differs", what, way, call, n);
        CHECK(!memcmp(run->stats[n].curve, expected->stats[n].curve, sizeof(run->stats[n].curve)),
              "%s, way %d, at call %ld: the curve of frame %d differs", what, way, call, n);
    }
}

static void play_without_error(void)
{
    static Run run;
    for (way = 0; way < WAYS; way++) {
        LumeqEqualizer *eq = start(&run, (FakeCuda){0}, LUMEQ_BACKEND_CUDA);
        play_with(eq, &run);
        compare(&run, "no error", 0);
        CHECK(!run.refused && !run.calls_when_lost, "frames are refused");
        CHECK(batch < 2 || way == BOTH || fake_cuda.batches > 0, "no batches were launched");
        lumeq_destroy(&eq);
        CHECK(!fake_cuda.pinned && !fake_cuda.on_device && !fake_cuda.events && !fake_cuda.streams,
              "%zu and %zu bytes, %d events, %d streams are left", fake_cuda.pinned,
              fake_cuda.on_device, fake_cuda.events, fake_cuda.streams);
    }
    way = STEPS;
}

TEST(no_error)
{
    play_without_error();
}

/* For every `step`-th CUDA call after the creation, plays a run in which this call fails. */
static void fail_at_calls(LumeqBackendId id, cudaError_t error, int sticky, int step)
{
    static Run run;
    char what[64];
    snprintf(what, sizeof(what), "error %d, %s", (int)error, sticky ? "for ever" : "once");
    for (int k = 1, failed = 1; failed; k += step) {
        untimed = k % 3 == 0;
        LumeqEqualizer *eq = start(&run, (FakeCuda){.error = error, .sticky = sticky}, id);
        untimed = 0;
        run.pinned = k % 2 ? lumeq_alloc_host(lumeq_get_context(eq), FRAMES * SIZE) : NULL;
        fake_cuda.fail_at = fake_cuda.calls + k;
        play_with(eq, &run);
        compare(&run, what, k);
        failed = fake_cuda.failed;
        const int on_cpu = !strcmp(lumeq_backend_name(eq), "cpu");
        CHECK(run.refused <= (error == cudaErrorMemoryAllocation),
              "%s at call %d: refuses %d frames", what, k, run.refused);
        if (sticky && failed) {
            CHECK(on_cpu, "%s at call %d: the failure is not noticed", what, k);
            lumeq_free_host(lumeq_get_context(eq), lumeq_alloc_host(lumeq_get_context(eq), 100));
            CHECK(!lumeq_alloc_device(lumeq_get_context(eq), 100), "a lost GPU allocates memory");
        }
        if (failed && on_cpu)
            CHECK(strstr(lumeq_last_error(eq), "GPU 0") != NULL, "%s at call %d: the error is %s",
                  what, k, lumeq_last_error(eq));
        const long at = fake_cuda.calls;
        lumeq_free_host(lumeq_get_context(eq), run.pinned);
        lumeq_destroy(&eq);
        if (sticky && failed)
            CHECK(fake_cuda.calls == run.calls_when_lost && at == fake_cuda.calls,
                  "%s at call %d: %ld calls after the GPU was lost", what, k,
                  fake_cuda.calls - run.calls_when_lost);
        CHECK(failed || k > 20 * FRAMES, "only %d calls could fail", k);
    }
}

static void fail_at_any_call(LumeqBackendId id, cudaError_t error, int sticky, int step)
{
    for (way = 0; way < WAYS; way++)
        fail_at_calls(id, error, sticky, step);
    way = STEPS;
}

/* Plays on a GPU that has `room` bytes for pictures. Returns the bytes that the pictures take. */
static size_t play_in(size_t room, const char *what)
{
    static Run run;
    LumeqEqualizer *eq = start(&run, (FakeCuda){0}, LUMEQ_BACKEND_CUDA);
    const size_t before = fake_cuda.on_device;
    fake_cuda.memory = before + room;
    play_with(eq, &run);
    const size_t pictures = fake_cuda.on_device - before;
    compare(&run, what, (long)room);
    CHECK(!run.refused, "with %zu bytes %d frames are refused", room, run.refused);
    lumeq_destroy(&eq);
    return pictures;
}

/* Without memory for whole batches, batches are smaller. */
TEST(no_memory_for_batches)
{
    way = REFERENCE;
    const size_t alone = play_in(SIZE_MAX / 2, "alone");
    batch = 16;
    const size_t whole = play_in(SIZE_MAX / 2, "whole batches");
    int launches = 0;
    for (int i = 0; i < 9; i++) {
        const size_t room = alone + (whole - alone) / 9 * (size_t)i;
        CHECK(play_in(room, "smaller batches") <= room, "uses more than %zu bytes", room);
        launches += fake_cuda.batches > 0;
    }
    CHECK(whole > alone && launches > 3, "%zu bytes, alone %zu; %d runs with batches", whole, alone,
          launches);
    batch = 0;
    way = STEPS;
}

/* Frames that are too large for the GPU's memory are refused; smaller frames are accepted. */
TEST(no_memory_for_larger)
{
    enum { SIDE = 1024 };
    static Run run;
    static uint8_t memory[2 * SIDE * SIDE];
    LumeqFrame larger = {
        .in = {.plane = {memory}, .stride = {SIDE}, .width = SIDE, .height = SIDE, .depth = 8}};
    larger.out = larger.in;
    larger.out.plane[0] = memory + SIDE * SIDE;
    LumeqEqualizer *eq = start(&run, (FakeCuda){0}, LUMEQ_BACKEND_CUDA);
    for (int n = 0; n < 4; n++)
        hand_in(eq, &run, n);
    fake_cuda.memory = 1;
    for (int i = 0; i < 2; i++) {
        while (take(eq, &run) == 0)
            ;
        CHECK(lumeq_submit(eq, &larger) == LUMEQ_ERR_UNAVAILABLE,
              "a frame without memory is accepted");
        CHECK(strstr(lumeq_last_error(eq), "out of memory") != NULL, "the error is %s",
              lumeq_last_error(eq));
        run.received = 3;
        hand_in(eq, &run, 3);
        lumeq_flush(eq);
    }
    while (take(eq, &run) == 0)
        run.received = 3;
    CHECK(!strcmp(lumeq_backend_name(eq), "cuda"), "the backend is %s", lumeq_backend_name(eq));
    lumeq_destroy(&eq);
}

/* A GPU that takes 0.3 s for each copy and kernel is slow, not lost. */
TEST(slow)
{
    static Run run;
    for (int pinned = 0; pinned < 2; pinned++) {
        LumeqEqualizer *eq =
            start(&run, (FakeCuda){.hangs = 1, .stage_takes = 0.3}, LUMEQ_BACKEND_CUDA);
        run.pinned = pinned ? lumeq_alloc_host(lumeq_get_context(eq), FRAMES * SIZE) : NULL;
        play_with(eq, &run);
        compare(&run, "slow", 0);
        CHECK(!run.calls_when_lost, "a slow GPU is lost: %s", lumeq_last_error(eq));
        CHECK(fake_cuda.now > FRAMES, "the GPU is not slow");
        lumeq_free_host(lumeq_get_context(eq), run.pinned);
        lumeq_destroy(&eq);
    }
}

/* Device memory is refused if it belongs to another context or is described as host memory. */
TEST(places)
{
    static Run run;
    LumeqEqualizer *eq = start(&run, (FakeCuda){0}, LUMEQ_BACKEND_AUTO);
    uint8_t *memory = lumeq_alloc_device(lumeq_get_context(eq), 2 * SIZE);
    LumeqFrame frame = frame_of(&run, 1);
    frame.out = picture(memory, 1);
    frame.out.memory = LUMEQ_MEMORY_CUDA;
    for (int plane = 0; plane < 2; plane++) {
        fake_cuda.foreign = plane ? frame.out.plane[1] : memory;
        fake_cuda.foreign_size = 1;
        CHECK(lumeq_submit(eq, &frame) == LUMEQ_ERR_ARGUMENT, "plane %d is accepted", plane);
        CHECK(strstr(lumeq_last_error(eq), "this CUDA context of GPU 0") != NULL, "the error is %s",
              lumeq_last_error(eq));
    }
    CHECK(fake_cuda.checked >= 2, "no context was queried");
    fake_cuda.foreign = NULL;
    CHECK(lumeq_submit(eq, &frame) == 0, "%s", lumeq_last_error(eq));

    frame.in = picture(memory + SIZE, 1);
    CHECK(lumeq_submit(eq, &frame) == LUMEQ_ERR_ARGUMENT, "an input on the device is accepted");
    frame = frame_of(&run, 1);
    frame.out = picture(memory, 1);
    CHECK(lumeq_submit(eq, &frame) == LUMEQ_ERR_ARGUMENT, "an output on the device is accepted");
    CHECK(strstr(lumeq_last_error(eq), "not in host memory") != NULL, "the error is %s",
          lumeq_last_error(eq));
    CHECK(!strcmp(lumeq_backend_name(eq), "cuda"), "the backend is %s", lumeq_backend_name(eq));
    lumeq_flush(eq);
    CHECK(lumeq_receive(eq, NULL, NULL) == 0, "%s", lumeq_last_error(eq));
    lumeq_free_device(lumeq_get_context(eq), memory);
    lumeq_destroy(&eq);
}

/* The limit on pinned memory is for the process, not per equalizer. */
TEST(one_cap_on_pinned_memory)
{
    enum { PIECES = 64, EQUALIZERS = 3 };
    const size_t piece = (size_t)64 << 20, most = (size_t)2 << 30;
    static void *pieces[EQUALIZERS][PIECES];
    LumeqEqualizer *eq[EQUALIZERS];
    fake_cuda_start((FakeCuda){0});
    for (int i = 0; i < EQUALIZERS; i++) {
        eq[i] = open_fake(LUMEQ_BACKEND_CUDA);
        for (int n = 0; n < PIECES; n++)
            pieces[i][n] = lumeq_alloc_host(lumeq_get_context(eq[i]), piece);
    }
    CHECK(pieces[0][0] != NULL, "no pinned memory");
    CHECK(fake_cuda.pinned <= most, "%zu MiB are pinned", fake_cuda.pinned >> 20);
    CHECK(!pieces[1][0] && !pieces[2][0], "each equalizer has a cap of its own");
    lumeq_free_host(lumeq_get_context(eq[0]), pieces[0][0]);
    pieces[0][0] = NULL;
    pieces[2][0] = lumeq_alloc_host(lumeq_get_context(eq[2]), piece);
    CHECK(pieces[2][0] != NULL, "freed memory is not available to another equalizer");
    CHECK(!lumeq_alloc_host(lumeq_get_context(eq[1]), SIZE_MAX), "allocates SIZE_MAX bytes");
    for (int i = 0; i < EQUALIZERS; i++) {
        for (int n = 0; n < PIECES; n++)
            lumeq_free_host(lumeq_get_context(eq[i]), pieces[i][n]);
        lumeq_destroy(&eq[i]);
    }
    CHECK(!fake_cuda.pinned, "%zu bytes are still pinned", fake_cuda.pinned);
}

static LumeqMemoryUse memory_use(void)
{
    LumeqMemoryUse use = {.size = sizeof(use)};
    CHECK(lumeq_memory_use(0, &use) == 0, "%s", lumeq_last_error(NULL));
    return use;
}

/* The limit is half of the GPU's memory. Beyond the limit, optional allocations fail, but necessary
 * allocations succeed. */
TEST(a_limit_on_device_memory)
{
    const size_t piece = (size_t)64 << 20;
    static Run run;
    void *pieces[4];
    LumeqEqualizer *eq[2];
    memset(&run, 0, sizeof(run));
    fake_cuda_start((FakeCuda){.total = 8 * piece});
    for (int i = 0; i < 2; i++)
        eq[i] = open_fake(LUMEQ_BACKEND_CUDA);
    const LumeqMemoryUse before = memory_use();
    CHECK(before.device == fake_cuda.on_device && before.device_limit == 4 * piece,
          "%llu bytes of %llu", (unsigned long long)before.device,
          (unsigned long long)before.device_limit);
    CHECK(before.pinned >= fake_cuda.pinned && before.pinned > 0 && before.pinned_limit > piece,
          "%llu bytes are pinned", (unsigned long long)before.pinned);
    for (int i = 0; i < 4; i++)
        pieces[i] = lumeq_alloc_device(lumeq_get_context(eq[i % 2]), piece);
    CHECK(pieces[2] && !pieces[3], "the limit is wrong");
    CHECK(lumeq_reserve_device(0, piece) == LUMEQ_ERR_MEMORY, "a reservation exceeds the limit");
    CHECK(strstr(lumeq_last_error(NULL), "memory limit") != NULL, "the message is %s",
          lumeq_last_error(NULL));
    play_with(eq[0], &run);
    compare(&run, "beyond the limit", 0);
    lumeq_free_device(lumeq_get_context(eq[1]), pieces[0]);
    CHECK(lumeq_reserve_device(0, piece) == 0, "%s", lumeq_last_error(NULL));
    CHECK(!lumeq_alloc_device(lumeq_get_context(eq[0]), piece), "reserved memory does not count");
    const LumeqMemoryUse use = memory_use();
    CHECK(use.device == fake_cuda.on_device + piece && use.device_most > 3 * piece,
          "%llu bytes, %zu of them reserved", (unsigned long long)use.device, piece);
    lumeq_release_device(0, piece);
    lumeq_free_device(lumeq_get_context(eq[0]), pieces[1]);
    lumeq_free_device(lumeq_get_context(eq[0]), pieces[2]);
    for (int i = 0; i < 2; i++)
        lumeq_destroy(&eq[i]);
    CHECK(memory_use().device == 0 && fake_cuda.on_device == 0, "%llu bytes are left of %zu",
          (unsigned long long)memory_use().device, fake_cuda.on_device);
    CHECK(lumeq_reserve_device(1, 1) == LUMEQ_ERR_UNAVAILABLE,
          "reserves memory of a GPU that was never opened");
    CHECK(lumeq_reserve_device(-1, 1) == LUMEQ_ERR_ARGUMENT, "reserves memory of no GPU");
    CHECK(lumeq_memory_use(-1, NULL) == LUMEQ_ERR_ARGUMENT, "reports the memory of no GPU");
}

/* The tests below come last, because memory of a lost GPU is never freed. */

TEST(failing_once_at_any_call)
{
    fail_at_any_call(LUMEQ_BACKEND_AUTO, cudaErrorMemoryAllocation, 0, 3);
    fail_at_any_call(LUMEQ_BACKEND_CUDA, cudaErrorMemoryAllocation, 0, 5);
    fail_at_any_call(LUMEQ_BACKEND_AUTO, cudaErrorInvalidValue, 0, 1);
}

/* The GPU hangs from frame 5 on. `live`: the test polls instead of waiting. `wakes`: the GPU wakes
 * up at the end, and must not change outputs. */
static void hang(int live, int pageable, int wakes)
{
    static Run run;
    LumeqEqualizer *eq = start(&run, (FakeCuda){.late = wakes}, LUMEQ_BACKEND_AUTO);
    run.pinned = pageable ? NULL : lumeq_alloc_host(lumeq_get_context(eq), FRAMES * SIZE);
    play(eq, &run, 0, 5);
    while (run.received < 5 && !wakes)
        take(eq, &run);
    fake_cuda.hangs = 1;
    const double begin = fake_cuda.now;
    for (int n = 5; n < FRAMES; n++) {
        play(eq, &run, n, n + 1);
        for (int polls = 0; live && run.received <= n && polls < 10000; polls++) {
            take(eq, &run);
            fake_cuda.now += 0.03;
        }
        if (live && n == 5) {
            const double waited = fake_cuda.now - begin;
            CHECK(run.received == 6, "no frame is received");
            CHECK(waited > 9.9 && waited < 11, "the GPU is lost after %.1f s", waited);
        }
    }
    take_all(eq, &run);
    const double waited = fake_cuda.now - begin;
    CHECK(live || (waited > 9.9 && waited < 11), "the GPU is lost after %.1f s", waited);
    if (wakes)
        fake_cuda_wake();
    for (int n = 0; n < FRAMES && wakes; n++)
        copy_out(&run, n);
    compare(&run, "a hang", wakes);
    CHECK(run.calls_when_lost && strstr(lumeq_last_error(eq), "no progress") != NULL,
          "the error is %s", lumeq_last_error(eq));
    lumeq_free_host(lumeq_get_context(eq), run.pinned);
    lumeq_destroy(&eq);
    CHECK(fake_cuda.calls == run.calls_when_lost, "%ld calls after the GPU was lost",
          fake_cuda.calls - run.calls_when_lost);
}

TEST(hangs)
{
    for (way = 0; way < WAYS; way++) {
        hang(0, 0, 0);
        hang(0, 1, 0);
        hang(1, 0, 0);
        hang(0, 0, 1);
    }
    way = STEPS;
}

/* The GPU hangs before it gets any work. */
TEST(hangs_at_the_start)
{
    LumeqEqualizer *eq = NULL;
    char why[256] = "";
    LumeqConfig config = {.backend = LUMEQ_BACKEND_AUTO, .threads = 1};
    fake_cuda_start((FakeCuda){.hangs = 1});
    CHECK(lumeq_create(&eq, &config, why, sizeof(why)) == 0, "create: %s", why);
    CHECK(!strcmp(lumeq_backend_name(eq), "cpu"), "the backend is %s", lumeq_backend_name(eq));
    CHECK(strstr(why, "no progress") != NULL, "the message is '%s'", why);
    CHECK(fake_cuda.now > 9.9 && fake_cuda.now < 11, "the GPU is lost after %.1f s", fake_cuda.now);
    lumeq_destroy(&eq);
    fake_cuda_start((FakeCuda){.hangs = 1});
    config.backend = LUMEQ_BACKEND_CUDA;
    CHECK(lumeq_create(&eq, &config, why, sizeof(why)) == LUMEQ_ERR_GPU, "opens a hanging GPU: %s",
          why);
}

TEST(destroyed_while_it_hangs)
{
    static Run run;
    LumeqEqualizer *eq = start(&run, (FakeCuda){0}, LUMEQ_BACKEND_CUDA);
    run.pinned = lumeq_alloc_host(lumeq_get_context(eq), FRAMES * SIZE);
    fake_cuda.hangs = 1;
    hand_in(eq, &run, 0);
    lumeq_destroy(&eq);
    CHECK(fake_cuda.now > 9.9 && fake_cuda.now < 12, "it takes %.1f s", fake_cuda.now);
}

TEST(lost_at_any_call)
{
    fail_at_any_call(LUMEQ_BACKEND_AUTO, cudaErrorLaunchFailure, 1, 1);
}

TEST(batches)
{
    batch = 4;
    play_without_error();
    fail_at_any_call(LUMEQ_BACKEND_AUTO, cudaErrorLaunchFailure, 1, 1);
    batch = 0;
}

TEST_MAIN
