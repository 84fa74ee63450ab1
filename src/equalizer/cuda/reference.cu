/* OpenCV's equalizeHist: histogram, curve and table in one kernel. The block that finishes counting
 * a frame last makes the frame's curve. */
#include <stdint.h>

#include "equalizer/cuda/block.cuh"

#define THREADS 512
#include "equalizer/cuda/chunks.cuh"
#include "equalizer/cuda/count.cuh"
#include "equalizer/reference.h"

#define TABLES 8

static_assert(GROUP_THREADS == REFERENCE_CODES, "a thread for each code");

typedef struct Scratch {
    uint32_t sums[2][GROUP_WARPS], first, base, total;
} Scratch;

/* The block's first GROUP_THREADS threads make a frame's curve from its counters, and clear the
 * counters. They send the counts to the host first, because that takes longest. */
static __device__ __forceinline__ void make_curve(const CurveParams &params, uint32_t *hist,
                                                  uint32_t *host, CurveTable *table,
                                                  Scratch *scratch)
{
    const uint32_t code = threadIdx.x, count = __ldcg(&hist[code]);
    host[code] = count;
    hist[code] = 0;
    const uint32_t sum = group_scan(count, scratch->sums[0]);
    const uint32_t first = group_sum(sum == 0, scratch->sums[1]);
    if (code == first)
        scratch->base = sum;
    if (code == REFERENCE_CODES - 1)
        scratch->total = sum;
    group_barrier();
    const uint32_t base = scratch->base, total = scratch->total;
    const uint32_t out =
        reference_code(code, sum, first, base, total, reference_scale(base, total));
    wait_for_kernel_before(); /* so waiting for this kernel includes the one before */
    table->codes8[code] = (uint8_t)out;
    table->gain[code] = curve_gain_over(&params, code << 16, out << 16, curve_gain_rule(0));
    if (code == 0)
        table->lift.luma_on = table->lift.chroma_on = 0;
}

/* A block's y is the index of its frame in the batch. */
static __global__ void __launch_bounds__(THREADS, BLOCKS_BESIDE)
    reference(const __grid_constant__ Chunks chunks, const __grid_constant__ CurveParams params,
              LumeqCudaTally *tally, LumeqCudaTally *host, CurveTable *table,
              const __grid_constant__ LumeqCudaBatch batch)
{
    __shared__ __align__(16) uint32_t own[Tables<REFERENCE_CODES, TABLES>::words];
    __shared__ Scratch scratch;
    const Codes codes = {0, REFERENCE_CODES - 1};
    const int frame = (int)blockIdx.y;
    LumeqCudaTally *const counted = in_batch(tally, batch, frame);
    Chunks in_frame = chunks;
    in_frame.data += batch.of[frame].in[0];
    let_next_kernel_start();
    count_plane<uint8_t, REFERENCE_CODES, TABLES>(own, in_frame, codes);
    merge<REFERENCE_CODES, TABLES>(own, counted->hist);
    if (is_last_block<block_barrier>(&counted->blocks_done, gridDim.x) &&
        threadIdx.x < GROUP_THREADS)
        make_curve(params, counted->hist, host_in_batch(host, batch, frame)->hist,
                   in_batch(table, batch, frame), &scratch);
}

extern "C" cudaError_t lumeq_cuda_load_reference(void)
{
    return load_with_shared(reference);
}

extern "C" cudaError_t lumeq_cuda_reference(const LumeqCudaDevice *device,
                                            const LumeqCudaPlane *src, const CurveParams *params,
                                            LumeqCudaTally *tally, LumeqCudaTally *host,
                                            CurveTable *table, const LumeqCudaBatch *batch,
                                            cudaStream_t stream)
{
    return launch_over<uint8_t>(reference, device, src, batch->count, 0, stream, *params, tally,
                                host, table, *batch);
}
