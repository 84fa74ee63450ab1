/*
 * Outputs in device memory: the same pictures and statistics as the CPU makes in host memory, for
 * any layout, and nothing written beside them. LUMEQ_TEST_CASES sets how many frames are drawn.
 */
#include <stdlib.h>

#include <cuda_runtime_api.h>

#include "open_on.h"

#define DEFAULT_FRAMES 400
#define MAX_FRAMES_IN_FLIGHT 8
#define GUARD 128

static int cuda_ok(cudaError_t error, const char *what)
{
    return CHECK(error == cudaSuccess, "%s: %s", what, cudaGetErrorString(error));
}

#define OK(call) cuda_ok(call, #call)

/* One frame: its input, what the CPU makes of it, and what the GPU does, in host memory or in a
 * twin of it on the device, guards and all. */
typedef struct Case {
    CheckRect in, expected, out;
    int depth, shift;
    uint8_t *twin; /* NULL: the output is in host memory */
    LumeqFrameStats expected_stats, stats;
} Case;

static int sample_size(int depth)
{
    return depth > 8 ? 2 : 1;
}

static LumeqImage image_of(const CheckRect *rect, int depth, int shift)
{
    return (LumeqImage){.plane = {rect->pixels},
                        .stride = {rect->stride},
                        .width = rect->width / sample_size(depth),
                        .height = rect->height,
                        .depth = depth,
                        .shift = shift};
}

static ptrdiff_t draw_stride(int width, CheckRandom *random)
{
    const ptrdiff_t aligned = (width + 15) / 16 * 16;
    const ptrdiff_t strides[] = {width, width + 1 + check_below(random, 40), aligned,
                                 aligned + 16 * check_below(random, 5)};
    const ptrdiff_t stride = strides[check_below(random, 4)];
    return check_below(random, 3) ? stride : -stride;
}

/* Layouts are drawn in samples. */
static CheckRect draw_rect(int width, int height, int depth, CheckRandom *random)
{
    static const int offsets[] = {0, 0, 0, 1, 3, 8, 15, 16, 17};
    const int size = sample_size(depth);
    const ptrdiff_t stride = draw_stride(width, random) * size;
    return check_rect(width * size, height, stride, offsets[check_below(random, 9)] * size, GUARD);
}

/* Two of three on the device. */
static void open_case(Case *c, LumeqEqualizer *gpu, int number)
{
    static const int widths[] = {1, 2, 5, 15, 16, 17, 31, 33, 64, 65, 127, 321, 640, 1919};
    static const int heights[] = {1, 2, 3, 7, 16, 65, 181, 240};
    static const int formats[][2] = {{8, 0}, {10, 0}, {10, 6}, {12, 4}, {9, 0}, {14, 1}, {16, 0}};
    CheckRandom random = check_random((uint64_t)number);
    const int width = widths[check_below(&random, 14)], height = heights[check_below(&random, 8)];
    const int low = check_below(&random, 100), span = 1 + check_below(&random, 156);
    const int *format = formats[number / 16 % 7]; /* of a scene */
    const int depth = format[0], size = sample_size(depth);
    *c = (Case){.in = draw_rect(width, height, depth, &random),
                .out = draw_rect(width, height, depth, &random),
                .depth = depth,
                .shift = format[1]};
    c->expected = check_rect(width * size, height, width * size, 0, 0);
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width * size; x++)
            check_row(&c->in, y)[x] = (uint8_t)(low + check_below(&random, span));
    if (number % 3 == 0)
        return;
    c->twin = lumeq_alloc_device(gpu, c->out.size);
    if (CHECK(c->twin != NULL, "no device memory"))
        OK(cudaMemcpy(c->twin, c->out.memory, c->out.size, cudaMemcpyHostToDevice));
}

/* Into `out`: what is expected, or what the GPU makes, which may have a twin. */
static LumeqFrame frame_of(const Case *c, const CheckRect *out, int number)
{
    LumeqFrame frame = {.in = image_of(&c->in, c->depth, c->shift),
                        .out = image_of(out, c->depth, c->shift),
                        .time = number * 40000000LL};
    if (out == &c->out && c->twin) {
        frame.out.plane[0] = c->twin + (out->pixels - out->memory);
        frame.out.memory = LUMEQ_MEMORY_CUDA;
    }
    return frame;
}

static void close_case(Case *c, LumeqEqualizer *gpu)
{
    check_rect_free(&c->in);
    check_rect_free(&c->expected);
    check_rect_free(&c->out);
    lumeq_free_device(gpu, c->twin);
}

static void run_on_cpu(LumeqEqualizer *cpu, Case *c, int number, int again)
{
    const LumeqFrame frame = frame_of(c, &c->expected, number);
    const int ret = again ? lumeq_redo(cpu, &frame) : lumeq_submit(cpu, &frame);
    lumeq_flush(cpu);
    CHECK(ret == 0 && lumeq_receive(cpu, NULL, &c->expected_stats) == 0, "%s",
          lumeq_last_error(cpu));
}

