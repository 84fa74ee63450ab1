/*
 * The CUDA kernels against the reference in C: the same bits for any rectangle, and nothing written
 * outside of it. LUMEQ_TEST_CASES sets how many rectangles are drawn.
 */
#include <stdlib.h>

#include <cuda_runtime_api.h>

#include "../check.h"
#include "equalizer/cpu/kernels.h"
#include "equalizer/cuda/kernels.h"

#define DEFAULT_CASES 2000
#define SMALL_WIDTHS 65 /* each of them with each content comes first */
#define GUARD 128

static LumeqCudaDevice device;
static LumeqKernels reference;

static int cuda_ok(cudaError_t error, const char *what)
{
    return CHECK(error == cudaSuccess, "%s: %s", what, cudaGetErrorString(error));
}

#define OK(call) cuda_ok(call, #call)

static int have_gpu(void)
{
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) {
        check_skip("no GPU");
        return 0;
    }
    lumeq_kernels_c(&reference);
    return OK(lumeq_cuda_prepare(&device, 0));
}

enum { FLAT, TWO_LEVELS, RAMP, NOISE, NARROW_NOISE, CONTENTS };

static void fill(const CheckRect *rect, int content, CheckRandom *random)
{
    const int low = check_below(random, 256), high = check_below(random, 256);
    for (int y = 0; y < rect->height; y++)
        for (int x = 0; x < rect->width; x++) {
            const uint64_t hash = check_hash(random->seed, (uint64_t)y * 65536 + (uint64_t)x);
            const int codes[CONTENTS] = {low, hash & 1 ? low : high, x + y, (int)(hash & 255),
                                         low + (int)(hash & 7)};
            check_row(rect, y)[x] = (uint8_t)codes[content];
        }
}

static CurveParams draw_params(int depth, CheckRandom *random)
{
    const int full = check_below(random, 2), fraction = depth > 12 ? depth - 12 : 0;
    return (CurveParams){
        .depth = depth,
        .shift = depth > 8 && check_below(random, 2) ? check_below(random, 17 - depth) : 0,
        .bins = 1 << (depth - fraction),
        .fraction = fraction,
        .black = full ? 0 : 16 << (depth - 8),
        .white = full ? (1 << depth) - 1 : 235 << (depth - 8),
        .clip = check_below(random, 3) ? CURVE_ONE + (uint32_t)check_below(random, 600000) : 0,
        .alpha = 1 + (uint32_t)check_below(random, CURVE_ONE),
        .strength = (uint32_t)check_below(random, CURVE_ONE + 1),
        .scene_cut = check_below(random, 2),
        .reference = depth == 8 && check_below(random, 6) == 0,
    };
}

/* A rectangle's twin on the device, guards and all. */
typedef struct DeviceRect {
    uint8_t *memory;
    LumeqCudaPlane plane;
} DeviceRect;

static int sample_size(const CurveParams *params)
{
    return params->depth > 8 ? 2 : 1;
}

static DeviceRect to_device(const CheckRect *rect, const CurveParams *params)
{
    DeviceRect twin = {0};
    OK(cudaMalloc((void **)&twin.memory, rect->size));
    OK(cudaMemcpy(twin.memory, rect->memory, rect->size, cudaMemcpyHostToDevice));
    twin.plane = (LumeqCudaPlane){twin.memory + (rect->pixels - rect->memory), rect->stride,
                                  rect->width / sample_size(params), rect->height};
    return twin;
}

/* What the kernels work on besides samples. */
typedef struct Memory {
    LumeqCudaCounters counters;
    CurveResult before, result;
    CurveTable table;
} Memory;

static void run(const CheckRect *src, const CheckRect *dst, const CurveParams *params,
                Memory *memory, Memory *on_device)
{
    DeviceRect in = to_device(src, params), out = to_device(dst, params);
    LumeqCudaHistogram *const histogram =
        params->depth > 8 ? lumeq_cuda_histogram16 : lumeq_cuda_histogram8;
    memset(&memory->counters, 0, sizeof(memory->counters));
    memset(&memory->result, 0x5A, sizeof(memory->result));
    memset(&memory->table, 0x5A, sizeof(memory->table));
    OK(cudaMemcpy(on_device, memory, sizeof(*memory), cudaMemcpyHostToDevice));
    OK(histogram(&device, &in.plane, params, &on_device->before, &on_device->result,
                 &on_device->table, &on_device->counters, 0));
    OK(lumeq_cuda_apply(&device, &out.plane, &in.plane, &on_device->table, params, 0));
    OK(cudaDeviceSynchronize());
    OK(cudaMemcpy(memory, on_device, sizeof(*memory), cudaMemcpyDeviceToHost));
    OK(cudaMemcpy(dst->memory, out.memory, dst->size, cudaMemcpyDeviceToHost));
    OK(cudaFree(in.memory));
    OK(cudaFree(out.memory));
}

