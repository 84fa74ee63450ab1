/*
 * For kernels that scale chroma: functions that load gains, and bound luma over saturated colours.
 *
 * Before including this file, a .cu file defines THREADS, the size of its blocks.
 */
#ifndef LUMEQ_CUDA_CHROMA_SCALE_CUH
#define LUMEQ_CUDA_CHROMA_SCALE_CUH

#include <stdint.h>

#include "equalizer/cuda/chroma_parts.cuh"

/* The planes of a frame of a batch. */
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

/* Loads the gains into shared memory, with all threads of a block, and computes CurveGain.free. */
static __device__ __forceinline__ void load_gains(CurveGain *gains, const CurveGain *from,
                                                  int depth, const CurveLegal &legal)
{
    for (int i = (int)threadIdx.x; i < CURVE_CELLS; i += THREADS) {
        CurveGain gain = from[i];
        gain.free = curve_free(gain, depth, legal.range);
        gains[i] = gain;
    }
}

/* ---- luma over saturated colours, after all luma is written --------------------------------- */

/* True if the frame's luma rises, and needs a bound. False if haze is cleared from luma, because
 * then clear.cu bounds it. All threads of a block call this function. */
static __device__ __forceinline__ bool is_raised(const CurveTable *table)
{
    int raised = 0;
    for (int i = (int)threadIdx.x; i < CURVE_CELLS; i += THREADS)
        raised |= curve_is_raised(table->gain[i]);
    return __syncthreads_or(raised) && !table->clear.light;
}

/* Bounds the luma of one chroma pixel. `left`: the larger component without haze; ~0: no haze. */
template <typename Sample>
static __device__ __forceinline__ void bound_pixel(const LumeqCudaChroma &c, uint32_t left,
                                                   int depth, int shift, uint32_t black, int x,
                                                   int y)
{
    const uint32_t own =
        max(*component<Sample>(c.in, c, 0, x, y), *component<Sample>(c.in, c, 1, x, y)) >> shift;
    const uint32_t chroma = min(own, left);
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
                curve_bounded_code((uint32_t)in[at] >> shift, was, chroma, depth, black, c.range);
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
    const int depth = sizeof(Sample) == 1 ? 8 : params.depth;
    const int shift = sizeof(Sample) == 1 ? 0 : params.shift;
    const int64_t all = (int64_t)c.width * c.height, step = (int64_t)gridDim.x * THREADS;
    for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i < all; i += step)
        bound_pixel<Sample>(c, ~0u, depth, shift, black, (int)(i % c.width), (int)(i / c.width));
}

#endif
