/*
 * The CUDA kernels against the reference in C: the same bits for any rectangle, and nothing written
 * outside of it. LUMEQ_TEST_CASES sets how many rectangles are drawn.
 */
#include <stdlib.h>

#include "../equalizer/chroma_shape.h"
#include "kernel_check.h"

#define DEFAULT_CASES 2000
#define SMALL_WIDTHS 65 /* each of them with each content comes first */
/* An input and an output picture, luma and chroma. */
typedef struct Pictures {
    ChromaShape shape;
    CheckRect src[3], dst[3];
} Pictures;

static LumeqCudaChroma chroma_of(const Pictures *p, const DeviceRect *in, const DeviceRect *out)
{
    LumeqCudaChroma chroma = {.luma = in[0].plane,
                              .planes = p->shape.planes,
                              .step = chroma_step(p->shape),
                              .width = chroma_side(in[0].plane.width, p->shape.x),
                              .height = chroma_side(in[0].plane.height, p->shape.y),
                              .sub_x = p->shape.x,
                              .sub_y = p->shape.y};
    for (int i = 0; i < p->shape.planes; i++) {
        chroma.in[i] = in[i + 1].plane;
        chroma.out[i] = out[i + 1].plane;
    }
    return chroma;
}

static void launch(const Pictures *p, const DeviceRect *in, const DeviceRect *out,
                   const CurveParams *params, Memory *on_device)
{
    LumeqCudaHistogram *const histogram =
        params->depth > 8 ? lumeq_cuda_histogram16 : lumeq_cuda_histogram8;
    const LumeqCudaChroma chroma = chroma_of(p, in, out);
    const LumeqCudaCurve curve = {&on_device->result, &on_device->table, &on_device->counters,
                                  NULL};
    const LumeqCudaBatch one = lumeq_cuda_batch_of_one(params, 0);
    OK(histogram(&device, &in[0].plane, params, &on_device->before, &curve, NULL, &one, 0));
    OK(lumeq_cuda_apply(&device, &out[0].plane, &in[0].plane, &on_device->table,
                        &on_device->result.bars, params, NULL, &one, 0));
    if (chroma.planes)
        OK(lumeq_cuda_chroma(&device, &chroma, &on_device->table, params, &one, 0));
    OK(cudaDeviceSynchronize());
}

static void run(const Pictures *p, const CurveParams *params, Memory *memory, Memory *on_device)
{
    DeviceRect in[3], out[3];
    for (int i = 0; i <= p->shape.planes; i++) {
        in[i] = to_device(&p->src[i], params);
        out[i] = to_device(&p->dst[i], params);
    }
    memset(&memory->counters, 0, sizeof(memory->counters));
    memset(&memory->result, 0x5A, sizeof(memory->result));
    memset(&memory->table, 0x5A, sizeof(memory->table));
    memset(&memory->result.bars, 0, sizeof(memory->result.bars));
    memory->result.noise = 2 * params->frame;
    OK(cudaMemcpy(on_device, memory, sizeof(*memory), cudaMemcpyHostToDevice));
    launch(p, in, out, params, on_device);
    OK(cudaMemcpy(memory, on_device, sizeof(*memory), cudaMemcpyDeviceToHost));
    for (int i = 0; i <= p->shape.planes; i++) {
        OK(cudaMemcpy(p->dst[i].memory, out[i].memory, p->dst[i].size, cudaMemcpyDeviceToHost));
        OK(cudaFree(in[i].memory));
        OK(cudaFree(out[i].memory));
    }
}

/* And of chroma. */
static void expect_chroma(const Pictures *p, const CheckRect *dst, const CurveParams *params,
                          const CurveTable *table)
{
    const LumeqChromaRows rows =
        chroma_rows(p->shape, p->src, dst, sample_size(params), 0, p->src[1].height);
    (params->depth > 8 ? reference.chroma16 : reference.chroma8)(&rows, table, params);
}