/* What the reference makes of a picture. */
static void expect(const CheckRect *src, const CheckRect *dst, const CurveParams *params,
                   const CurveResult *before, CurveResult *result, CurveTable *table)
{
    static CurveWork work;
    uint32_t hist[LUMEQ_MAX_BINS] = {0};
    const int deep = params->depth > 8, width = src->width / sample_size(params);
    (deep ? reference.histogram16 : reference.histogram8)(hist, src->pixels, src->stride, width,
                                                          src->height, params);
    for (int i = 0; i < params->bins; i++)
        result->bin[i].hist = hist[i];
    curve_compute(params, before, before->bin, result, result->bin, table, &work);
    (params->fraction ? reference.interpolate16
     : deep           ? reference.apply16
                      : reference.apply8)(dst->pixels, dst->stride, src->pixels, src->stride, width,
                                src->height, table, params);
}

static size_t table_size(const CurveParams *params)
{
    return params->fraction ? (size_t)(params->bins + 1) * sizeof(uint32_t)
                            : (size_t)(params->bins * sample_size(params));
}

static void compare(const CheckRect *src, const CheckRect *dst, const CurveParams *params,
                    const Memory *memory, const char *name)
{
    static CurveResult result;
    static CurveTable table;
    const CurveResult *ours = &memory->result;
    CheckRect expected = check_rect(dst->width, dst->height, dst->stride, 0, GUARD);
    expect(src, &expected, params, &memory->before, &result, &table);
    CHECK(ours->bins == result.bins && ours->depth == result.depth &&
              ours->scene_cut == result.scene_cut,
          "%s: %u bins, depth %u, cut %u", name, ours->bins, ours->depth, ours->scene_cut);
    CHECK(!memcmp(ours->bin, result.bin, (size_t)params->bins * sizeof(result.bin[0])),
          "%s: the histogram or the curve differs", name);
    CHECK(!memcmp(&memory->table, &table, table_size(params)), "%s: the table differs", name);
    CHECK(check_rect_equal(dst, &expected), "%s: the picture differs", name);
    CHECK(check_rect_intact(dst), "%s: written outside of the rectangle", name);
    check_rect_free(&expected);

    static const LumeqCudaCounters zero;
    CHECK(!memcmp(&memory->counters, &zero, sizeof(zero)), "%s: counters are left behind", name);
}

/* Sizes, strides and offsets are in samples. */
static void check_case(int width, int height, const ptrdiff_t strides[2], const int offsets[2],
                       int content, int depth, CheckRandom *random, Memory *memory,
                       Memory *on_device)
{
    char name[160];
    const CurveParams params = draw_params(depth, random);
    const int size = sample_size(&params);
    snprintf(name, sizeof(name), "%dx%d, depth %d+%d, strides %td %td, offsets %d %d, content %d",
             width, height, depth, params.shift, strides[0], strides[1], offsets[0], offsets[1],
             content);
    CheckRect src = check_rect(width * size, height, strides[0] * size, offsets[0] * size, GUARD);
    CheckRect dst = check_rect(width * size, height, strides[1] * size, offsets[1] * size, GUARD);
    fill(&src, content, random);
    run(&src, &dst, &params, memory, on_device);
    compare(&src, &dst, &params, memory, name);
    memory->before = memory->result; /* the next case of that depth goes on from here */
    if (check_below(random, 8) == 0)
        memset(&memory->before, 0, sizeof(memory->before));
    check_rect_free(&src);
    check_rect_free(&dst);
}

static ptrdiff_t draw_stride(int width, CheckRandom *random)
{
    const ptrdiff_t aligned = (width + 15) / 16 * 16;
    const ptrdiff_t strides[] = {width, width + 1 + check_below(random, 40), aligned,
                                 aligned + 16 * check_below(random, 5)};
    const ptrdiff_t stride = strides[check_below(random, 4)];
    return check_below(random, 3) ? stride : -stride;
}

/* A depth lasts for a few cases, every other time 8. */
static int depth_of(int number)
{
    static const int depths[] = {8, 9, 10, 11, 12, 13, 14, 15, 16};
    return number / 4 % 2 ? depths[number / 8 % 9] : 8;
}

static void rectangles(void)
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
static void large(void)
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

static const CheckTest tests[] = {
    {"rectangles", rectangles},
    {"large", large},
};

CHECK_MAIN(tests)
