/*
 * A frame's survey: what its luma tells besides its histogram. Warps count how much of each line is
 * lit, for the bars, and how blocks differ from those of the frame before, for the noise; the block
 * that is the last to be done looks at both.
 */
#include <stdint.h>

#define THREADS 256
#define WARPS (THREADS / 32)

#define BARS_FN static __device__ __forceinline__
#define BARS_EACH_SIDE(far)                                                                        \
    for (int far = (int)threadIdx.x / 32, bars_once = threadIdx.x % 32 == 0 && far < 2; bars_once; \
         bars_once = 0)
#define BARS_WAIT() __syncthreads()
#define BARS_LOWEST(bits) (__ffs((int)(bits)) - 1)
#define BARS_POPULATION(bits) __popc(bits)
#define BARS_OWN_MARK

#define NOISE_FN static __host__ __device__ __forceinline__

#include "equalizer/cuda/kernels.h"
#include "equalizer/cuda/last_block.cuh"
#include "equalizer/cuda/warp.cuh"

static_assert(BARS_WORDS == WARPS, "each warp marks a word");
static_assert(NOISE_BINS == 32, "each lane has a bin");

#define NOISE_COUNTS ((int)(sizeof(NoiseProfile) / sizeof(uint32_t)))

/* More share what there is to look at for noise: each adds its counts to the same ones. */
#define MOST_NOISE_BLOCKS 256

typedef struct Luma {
    const uint8_t *data;
    int64_t stride;
} Luma;

/* ---- bars ---------------------------------------------------------------------------------- */

BARS_FN void bars_mark(const BarsLines *lines, int far, BarsMarks *marks)
{
    const int k = (int)threadIdx.x, word = k / 32;
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
    if (x < params.width)
        for (int y = bars_first_row(params.height) + warp * step; y < params.height;
             y += WARPS * step)
            count += is_lit<Sample>(luma, x, y, lit);
    counts[warp][lane] = count;
    __syncthreads();
    if (warp == 0 && x < params.width) {
        for (int i = 1; i < WARPS; i++)
            count += counts[i][lane];
        lit_columns[x] = (uint8_t)count;
    }
}

/* Blocks: a column's 32 for each, then a row for each warp. */
typedef struct Lines {
    int column_blocks, row_blocks;
} Lines;

static Lines lines_of(const BarsParams *p)
{
    const Lines lines = {(p->width + 31) / 32, (p->height + WARPS - 1) / WARPS};
    return lines;
}

template <typename Sample>
static __device__ __forceinline__ void count_lines(const Luma &luma, const BarsParams &params,
                                                   const Lines &lines, uint8_t *columns,
                                                   uint8_t *rows)
{
    const uint32_t lit = bars_lit(&params);
    const int block = (int)blockIdx.x;
    const int y = (block - lines.column_blocks) * WARPS + (int)threadIdx.x / 32;
    if (block < lines.column_blocks)
        count_columns<Sample>(luma, params, block * 32, lit, columns);
    else if (y < params.height)
        count_row<Sample>(luma, params, y, lit, rows);
}

/* ---- noise --------------------------------------------------------------------------------- */

typedef struct Codes {
    NoiseRows rows;
    int depth, shift, black; /* black: of 8 bits */
    int vectors;             /* half a line of a block can be read at once */
} Codes;

template <typename Sample>
static __device__ __forceinline__ int code_at(const Luma &luma, const Codes &codes, int x, int y)
{
    const int code = ((const Sample *)(luma.data + y * luma.stride))[x];
    return sizeof(Sample) == 1 ? code : min(code >> codes.shift, (1 << codes.depth) - 1);
}

/* Four samples of 8 bits, or two of more. */
template <typename Sample>
static __device__ __forceinline__ void add_word(NoiseSums *s, uint32_t now, uint32_t before,
                                                const Codes &codes)
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
                                                   const Luma &before, const Codes &codes, int left,
                                                   int top)
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
                                                      const Codes &codes, int left, int top)
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
                                                   const Codes &codes)
{
    const uint32_t level = noise_level(&s, codes.depth, codes.black);
    atomicAdd(&counts->blocks[level], 1);
    if (!s.apart)
        atomicAdd(&counts->repeated, 1);
    if (noise_is_still(&s, codes.depth))
        atomicAdd(&counts->still[level][noise_bin(&s, codes.depth)], 1);
}

