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
        if (depth == 8) /* for scale_bytes() */
            gain.free = (uint16_t)min((int)gain.free, UINT8_MAX);
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

/* `x`, `y`: the pixel's first luma sample; `sum`: of all its luma samples. */
template <typename Sample, bool tiles>
static __device__ __forceinline__ CurveGain look_over(const ChromaRule &rule, uint32_t sum,
                                                      int area, int x, int y)
{
    const uint32_t mean = mean_of(sum, area);
    return tiles ? tile_gain(rule.grid, rule.tables, x, y, mean)
                 : rule.gain[sizeof(Sample) == 1 ? mean : mean >> (rule.params->depth - 8)];
}

/* The addition to a pixel of the active picture, see curve_chroma(). */
static __device__ __forceinline__ uint32_t added(const ChromaRule &rule, int x, int y)
{
    return rule.params->dither ? curve_dither((uint32_t)(x - rule.active.left),
                                              (uint32_t)(y - rule.active.top), rule.frame)
                               : CURVE_ROUND;
}

/* Scales both components of a pixel. */
template <typename Sample>
static __device__ __forceinline__ void scale(const ChromaRule &rule, uint32_t *first,
                                             uint32_t *second, CurveGain over, uint32_t add)
{
    const ChromaCodes codes = codes_of<Sample>(rule);
    const int32_t a = (int32_t)code_of(codes, *first), b = (int32_t)code_of(codes, *second);
    const uint32_t gain = curve_pixel_gain(over, a, b, rule.params->depth, &rule.legal);
    *first = curve_chroma(a, gain, add, &rule.legal) << codes.shift;
    *second = curve_chroma(b, gain, add, &rule.legal) << codes.shift;
}

/* Scales pixels of any layout, sample by sample. */
template <typename Sample, bool tiles>
static __device__ void scale_pixel(const ChromaRule &rule, const LumeqCudaChroma &c, int x, int y)
{
    const CurveGain over =
        look_over<Sample, tiles>(rule, sum_luma<Sample>(codes_of<Sample>(rule), c, x, y),
                                 c.sub_x + c.sub_y, x << c.sub_x, y << c.sub_y);
    uint32_t first = *component<Sample>(c.in, c, 0, x, y);
    uint32_t second = *component<Sample>(c.in, c, 1, x, y);
    if (is_active(rule.active, x, y))
        scale<Sample>(rule, &first, &second, over, added(rule, x, y));
    *component<Sample>(c.out, c, 0, x, y) = (Sample)first;
    *component<Sample>(c.out, c, 1, x, y) = (Sample)second;
}

/* Gains of a group, found from its luma, and the additions. */
typedef struct GroupGains {
    CurveGain over[GROUP];
    uint32_t add[GROUP];
} GroupGains;

/* Finds the gains from the luma sums of a whole group; `x`, `y`: its first pixel. */
template <typename Sample, int sub_x, int sub_y, bool tiles>
static __device__ __forceinline__ void find_gains(const ChromaRule &rule, const uint32_t sum[GROUP],
                                                  int x, int y, GroupGains *gains)
{
#pragma unroll
    for (int i = 0; i < GROUP; i++) {
        gains->over[i] =
            look_over<Sample, tiles>(rule, sum[i], sub_x + sub_y, (x + i) << sub_x, y << sub_y);
        gains->add[i] = CURVE_ROUND;
    }
    if (rule.params->dither) {
#pragma unroll
        for (int i = 0; i < GROUP; i++)
            gains->add[i] = added(rule, x + i, y);
    }
}

/* Return bytes 0 and 2, or 1 and 3, of a word as halves. */
static __device__ __forceinline__ uint32_t even_bytes(uint32_t word)
{
    return word & 0x00ff00ff;
}

static __device__ __forceinline__ uint32_t odd_bytes(uint32_t word)
{
    return __byte_perm(word, 0, 0x4341);
}

/* Return `add` and the products of bytes 0 and 1, or 2 and 3, with the halves of `pair`, added up.
 */
static __device__ __forceinline__ int32_t multiply_low(uint32_t pair, uint32_t bytes, int32_t add)
{
    int32_t sum;
    asm("dp2a.lo.u32.s32 %0, %1, %2, %3;" : "=r"(sum) : "r"(pair), "r"(bytes), "r"(add));
    return sum;
}

static __device__ __forceinline__ int32_t multiply_high(uint32_t pair, uint32_t bytes, int32_t add)
{
    int32_t sum;
    asm("dp2a.hi.u32.s32 %0, %1, %2, %3;" : "=r"(sum) : "r"(pair), "r"(bytes), "r"(add));
    return sum;
}

/* Added to a word with halves of at most 15 bits, minus a limit in each half, it sets the top bit
 * of halves above the limit. A negative half may carry into the other; then the second test finds
 * it. */
#define ALL_BUT_ONE 0x7fff7fffu

/* Scales four 8-bit pixels, with a word per component, like scale(), two samples at a time. Returns
 * false if a gain is limited or a result is out of range: then the result is wrong. */
