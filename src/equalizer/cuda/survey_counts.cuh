/*
 * What a frame's luma tells besides its histogram, for blocks to count: how much of each line is
 * lit, for the bars, and how blocks of samples differ from those of the frame before, for the
 * noise.
 *
 * A .cu file includes survey_group.cuh and defines THREADS before it includes this header.
 */
#ifndef LUMEQ_CUDA_SURVEY_COUNTS_CUH
#define LUMEQ_CUDA_SURVEY_COUNTS_CUH

#include <stdint.h>

#include "equalizer/cuda/kernels.h"
#include "equalizer/cuda/warp.cuh"

#define WARPS (THREADS / 32)

static_assert(32 * BARS_WORDS <= THREADS, "a thread for each line that is looked at");
static_assert(NOISE_BINS == 32, "each lane has a bin");

#define NOISE_COUNTS ((int)(sizeof(NoiseProfile) / sizeof(uint32_t)))

/* More share what there is to look at for noise: each adds its counts to the same ones. */
#define MOST_NOISE_BLOCKS (2048 / WARPS)

typedef struct Luma {
    const uint8_t *data;
    int64_t stride;
} Luma;

static inline Luma luma_of(const LumeqCudaPlane *plane)
{
    const Luma luma = {plane->data, plane->stride};
    return luma;
}

/* ---- bars ---------------------------------------------------------------------------------- */

BARS_FN void bars_mark(const BarsLines *lines, int far, BarsMarks *marks)
{
    const int k = (int)threadIdx.x, word = k / 32;
    if (word >= BARS_WORDS)
        return;
    const bool looked = k < lines->looked;
    const int percent = looked ? bars_percent(lines, far, k * lines->stride) : 0;
    const uint32_t picture = __ballot_sync(~0u, looked && percent >= BARS_PICTURE);
    const uint32_t text = __ballot_sync(~0u, looked && percent > BARS_TEXT);
    const uint32_t quiet = __ballot_sync(~0u, looked && percent <= BARS_BUSY);
    const uint32_t clean = __ballot_sync(~0u, looked && percent <= BARS_CLEAN);
    if (k % 32 == 0) {
        marks->picture[word] = picture;
        marks->text[word] = text;
        marks->quiet[word] = quiet;
        marks->clean[word] = clean;
    }
}

template <typename Sample>
static __device__ __forceinline__ bool is_lit(const Luma &luma, int x, int y, uint32_t lit)
{
    return ((const Sample *)(luma.data + (int64_t)y * luma.stride))[x] >= lit;
}

/* A warp's row. */
template <typename Sample>
static __device__ __forceinline__ void count_row(const Luma &luma, const BarsParams &params, int y,
                                                 uint32_t lit, uint8_t *lit_rows)
{
    const int lane = (int)threadIdx.x % 32, samples = min(params.width, BARS_ROW_SAMPLES);
    int count = 0;
#pragma unroll
    for (int i = 0; i < BARS_ROW_SAMPLES; i += 32) {
        const int k = i + lane;
        const int x = bars_block(params.width, k / BARS_BLOCK) + k % BARS_BLOCK;
        count += __popc(__ballot_sync(~0u, k < samples && is_lit<Sample>(luma, x, y, lit)));
    }
    if (lane == 0)
        lit_rows[y] = (uint8_t)count;
}

/* A block's 32 columns, among whose warps the rows are shared. */
template <typename Sample>
static __device__ __forceinline__ void count_columns(const Luma &luma, const BarsParams &params,
                                                     int first, uint32_t lit, uint8_t *lit_columns)
{
    __shared__ uint32_t counts[WARPS][32];
    const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32, x = first + lane;
    const int step = bars_row_step(params.height);
    uint32_t count = 0;
    if (x < params.width) {
#pragma unroll 8
        for (int y = bars_first_row(params.height) + warp * step; y < params.height;
             y += WARPS * step)
            count += is_lit<Sample>(luma, x, y, lit);
    }
    counts[warp][lane] = count;
    __syncthreads();
    if (warp == 0 && x < params.width) {
        for (int i = 1; i < WARPS; i++)
            count += counts[i][lane];
        lit_columns[x] = (uint8_t)count;
    }
}

