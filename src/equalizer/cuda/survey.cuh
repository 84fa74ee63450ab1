/* The part of a kernel that counts for bars and noise, in blocks of their own. */
#ifndef LUMEQ_CUDA_SURVEY_CUH
#define LUMEQ_CUDA_SURVEY_CUH

#include "equalizer/cuda/survey_counts.cuh"

/* Without luma there is no survey. */
typedef struct SurveyWork {
    Luma now, before;
    BarsParams bars;
    Lines lines;
    NoiseCodes codes;
    int noise_blocks;
} SurveyWork;

static inline SurveyWork survey_of(const LumeqCudaCount *count)
{
    SurveyWork work = {};
    if (!count->luma.data)
        return work;
    work.now = luma_of(&count->luma);
    work.before = luma_of(&count->before);
    work.bars = count->bars;
    if (!count->bars.ignore)
        work.lines = lines_of(&count->bars);
    work.codes = noise_codes(&count->luma, &count->before, count->params);
    if (count->before.data)
        work.noise_blocks = noise_blocks(&work.codes);
    return work;
}

static inline unsigned survey_blocks(const SurveyWork *work)
{
    return (unsigned)(work->lines.column_blocks + work->lines.row_blocks + work->noise_blocks);
}

/* Counts the share of survey block number `block`; blocks with the longest work come first. All
 * threads call it. */
template <typename Sample>
static __device__ __forceinline__ void survey_count(const SurveyWork &work, int block,
                                                    LumeqCudaTally *tally)
{
    if (block < work.noise_blocks)
        count_noise<Sample>(work.now, work.before, work.codes, block, work.noise_blocks,
                            &tally->noise);
    else
        count_lines<Sample>(work.now, work.bars, work.lines, block - work.noise_blocks,
                            tally->lit[BARS_COLUMNS], tally->lit[BARS_ROWS]);
}

#endif
