/*
 * Histogram, survey and curve in one kernel; also the histogram only. Some blocks count into tables
 * in shared memory and then add them to common counters; other blocks count for the survey. The
 * block that finishes last evaluates the survey and computes the curve.
 *
 * Before including it, a .cu file includes survey_group.cuh, curve_group.cuh and chunks.cuh.
 */
#ifndef LUMEQ_CUDA_HISTOGRAM_CUH
#define LUMEQ_CUDA_HISTOGRAM_CUH

#include <stdint.h>

#include "equalizer/cuda/last_block.cuh"
#include "equalizer/cuda/survey.cuh"

/*
 * A block's tables. With one table per lane, each lane's table is in a bank of its own, so that
 * lanes never conflict, whatever the picture. If that does not fit there are fewer tables, one
 * after another, which are assigned to warps.
 */
template <int bins, int tables> struct Tables {
    static constexpr bool by_lane = tables == 32;
    static constexpr int words = bins * tables;
    static constexpr int scale =
        sizeof(uint32_t) * (by_lane ? tables : 1); /* bytes from one code's counter to the next */

    /* Offset of the thread's table, in bytes. */
    static __device__ __forceinline__ uint32_t own()
    {
        const uint32_t number = threadIdx.x / 32 % tables;
        return (by_lane ? threadIdx.x % 32 : number * bins) * (uint32_t)sizeof(uint32_t);
    }

    static __device__ __forceinline__ uint32_t sum(const uint32_t *counts, int bin)
    {
        uint32_t sum = 0;
#pragma unroll
        for (int i = 0; i < (by_lane ? 8 : tables); i++) {
            if (by_lane) { /* lanes start with different tables, to avoid bank conflicts */
                const uint4 four =
                    ((const uint4 *)counts)[bin * 8 + (int)(threadIdx.x + (unsigned)i) % 8];
                sum += four.x + four.y + four.z + four.w;
            } else {
                sum += counts[i * bins + bin];
            }
        }
        return sum;
    }
};

/* Adds the block's tables to the counters. Only the first CURVE_THREADS threads call it. */
template <int bins, int tables>
static __device__ __forceinline__ void merge(const uint32_t *counts, LumeqCudaCounters *counters)
{
    CURVE_EACH (bin, bins) {
        const uint32_t sum = Tables<bins, tables>::sum(counts, bin);
        if (sum)
            atomicAdd(&counters->hist[bin], sum);
    }
}

/* The addend is constant and the result unused, so the hardware merges lanes with equal addresses.
 */
static __device__ __forceinline__ void count(uint32_t *tables, uint32_t offset)
{
    atomicAdd((uint32_t *)((char *)tables + offset), 1u);
}

template <typename Sample, int scale>
static __device__ __forceinline__ void count_chunk(uint32_t *tables, uint32_t own, uint4 value,
                                                   const Codes &bins)
{
#pragma unroll
    for (int i = 0; i < CHUNK_BYTES / (int)sizeof(Sample); i++)
        count(tables, own | chunk_code<Sample, scale>(value, i, bins));
}

/* Counts the chunk at `at` while the thread's next chunk is being loaded. More loads in flight gain
 * nothing. */
template <typename Sample, int scale>
static __device__ __forceinline__ void count_one(uint32_t *tables, uint32_t own,
                                                 const Chunks &chunks, const Codes &bins,
                                                 ChunkPosition *at, uint4 *value)
{
    const uint4 now = *value;
    ChunkPosition next = *at;
    chunk_next(chunks, &next);
    if (chunk_is_there(chunks, next))
        *value = chunk_at(chunks, next);
    count_chunk<Sample, scale>(tables, own, now, bins);
    *at = next;
}

static __device__ __forceinline__ void clear(uint32_t *tables, int words)
{
    uint4 *const fours = (uint4 *)tables;
#pragma unroll
    for (int i = 0; i < words / 4; i += THREADS)
        if (words / 4 % THREADS == 0 || i + (int)threadIdx.x < words / 4)
            fours[i + threadIdx.x] = make_uint4(0, 0, 0, 0);
}

/* Counts the block's share of a plane in its tables. All threads call it; all have finished when it
 * returns. */