/* Blocks: 32 columns for each, then a row for each warp. */
typedef struct Lines {
    int column_blocks, row_blocks;
} Lines;

static inline Lines lines_of(const BarsParams *p)
{
    const Lines lines = {(p->width + 31) / 32, (p->height + WARPS - 1) / WARPS};
    return lines;
}

template <typename Sample>
static __device__ __forceinline__ void count_lines(const Luma &luma, const BarsParams &params,
                                                   const Lines &lines, int block, uint8_t *columns,
                                                   uint8_t *rows)
{
    const uint32_t lit = bars_lit(&params);
    const int y = (block - lines.column_blocks) * WARPS + (int)threadIdx.x / 32;
    if (block < lines.column_blocks)
        count_columns<Sample>(luma, params, block * 32, lit, columns);
    else if (y < params.height)
        count_row<Sample>(luma, params, y, lit, rows);
}

/* ---- noise --------------------------------------------------------------------------------- */

typedef struct NoiseCodes {
    NoiseRows rows;
    int depth, shift, black; /* black: of 8 bits */
    int vectors;             /* half a line of a block can be read at once */
} NoiseCodes;

template <typename Sample>
static __device__ __forceinline__ int code_at(const Luma &luma, const NoiseCodes &codes, int x,
                                              int y)
{
    const int code = ((const Sample *)(luma.data + y * luma.stride))[x];
    return sizeof(Sample) == 1 ? code : min(code >> codes.shift, (1 << codes.depth) - 1);
}

/* Four samples of 8 bits, or two of more. */
template <typename Sample>
static __device__ __forceinline__ void add_word(NoiseSums *s, uint32_t now, uint32_t before,
                                                const NoiseCodes &codes)
{
    if (sizeof(Sample) == 1) {
        s->now = __dp4a(now, 0x01010101u, s->now);
        s->before = __dp4a(before, 0x01010101u, s->before);
        s->apart += __vsadu4(now, before);
    } else {
#pragma unroll
        for (int bits = 0; bits < 32; bits += 16) {
            const int most = (1 << codes.depth) - 1;
            const int a = min((int)(now >> bits & 0xffff) >> codes.shift, most);
            const int b = min((int)(before >> bits & 0xffff) >> codes.shift, most);
            s->now += (uint32_t)a;
            s->before += (uint32_t)b;
            s->apart += (uint32_t)abs(a - b);
        }
    }
}

/* Half a line of the block: that of the lane. */
template <typename Sample>
static __device__ __forceinline__ void add_vectors(NoiseSums *s, const Luma &now,
                                                   const Luma &before, const NoiseCodes &codes,
                                                   int left, int top)
{
    const int lane = (int)threadIdx.x % 32, x = left + lane % 2 * (NOISE_BLOCK / 2);
    const int64_t y = top + lane / 2, at = x * (int)sizeof(Sample);
    if (sizeof(Sample) == 1) {
        const uint2 a = *(const uint2 *)(now.data + y * now.stride + at);
        const uint2 b = *(const uint2 *)(before.data + y * before.stride + at);
        add_word<Sample>(s, a.x, b.x, codes);
        add_word<Sample>(s, a.y, b.y, codes);
    } else {
        const uint4 a = *(const uint4 *)(now.data + y * now.stride + at);
        const uint4 b = *(const uint4 *)(before.data + y * before.stride + at);
        add_word<Sample>(s, a.x, b.x, codes);
        add_word<Sample>(s, a.y, b.y, codes);
        add_word<Sample>(s, a.z, b.z, codes);
        add_word<Sample>(s, a.w, b.w, codes);
    }
}

