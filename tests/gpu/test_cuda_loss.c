/*
 * A real GPU that runs out of memory, hangs, or is lost: no frame is lost, and the output equals
 * the CPU's. The test of a loss is the last, because the GPU stays lost for the process.
 */
#include "gpu_check.h"

#define WIDTH 640
#define HEIGHT 360
#define SIZE ((size_t)WIDTH * HEIGHT)
#define LARGER 8192 /* side of the larger frame */
#define FRAMES 8

/* Starts a kernel that fills the GPU until *go_on (mapped host memory) is 0, at most a minute. */
cudaError_t busy_start(const volatile int *go_on, int processors, int threads_per_processor,
                       cudaStream_t stream);

/* Writes to an invalid address: all later calls fail with error 700. */
cudaError_t busy_fault(cudaStream_t stream);

/* Frames of one size in pinned memory, and the CPU's results. */
typedef struct Run {
    LumeqEqualizer *eq;
    uint8_t *in, *out;
    uint8_t expected[FRAMES * SIZE];
    int received;
} Run;

static Run run;

static LumeqImage picture(uint8_t *memory, int width, int height)
{
    return (LumeqImage){
        .plane = {memory}, .stride = {width}, .width = width, .height = height, .depth = 8};
}

static LumeqFrame frame_of(int n, uint8_t *out)
{
    return (LumeqFrame){.in = picture(run.in + (size_t)n * SIZE, WIDTH, HEIGHT),
                        .out = picture(out + (size_t)n * SIZE, WIDTH, HEIGHT),
                        .time = n * INT64_C(40000000)};
}

static int open_run(LumeqBackendId id)
{
    memset(&run, 0, sizeof(run));
    run.eq = open_on(id == LUMEQ_BACKEND_CPU ? id : LUMEQ_BACKEND_CUDA); /* skips without a GPU */
    if (!run.eq)
        return 0;
    lumeq_destroy(&run.eq);
    run.eq = open_on(id);
    run.in = lumeq_alloc_host(lumeq_get_context(run.eq), FRAMES * SIZE);
    run.out = lumeq_alloc_host(lumeq_get_context(run.eq), FRAMES * SIZE);
    if (!CHECK(run.in && run.out, "no pinned memory"))
        return 0;
    for (size_t i = 0; i < FRAMES * SIZE; i++)
        run.in[i] = (uint8_t)(40 + i / SIZE + check_hash(i / SIZE, i) % 90);
    LumeqEqualizer *cpu = open_on(LUMEQ_BACKEND_CPU);
    for (int n = 0; n < FRAMES; n++) {
        const LumeqFrame frame = frame_of(n, run.expected);
        CHECK(lumeq_submit(cpu, &frame) == 0 && lumeq_receive(cpu, NULL, NULL) == 0, "%s",
              lumeq_last_error(cpu));
    }
    lumeq_destroy(&cpu);
    return 1;
}

static void close_run(void)
{
    lumeq_free_host(lumeq_get_context(run.eq), run.in);
    lumeq_free_host(lumeq_get_context(run.eq), run.out);
    lumeq_destroy(&run.eq);
}

static int receive(void)
{
    LumeqFrame frame = {.size = sizeof(frame)};
    const int ret = lumeq_receive(run.eq, &frame, NULL);
    if (ret == 0 && CHECK(run.received <= FRAMES, "more frames than were submitted"))
        run.received++;
    return ret;
}

static void submit(int n)
{
    const LumeqFrame frame = frame_of(n, run.out);
    int ret;
    while ((ret = lumeq_submit(run.eq, &frame)) == LUMEQ_ERR_AGAIN)
        receive();
    CHECK(ret == 0, "submit returns %d: %s", ret, lumeq_last_error(run.eq));
}

static void finish(void)
{
    int ret;
    lumeq_flush(run.eq);
    while ((ret = receive()) == 0)
        ;
    CHECK(ret == LUMEQ_ERR_END, "receive returns %d: %s", ret, lumeq_last_error(run.eq));
}

/* Checks the backend, and that `count` frames were received and are right. */
static void check_frames(int count, const char *backend)
{
    CHECK(run.received == count, "%d frames were received, not %d", run.received, count);
    for (int n = 0; n < count; n++)
        CHECK(!memcmp(run.out + (size_t)n * SIZE, run.expected + (size_t)n * SIZE, SIZE),
              "frame %d differs", n);
    CHECK(!strcmp(lumeq_backend_name(run.eq), backend), "the backend is %s: %s",
          lumeq_backend_name(run.eq), lumeq_last_error(run.eq));
}

/* ---- no memory ----------------------------------------------------------------------------- */

#define PIECES 4096

static void *pieces[PIECES];