template <typename Sample, int bins, int tables>
static __device__ __forceinline__ void count_plane(uint32_t *counts, const Chunks &chunks,
                                                   const Codes &in_bins)
{
    typedef Tables<bins, tables> T;
    /* Opaque, to keep the compiler from computing it again for each sample. */
    uint32_t own = T::own();
    asm volatile("" : "+r"(own));

    ChunkPosition at = chunk_first(chunks);
    uint4 value = {};
    if (chunk_is_there(chunks, at))
        value = chunk_at(chunks, at);
    clear(counts, T::words); /* while the first chunk is loading */
    __syncthreads();
    while (chunk_is_there(chunks, at))
        count_one<Sample, T::scale>(counts, own, chunks, in_bins, &at, &value);
    for_each_at_ends<Sample>(chunks, [&](int row, int x) {
        const Sample sample = *(const Sample *)(chunks.data + (int64_t)row * chunks.stride + x);
        count(counts, own | code_of<Sample>(sample, in_bins) * (uint32_t)T::scale);
    });
    __syncthreads();
}

/* Lets the next kernel start when all blocks have come here. It loads or counts its samples, then
 * waits for the end of this kernel. */
static __device__ __forceinline__ void let_next_kernel_start(void)
{
#if __CUDA_ARCH__ >= 900
    cudaTriggerProgrammaticLaunchCompletion();
#endif
}

static __device__ __forceinline__ void block_barrier(void)
{
    __syncthreads();
}

/* True in the last block to finish counting. All threads call it. */
static __device__ __forceinline__ bool all_is_counted(LumeqCudaCounters *counters)
{
    return is_last_block<block_barrier>(&counters->blocks_done, gridDim.x);
}

static __device__ __forceinline__ void load_bins(const CurveParams &params, const CurveBin *from,
                                                 CurveBin *to)
{
    CURVE_EACH (i, params.bins)
        *(uint4 *)&CURVE_OWN(to, i) = __ldcg((const uint4 *)&from[i]);
}

/* Stores a frame's bins, and makes them the previous ones of the next frame. */
static __device__ __forceinline__ const CurveResult *
next_in_turn(const CurveParams &params, CurveResult *result, const CurveBin *now, CurveBin *was)
{
    curve_store(params, result, now);
    CURVE_EACH (i, params.bins)
        CURVE_OWN(was, i) = CURVE_OWN(now, i);
    curve_barrier();
    return result;
}

/* The part of a curve that needs no earlier frame. */
typedef struct Begun {
    CurveMeasured seen;
    int edges;
} Begun;

/* Loads and clears the counters, and computes what needs this frame only. */
static __device__ __forceinline__ Begun begin_curve(const CurveParams &params, uint32_t *counts,
                                                    const SurveyWork &survey,
                                                    const LumeqCudaSurvey *shared, CurveBin *now,
                                                    CurveWork *work)
{
    Begun begun;
    curve_load(params, counts, now);
    begun.edges = shared && !survey.bars.ignore && bars_edges(&survey.bars, &shared->lines);
    begun.seen = curve_begin(&params, now, work);
    return begun;
}

static __device__ __forceinline__ void keep_begun(const CurveParams &params, const Begun &begun,
                                                  const CurveBin *now, const CurveWork &work,
                                                  LumeqCudaBegun *to)
{
    CURVE_EACH (i, params.bins) {
        *(uint4 *)&to->now[i] = *(const uint4 *)&CURVE_OWN(now, i);
        to->hist[i] = work.hist[i];
        to->cum[i] = work.cum[i];
    }
    CURVE_EACH (i, 1) {
        to->seen = begun.seen;
        to->edges = begun.edges;
    }
}

static __device__ __forceinline__ Begun take_begun(const CurveParams &params,
                                                   const LumeqCudaBegun *from, CurveBin *now,
                                                   CurveWork *work)
{
    static_assert(sizeof(CurveMeasured) == 6 * sizeof(uint32_t), "it is moved as words");
    Begun begun;
    CURVE_EACH (i, params.bins) {
        *(uint4 *)&CURVE_OWN(now, i) = __ldcg((const uint4 *)&from->now[i]);
        work->hist[i] = __ldcg(&from->hist[i]);
        work->cum[i] = __ldcg(&from->cum[i]);
    }
#pragma unroll
    for (int i = 0; i < 6; i++)
        ((uint32_t *)&begun.seen)[i] = __ldcg((const uint32_t *)&from->seen + i);
    begun.edges = __ldcg(&from->edges);
    curve_barrier();
    return begun;
}