static int same_stats(const LumeqFrameStats *a, const LumeqFrameStats *b)
{
    const size_t bytes = (size_t)a->bins * sizeof(a->curve[0]);
    return a->bins == b->bins && !memcmp(a->hist_in, b->hist_in, bytes) &&
           !memcmp(a->hist_out, b->hist_out, bytes) && !memcmp(a->curve, b->curve, bytes) &&
           a->mean_in == b->mean_in && a->mean_out == b->mean_out &&
           a->curve_speed == b->curve_speed && a->scene_cut == b->scene_cut;
}

/* The copy waits for none of the equalizer's streams: it sees what receive() promised. */
static void check_case(Case *c, int number)
{
    if (c->twin)
        OK(cudaMemcpy(c->out.memory, c->twin, c->out.size, cudaMemcpyDeviceToHost));
    CHECK(check_rect_equal(&c->out, &c->expected), "frame %d (%dx%d, stride %td) differs", number,
          c->out.width, c->out.height, c->out.stride);
    CHECK(check_rect_intact(&c->out), "frame %d (%dx%d, stride %td): written beside it", number,
          c->out.width, c->out.height, c->out.stride);
    CHECK(same_stats(&c->stats, &c->expected_stats), "the statistics of frame %d differ", number);
}

/* The last frame again, with other parameters, into the memory it is in. */
static void redo(LumeqEqualizer *gpu, LumeqEqualizer *cpu, Case *c, int number)
{
    const LumeqParams params = {LUMEQ_MODE_GLOBAL, 0, 0.4, 0, 1, 1};
    const LumeqFrame frame = frame_of(c, &c->out, number);
    lumeq_set_params(gpu, &params);
    lumeq_set_params(cpu, &params);
    CHECK(lumeq_redo(gpu, &frame) == 0, "redo: %s", lumeq_last_error(gpu));
    lumeq_flush(gpu);
    CHECK(lumeq_receive(gpu, NULL, &c->stats) == 0, "redo: %s", lumeq_last_error(gpu));
    run_on_cpu(cpu, c, number, 1);
    check_case(c, number);
}

/* As many in flight as may be; every eleventh frame is the last for now, and done again. */
static void any_layout(void)
{
    const char *wanted = getenv("LUMEQ_TEST_CASES");
    const int frames = wanted ? atoi(wanted) : DEFAULT_FRAMES;
    LumeqEqualizer *gpu = open_on(LUMEQ_BACKEND_CUDA), *cpu = open_on(LUMEQ_BACKEND_CPU);
    static Case cases[MAX_FRAMES_IN_FLIGHT];
    int submitted = 0, received = 0;
    if (!gpu) {
        lumeq_destroy(&cpu);
        return;
    }
    while (received < frames) {
        Case *c = &cases[submitted % MAX_FRAMES_IN_FLIGHT];
        if (submitted < frames && (submitted == received || submitted % 11)) {
            open_case(c, gpu, submitted);
            const LumeqFrame frame = frame_of(c, &c->out, submitted);
            const int ret = lumeq_submit(gpu, &frame);
            CHECK(ret == 0 || ret == LUMEQ_ERR_AGAIN, "submit: %s", lumeq_last_error(gpu));
            if (ret == 0) {
                submitted++;
                continue;
            }
            close_case(c, gpu);
        } else {
            lumeq_flush(gpu);
        }
        c = &cases[received % MAX_FRAMES_IN_FLIGHT];
        if (!CHECK(lumeq_receive(gpu, NULL, &c->stats) == 0, "%s", lumeq_last_error(gpu)))
            break;
        run_on_cpu(cpu, c, received, 0);
        check_case(c, received);
        if (submitted == ++received)
            redo(gpu, cpu, c, received - 1);
        close_case(c, gpu);
    }
    lumeq_destroy(&gpu);
    lumeq_destroy(&cpu);
}

/* Memory of the host is refused, not written to by a kernel; the equalizer goes on. */
static void host_memory_is_refused(void)
{
    LumeqEqualizer *gpu = open_on(LUMEQ_BACKEND_CUDA);
    static Case c;
    if (!gpu)
        return;
    open_case(&c, gpu, 0);
    LumeqFrame frame = frame_of(&c, &c.out, 0);
    frame.out.memory = LUMEQ_MEMORY_CUDA;
    CHECK(lumeq_submit(gpu, &frame) == LUMEQ_ERR_ARGUMENT, "ordinary memory is taken");
    CHECK(strstr(lumeq_last_error(gpu), "GPU 0") != NULL, "the sentence is \"%s\"",
          lumeq_last_error(gpu));
    void *pinned = lumeq_alloc_host(gpu, c.out.size);
    frame.out.plane[0] = pinned;
    CHECK(lumeq_submit(gpu, &frame) == LUMEQ_ERR_ARGUMENT, "pinned memory is taken");
    lumeq_free_host(gpu, pinned);
    frame = frame_of(&c, &c.out, 0);
    CHECK(lumeq_submit(gpu, &frame) == 0, "then nothing goes: %s", lumeq_last_error(gpu));
    lumeq_flush(gpu);
    CHECK(lumeq_receive(gpu, NULL, NULL) == 0, "then nothing goes: %s", lumeq_last_error(gpu));
    close_case(&c, gpu);
    lumeq_destroy(&gpu);
}

static const CheckTest tests[] = {
    {"any_layout", any_layout},
    {"host_memory_is_refused", host_memory_is_refused},
};

CHECK_MAIN(tests)