/* Fills the GPU's memory except a few MB. */
static void fill_memory(void)
{
    int count = 0;
    for (size_t size = (size_t)1 << 30; size >= (size_t)1 << 20; size /= 2)
        while (count < PIECES && cudaMalloc(&pieces[count], size) == cudaSuccess)
            count++;
    (void)cudaGetLastError();
    CHECK(count > 0 && count < PIECES, "%d pieces fill the GPU", count);
}

static void free_memory(void)
{
    for (int i = 0; i < PIECES; i++) {
        cudaFree(pieces[i]);
        pieces[i] = NULL;
    }
}

static int submit_larger(uint8_t *memory)
{
    const LumeqFrame frame = {.in = picture(memory, LARGER, LARGER),
                              .out = picture(memory + (size_t)LARGER * LARGER, LARGER, LARGER)};
    return lumeq_submit(run.eq, &frame);
}

/* A larger frame is refused until there is memory. Frames of the usual size are equalized, because
 * the first five frames have allocated their memory. */
TEST(larger_than_memory)
{
    uint8_t *memory = calloc(2, (size_t)LARGER * LARGER);
    if (!CHECK(memory != NULL, "no memory") || !open_run(LUMEQ_BACKEND_CUDA)) {
        free(memory);
        return;
    }
    for (int n = 0; n < 5; n++)
        submit(n);
    while (receive() == 0)
        ;
    fill_memory();
    int ret;
    while ((ret = submit_larger(memory)) == LUMEQ_ERR_AGAIN)
        receive();
    CHECK(ret == LUMEQ_ERR_UNAVAILABLE, "submit returns %d", ret);
    CHECK(strstr(lumeq_last_error(run.eq), "out of memory") != NULL, "the error is %s",
          lumeq_last_error(run.eq));
    CHECK(cudaPeekAtLastError() == cudaSuccess, "a CUDA error is left");
    for (int n = 5; n < FRAMES; n++)
        submit(n);
    finish();
    check_frames(FRAMES, "cuda");
    free_memory();
    CHECK(submit_larger(memory) == 0, "%s", lumeq_last_error(run.eq));
    finish();
    close_run();
    free(memory);
}

/* The GPU finishes the frames in flight, and the CPU takes over with the larger frame. */
TEST(cpu_goes_on_without_memory)
{
    uint8_t *memory = calloc(2, (size_t)LARGER * LARGER);
    if (!CHECK(memory != NULL, "no memory") || !open_run(LUMEQ_BACKEND_AUTO)) {
        free(memory);
        return;
    }
    for (int n = 0; n < 2; n++)
        submit(n);
    fill_memory();
    CHECK(submit_larger(memory) == 0, "%s", lumeq_last_error(run.eq));
    finish();
    free_memory();
    run.received--; /* without the larger frame */
    check_frames(2, "cpu");
    close_run();
    free(memory);
}

/* ---- hangs --------------------------------------------------------------------------------- */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* From frame 2 on, another kernel fills the GPU. */
TEST(hangs)
{
    struct cudaDeviceProp properties;
    cudaStream_t stream = NULL;
    volatile int *go_on = NULL;
    if (!open_run(LUMEQ_BACKEND_AUTO))
        return;
    OK(cudaGetDeviceProperties(&properties, 0));
    OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    if (!OK(cudaHostAlloc((void **)&go_on, sizeof(*go_on), cudaHostAllocMapped)))
        return;
    *go_on = 1;
    for (int n = 0; n < 2; n++)
        submit(n);
    finish();
    OK(busy_start(go_on, properties.multiProcessorCount, properties.maxThreadsPerMultiProcessor,
                  stream));
    const double begin = now();
    for (int n = 2; n < FRAMES; n++)
        submit(n);
    finish();
    const double waited = now() - begin;
    CHECK(waited > 9 && waited < 20, "the GPU is lost after %.1f s", waited);
    check_frames(FRAMES, "cpu");
    CHECK(strstr(lumeq_last_error(run.eq), "no progress") != NULL, "the error is %s",
          lumeq_last_error(run.eq));
    close_run(); /* while the GPU still hangs */
    CHECK(now() - begin < 20, "lumeq_destroy() waits for the GPU");
    *go_on = 0;
    OK(cudaStreamSynchronize(stream));
    OK(cudaDeviceSynchronize());
    OK(cudaStreamDestroy(stream));
    OK(cudaFreeHost((void *)go_on));
}

/* ---- error 700 ----------------------------------------------------------------------------- */

TEST(poisoned)
{
    if (!open_run(LUMEQ_BACKEND_AUTO))
        return;
    for (int n = 0; n < FRAMES; n++) {
        submit(n);
        if (n == 3) {
            OK(busy_fault(NULL));
            CHECK(cudaDeviceSynchronize() == cudaErrorIllegalAddress, "the GPU is not poisoned");
        }
    }
    finish();
    check_frames(FRAMES, "cpu");
    CHECK(strstr(lumeq_last_error(run.eq), "goes on without the GPU") != NULL, "the error is %s",
          lumeq_last_error(run.eq));
    close_run();
}

TEST_MAIN