/* Finishes a frame's curve. `later`: see survey_bars(). */
template <typename Batch>
static __device__ __forceinline__ void
finish_curve(const CurveParams &params, CurveRates rates, const CurveResult *before,
             const SurveyWork &survey, const Batch &batch, int frame, bool later, Begun begun,
             const CurveBin *was, CurveResult *result, CurveBin *now, CurveTable *table,
             CurveWork *memory)
{
    __shared__ BarsState bars;
    if (survey.shared)
        survey_bars(survey, batch, frame, begun.edges, later, &before->bars, &bars, result);
    curve_finish(&params, rates, begun.seen, survey.shared ? &bars : &result->bars, before, was,
                 result, now, table, memory);
    curve_store(params, result, now);
}

/* Computes the curve of the block's frame; or only begins it, if it depends on others of the batch.
 */
static __device__ __forceinline__ void
find_curve(const CurveParams &params, const CurveResult *before, const LumeqCudaCurve &curve,
           const SurveyWork &survey, const LumeqCudaBatch &batch, int frame, CurveWork *memory)
{
    CurveBin was[CURVE_TURNS], now[CURVE_TURNS];
    const CurveRates rates = {batch.of[frame].alpha, batch.of[frame].slow};
    const Begun begun = begin_curve(params, in_batch(curve.counters, batch, frame)->hist, survey,
                                    in_batch(survey.shared, batch, frame), now, memory);
    if (!batch.together) {
        curve_wait_for_kernel_before(); /* waiting for this kernel then includes that one */
        keep_begun(params, begun, now, *memory, in_batch(curve.begun, batch, frame));
        return;
    }
    curve_recall(params, before, was);
    finish_curve(params, rates, before, survey, batch, frame, frame > 0, begun, was,
                 in_batch(curve.result, batch, frame), now, in_batch(curve.table, batch, frame),
                 memory);
}

/* The same for a frame alone. Begins with values of this frame only, because the previous frame may
 * not be finished. */
static __device__ __forceinline__ void
find_curve(const CurveParams &params, const CurveResult *before, const LumeqCudaCurve &curve,
           const SurveyWork &survey, const LumeqCudaAlone &alone, int frame, CurveWork *memory)
{
    CurveBin was[CURVE_TURNS], now[CURVE_TURNS];
    const CurveRates rates = {params.alpha, params.slow};
    const Begun begun =
        begin_curve(params, curve.counters->hist, survey, survey.shared, now, memory);
    curve_recall(params, before, was);
    finish_curve(params, rates, before, survey, alone, frame, false, begun, was, curve.result, now,
                 curve.table, memory);
}

/* The frames of a batch are side by side in the grid's second dimension. */
template <typename Sample, int bins, int tables, typename Batch>
static __global__ void __launch_bounds__(THREADS, BLOCKS_BESIDE)
    histogram(const __grid_constant__ Chunks chunks, const __grid_constant__ CurveParams params,
              const CurveResult *before, const __grid_constant__ LumeqCudaCurve curve,
              const __grid_constant__ SurveyWork survey, const __grid_constant__ Batch batch)
{
    __shared__ __align__(16) union {
        uint32_t counts[Tables<bins, tables>::words];
        CurveWork work; /* after the tables are no longer used */
    } memory;
    const Codes in_bins = {params.shift + params.fraction, (uint32_t)params.bins - 1};
    const int block = (int)blockIdx.x, frame = (int)blockIdx.y;
    LumeqCudaCounters *const counters = in_batch(curve.counters, batch, frame);
    let_next_kernel_start();
    if (block < chunks.blocks) {
        Chunks own = chunks;
        own.data = (uint8_t *)luma_in(chunks.data, batch, frame);
        count_plane<Sample, bins, tables>(memory.counts, own, in_bins);
        if (threadIdx.x < CURVE_THREADS)
            merge<bins, tables>(memory.counts, counters);
    } else {
        survey_count<Sample>(survey, batch, frame, block - chunks.blocks);
    }
    if (!all_is_counted(counters))
        return;
    /* The last warp takes no part in the curve, unless all warps do. */
    if (survey.shared && threadIdx.x / 32 == WARPS - 1)
        survey_noise(&in_batch(survey.shared, batch, frame)->noise,
                     in_batch(curve.result, batch, frame));
    if (threadIdx.x < CURVE_THREADS)
        find_curve(params, before, curve, survey, batch, frame, &memory.work);
}