static int same_table(const CurveTable *a, const CurveTable *b, const CurveParams *params)
{
    const size_t size = curve_has_nodes(params) ? (size_t)(params->bins + 1) * sizeof(uint32_t)
                                                : (size_t)(params->bins * sample_size(params));
    int same = !memcmp(a->nodes, b->nodes, size);
    for (int i = 0; i < CURVE_CELLS; i++)
        same &= a->gain[i].gain == b->gain[i].gain && a->gain[i].from == b->gain[i].from &&
                a->gain[i].to == b->gain[i].to;
    if (params->lift)
        return same && !memcmp(&a->lift, &b->lift, sizeof(a->lift));
    return same && a->lift.luma_on == b->lift.luma_on && a->lift.chroma_on == b->lift.chroma_on;
}

static void compare(const Pictures *p, const CurveParams *params, const Memory *memory,
                    const char *name)
{
    static CurveResult result;
    static CurveTable table;
    CheckRect expected[3] = {{0}};
    for (int i = 0; i <= p->shape.planes; i++)
        expected[i] = check_rect(p->dst[i].width, p->dst[i].height, p->dst[i].stride, 0, GUARD);
    result.noise = memory->result.noise;
    expect(&p->src[0], &expected[0], params, &memory->before, &result, &table);
    if (p->shape.planes)
        expect_chroma(p, expected, params, &table);
    for (int i = 0; i <= p->shape.planes; i++) {
        if (!(i ? table.lift.chroma_on
                : table.lift.luma_on)) /* other kernels do it if it is lifted */
            CHECK(check_rect_equal(&p->dst[i], &expected[i]), "%s: plane %d differs", name, i);
        CHECK(check_rect_intact(&p->dst[i]), "%s: written outside of plane %d", name, i);
        check_rect_free(&expected[i]);
    }
    compare_results(&memory->result, &result, params->bins, name);
    CHECK(same_table(&memory->table, &table, params), "%s: the table differs", name);

    static const LumeqCudaCounters zero;
    CHECK(!memcmp(&memory->counters, &zero, sizeof(zero)), "%s: counters are left behind", name);
}

static ptrdiff_t draw_stride(int width, CheckRandom *random)
{
    const ptrdiff_t aligned = (width + 15) / 16 * 16;
    const ptrdiff_t strides[] = {width, width + 1 + check_below(random, 40), aligned,
                                 aligned + 16 * check_below(random, 5)};
    const ptrdiff_t stride = strides[check_below(random, 4)];
    return check_below(random, 3) ? stride : -stride;
}

/* Half of the cases have a decoder's layout, for which the kernel has vectors. */
static void open_chroma(Pictures *p, int width, int height, int size, int content,
                        CheckRandom *random)
{
    const int aligned = check_below(random, 2);
    const int row = chroma_row(p->shape, width), rows = chroma_side(height, p->shape.y);
    for (int i = 1; i <= p->shape.planes; i++) {
        CheckRect *const rects[2] = {&p->src[i], &p->dst[i]};
        for (int k = 0; k < 2; k++) {
            const ptrdiff_t stride = aligned ? (row + 63) / 64 * 64 : draw_stride(row, random);
            const int offset = aligned ? 0 : check_below(random, 17);
            *rects[k] = check_rect(row * size, rows, stride * size, offset * size, GUARD);
        }
        fill(&p->src[i], i == 1 ? NOISE : content, random);
    }
}

static void close_pictures(Pictures *p)
{
    for (int i = 0; i < 3; i++) {
        check_rect_free(&p->src[i]);
        check_rect_free(&p->dst[i]);
    }
}

