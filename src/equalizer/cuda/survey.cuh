/*
 * The survey of a frame: lit samples of rows and columns, for bars; percentiles of cells, for haze;
 * and differences of blocks from the previous frame, for noise.
 *
 * Before including this file, a .cu file defines THREADS.
 */
#ifndef LUMEQ_CUDA_SURVEY_CUH
#define LUMEQ_CUDA_SURVEY_CUH

#include <stdint.h>

#include "equalizer/cuda/block.cuh"
#include "equalizer/cuda/kernels.h"

#define WARPS (THREADS / 32)

static_assert(NOISE_BINS == 32, "each lane has a bin");

#define NOISE_COUNTS ((int)(sizeof(NoiseProfile) / sizeof(uint32_t)))

/* A block spends most of its time waiting for its first samples, and signalling that it is done. So
 * each block does much at once: several rows per warp, and several columns per lane. */
#define ROWS_AT_ONCE 2
#define COLUMNS_AT_ONCE 2
#define COLUMN_ROWS_AT_ONCE 8

/* Maximum number of blocks that count noise: they wait for each other at the same counters. */
#define MOST_NOISE_BLOCKS (1024 / WARPS)

/* ---- bars ---------------------------------------------------------------------------------- */

/* Loads a sample, or outside the picture the nearest one: branches would serialize the loads. */
template <typename Sample>
static __device__ __forceinline__ uint32_t sample_at(const LumeqCudaPlane &luma,
                                                     const BarsParams &params, int x, int y)
{
    const uint8_t *const row = luma.data + min(y, params.height - 1) * luma.stride;
    return __ldg((const Sample *)row + min(x, params.width - 1));
}

/* Counts the lit samples of a warp's rows, from row `y` on. */
template <typename Sample>
static __device__ __forceinline__ void count_rows(const LumeqCudaPlane &luma,
                                                  const BarsParams &params, int y, uint32_t lit,
                                                  uint8_t *lit_rows)
{
    constexpr int turns = (BARS_ROW_SAMPLES + 31) / 32;
    const int lane = (int)threadIdx.x % 32, samples = min(params.width, BARS_ROW_SAMPLES);
    uint32_t sample[turns][ROWS_AT_ONCE];
    int count[ROWS_AT_ONCE] = {};
#pragma unroll
    for (int i = 0; i < turns; i++) {
        const int k = i * 32 + lane;
        const int x = bars_block(params.width, k / BARS_BLOCK) + k % BARS_BLOCK;
#pragma unroll
        for (int row = 0; row < ROWS_AT_ONCE; row++)
            sample[i][row] = sample_at<Sample>(luma, params, x, y + row);
    }
#pragma unroll
    for (int i = 0; i < turns; i++)
#pragma unroll
        for (int row = 0; row < ROWS_AT_ONCE; row++)
            count[row] +=
                __popc(__ballot_sync(~0u, i * 32 + lane < samples && sample[i][row] >= lit));
#pragma unroll
    for (int row = 0; row < ROWS_AT_ONCE; row++)
        if (lane == row && y + row < params.height)
            lit_rows[y + row] = (uint8_t)count[row];
}

/* Columns of a thread block. Each warp counts all these columns in its share of the rows. */
#define COLUMNS (32 * COLUMNS_AT_ONCE)

template <typename Sample>
static __device__ __forceinline__ void count_columns(const LumeqCudaPlane &luma,
                                                     const BarsParams &params, int first,
                                                     uint32_t lit, uint8_t *lit_columns)
{
    __shared__ uint8_t counts[WARPS][COLUMNS];
    const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
    const int step = bars_row_step(params.height), far = WARPS * step;
    uint32_t count[COLUMNS_AT_ONCE] = {};
    for (int y = bars_first_row(params.height) + warp * step; y < params.height;
         y += COLUMN_ROWS_AT_ONCE * far) {
        uint32_t sample[COLUMN_ROWS_AT_ONCE][COLUMNS_AT_ONCE];
#pragma unroll
        for (int row = 0; row < COLUMN_ROWS_AT_ONCE; row++)
#pragma unroll
            for (int i = 0; i < COLUMNS_AT_ONCE; i++)
                sample[row][i] =
                    sample_at<Sample>(luma, params, first + i * 32 + lane, y + row * far);
#pragma unroll
        for (int row = 0; row < COLUMN_ROWS_AT_ONCE; row++)
#pragma unroll
            for (int i = 0; i < COLUMNS_AT_ONCE; i++)
                count[i] += y + row * far < params.height && sample[row][i] >= lit;
    }
#pragma unroll
    for (int i = 0; i < COLUMNS_AT_ONCE; i++)
        counts[warp][i * 32 + lane] = (uint8_t)count[i];
    __syncthreads();
    const int x = (int)threadIdx.x;
    if (x < COLUMNS && first + x < params.width) {
        uint32_t sum = 0;
        for (int i = 0; i < WARPS; i++)
            sum += counts[i][x];
        lit_columns[first + x] = (uint8_t)sum;
    }
}