/* Computes the bars of a batch's next frame, if it has a survey; returns them or the given ones. */
static __device__ __forceinline__ const BarsState *
bars_in_turn(const SurveyWork &survey, const LumeqCudaBatch &batch, int frame, int edges,
             const CurveResult *before, BarsState *bars, CurveResult *result)
{
    if (!survey.shared)
        return &result->bars;
    survey_bars(survey, batch, frame, edges, false, &before->bars, bars, result);
    return bars;
}

/*
 * The curves of a batch, one after another in a single block. With a lift it takes three kernels,
 * as most of the work needs no history: this one follows the scene, the second chooses the lifts of
 * all frames at the same time, and the third moves the curves. Without tables, for which the next
 * frame need not wait.
 */
static __global__ void __launch_bounds__(CURVE_THREADS)
    follow_in_turn(const __grid_constant__ CurveParams params, const CurveResult *before,
                   const __grid_constant__ LumeqCudaCurve curve,
                   const __grid_constant__ SurveyWork survey,
                   const __grid_constant__ LumeqCudaBatch batch)
{
    __shared__ __align__(16) CurveWork memory;
    __shared__ BarsState shared_bars;
    CurveBin was[CURVE_TURNS], now[CURVE_TURNS];
    let_next_kernel_start();
    curve_recall(params, before, was);
    for (int frame = 0; frame < batch.count; frame++) {
        const CurveRates rates = {batch.of[frame].alpha, batch.of[frame].slow};
        CurveResult *const result = in_batch(curve.result, batch, frame);
        LumeqCudaBegun *const kept = in_batch(curve.begun, batch, frame);
        Begun begun = take_begun(params, kept, now, &memory);
        const BarsState *const bars =
            bars_in_turn(survey, batch, frame, begun.edges, before, &shared_bars, result);
        if (params.lift) {
            LiftCode code[CURVE_OWNED(CURVE_CELLS)];
            const CurveResult *const old = curve_history(&params, before);
            CurveScene scene =
                curve_follow(&params, rates, &begun.seen, bars, old, was, result, now, &memory);
            curve_follow_lift(&params, &scene, scene.blank ? 0 : begun.seen.counted, rates.slow,
                              old, result, code, &memory);
            CURVE_EACH (i, 1) {
                kept->scene = scene;
                result->bins = (uint32_t)params.bins;
            }
        } else {
            curve_finish(&params, rates, begun.seen, bars, before, was, result, now, NULL, &memory);
        }
        before = next_in_turn(params, result, now, was);
    }
}

/* A block for each frame. */
static __global__ void __launch_bounds__(CURVE_THREADS)
    choose_lifts(const __grid_constant__ CurveParams params,
                 const __grid_constant__ LumeqCudaCurve curve,
                 const __grid_constant__ LumeqCudaBatch batch)
{
    __shared__ __align__(16) CurveWork memory;
    LiftCode code[CURVE_OWNED(CURVE_CELLS)];
    const int frame = (int)blockIdx.x;
    LumeqCudaBegun *const kept = in_batch(curve.begun, batch, frame);
    let_next_kernel_start();
    curve_wait_for_kernel_before();
    const CurveScene scene = kept->scene;
    CURVE_EACH (i, CURVE_CELLS)
        CURVE_OWN(code, i).count = in_batch(curve.result, batch, frame)->lift.share[i];
    const LiftChoice choice = curve_choose_lift(&params, &scene, code, &memory);
    curve_barrier();
    CURVE_EACH (i, CURVE_CELLS)
        kept->lifted[i] = memory.hist[i];
    CURVE_EACH (i, 1)
        kept->choice = choice;
}

static __global__ void __launch_bounds__(CURVE_THREADS)
    move_in_turn(const __grid_constant__ CurveParams params, const CurveResult *before,
                 const __grid_constant__ LumeqCudaCurve curve,
                 const __grid_constant__ LumeqCudaBatch batch)
{
    __shared__ __align__(16) CurveWork memory;
    CurveBin was[CURVE_TURNS], now[CURVE_TURNS];
    let_next_kernel_start();
    curve_recall(params, before, was);
    for (int frame = 0; frame < batch.count; frame++) {
        CurveResult *const result = in_batch(curve.result, batch, frame);
        const LumeqCudaBegun *const kept = in_batch(curve.begun, batch, frame);
        const CurveScene scene = kept->scene;
        const LiftChoice choice = kept->choice;
        load_bins(params, result->bin, now);
        CURVE_EACH (i, CURVE_CELLS)
            memory.hist[i] = __ldcg(&kept->lifted[i]);
        curve_barrier();
        (void)curve_move(&params, &scene, choice, curve_history(&params, before), was, result, now,
                         &memory);
        before = next_in_turn(params, result, now, was);
    }
}