/* What noise_of() answers, by a warp. */
static __device__ __forceinline__ uint32_t find_noise(const NoiseProfile *counts)
{
    const uint32_t lane = threadIdx.x % 32;
    uint32_t blocks[NOISE_LEVELS], all_blocks = 0, here = 0;
#pragma unroll
    for (int level = 0; level < NOISE_LEVELS; level++)
        all_blocks += blocks[level] = __ldcg(&counts->blocks[level]);
    const NoiseDark dark = noise_dark(blocks);
#pragma unroll
    for (int level = 0; level < NOISE_LEVELS; level++)
        if (level >= dark.from && level <= dark.to)
            here += __ldcg(&counts->still[level][lane]);
    uint32_t sum = here;
    for (int step = 1; step < 32; step *= 2) {
        const uint32_t left = __shfl_up_sync(~0u, sum, step);
        if (lane >= step)
            sum += left;
    }
    const uint32_t all = __shfl_sync(~0u, sum, 31);
    if (all < NOISE_LEAST || __ldcg(&counts->repeated) == all_blocks)
        return NOISE_UNKNOWN;
    const int bin = __ffs((int)__ballot_sync(~0u, 4 * sum >= all)) - 1;
    const uint32_t noise = noise_quartile(lane, all, sum - here, here ? here : 1);
    return __shfl_sync(~0u, noise, bin);
}

