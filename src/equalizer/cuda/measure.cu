/* Counts a frame in one kernel: some blocks count the histogram, others survey bars, haze and
 * noise, and the block that finishes last hands the counts over to the host. */
#include <stdint.h>

#define THREADS 1024
#include "equalizer/cuda/chunks.cuh"
#include "equalizer/cuda/count.cuh"
#include "equalizer/cuda/survey.cuh"

#define KIND8 uint8_t, 256, 32 /* sample type, bins, tables: one for each lane */
#define KIND16 uint16_t, LUMEQ_MAX_BINS, 1

/* Moves words to the host, and clears them. All threads of a block call it. */
static __device__ __forceinline__ void hand_over(uint32_t *host, uint32_t *from, int words)
{
    for (int i = (int)threadIdx.x; i < words; i += THREADS) {
        host[i] = __ldcg(&from[i]);
        from[i] = 0;
    }
}

/* Copies bytes to the host. */
static __device__ __forceinline__ void copy_over(uint8_t *host, const uint8_t *from, int size)
{
    for (int i = (int)threadIdx.x; i < (size + 15) / 16; i += THREADS)
        ((uint4 *)host)[i] = __ldcg((const uint4 *)from + i);
}

/* A block's y is the index of its frame in the batch. */
template <typename Sample, int bins, int tables>
static __global__ void __launch_bounds__(THREADS, BLOCKS_BESIDE)
    measure(const __grid_constant__ Chunks all_chunks, const Codes in_bins,
            const __grid_constant__ SurveyWork all_survey, LumeqCudaTally *first_tally,
            LumeqCudaTally *first_host, const __grid_constant__ LumeqCudaBatch batch)
{
    __shared__ __align__(16) uint32_t own[Tables<bins, tables>::words];
    const int frame = (int)blockIdx.y;
    LumeqCudaTally *const tally = in_batch(first_tally, batch, frame);
    LumeqCudaTally *const host = host_in_batch(first_host, batch, frame);
    Chunks chunks = all_chunks;
    SurveyWork survey = all_survey;
    LumeqCudaCount &planes = survey.count;
    chunks.data += batch.of[frame].in[0];
    planes.luma.data += batch.of[frame].in[0];
    planes.counted.data += batch.of[frame].in[0];
    for (int k = 0; k < 2; k++)
        if (planes.chroma[k].data) /* NULL (not measured) stays NULL */
            planes.chroma[k].data += batch.of[frame].in[planes.chroma[k].step == 2 ? 1 : 1 + k];
    planes.before.data += batch.of[frame].before;
    if ((int)blockIdx.x < chunks.blocks) {
        count_plane<Sample, bins, tables>(own, chunks, in_bins);
        merge<bins, tables>(own, tally->hist);
    } else {
        survey_count<Sample>(survey, (int)blockIdx.x - chunks.blocks, tally);
    }
    if (!is_last_block<block_barrier>(&tally->blocks_done, gridDim.x))
        return;
    hand_over(host->hist, tally->hist, (int)in_bins.last + 1);
    if (survey.noise_blocks)
        hand_over((uint32_t *)&host->noise, (uint32_t *)&tally->noise, NOISE_COUNTS);
    if (survey.haze_blocks)
        copy_over((uint8_t *)host->haze, (const uint8_t *)tally->haze, sizeof(tally->haze));
    if (!survey.lines.column_blocks)
        return;
    copy_over(host->lit[BARS_COLUMNS], tally->lit[BARS_COLUMNS], planes.bars.width);
    copy_over(host->lit[BARS_ROWS], tally->lit[BARS_ROWS], planes.bars.height);
}

extern "C" cudaError_t lumeq_cuda_load_count(int *version)
{
    cudaFuncAttributes attributes = {};
    cudaError_t error = load_with_shared(measure<KIND8>, measure<KIND16>);
    if (!error)
        error = cudaFuncGetAttributes(&attributes, measure<KIND8>);
    *version = attributes.ptxVersion;
    return error;
}

extern "C" cudaError_t lumeq_cuda_count(const LumeqCudaDevice *device, const LumeqCudaCount *count,
                                        const LumeqCudaBatch *batch, cudaStream_t stream)
{
    const CurveParams *p = count->params;
    const SurveyWork survey = survey_of(count);
    const Codes in_bins = {p->shift + p->fraction, (uint32_t)p->bins - 1};
    const unsigned more = survey_blocks(&survey);
    return p->depth == 8
               ? launch_over<uint8_t>(measure<KIND8>, device, &count->counted, batch->count, more,
                                      stream, in_bins, survey, count->tally, count->host, *batch)
               : launch_over<uint16_t>(measure<KIND16>, device, &count->counted, batch->count, more,
                                       stream, in_bins, survey, count->tally, count->host, *batch);
}
