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

/* `count`: number of frames in the batch. */
static inline SurveyWork survey_of(const LumeqCudaSurveyJob *job, const CurveParams *params,
                                   int count)
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
    work.noise_blocks = noise_blocks(&work.codes, count);
    work.shared = job->work;
    return work;
}

static inline unsigned survey_blocks(const SurveyWork *work)
{
    return (unsigned)(work->lines.column_blocks + work->lines.row_blocks + work->noise_blocks);
}

/* Pointers and times of one frame of a batch. */
static __device__ __forceinline__ const uint8_t *luma_in(const uint8_t *first,
                                                         const LumeqCudaBatch &batch, int frame)
{
    return first + batch.of[frame].in[0];
}

static __device__ __forceinline__ const uint8_t *previous_in(const uint8_t *first,
                                                             const LumeqCudaBatch &batch, int frame)
{
    return first + batch.of[frame].previous;
}

static __device__ __forceinline__ int64_t step_in(const BarsParams &, const LumeqCudaBatch &batch,
                                                  int frame)
{
    return batch.of[frame].step;
}

static __device__ __forceinline__ const uint8_t *luma_in(const uint8_t *first,
                                                         const LumeqCudaAlone &, int)
{
    return first;
}

static __device__ __forceinline__ const uint8_t *previous_in(const uint8_t *first,
                                                             const LumeqCudaAlone &, int)
{
    return first;
}

static __device__ __forceinline__ int64_t step_in(const BarsParams &bars, const LumeqCudaAlone &,
                                                  int)
{
    return bars.step;
}

/* Counts the share of a frame's survey block number `block`; blocks with the longest work come
 * first. All threads call it; all have finished when it returns. */
template <typename Sample, typename Batch>
static __device__ __forceinline__ void survey_count(const SurveyWork &work, const Batch &batch,
                                                    int frame, int block)
{
    LumeqCudaSurvey *const shared = in_batch(work.shared, batch, frame);
    const Luma now = {luma_in(work.now.data, batch, frame), work.now.stride};
    const Luma before = {previous_in(work.before.data, batch, frame), work.before.stride};
    if (block < work.noise_blocks)
        count_noise<Sample>(now, before, work.codes, block, work.noise_blocks, &shared->noise);
    else
        count_lines<Sample>(now, work.bars, work.lines, block - work.noise_blocks,
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
static __device__ __forceinline__ void survey_noise(NoiseProfile *counts, CurveResult *result)
{
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
static __device__ __noinline__ void survey_find_bars(const BarsParams &params, int64_t step,
                                                     const BarsProfile *lines,
                                                     const BarsState *before, BarsState *bars)
{
    __shared__ BarsWork memory;
    BarsParams own = params;
    own.step = step;
    const BarsState now = bars_update(&own, before, lines, &memory);
    if (threadIdx.x == 0)
        *bars = now;
}

/* Computes the bars of a frame of the batch from the previous ones, in shared memory and in the
 * result. `work`: of the first frame. `edges`: bars_edges(). `later`: the frame before is not the
 * one of `before`, but one that ignored bars as well. The group calls it after it has waited for
 * the previous kernel. */
template <typename Batch>
static __device__ __forceinline__ void
survey_bars(const SurveyWork &work, const Batch &batch, int frame, int edges, bool later,
            const BarsState *before, BarsState *bars, CurveResult *result)
{
    const int words = (int)(sizeof(BarsState) / sizeof(uint32_t)), i = (int)threadIdx.x;
    static_assert(words <= CURVE_THREADS, "each thread moves one");
    if (!edges || bars_any(before))
        survey_find_bars(work.bars, step_in(work.bars, batch, frame),
                         &in_batch(work.shared, batch, frame)->lines, before, bars);
    else if (i == 0)
        *bars = bars_none(&work.bars, before);
    if (later && i == 0)
        bars->grew = 0;
    curve_barrier();
    if (i < words)
        ((uint32_t *)&result->bars)[i] = ((const uint32_t *)bars)[i];
}

#endif