typedef struct Lines {
    int column_blocks, row_blocks;
} Lines;

static inline Lines lines_of(const BarsParams *p)
{
    const int rows = WARPS * ROWS_AT_ONCE;
    const Lines lines = {(p->width + COLUMNS - 1) / COLUMNS, (p->height + rows - 1) / rows};
    return lines;
}

template <typename Sample>
static __device__ __forceinline__ void count_lines(const LumeqCudaPlane &luma,
                                                   const BarsParams &params, const Lines &lines,
                                                   int block, uint8_t *columns, uint8_t *rows)
{
    const uint32_t lit = bars_lit(&params);
    const int warp = (block - lines.column_blocks) * WARPS + (int)threadIdx.x / 32;
    if (block < lines.column_blocks)
        count_columns<Sample>(luma, params, block * COLUMNS, lit, columns);
    else if (warp * ROWS_AT_ONCE < params.height)
        count_rows<Sample>(luma, params, warp * ROWS_AT_ONCE, lit, rows);
}

/* ---- noise --------------------------------------------------------------------------------- */

typedef struct NoiseCodes {
    NoiseRows rows;
    int depth, shift, black; /* black: as an 8-bit code */
} NoiseCodes;

template <typename Sample>
static __device__ __forceinline__ int code_at(const LumeqCudaPlane &luma, const NoiseCodes &codes,
                                              int x, int y)
{
    const int code = __ldg((const Sample *)(luma.data + y * luma.stride) + x);
    return sizeof(Sample) == 1 ? code : min(code >> codes.shift, (1 << codes.depth) - 1);
}

/* The lane's share of the sums over a block of samples. */
template <typename Sample>
static __device__ __forceinline__ NoiseSums sum_samples(const LumeqCudaPlane &now,
                                                        const LumeqCudaPlane &before,
                                                        const NoiseCodes &codes, int left, int top)
{
    NoiseSums s = {0, 0, 0};
#pragma unroll
    for (int i = 0; i < NOISE_BLOCK * NOISE_BLOCK / 32; i++) {
        const int at = i * 32 + (int)threadIdx.x % 32;
        const int x = left + at % NOISE_BLOCK, y = top + at / NOISE_BLOCK;
        const int a = code_at<Sample>(now, codes, x, y);
        const int b = code_at<Sample>(before, codes, x, y);
        s.now += (uint32_t)a;
        s.before += (uint32_t)b;
        s.apart += (uint32_t)abs(a - b);
    }
    return s;
}

/* Adds a block of samples to the profile. `s`: the lane's sums. */
static __device__ __forceinline__ void count_block(NoiseProfile *counts, NoiseSums s,
                                                   const NoiseCodes &codes)
{
    s.now = warp_sum(s.now);
    s.before = warp_sum(s.before);
    s.apart = warp_sum(s.apart);
    if (threadIdx.x % 32)
        return;
    const uint32_t level = noise_level(&s, codes.depth, codes.black);
    atomicAdd(&counts->blocks[level], 1);
    if (!s.apart)
        atomicAdd(&counts->repeated, 1);
    if (noise_is_still(&s, codes.depth))
        atomicAdd(&counts->still[level][noise_bin(&s, codes.depth)], 1);
}

/* Counts the share of thread block `block` of the `blocks` that count noise. */
template <typename Sample>
static __device__ __forceinline__ void
count_noise(const LumeqCudaPlane &now, const LumeqCudaPlane &before, const NoiseCodes &codes,
            int block, int blocks, NoiseProfile *counts)
{
    __shared__ union {
        NoiseProfile profile;
        uint32_t counts[NOISE_COUNTS];
    } own;
    for (int i = (int)threadIdx.x; i < NOISE_COUNTS; i += THREADS)
        own.counts[i] = 0;
    __syncthreads();
    const int columns = codes.rows.columns, all = codes.rows.rows * columns;
    for (int i = block * WARPS + (int)threadIdx.x / 32; i < all; i += blocks * WARPS)
        count_block(&own.profile,
                    sum_samples<Sample>(now, before, codes, i % columns * NOISE_BLOCK,
                                        noise_line(&codes.rows, i / columns)),
                    codes);
    __syncthreads();
    for (int i = (int)threadIdx.x; i < NOISE_COUNTS; i += THREADS)
        if (own.counts[i])
            atomicAdd((uint32_t *)counts + i, own.counts[i]);
}

static inline NoiseCodes noise_codes(const LumeqCudaPlane *luma, const CurveParams *params)
{
    const NoiseCodes codes = {noise_rows(luma->width, luma->height), params->depth, params->shift,
                              params->black >> (params->depth - 8)};
    return codes;
}

static inline int noise_blocks(const NoiseCodes *codes)
{
    const int blocks = codes->rows.rows * codes->rows.columns / WARPS;
    return blocks < MOST_NOISE_BLOCKS ? blocks + 1 : MOST_NOISE_BLOCKS;
}