template <typename Sample>
static __device__ __forceinline__ NoiseSums sum_block(const Luma &now, const Luma &before,
                                                      const NoiseCodes &codes, int left, int top)
{
    const int lane = (int)threadIdx.x % 32;
    NoiseSums s = {0, 0, 0};
    if (codes.vectors) {
        add_vectors<Sample>(&s, now, before, codes, left, top);
    } else {
#pragma unroll
        for (int i = lane; i < NOISE_BLOCK * NOISE_BLOCK; i += 32) {
            const int x = left + i % NOISE_BLOCK, y = top + i / NOISE_BLOCK;
            const int a = code_at<Sample>(now, codes, x, y);
            const int b = code_at<Sample>(before, codes, x, y);
            s.now += (uint32_t)a;
            s.before += (uint32_t)b;
            s.apart += (uint32_t)abs(a - b);
        }
    }
    s.now = warp_sum(s.now);
    s.before = warp_sum(s.before);
    s.apart = warp_sum(s.apart);
    return s;
}

static __device__ __forceinline__ void count_block(NoiseProfile *counts, const NoiseSums &s,
                                                   const NoiseCodes &codes)
{
    const uint32_t level = noise_level(&s, codes.depth, codes.black);
    atomicAdd(&counts->blocks[level], 1);
    if (!s.apart)
        atomicAdd(&counts->repeated, 1);
    if (noise_is_still(&s, codes.depth))
        atomicAdd(&counts->still[level][noise_bin(&s, codes.depth)], 1);
}

/* The noise blocks' share of a frame, of which this is number `block` of so many. */
template <typename Sample>
static __device__ __forceinline__ void count_noise(const Luma &now, const Luma &before,
                                                   const NoiseCodes &codes, int block, int blocks,
                                                   NoiseProfile *counts)
{
    __shared__ union {
        NoiseProfile profile;
        uint32_t counts[NOISE_COUNTS];
    } own;
    for (int i = (int)threadIdx.x; i < NOISE_COUNTS; i += THREADS)
        own.counts[i] = 0;
    __syncthreads();
    const int all = codes.rows.rows * codes.rows.columns;
    for (int i = block * WARPS + (int)threadIdx.x / 32; i < all; i += blocks * WARPS) {
        const int row = i / codes.rows.columns, column = i % codes.rows.columns;
        const NoiseSums s = sum_block<Sample>(now, before, codes, column * NOISE_BLOCK,
                                              noise_line(&codes.rows, row));
        if (threadIdx.x % 32 == 0)
            count_block(&own.profile, s, codes);
    }
    __syncthreads();
    for (int i = (int)threadIdx.x; i < NOISE_COUNTS; i += THREADS)
        if (own.counts[i])
            atomicAdd((uint32_t *)counts + i, own.counts[i]);
}

static inline int has_vectors(const LumeqCudaPlane *plane, int depth)
{
    const uintptr_t bytes = NOISE_BLOCK / 2 * (depth > 8 ? sizeof(uint16_t) : 1);
    return (uintptr_t)plane->data % bytes == 0 && (uintptr_t)plane->stride % bytes == 0;
}

/* Without a frame before there is nothing to count. */
static inline NoiseCodes noise_codes(const LumeqCudaPlane *luma, const LumeqCudaPlane *before,
                                     const CurveParams *params)
{
    NoiseCodes codes = {noise_rows(luma->width, luma->height), params->depth, params->shift,
                        params->black >> (params->depth - 8),
                        has_vectors(luma, params->depth) && has_vectors(before, params->depth)};
    if (!before->data)
        codes.rows.rows = 0;
    return codes;
}

static inline int noise_blocks(const NoiseCodes *codes)
{
    const int blocks = codes->rows.rows * codes->rows.columns / WARPS;
    return blocks < MOST_NOISE_BLOCKS ? blocks + 1 : MOST_NOISE_BLOCKS;
}

#endif
