/*
 * Outputs in device memory: the same pictures and statistics as the CPU makes in host memory, for
 * any layout, and nothing written beside them. LUMEQ_TEST_CASES sets how many frames are drawn.
 */
#include <stdlib.h>

#include <cuda_runtime_api.h>

#include "../equalizer/all_stats.h"
#include "../equalizer/chroma_shape.h"
#include "open_on.h"

#define DEFAULT_FRAMES 400
#define MAX_FRAMES_IN_FLIGHT 8
#define GUARD 128

static int cuda_ok(cudaError_t error, const char *what)
{
    return CHECK(error == cudaSuccess, "%s: %s", what, cudaGetErrorString(error));
}

#define OK(call) cuda_ok(call, #call)

/* A frame: input, the CPU's output, and the GPU's output, in host memory or in a device copy with
 * guard bytes. Each has luma and chroma. */
typedef struct Case {
    CheckRect in[3], expected[3], out[3];
    ChromaShape shape;
    int depth, shift;
    uint8_t *twin[3]; /* NULL: the output is in host memory */
    FrameStats expected_stats, stats;
} Case;

static int sample_size(int depth)
{
    return depth > 8 ? 2 : 1;
}

static LumeqImage image_of(const Case *c, const CheckRect *rects)
{
    LumeqImage image = {.plane = {rects[0].pixels},
                        .stride = {rects[0].stride},
                        .width = rects[0].width / sample_size(c->depth),
                        .height = rects[0].height,
                        .depth = c->depth,
                        .shift = c->shift};
    set_chroma(&image, c->shape, rects + 1);
    return image;
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

static void open_plane(Case *c, int plane, int width, int height, CheckRandom *random)
{
    const int size = sample_size(c->depth);
    const int low = check_below(random, 100), span = 1 + check_below(random, 156);
    c->in[plane] = draw_rect(width, height, c->depth, random);
    c->out[plane] = draw_rect(width, height, c->depth, random);
    c->expected[plane] = check_rect(width * size, height, width * size, 0, 0);
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width * size; x++)
            check_row(&c->in[plane], y)[x] = (uint8_t)(low + check_below(random, span));
}

/* Black at all sides, or two of them, as far as `top` rows and `left` columns. */
static void paint_bars(const CheckRect *rect, int top, int left)
{
    for (int y = 0; y < rect->height; y++)
        for (int x = 0; x < rect->width; x++)
            if (y < top || y >= rect->height - top || x < left || x >= rect->width - left)
                check_row(rect, y)[x] = 0;
}

/* Two of three on the device. */
static void open_case(Case *c, LumeqEqualizer *gpu, int number)
{
    static const int widths[] = {1, 2, 5, 15, 16, 17, 31, 33, 64, 65, 127, 321, 640, 1919};
    static const int heights[] = {1, 2, 3, 7, 16, 65, 181, 240};
    static const int formats[][2] = {{8, 0}, {10, 0}, {10, 6}, {12, 4}, {9, 0}, {14, 1}, {16, 0}};
    CheckRandom random = check_random((uint64_t)number);
    const int width = widths[check_below(&random, 14)], height = heights[check_below(&random, 8)];
    const int *format = formats[number / 16 % 7]; /* of a scene */
    *c =
        (Case){.shape = {check_below(&random, 3), check_below(&random, 3), check_below(&random, 3)},
               .depth = format[0],
               .shift = format[1]};
    open_plane(c, 0, width, height, &random);
    if (number % 5 < 3)
        paint_bars(&c->in[0], height * check_below(&random, 40) / 100,
                   width * check_below(&random, 40) / 100 * sample_size(c->depth));
    for (int i = 1; i <= c->shape.planes; i++)
        open_plane(c, i, chroma_row(c->shape, width), chroma_side(height, c->shape.y), &random);
    for (int i = 0; i <= c->shape.planes && number % 3; i++) {
        c->twin[i] = lumeq_alloc_device(gpu, c->out[i].size);
        if (CHECK(c->twin[i] != NULL, "no device memory"))
            OK(cudaMemcpy(c->twin[i], c->out[i].memory, c->out[i].size, cudaMemcpyHostToDevice));
    }
}

/* Makes a frame with output `out`: the expected one, or the GPU's, which may be in a device copy.
 */
static LumeqFrame frame_of(const Case *c, const CheckRect *out, int number)
{
    LumeqFrame frame = {
        .in = image_of(c, c->in), .out = image_of(c, out), .time = number * 40000000LL};
    if (out == c->out && c->twin[0]) {
        for (int i = 0; i <= c->shape.planes; i++)
            frame.out.plane[i] = c->twin[i] + (out[i].pixels - out[i].memory);
        frame.out.memory = LUMEQ_MEMORY_CUDA;
    }
    return frame;
}

static void close_case(Case *c, LumeqEqualizer *gpu)
{
    for (int i = 0; i < 3; i++) {
        check_rect_free(&c->in[i]);
        check_rect_free(&c->expected[i]);
        check_rect_free(&c->out[i]);
        lumeq_free_device(gpu, c->twin[i]);
    }
}

