/*
 * Scaling chroma by the gain of the luma under it, and copying that of bars.
 *
 * A .cu file defines THREADS, those of its blocks, before it includes this header.
 */
#ifndef LUMEQ_CUDA_CHROMA_SCALE_CUH
#define LUMEQ_CUDA_CHROMA_SCALE_CUH

#include <stdint.h>

#include "equalizer/cuda/chroma_parts.cuh"

/* What a thread knows of the frame's samples. */
typedef struct ChromaRule {
    const CurveGain *gain;
    CurveLegal legal;
    uint32_t last;
    const CurveParams *params;
    const TileGrid *grid; /* with mode CLAHE */
    const TileTables *tables;
    Active active; /* in pixels of chroma */
} ChromaRule;

/* The gains as a table has them, for all threads of a block: each with what is free of its limit,
 * as most pixels are, which one look tells. */
static __device__ __forceinline__ void load_gains(CurveGain *gains, const CurveGain *from,
                                                  int depth, const CurveLegal &legal)
{
    for (int i = (int)threadIdx.x; i < CURVE_CELLS; i += THREADS) {
        CurveGain gain = from[i];
        gain.free = curve_free(gain, depth, legal.range);
        gains[i] = gain;
    }
}

/* Of 8 bits the compiler knows them. */
template <typename Sample>
static __device__ __forceinline__ ChromaCodes codes_of(const ChromaRule &rule)
{
    if (sizeof(Sample) == 1)
        return {0, UINT8_MAX};
    return {rule.params->shift, rule.last};
}

/* `x`, `y`: of the first luma sample under the pixel, `sum` that of all of them. */
template <typename Sample, bool tiles>
static __device__ __forceinline__ CurveGain look_over(const ChromaRule &rule, uint32_t sum,
                                                      int area, int x, int y)
{
    const uint32_t mean = mean_of(sum, area);
    return tiles ? tile_gain(rule.grid, rule.tables, x, y, mean)
                 : rule.gain[sizeof(Sample) == 1 ? mean : mean >> (rule.params->depth - 8)];
}

/* A pixel of the active picture: both of its components. */
template <typename Sample>
static __device__ __forceinline__ void scale(const ChromaRule &rule, uint32_t *first,
                                             uint32_t *second, CurveGain over, int x, int y)
{
    const uint32_t add = rule.params->dither
                             ? curve_dither((uint32_t)(x - rule.active.left),
                                            (uint32_t)(y - rule.active.top), rule.params->frame)
                             : CURVE_ROUND;
    const ChromaCodes codes = codes_of<Sample>(rule);
    const int32_t a = (int32_t)code_of(codes, *first), b = (int32_t)code_of(codes, *second);
    const uint32_t gain = curve_pixel_gain(over, a, b, rule.params->depth, &rule.legal);
    *first = curve_chroma(a, gain, add, &rule.legal) << codes.shift;
    *second = curve_chroma(b, gain, add, &rule.legal) << codes.shift;
}

/* Of any shape, sample by sample. */
template <typename Sample, bool tiles>
static __device__ void scale_pixel(const ChromaRule &rule, const LumeqCudaChroma &c, int x, int y)
{
    const CurveGain over =
        look_over<Sample, tiles>(rule, sum_luma<Sample>(codes_of<Sample>(rule), c, x, y),
                                 c.sub_x + c.sub_y, x << c.sub_x, y << c.sub_y);
    uint32_t first = *component<Sample>(c.in, c, 0, x, y);
    uint32_t second = *component<Sample>(c.in, c, 1, x, y);
    if (is_active(rule.active, x, y))
        scale<Sample>(rule, &first, &second, over, x, y);
    *component<Sample>(c.out, c, 0, x, y) = (Sample)first;
    *component<Sample>(c.out, c, 1, x, y) = (Sample)second;
}

/* Over a whole group, from vectors of luma. */
template <typename Sample, int sub_x, int sub_y, bool tiles>
static __device__ __forceinline__ void look_over_group(const ChromaRule &rule,
                                                       const LumeqCudaPlane &l, int x, int y,
                                                       CurveGain over[GROUP])
{
    uint32_t sum[GROUP];
    sum_luma_group<Sample, sub_x, sub_y>(codes_of<Sample>(rule), l, x, y, sum);
#pragma unroll
    for (int i = 0; i < GROUP; i++)
        over[i] =
            look_over<Sample, tiles>(rule, sum[i], sub_x + sub_y, (x + i) << sub_x, y << sub_y);
}

template <typename Sample, int step>
static __device__ __forceinline__ void scale_group(const ChromaRule &rule, const LumeqCudaChroma &c,
                                                   int x, int y, const CurveGain over[GROUP])
{
    typedef Run<Sample, GROUP * step> Samples;
    Samples samples[2];
    const int planes = step == 2 ? 1 : 2;
#pragma unroll
    for (int i = 0; i < planes; i++)
        samples[i] = ((const Samples *)(c.in[i].data + (int64_t)y * c.in[i].stride))[x / GROUP];
#pragma unroll
    for (int i = 0; i < GROUP; i++) {
        Sample *const one = &samples[0].v[i * step];
        Sample *const other = step == 2 ? one + 1 : &samples[1].v[i];
        uint32_t first = *one, second = *other;
        scale<Sample>(rule, &first, &second, over[i], x + i, y);
        *one = (Sample)first;
        *other = (Sample)second;
    }
#pragma unroll
    for (int i = 0; i < planes; i++)
        ((Samples *)(c.out[i].data + (int64_t)y * c.out[i].stride))[x / GROUP] = samples[i];
}

/* Whether all of a group, which is there, is active. */
static __device__ __forceinline__ bool is_active_group(const Active &active, int x, int y)
{
    return is_active_row(active, y) && x >= active.left && x + GROUP <= active.right;
}

/* The share of the plane of a thread of the first `blocks` blocks, group by group, of which a row
 * has so many. Vectors of a shape that the compiler knows are there where `aligned`. */
template <typename Sample, bool tiles, int sub_x, int sub_y, int step>
static __device__ __forceinline__ void scale_plane(const ChromaRule &rule, const LumeqCudaChroma &c,
                                                   int groups, int blocks, bool aligned)
{
    if ((int)blockIdx.x >= blocks)
        return;
    const int first = (int)(blockIdx.x * THREADS + threadIdx.x), all = blocks * THREADS;
    const int rows = all / groups, columns = all % groups;
    int y = first / groups, column = first % groups;
    while (y < c.height) {
        const int x = column * GROUP;
        const bool whole = x + GROUP <= c.width && (x + GROUP) << sub_x <= c.luma.width;
        if (aligned && whole && is_active_group(rule.active, x, y)) {
            CurveGain over[GROUP];
            look_over_group<Sample, sub_x, sub_y, tiles>(rule, c.luma, x, y, over);
            scale_group<Sample, step>(rule, c, x, y, over);
        } else {
            for (int k = x; k < min(x + GROUP, c.width); k++)
                scale_pixel<Sample, tiles>(rule, c, k, y);
        }
        y += rows;
        column += columns;
        if (column >= groups) {
            column -= groups;
            y++;
        }
    }
}

#endif
