/* Rectangles on the device, and the results of the reference in C. */
#ifndef LUMEQ_TESTS_KERNEL_CHECK_H
#define LUMEQ_TESTS_KERNEL_CHECK_H

#include "equalizer/cpu/kernels.h"
#include "gpu_check.h"

static LumeqKernels reference;

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

static CurveParams draw_params(int depth, CheckRandom *random)
{
    const int full = check_below(random, 2), fraction = depth > 12 ? depth - 12 : 0;
    CurveParams p = {
        .depth = depth,
        .shift = depth > 8 && check_below(random, 2) ? check_below(random, 17 - depth) : 0,
        .bins = 1 << (depth - fraction),
        .fraction = fraction,
        .black = full ? 0 : 16 << (depth - 8),
        .white = full ? (1 << depth) - 1 : 235 << (depth - 8),
        .clip = check_below(random, 3) ? CURVE_ONE + (uint32_t)check_below(random, 600000) : 0,
        .alpha = 1 + (uint32_t)check_below(random, CURVE_ONE),
        .strength = (uint32_t)check_below(random, CURVE_ONE + 1),
        .adaptive = check_below(random, 2),
        .stretch = check_below(random, 4) == 0,
        .scene_cut = check_below(random, 2),
        .reference = depth == 8 && check_below(random, 6) == 0,
        .chroma = check_below(random, 4) != 0,
        .dither = check_below(random, 2),
        .frame = (uint32_t)check_below(random, 1000),
        .past = check_below(random, 2),
    };
    if (check_below(random, 3) == 0) {
        p.lift = p.adaptive = 1;
        p.reference = p.stretch = 0;
        p.strength = CURVE_ONE;
        p.slow = 1 + (uint32_t)check_below(random, CURVE_ONE);
        p.denoise = check_below(random, 2) ? CURVE_ONE : (uint32_t)check_below(random, CURVE_ONE);
        if (check_below(random, 2))
            p.clip = CURVE_CLIP_AUTO;
    }
    return p;
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

/* Memory of the kernels besides samples. */
typedef struct Memory {
    LumeqCudaCounters counters;
    CurveResult before, result;
    CurveTable table;
} Memory;

/* Computes the reference's luma. */
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
    LumeqApplyKernel *const nodes = deep ? reference.nodes16 : reference.nodes8;
    LumeqApplyKernel *const codes = deep ? reference.apply16 : reference.apply8;
    (curve_has_nodes(params) ? nodes : codes)(dst->pixels, dst->stride, src->pixels, src->stride,
                                              width, src->height, 0, table, params);
}

static void compare_results(const CurveResult *a, const CurveResult *b, int bins, const char *name)
{
    CHECK(a->bins == b->bins && a->depth == b->depth && a->scene_cut == b->scene_cut &&
              a->jumps == b->jumps && a->need == b->need && a->alpha == b->alpha &&
              a->strength == b->strength,
          "%s: %u bins, depth %u, cut %u, jumps %u, need %u, alpha %u, strength %u", name, a->bins,
          a->depth, a->scene_cut, a->jumps, a->need, a->alpha, a->strength);
    CHECK(!memcmp(a->bin, b->bin, (size_t)bins * sizeof(a->bin[0])),
          "%s: the histogram or the curve differs", name);
    CHECK(a->lift.on == b->lift.on && (!a->lift.on || !memcmp(&a->lift, &b->lift, sizeof(a->lift))),
          "%s: what the lift goes by differs", name);
}

#endif