static void run_on_cpu(LumeqEqualizer *cpu, Case *c, int number, int again)
{
    const LumeqFrame frame = frame_of(c, c->expected, number);
    CHECK(!again || lumeq_rewind(cpu, 1) == 0, "rewind: %s", lumeq_last_error(cpu));
    CHECK(lumeq_submit(cpu, &frame) == 0, "submit: %s", lumeq_last_error(cpu));
    lumeq_flush(cpu);
    CHECK(lumeq_receive(cpu, NULL, ask_stats(&c->expected_stats)) == 0, "%s",
          lumeq_last_error(cpu));
}

/* The copy does not wait for the equalizer's streams: after receive() the output is complete. */
static void check_case(Case *c, int number)
{
    for (int i = 0; i <= c->shape.planes; i++) {
        const CheckRect *out = &c->out[i];
        if (c->twin[i])
            OK(cudaMemcpy(out->memory, c->twin[i], out->size, cudaMemcpyDeviceToHost));
        CHECK(check_rect_equal(out, &c->expected[i]),
              "frame %d, plane %d (%dx%d, stride %td) differs", number, i, out->width, out->height,
              out->stride);
        CHECK(check_rect_intact(out), "frame %d, plane %d (%dx%d, stride %td): written beside it",
              number, i, out->width, out->height, out->stride);
    }
    CHECK(same_stats(&c->stats, &c->expected_stats), "the statistics of frame %d differ", number);
}

/* The last frame again, with other parameters, into the memory it is in. */
static void redo(LumeqEqualizer *gpu, LumeqEqualizer *cpu, Case *c, int number)
{
    const LumeqParams params = {.strength = 0.4, .smooth = 1, .scene_cut = 1, .dither = number % 2};
    const LumeqFrame frame = frame_of(c, c->out, number);
    lumeq_set_params(gpu, &params);
    lumeq_set_params(cpu, &params);
    CHECK(lumeq_rewind(gpu, 1) == 0 && lumeq_submit(gpu, &frame) == 0, "again: %s",
          lumeq_last_error(gpu));
    lumeq_flush(gpu);
    CHECK(lumeq_receive(gpu, NULL, ask_stats(&c->stats)) == 0, "redo: %s", lumeq_last_error(gpu));
    run_on_cpu(cpu, c, number, 1);
    check_case(c, number);
}

/* As many frames in flight as possible; every eleventh frame flushes, and is equalized again. */
TEST(any_layout)
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
            const LumeqFrame frame = frame_of(c, c->out, submitted);
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
        if (!CHECK(lumeq_receive(gpu, NULL, ask_stats(&c->stats)) == 0, "%s",
                   lumeq_last_error(gpu)))
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

/* Host memory is refused; the equalizer continues. */
TEST(host_memory_is_refused)
{
    FREED_BY(lumeq_destroy) LumeqEqualizer *gpu = open_on(LUMEQ_BACKEND_CUDA);
    static Case c;
    if (!gpu)
        return;
    open_case(&c, gpu, 0);
    LumeqFrame frame = frame_of(&c, c.out, 0);
    frame.out.memory = LUMEQ_MEMORY_CUDA;
    CHECK(lumeq_submit(gpu, &frame) == LUMEQ_ERR_ARGUMENT, "ordinary memory is taken");
    CHECK(strstr(lumeq_last_error(gpu), "GPU 0") != NULL, "the sentence is \"%s\"",
          lumeq_last_error(gpu));
    void *pinned = lumeq_alloc_host(gpu, c.out[0].size);
    frame.out.plane[0] = pinned;
    CHECK(lumeq_submit(gpu, &frame) == LUMEQ_ERR_ARGUMENT, "pinned memory is taken");
    lumeq_free_host(gpu, pinned);
    frame = frame_of(&c, c.out, 0);
    CHECK(lumeq_submit(gpu, &frame) == 0, "then nothing goes: %s", lumeq_last_error(gpu));
    lumeq_flush(gpu);
    CHECK(lumeq_receive(gpu, NULL, NULL) == 0, "then nothing goes: %s", lumeq_last_error(gpu));
    close_case(&c, gpu);
}

/* The same if only chroma is in host memory. */
TEST(host_chroma_is_refused)
{
    FREED_BY(lumeq_destroy) LumeqEqualizer *gpu = open_on(LUMEQ_BACKEND_CUDA);
    static Case c;
    if (!gpu)
        return;
    int number = 0;
    for (open_case(&c, gpu, number); !c.twin[1]; open_case(&c, gpu, ++number))
        close_case(&c, gpu);
    for (int plane = 0; plane <= c.shape.planes; plane++) {
        LumeqFrame frame = frame_of(&c, c.out, 0);
        frame.out.plane[plane] = c.out[plane].pixels;
        CHECK(lumeq_submit(gpu, &frame) == LUMEQ_ERR_ARGUMENT, "plane %d: ordinary memory is taken",
              plane);
    }
    const LumeqFrame frame = frame_of(&c, c.out, 0);
    CHECK(lumeq_submit(gpu, &frame) == 0, "then nothing goes: %s", lumeq_last_error(gpu));
    lumeq_flush(gpu);
    CHECK(lumeq_receive(gpu, NULL, NULL) == 0, "then nothing goes: %s", lumeq_last_error(gpu));
    close_case(&c, gpu);
}

TEST_MAIN