/* A block for each frame. */
static __global__ void __launch_bounds__(CURVE_THREADS)
    make_tables(const __grid_constant__ CurveParams params,
                const __grid_constant__ LumeqCudaCurve curve,
                const __grid_constant__ LumeqCudaBatch batch)
{
    __shared__ CurveWork work;
    const int frame = (int)blockIdx.x;
    const CurveResult *const result = in_batch(curve.result, batch, frame);
    CurveBin now[CURVE_TURNS];
    load_bins(params, result->bin, now);
    curve_fill_table(&params, curve_lifted(&params, result), now,
                     in_batch(curve.table, batch, frame), &work);
}

/* ---- the counts alone ---- */

/* With more bins than this most of a block's counts are 0: it adds only the others to common
 * counters, and the last block reads them all. */
#define TALLY_BINS 1024

#define ADDED_BITS 16 /* low bits of a tally's bin: number of blocks that have added to it */

/* Position of a bin in the tally. Groups of 32 bytes are spread over all the memory, because
 * atomics on addresses close together are serialized. */
template <int bins>
static __device__ __forceinline__ unsigned long long *tally_bin(LumeqCudaTally *tally, int bin)
{
    return &tally->bin[bin / 4 * (4 * (LUMEQ_MAX_BINS / bins)) + bin % 4];
}

/* Adds the block's tables to the tally. The thread whose addition to a bin is the last one gets the
 * total from it, so that no block has to wait and read back the sums. */
template <int bins, int tables>
static __device__ __forceinline__ void add_to_tally(const uint32_t *counts, int last,
                                                    uint32_t *hist, LumeqCudaTally *tally)
{
    unsigned long long all[CURVE_TURNS];
    CURVE_EACH (bin, last + 1) {
        const unsigned long long sum = Tables<bins, tables>::sum(counts, bin);
        const unsigned long long own = sum << ADDED_BITS | 1;
        CURVE_OWN(all, bin) = own + atomicAdd(tally_bin<bins>(tally, bin), own);
    }
    CURVE_EACH (bin, last + 1) {
        if ((CURVE_OWN(all, bin) & ((1 << ADDED_BITS) - 1)) == gridDim.x) {
            curve_wait_for_kernel_before();
            hist[bin] = (uint32_t)(CURVE_OWN(all, bin) >> ADDED_BITS);
            *tally_bin<bins>(tally, bin) = 0;
        }
    }
}

/* Moves the counters to the result, and clears them. */
static __device__ __forceinline__ void take_counts(LumeqCudaCounters *counters, int last,
                                                   uint32_t *hist)
{
    curve_wait_for_kernel_before();
    CURVE_EACH (i, last + 1) {
        hist[i] = __ldcg(&counters->hist[i]);
        counters->hist[i] = 0;
    }
}

template <typename Sample, int bins, int tables>
static __global__ void __launch_bounds__(THREADS, BLOCKS_BESIDE)
    counts(const Chunks chunks, const Codes in_bins, uint32_t *hist, LumeqCudaTally *tally)
{
    __shared__ __align__(16) uint32_t own[Tables<bins, tables>::words];
    const int last = (int)in_bins.last;
    let_next_kernel_start();
    count_plane<Sample, bins, tables>(own, chunks, in_bins);
    if (bins <= TALLY_BINS) {
        if (threadIdx.x < CURVE_THREADS)
            add_to_tally<bins, tables>(own, last, hist, tally);
        return;
    }
    if (threadIdx.x < CURVE_THREADS)
        merge<bins, tables>(own, &tally->counters);
    if (all_is_counted(&tally->counters) && threadIdx.x < CURVE_THREADS)
        take_counts(&tally->counters, last, hist);
}

/* Loads a kernel, which CUDA otherwise does at its first launch. */
template <typename Kernel> static cudaError_t load(Kernel kernel)
{
    cudaFuncAttributes attributes;
    const cudaError_t error = cudaFuncGetAttributes(&attributes, kernel);
    return error ? error
                 : cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout,
                                        cudaSharedmemCarveoutMaxShared);
}