/* Sizes, strides and offsets are in samples. */
static void check_case(int width, int height, const ptrdiff_t strides[2], const int offsets[2],
                       int content, int depth, CheckRandom *random, Memory *memory,
                       Memory *on_device)
{
    char name[200];
    const CurveParams params = draw_params(depth, random);
    const int size = sample_size(&params);
    Pictures p = {
        .shape = {check_below(random, 3), check_below(random, 3), check_below(random, 3)}};
    snprintf(name, sizeof(name),
             "%dx%d, depth %d+%d, dither %d, strides %td %td, offsets %d %d, content %d, chroma "
             "%d/%d/%d",
             width, height, depth, params.shift, params.dither, strides[0], strides[1], offsets[0],
             offsets[1], content, p.shape.planes, p.shape.x, p.shape.y);
    p.src[0] = check_rect(width * size, height, strides[0] * size, offsets[0] * size, GUARD);
    p.dst[0] = check_rect(width * size, height, strides[1] * size, offsets[1] * size, GUARD);
    fill(&p.src[0], content, random);
    open_chroma(&p, width, height, size, content, random);
    run(&p, &params, memory, on_device);
    compare(&p, &params, memory, name);
    memory->before = memory->result; /* history of the next case of that depth */
    if (check_below(random, 8) == 0)
        memset(&memory->before, 0, sizeof(memory->before));
    close_pictures(&p);
}

/* A depth lasts for a few cases, every other time 8. */
static int depth_of(int number)
{
    static const int depths[] = {8, 9, 10, 11, 12, 13, 14, 15, 16};
    return number / 4 % 2 ? depths[number / 8 % 9] : 8;
}

TEST(rectangles)
{
    static const int widths[] = {1,  2,  3,   5,   8,   15,  16,  17,  31,   32,   33,   47,  63,
                                 64, 65, 100, 127, 255, 256, 257, 640, 1000, 1919, 1920, 1921};
    static const int heights[] = {1, 2, 3, 7, 16, 65, 240, 701};
    static const int offsets[] = {0, 0, 0, 1, 3, 8, 15, 16, 17};
    if (!have_gpu())
        return;
    const char *wanted = getenv("LUMEQ_TEST_CASES");
    const int cases = wanted ? atoi(wanted) : DEFAULT_CASES;
    Memory *on_device = NULL;
    static Memory memory;
    if (!OK(cudaMalloc((void **)&on_device, sizeof(*on_device))))
        return;
    for (int i = 0; i < cases; i++) {
        CheckRandom random = check_random((uint64_t)i);
        const int drawn = widths[check_below(&random, (int)(sizeof(widths) / sizeof(*widths)))];
        const int width = i < SMALL_WIDTHS * CONTENTS ? 1 + i * 37 % SMALL_WIDTHS : drawn;
        const int content = (i + i / SMALL_WIDTHS) % CONTENTS;
        const int height = heights[check_below(&random, (int)(sizeof(heights) / sizeof(*heights)))];
        const ptrdiff_t strides[2] = {draw_stride(width, &random), draw_stride(width, &random)};
        const int starts[2] = {offsets[check_below(&random, 9)], offsets[check_below(&random, 9)]};
        check_case(width, height, strides, starts, content, depth_of(i), &random, &memory,
                   on_device);
    }
    cudaFree(on_device);
}

/* More chunks than the grid takes at once, aligned and not. */
TEST(large)
{
    static const int sizes[][2] = {
        {3840, 2160}, {3839, 2161}, {7680, 4320}, {65535, 130}, {130, 65535}};
    if (!have_gpu())
        return;
    Memory *on_device = NULL;
    static Memory memory;
    if (!OK(cudaMalloc((void **)&on_device, sizeof(*on_device))))
        return;
    for (int i = 0; i < (int)(sizeof(sizes) / sizeof(*sizes)); i++)
        for (int k = 0; k < CONTENTS * 4; k++) {
            static const int depths[] = {8, 10, 12, 16};
            const int content = k % CONTENTS;
            CheckRandom random = check_random(1000000 + (uint64_t)(i * CONTENTS * 4 + k));
            const ptrdiff_t aligned = (sizes[i][0] + 63) / 64 * 64;
            const ptrdiff_t strides[2] = {content % 2 ? sizes[i][0] : aligned, aligned};
            check_case(sizes[i][0], sizes[i][1], strides, (int[2]){0, 0}, content,
                       depths[k / CONTENTS], &random, &memory, on_device);
        }
    cudaFree(on_device);
}

TEST_MAIN
