/*
 * Scales chroma by the gain of its luma, and copies bars; bounds luma over saturated colours.
 *
 * Before including it, a .cu file defines THREADS, the size of its blocks.
 */
#ifndef LUMEQ_CUDA_CHROMA_SCALE_CUH
#define LUMEQ_CUDA_CHROMA_SCALE_CUH

#include <stdint.h>

#include "equalizer/cuda/chroma_parts.cuh"

/* Parameters of the frame, in a thread's registers. */
typedef struct ChromaRule {
    const CurveGain *gain;
    CurveLegal legal;
    uint32_t last;
    const CurveParams *params;
    const TileGrid *grid; /* mode CLAHE only */
    const TileTables *tables;
    Active active;  /* in chroma pixels */
    uint32_t frame; /* number of the dither pattern */
} ChromaRule;

/* The same for a frame of a batch. */
static __device__ __forceinline__ LumeqCudaChroma chroma_in_batch(const LumeqCudaChroma &first,
                                                                  const LumeqCudaBatch &batch,
                                                                  int frame)
{
    LumeqCudaChroma own = first;
    own.luma.data += batch.of[frame].in[0];
    if (own.luma_out.data)
        own.luma_out.data += batch.of[frame].out[0];
#pragma unroll
    for (int i = 0; i < 2; i++) {
        own.in[i].data += batch.of[frame].in[1 + i];
        own.out[i].data += batch.of[frame].out[1 + i];
    }
    own.tables = in_batch(own.tables, batch, frame);
    own.bars = in_batch(own.bars, batch, frame);
    return own;
}

/* Loads the gains into shared memory, with all threads of a block. `free` is the distance from gray
 * up to which a gain has no limit; most pixels are within it, so that one comparison is enough. */
static __device__ __forceinline__ void load_gains(CurveGain *gains, const CurveGain *from,
                                                  int depth, const CurveLegal &legal)
{
    for (int i = (int)threadIdx.x; i < CURVE_CELLS; i += THREADS) {
        CurveGain gain = from[i];
        gain.free = curve_free(gain, depth, legal.range);
        gains[i] = gain;
    }
}

/* Constants for 8 bits. */
template <typename Sample>
static __device__ __forceinline__ ChromaCodes codes_of(const ChromaRule &rule)
{
    if (sizeof(Sample) == 1)
        return {0, UINT8_MAX};
    return {rule.params->shift, rule.last};
}

/* Scales both components of a pixel, if it is active, by the gain over the sum of its luma. */
template <typename Sample, bool tiles>
static __device__ __forceinline__ void scale(const ChromaRule &rule, uint32_t sum, int sub_x,
                                             int sub_y, int x, int y, Sample *first, Sample *second)
{
    if (!is_active(rule.active, x, y))
        return;
    const ChromaCodes codes = codes_of<Sample>(rule);
    const int depth = rule.params->depth;
    const uint32_t mean = mean_of(sum, sub_x + sub_y);
    const CurveGain over = tiles ? tile_gain(rule.grid, rule.tables, x << sub_x, y << sub_y, mean)
                                 : rule.gain[sizeof(Sample) == 1 ? mean : mean >> (depth - 8)];
    const uint32_t add = rule.params->dither
                             ? curve_dither((uint32_t)(x - rule.active.left),
                                            (uint32_t)(y - rule.active.top), rule.frame)
                             : CURVE_ROUND;
    const int32_t a = (int32_t)code_of(codes, *first), b = (int32_t)code_of(codes, *second);
    const uint32_t gain = curve_pixel_gain(over, a, b, depth, &rule.legal);
    *first = (Sample)(curve_chroma(a, gain, add, &rule.legal) << codes.shift);
    *second = (Sample)(curve_chroma(b, gain, add, &rule.legal) << codes.shift);
}