/* Launches a kernel that may start before the previous one on the stream has ended. */
template <typename... Arguments>
static cudaError_t launch(void (*kernel)(Arguments...), const LumeqCudaDevice *device, dim3 grid,
                          unsigned threads, cudaStream_t stream, Arguments... arguments)
{
    cudaLaunchAttribute early = {};
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = grid;
    config.blockDim = threads;
    config.stream = stream;
    config.attrs = &early;
    config.numAttrs = device->early_launches ? 1 : 0;
    return cudaLaunchKernelEx(&config, kernel, arguments...);
}

/* Launches a kernel over the planes of a batch, with `arguments` after the chunks, and with `more`
 * blocks for each. */
template <typename Sample, typename... Arguments>
static cudaError_t launch_over(void (*kernel)(const Chunks, Arguments...),
                               const LumeqCudaDevice *device, const LumeqCudaPlane *src, int count,
                               unsigned more, cudaStream_t stream, Arguments... arguments)
{
    Chunks chunks;
    const unsigned blocks =
        chunks_share(&chunks, src, src, sizeof(Sample), chunks_blocks(device->processors, count));
    return launch<Chunks, Arguments...>(kernel, device, dim3(blocks + more, (unsigned)count),
                                        THREADS, stream, chunks, arguments...);
}

/* Launches the kernels of a batch. */
template <typename Sample, typename Kernel>
static cudaError_t
launch_batch(Kernel kernel, const LumeqCudaDevice *device, const LumeqCudaPlane *src,
             const CurveParams *params, const CurveResult *before, const LumeqCudaCurve *curve,
             const SurveyWork &survey, const LumeqCudaBatch *batch, cudaStream_t stream)
{
    const unsigned count = (unsigned)batch->count;
    cudaError_t error =
        launch_over<Sample>(kernel, device, src, batch->count, survey_blocks(&survey), stream,
                            *params, before, *curve, survey, *batch);
    if (error || batch->together)
        return error;
    error = launch(follow_in_turn, device, 1, CURVE_THREADS, stream, *params, before, *curve,
                   survey, *batch);
    if (error || !params->lift)
        return error;
    error = launch(choose_lifts, device, count, CURVE_THREADS, stream, *params, *curve, *batch);
    return error ? error
                 : launch(move_in_turn, device, 1, CURVE_THREADS, stream, *params, before, *curve,
                          *batch);
}

/* Defines the functions of kernels.h for a sample type and a number of bins. `kernel`:
 * histogram<...> for a kind of batch. */
#define HISTOGRAM_FUNCTIONS(linkage, name, tables_name, Sample, kernel)                            \
    linkage cudaError_t name(const LumeqCudaDevice *device, const LumeqCudaPlane *src,             \
                             const CurveParams *params, const CurveResult *before,                 \
                             const LumeqCudaCurve *curve, const LumeqCudaSurveyJob *survey,        \
                             const LumeqCudaBatch *batch, cudaStream_t stream)                     \
    {                                                                                              \
        const SurveyWork work = survey_of(survey, params, batch->count);                           \
        return batch->count > 1 ? launch_batch<Sample>(kernel(LumeqCudaBatch), device, src,        \
                                                       params, before, curve, work, batch, stream) \
                                : launch_over<Sample>(kernel(LumeqCudaAlone), device, src, 1,      \
                                                      survey_blocks(&work), stream, *params,       \
                                                      before, *curve, work, LumeqCudaAlone());     \
    }                                                                                              \
    linkage cudaError_t tables_name(const CurveParams *params, const LumeqCudaCurve *curve,        \
                                    const LumeqCudaBatch *batch, cudaStream_t stream)              \
    {                                                                                              \
        const LumeqCudaDevice in_turn = {};                                                        \
        return launch(make_tables, &in_turn, (unsigned)batch->count, CURVE_THREADS, stream,        \
                      *params, *curve, *batch);                                                    \
    }

/* Loads their kernels. */
#define LOAD_HISTOGRAM(error, kernel)                                                              \
    do {                                                                                           \
        error = load(kernel(LumeqCudaAlone));                                                      \
        if (!error)                                                                                \
            error = load(kernel(LumeqCudaBatch));                                                  \
        if (!error)                                                                                \
            error = load(follow_in_turn);                                                          \
        if (!error)                                                                                \
            error = load(choose_lifts);                                                            \
        if (!error)                                                                                \
            error = load(move_in_turn);                                                            \
        if (!error)                                                                                \
            error = load(make_tables);                                                             \
    } while (0)

#endif
