/*
 * A frame's survey as a part of a kernel: some blocks count, and the block that finishes last
 * computes bars and noise.
 *
 * Before including it, a .cu file includes survey_group.cuh and curve_group.cuh.
 */
#ifndef LUMEQ_CUDA_SURVEY_CUH
#define LUMEQ_CUDA_SURVEY_CUH

#include "equalizer/cuda/survey_counts.cuh"

static_assert(32 * BARS_WORDS <= CURVE_THREADS, "the group marks all lines");

/* `shared` NULL: no survey. */
typedef struct SurveyWork {
    Luma now, before;
    BarsParams bars;
    Lines lines;
    NoiseCodes codes;
    int noise_blocks;
    LumeqCudaSurvey *shared;
} SurveyWork;

static inline SurveyWork survey_of(const LumeqCudaSurveyJob *job, const CurveParams *params)
{
    SurveyWork work = {};
    if (!job)
        return work;
    work.now = luma_of(&job->now);
    work.before = luma_of(&job->before);
    work.bars = job->bars;
    if (!job->bars.ignore)
        work.lines = lines_of(&job->bars);
    work.codes = noise_codes(&job->now, &job->before, params);
    work.noise_blocks = noise_blocks(&work.codes);
    work.shared = job->work;
    return work;
}

static inline unsigned survey_blocks(const SurveyWork *work)
{
    return (unsigned)(work->lines.column_blocks + work->lines.row_blocks + work->noise_blocks);
}

/* Counts the share of the survey's block number `block`; blocks with the longest work come first.
 * All threads call it; all have finished when it returns. */
template <typename Sample>
static __device__ __forceinline__ void survey_count(const SurveyWork &work, int block)
{
    LumeqCudaSurvey *const shared = work.shared;
    if (block < work.noise_blocks)
        count_noise<Sample>(work.now, work.before, work.codes, block, work.noise_blocks,
                            &shared->noise);
    else
        count_lines<Sample>(work.now, work.bars, work.lines, block - work.noise_blocks,
                            shared->lines.lit[BARS_COLUMNS], shared->lines.lit[BARS_ROWS]);
    __syncthreads();
}

/* Computes noise_of() with a warp. */
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

/* Stores the noise in the result, after everything is counted. A warp calls it. It waits for the
 * previous kernel, which may still read the earlier result in the same memory. */
static __device__ __forceinline__ void survey_noise(const SurveyWork &work, CurveResult *result)
{
    NoiseProfile *const counts = &work.shared->noise;
    const int lane = (int)threadIdx.x % 32;
    const uint32_t noise = find_noise(counts);
    __syncwarp();
    for (int i = lane; i < NOISE_COUNTS; i += 32)
        ((uint32_t *)counts)[i] = 0;
    curve_wait_for_kernel_before();
    if (lane == 0)
        result->noise = noise;
    __syncwarp();
}

/* Not inlined, because few frames need it. */
static __device__ __noinline__ void survey_find_bars(const SurveyWork &work,
                                                     const BarsState *before, BarsState *bars)
{
    __shared__ BarsWork memory;
    const BarsState now = bars_update(&work.bars, before, &work.shared->lines, &memory);
    if (threadIdx.x == 0)
        *bars = now;
}

/* Computes the bars from the previous ones, in shared memory and in the result. `edges`:
 * bars_edges(). The group calls it after it has waited for the previous kernel. */
static __device__ __forceinline__ void survey_bars(const SurveyWork &work, int edges,
                                                   const BarsState *before, BarsState *bars,
                                                   CurveResult *result)
{
    const int words = (int)(sizeof(BarsState) / sizeof(uint32_t)), i = (int)threadIdx.x;
    static_assert(words <= CURVE_THREADS, "each thread moves one");
    if (!edges || bars_any(before))
        survey_find_bars(work, before, bars);
    else if (i == 0)
        *bars = bars_none(&work.bars, before);
    curve_barrier();
    if (i < words)
        ((uint32_t *)&result->bars)[i] = ((const uint32_t *)bars)[i];
}

#endif