/* The noise blocks' share of a frame, of which this is number `block` of so many. */
template <typename Sample>
static __device__ __forceinline__ void count_noise(const Luma &now, const Luma &before,
                                                   const Codes &codes, int block, int blocks,
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

/* ---- the survey ---------------------------------------------------------------------------- */

typedef struct SurveyWork {
    Luma now, before;
    BarsParams bars;
    Lines lines;
    Codes codes;
    int noise_blocks;
    const BarsState *was; /* the bars before the frame */
    BarsState *state;
    uint32_t *noise;
    LumeqCudaSurvey *shared;
} SurveyWork;

/* For the survey of the frame before. */
static __device__ __forceinline__ void wait_for_kernel_before(void)
{
#if __CUDA_ARCH__ >= 900
    cudaGridDependencySynchronize();
#endif
}

static __device__ __forceinline__ void block_barrier(void)
{
    __syncthreads();
}

/* For the last block that has counted noise. */
static __device__ __forceinline__ void look_at_noise(const SurveyWork &work)
{
    NoiseProfile *const counts = &work.shared->noise;
    if (threadIdx.x < 32) {
        const uint32_t noise = find_noise(counts);
        if (threadIdx.x == 0)
            *work.noise = noise;
    }
    __syncthreads();
    for (int i = (int)threadIdx.x; i < NOISE_COUNTS; i += THREADS)
        ((uint32_t *)counts)[i] = 0;
}

/* For the last block of all. */
static __device__ __forceinline__ void look_at_bars(const SurveyWork &work)
{
    __shared__ BarsWork bars;
    wait_for_kernel_before();
    const BarsState now = bars_update(&work.bars, work.was, &work.shared->lines, &bars);
    if (threadIdx.x == 0)
        *work.state = now;
}

/* All that counts noise is done as one block. */
template <typename Sample>
static __global__ void __launch_bounds__(THREADS) survey(const __grid_constant__ SurveyWork work)
{
    LumeqCudaSurvey *const shared = work.shared;
    const int lines = work.lines.column_blocks + work.lines.row_blocks, block = (int)blockIdx.x;
#if __CUDA_ARCH__ >= 900
    /* The next frame's lines may be counted while this one's bars are found. */
    cudaTriggerProgrammaticLaunchCompletion();
#endif
    if (block < lines) {
        count_lines<Sample>(work.now, work.bars, work.lines, shared->lines.lit[BARS_COLUMNS],
                            shared->lines.lit[BARS_ROWS]);
    } else {
        count_noise<Sample>(work.now, work.before, work.codes, block - lines, work.noise_blocks,
                            &shared->noise);
        if (!is_last_block<block_barrier>(&shared->noise_done, (uint32_t)work.noise_blocks))
            return;
        look_at_noise(work);
    }
    if (!is_last_block<block_barrier>(&shared->blocks_done, (uint32_t)lines + 1))
        return;
    look_at_bars(work);
}

/* ---- the counts alone ---------------------------------------------------------------------- */

template <typename Sample>
static __global__ void __launch_bounds__(THREADS)
    profile_lines(const Luma luma, const BarsParams params, const Lines lines, uint8_t *columns,
                  uint8_t *rows)
{
    count_lines<Sample>(luma, params, lines, columns, rows);
}

template <typename Sample>
static __global__ void __launch_bounds__(THREADS)
    noise_counts(const Luma now, const Luma before, const Codes codes, NoiseProfile *counts)
{
    count_noise<Sample>(now, before, codes, (int)blockIdx.x, (int)gridDim.x, counts);
}

/* ---- launches ------------------------------------------------------------------------------ */

template <typename Sample> static cudaError_t load(void)
{
    cudaFuncAttributes attributes;
    cudaError_t error = cudaFuncGetAttributes(&attributes, survey<Sample>);
    if (!error)
        error = cudaFuncGetAttributes(&attributes, profile_lines<Sample>);
    return error ? error : cudaFuncGetAttributes(&attributes, noise_counts<Sample>);
}

extern "C" cudaError_t lumeq_cuda_load_survey(void)
{
    const cudaError_t error = load<uint8_t>();
    return error ? error : load<uint16_t>();
}

static Luma luma_of(const LumeqCudaPlane *plane)
{
    const Luma luma = {plane->data, plane->stride};
    return luma;
}

static int has_vectors(const LumeqCudaPlane *plane, int depth)
{
    const uintptr_t bytes = NOISE_BLOCK / 2 * (depth > 8 ? sizeof(uint16_t) : 1);
    return (uintptr_t)plane->data % bytes == 0 && (uintptr_t)plane->stride % bytes == 0;
}

/* Without a frame before there is nothing to count. */
static Codes codes_of(const LumeqCudaPlane *luma, const LumeqCudaPlane *before,
                      const CurveParams *params)
{
    Codes codes = {noise_rows(luma->width, luma->height), params->depth, params->shift,
                   params->black >> (params->depth - 8),
                   has_vectors(luma, params->depth) && has_vectors(before, params->depth)};
    if (!before->data)
        codes.rows.rows = 0;
    return codes;
}

static int noise_blocks(const Codes *codes)
{
    const int blocks = codes->rows.rows * codes->rows.columns / WARPS;
    return blocks < MOST_NOISE_BLOCKS ? blocks + 1 : MOST_NOISE_BLOCKS;
}

extern "C" cudaError_t lumeq_cuda_profile(const LumeqCudaPlane *luma, const BarsParams *params,
                                          uint8_t *columns, uint8_t *rows, cudaStream_t stream)
{
    const Lines lines = lines_of(params);
    cudaLaunchConfig_t config = {};
    config.gridDim = (unsigned)(lines.column_blocks + lines.row_blocks);
    config.blockDim = THREADS;
    config.stream = stream;
    return cudaLaunchKernelEx(&config,
                              params->depth > 8 ? profile_lines<uint16_t> : profile_lines<uint8_t>,
                              luma_of(luma), *params, lines, columns, rows);
}

extern "C" cudaError_t lumeq_cuda_noise_counts(const LumeqCudaPlane *luma,
                                               const LumeqCudaPlane *before,
                                               const CurveParams *params, NoiseProfile *counts,
                                               cudaStream_t stream)
{
    const Codes codes = codes_of(luma, before, params);
    cudaLaunchConfig_t config = {};
    config.gridDim = (unsigned)noise_blocks(&codes);
    config.blockDim = THREADS;
    config.stream = stream;
    return cudaLaunchKernelEx(&config,
                              params->depth > 8 ? noise_counts<uint16_t> : noise_counts<uint8_t>,
                              luma_of(luma), luma_of(before), codes, counts);
}

extern "C" cudaError_t lumeq_cuda_survey(const LumeqCudaDevice *device, const LumeqCudaLumas *luma,
                                         const BarsParams *bars, const CurveParams *params,
                                         const BarsState *before, BarsState *state, uint32_t *noise,
                                         LumeqCudaSurvey *shared, cudaStream_t stream)
{
    SurveyWork work = {};
    work.now = luma_of(&luma->now);
    work.before = luma_of(&luma->before);
    work.bars = *bars;
    if (!bars->ignore)
        work.lines = lines_of(bars);
    work.codes = codes_of(&luma->now, &luma->before, params);
    work.noise_blocks = noise_blocks(&work.codes);
    work.was = before;
    work.state = state;
    work.noise = noise;
    work.shared = shared;

    cudaLaunchAttribute early = {};
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim =
        (unsigned)(work.lines.column_blocks + work.lines.row_blocks + work.noise_blocks);
    config.blockDim = THREADS;
    config.stream = stream;
    config.attrs = &early;
    config.numAttrs = device->early_launches ? 1 : 0;
    return cudaLaunchKernelEx(&config, params->depth > 8 ? survey<uint16_t> : survey<uint8_t>,
                              work);
}