static __device__ __forceinline__ bool scale_bytes(const GroupGains &gains, const CurveLegal &legal,
                                                   uint32_t codes[2])
{
    const uint32_t gray = 0x80808080;
    const uint32_t above = ALL_BUT_ONE - (uint32_t)legal.high * 0x10001u;
    const uint32_t below = ALL_BUT_ONE + (uint32_t)legal.low * 0x10001u;
    uint2 gain[GROUP]; /* with `from` in the upper half; `to`, with `free` in the upper half */
    uint32_t far[2];
    int32_t add[GROUP];
#pragma unroll
    for (int i = 0; i < GROUP; i++) {
        gain[i] = *(const uint2 *)&gains.over[i];
        add[i] = (int32_t)(gains.add[i] << 4) + (128 << 12);
    }
#pragma unroll
    for (int k = 0; k < 2; k++)
        far[k] = __vabsdiffu4(codes[k], gray);
    const uint32_t even = __vmaxu2(even_bytes(far[0]), even_bytes(far[1]));
    const uint32_t odd = __vmaxu2(odd_bytes(far[0]), odd_bytes(far[1]));
    uint32_t beyond = (ALL_BUT_ONE + even - __byte_perm(gain[0].y, gain[2].y, 0x7632)) |
                      (ALL_BUT_ONE + odd - __byte_perm(gain[1].y, gain[3].y, 0x7632));
#pragma unroll
    for (int k = 0; k < 2; k++) {
        const uint32_t off = codes[k] ^ gray, some = even_bytes(off), others = odd_bytes(off);
        const int32_t scaled[GROUP] = {multiply_low(gain[0].x, some, add[0]) >> 12,
                                       multiply_low(gain[1].x, others, add[1]) >> 12,
                                       multiply_high(gain[2].x, some, add[2]) >> 12,
                                       multiply_high(gain[3].x, others, add[3]) >> 12};
        const uint32_t a = __byte_perm((uint32_t)scaled[0], (uint32_t)scaled[2], 0x5410);
        const uint32_t b = __byte_perm((uint32_t)scaled[1], (uint32_t)scaled[3], 0x5410);
        beyond |= (above + a) | (below - a) | (above + b) | (below - b);
        codes[k] = __byte_perm(a, b, 0x6240);
    }
    return !(beyond & 0x80008000u);
}

/* True if a whole group lies in the active picture. */
static __device__ __forceinline__ bool is_active_group(const Active &active, int x, int y)
{
    return is_active_row(active, y) && x >= active.left && x + GROUP <= active.right;
}

/* Scales the active pixels of a group one by one. `x`, `y`: its first pixel. */
template <typename Sample, int step>
static __device__ __forceinline__ void scale_pixels(const ChromaRule &rule, const GroupGains &gains,
                                                    int x, int y, ChromaGroup<Sample, step> *group)
{
#pragma unroll
    for (int i = 0; i < GROUP; i++) {
        if (!is_active(rule.active, x + i, y))
            continue;
        uint32_t first = *group->first(i), second = *group->second(i);
        scale<Sample>(rule, &first, &second, gains.over[i], gains.add[i]);
        *group->first(i) = (Sample)first;
        *group->second(i) = (Sample)second;
    }
}

template <int step>
static __device__ __forceinline__ void scale_group(const ChromaRule &rule, const GroupGains &gains,
                                                   int x, int y, ChromaGroup<uint16_t, step> *group)
{
    scale_pixels(rule, gains, x, y, group);
}

static __device__ __forceinline__ void scale_group(const ChromaRule &rule, const GroupGains &gains,
                                                   int x, int y, ChromaGroup<uint8_t, 1> *group)
{
    uint32_t *const a = (uint32_t *)&group->samples[0], *const b = (uint32_t *)&group->samples[1];
    uint32_t codes[2] = {*a, *b};
    if (!is_active_group(rule.active, x, y) || !scale_bytes(gains, rule.legal, codes)) {
        scale_pixels(rule, gains, x, y, group);
        return;
    }
    *a = codes[0];
    *b = codes[1];
}

static __device__ __forceinline__ void scale_group(const ChromaRule &rule, const GroupGains &gains,
                                                   int x, int y, ChromaGroup<uint8_t, 2> *group)
{
    uint2 *const both = (uint2 *)&group->samples[0];
    uint32_t codes[2] = {__byte_perm(both->x, both->y, 0x6420),
                         __byte_perm(both->x, both->y, 0x7531)};
    if (!is_active_group(rule.active, x, y) || !scale_bytes(gains, rule.legal, codes)) {
        scale_pixels(rule, gains, x, y, group);
        return;
    }
    *both = make_uint2(__byte_perm(codes[0], codes[1], 0x5140),
                       __byte_perm(codes[0], codes[1], 0x7362));
}

/* Scales the share of a thread of the first `blocks` blocks, group by group; a row has `groups` of
 * them. `aligned`: groups are vectors in the layout of the template parameters. */
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
        if (aligned && whole) {
            ChromaGroup<Sample, step> group;
            GroupGains gains;
            uint32_t sum[GROUP];
            group.load(c.in, x, y);
            sum_luma_group<Sample, sub_x, sub_y>(codes_of<Sample>(rule), c.luma, x, y, sum);
            find_gains<Sample, sub_x, sub_y, tiles>(rule, sum, x, y, &gains);
            scale_group(rule, gains, x, y, &group);
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