/* Scales pixels of any layout, sample by sample. */
template <typename Sample, bool tiles>
static __device__ void scale_pixel(const ChromaRule &rule, const LumeqCudaChroma &c, int x, int y)
{
    const uint32_t sum = sum_luma<Sample>(codes_of<Sample>(rule), c, x, y);
    Sample first = *component<Sample>(c.in, c, 0, x, y);
    Sample second = *component<Sample>(c.in, c, 1, x, y);
    scale<Sample, tiles>(rule, sum, c.sub_x, c.sub_y, x, y, &first, &second);
    *component<Sample>(c.out, c, 0, x, y) = first;
    *component<Sample>(c.out, c, 1, x, y) = second;
}

/* Scales a thread's share of the plane, group by group; a row has `groups` of them. `aligned`:
 * groups are vectors in the layout of the template parameters. */
template <typename Sample, bool tiles, int sub_x, int sub_y, int step>
static __device__ __forceinline__ void scale_plane(const ChromaRule &rule, const LumeqCudaChroma &c,
                                                   int groups, bool aligned)
{
    const int first = (int)(blockIdx.x * THREADS + threadIdx.x), all = (int)gridDim.x * THREADS;
    const int rows = all / groups, columns = all % groups;
    int y = first / groups, column = first % groups;
    while (y < c.height) {
        const int x = column * GROUP;
        const bool whole = x + GROUP <= c.width && (x + GROUP) << sub_x <= c.luma.width;
        if (aligned && whole) {
            ChromaGroup<Sample, step> group;
            uint32_t sum[GROUP];
            group.load(c.in, x, y);
            sum_luma_group<Sample, sub_x, sub_y>(codes_of<Sample>(rule), c.luma, x, y, sum);
#pragma unroll
            for (int i = 0; i < GROUP; i++)
                scale<Sample, tiles>(rule, sum[i], sub_x, sub_y, x + i, y, group.first(i),
                                     group.second(i));
            group.store(c.out, x, y);
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

/* ---- luma over saturated colours, after all luma is written --------------------------------- */

/* True if the frame's luma rises enough to need bounds. All threads of a block call it. */
static __device__ __forceinline__ bool is_raised(const CurveGain *gain)
{
    int raised = 0;
    for (int i = (int)threadIdx.x; i < CURVE_CELLS; i += THREADS)
        raised |= curve_is_raised(gain[i]);
    return __syncthreads_or(raised);
}

/* Bounds the luma of one chroma pixel. */
template <typename Sample>
static __device__ __forceinline__ void bound_pixel(const LumeqCudaChroma &c, int depth, int shift,
                                                   uint32_t black, uint32_t range, int x, int y)
{
    const uint32_t chroma =
        max(*component<Sample>(c.in, c, 0, x, y), *component<Sample>(c.in, c, 1, x, y)) >> shift;
    if (chroma <= 1u << (depth - 1))
        return;
    const int right = min((x + 1) << c.sub_x, c.luma.width);
    const int bottom = min((y + 1) << c.sub_y, c.luma.height);
    for (int row = y << c.sub_y; row < bottom; row++) {
        const Sample *const in = (const Sample *)plane_row(c.luma, row);
        Sample *const out = (Sample *)plane_row(c.luma_out, row);
        for (int at = x << c.sub_x; at < right; at++) {
            const uint32_t was = (uint32_t)out[at] >> shift;
            const uint32_t code =
                curve_bounded_code((uint32_t)in[at] >> shift, was, chroma, depth, black, range);
            if (code != was)
                out[at] = (Sample)(code << shift);
        }
    }
}

/* Bounds this thread's share of the picture. Bars stay unchanged. */
template <typename Sample>
static __device__ __forceinline__ void bound_plane(const LumeqCudaChroma &c,
                                                   const CurveParams &params)
{
    const uint32_t black = (uint32_t)params.black << (16 - params.depth);
    const uint32_t range = curve_legal(params.depth, params.black != 0).range;
    const int depth = sizeof(Sample) == 1 ? 8 : params.depth;
    const int shift = sizeof(Sample) == 1 ? 0 : params.shift;
    const int64_t all = (int64_t)c.width * c.height, step = (int64_t)gridDim.x * THREADS;
    for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i < all; i += step)
        bound_pixel<Sample>(c, depth, shift, black, range, (int)(i % c.width), (int)(i / c.width));
}

#endif