/* ---- haze ---------------------------------------------------------------------------------- */

/* Finds the highest code such that at most `most` of a warp's samples are below it. */
template <int count>
static __device__ __forceinline__ uint32_t percentile(const uint32_t (&codes)[count], int most)
{
    uint32_t found = 0;
    for (uint32_t bit = 128; bit; bit /= 2) {
        int darker = 0;
#pragma unroll
        for (int i = 0; i < count; i++)
            darker += __popc(__ballot_sync(~0u, codes[i] < (found | bit)));
        found |= darker <= most ? bit : 0;
    }
    return found;
}

/* Finds the percentiles and the means of a warp's cell. */
template <typename Sample>
static __device__ __forceinline__ void
measure_haze(const LumeqCudaCount &count, const NoiseCodes &format, int cell, HazeCell *haze)
{
    const LumeqCudaPlane &luma = count.counted;
    const uint32_t last = (1u << format.depth) - 1;
    const int lane = (int)threadIdx.x % 32, column = cell % MEASURE_COLUMNS;
    const int x = haze_place(luma.width, column, MEASURE_COLUMNS, lane % HAZE_SIDE);
    uint32_t codes[HAZE_SAMPLES / 32], sums[3] = {0, 0, 0};
#pragma unroll
    for (int i = 0; i < HAZE_SAMPLES / 32; i++) {
        const int y = haze_place(luma.height, cell / MEASURE_COLUMNS, MEASURE_ROWS,
                                 lane / HAZE_SIDE + i * (32 / HAZE_SIDE));
        codes[i] = __ldg((const Sample *)(luma.data + y * luma.stride) + x);
#pragma unroll
        for (int k = 0; k < 2; k++) {
            const LumeqCudaSamples &plane = count.chroma[k];
            const int row = (count.top + y) >> count.sub_y;
            const int at = ((count.left + x) >> count.sub_x) * plane.step;
            if (plane.data)
                sums[k] +=
                    min((uint32_t)__ldg((const Sample *)(plane.data + row * plane.stride) + at) >>
                            format.shift,
                        last);
        }
    }
#pragma unroll
    for (int i = 0; i < HAZE_SAMPLES / 32; i++) {
        if (sizeof(Sample) > 1)
            codes[i] = min(codes[i] >> format.shift, last) >> (format.depth - 8);
        sums[2] += codes[i];
    }
#pragma unroll
    for (int k = 0; k < 3; k++)
        for (int lanes = 16; lanes; lanes /= 2)
            sums[k] += __shfl_xor_sync(~0u, sums[k], lanes);
    const uint32_t low = percentile(codes, HAZE_LOW), high = percentile(codes, HAZE_HIGH);
    if (lane == 0) {
        haze->low = (uint8_t)low;
        haze->high = (uint8_t)high;
        haze->mean = haze_mean(sums[2], 8);
        for (int k = 0; k < 2; k++)
            haze->chroma[k] =
                count.chroma[k].data ? haze_mean(sums[k], format.depth) : (uint16_t)HAZE_GRAY;
    }
}

typedef struct SurveyWork {
    LumeqCudaCount count;
    Lines lines;
    NoiseCodes codes;
    int noise_blocks, haze_blocks;
} SurveyWork;

static inline SurveyWork survey_of(const LumeqCudaCount *count)
{
    SurveyWork work = {};
    work.count = *count;
    if (!count->luma.data)
        return work;
    if (!count->bars.ignore)
        work.lines = lines_of(&count->bars);
    work.codes = noise_codes(&count->luma, count->params);
    if (count->before.data)
        work.noise_blocks = noise_blocks(&work.codes);
    work.haze_blocks = (MEASURE_CELLS + WARPS - 1) / WARPS;
    return work;
}

static inline unsigned survey_blocks(const SurveyWork *work)
{
    return (unsigned)(work->lines.column_blocks + work->lines.row_blocks + work->noise_blocks +
                      work->haze_blocks);
}

/* Does the share of thread block number `block` of the survey. Blocks with the longest work come
 * first. All threads of the block call it. */
template <typename Sample>
static __device__ __forceinline__ void survey_count(const SurveyWork &work, int block,
                                                    LumeqCudaTally *tally)
{
    const int cell = (block - work.noise_blocks) * WARPS + (int)threadIdx.x / 32;
    const int line = block - work.noise_blocks - work.haze_blocks;
    const LumeqCudaCount &count = work.count;
    if (block < work.noise_blocks)
        count_noise<Sample>(count.luma, count.before, work.codes, block, work.noise_blocks,
                            &tally->noise);
    else if (line >= 0)
        count_lines<Sample>(count.luma, count.bars, work.lines, line, tally->lit[BARS_COLUMNS],
                            tally->lit[BARS_ROWS]);
    else if (cell < MEASURE_CELLS)
        measure_haze<Sample>(count, work.codes, cell, &tally->haze[cell]);
}

#endif
