/*
 * The group of threads that computes a curve: the first CURVE_THREADS of a block. Thread t has the
 * bins t, t + CURVE_THREADS and so on. Before including it, a .cu file defines CURVE_THREADS (256,
 * 512 or 1024) and, if it has fewer than all bins, CURVE_BINS.
 */
#ifndef LUMEQ_CUDA_CURVE_GROUP_CUH
#define LUMEQ_CUDA_CURVE_GROUP_CUH

#include <stdint.h>

#include "equalizer/cuda/warp.cuh"
#include "lumeq/lumeq.h"

#ifndef CURVE_BINS
#define CURVE_BINS LUMEQ_MAX_BINS
#endif

#define CURVE_WARPS (CURVE_THREADS / 32)
#define CURVE_TURNS (CURVE_BINS / CURVE_THREADS)
static_assert(CURVE_TURNS * CURVE_THREADS == CURVE_BINS, "each thread has as many bins");

#define CURVE_FN static __device__ __forceinline__
#define CURVE_CALL static __device__ __noinline__
#define CURVE_INVERSE(d) curve_inverse(d)
/* CURVE_EACH loops over the thread's bins; CURVE_OWN(array, i) is an array's element for bin i. */
#define CURVE_EACH(i, n)                                                                           \
    _Pragma("unroll") for (int i##_turn = 0; i##_turn < CURVE_TURNS;                               \
                           i##_turn++) if (const int i =                                           \
                                               i##_turn * CURVE_THREADS + (int)threadIdx.x;        \
                                           i < (n))
#define CURVE_OWN(bins, i) ((bins)[i##_turn])
#define CURVE_OWNED(n) (((n) + CURVE_THREADS - 1) / CURVE_THREADS)
#define CURVE_ROLLED _Pragma("unroll 1")

CURVE_FN float curve_inverse(float d)
{
    float inverse;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(d));
    return inverse;
}

/* A barrier for the group only: other warps of the block have ended, or do not call it. */
CURVE_FN void curve_barrier(void)
{
    asm volatile("bar.sync 1, %0;" ::"n"(CURVE_THREADS) : "memory");
}

CURVE_FN uint32_t curve_warp_scan(uint32_t value)
{
    const int lane = (int)threadIdx.x % 32;
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
        const uint32_t left = __shfl_up_sync(~0u, value, step);
        if (lane >= step)
            value += left;
    }
    return value;
}

/* `scratch` is aligned to 16 bytes. */
CURVE_FN uint32_t curve_sum(uint32_t value, uint32_t *scratch)
{
    value = warp_sum(value);
    if (threadIdx.x % 32 == 0)
        scratch[threadIdx.x / 32] = value;
    curve_barrier();
    if (CURVE_WARPS > 8) {
        const uint32_t lane = threadIdx.x % 32;
        return warp_sum(lane < CURVE_WARPS ? scratch[lane] : 0);
    }
    static_assert(CURVE_WARPS >= 8, "two vectors hold what 8 warps summed up");
    const uint4 a = ((const uint4 *)scratch)[0], b = ((const uint4 *)scratch)[1];
    return a.x + a.y + a.z + a.w + b.x + b.y + b.z + b.w;
}

CURVE_FN uint32_t curve_max(uint32_t value, uint32_t *scratch)
{
    value = warp_max(value);
    if (threadIdx.x % 32 == 0)
        scratch[threadIdx.x / 32] = value;
    curve_barrier();
    return warp_max(scratch[threadIdx.x % CURVE_WARPS]);
}

/* `scratch` has 64 elements. */
CURVE_FN void curve_sum2(uint32_t values[2], uint32_t *scratch)
{
#pragma unroll
    for (int i = 0; i < 2; i++) {
        const uint32_t sum = warp_sum(values[i]);
        if (threadIdx.x % 32 == 0)
            scratch[i * 32 + threadIdx.x / 32] = sum;
    }
    curve_barrier();
#pragma unroll
    for (int i = 0; i < 2; i++) {
        const uint32_t lane = threadIdx.x % 32;
        values[i] = warp_sum(lane < CURVE_WARPS ? scratch[i * 32 + lane] : 0);
    }
}

/* The bins of a cell belong to neighbouring lanes. */
CURVE_FN uint32_t curve_cell(const uint32_t *values, int i, int width)
{
    uint32_t sum = values[i];
    for (int lanes = 1; lanes < width; lanes *= 2)
        sum += __shfl_xor_sync(~0u, sum, lanes);
    return sum;
}

CURVE_FN uint32_t curve_any(uint32_t condition)
{
    uint32_t any;
    asm volatile("{ .reg .pred mine, any;\n"
                 "setp.ne.u32 mine, %1, 0;\n"
                 "bar.red.or.pred any, 1, %2, mine;\n"
                 "selp.u32 %0, 1, 0, any; }"
                 : "=r"(any)
                 : "r"(condition), "n"(CURVE_THREADS)
                 : "memory");
    return any;
}

/* Computes the sums before the bins of this warp, for each of a thread's bins, from the warps'
 * sums. */
template <int turns> CURVE_FN void curve_scan_warps(uint32_t before[turns], const uint32_t *sums)
{
    const int warp = (int)threadIdx.x / 32;
    if (turns == 1 && CURVE_WARPS == 8) { /* faster than a second scan */
        before[0] = 0;
#pragma unroll
        for (int i = 0; i < CURVE_WARPS - 1; i++)
            if (i < warp)
                before[0] += sums[i];
        return;
    }
    uint32_t turns_before = 0;
#pragma unroll
    for (int turn = 0; turn < turns; turn++) {
        const uint32_t own = sums[turn * CURVE_WARPS + threadIdx.x % CURVE_WARPS];
        const uint32_t sum = curve_warp_scan(own);
        before[turn] = turns_before + __shfl_sync(~0u, sum - own, warp);
        turns_before += __shfl_sync(~0u, sum, CURVE_WARPS - 1);
    }
}

template <int turns> CURVE_FN void curve_scan_turns(uint32_t *values, int n, uint32_t *scratch)
{
    const int thread = (int)threadIdx.x, warp = thread / 32, lane = thread % 32;
    uint32_t sums[turns], before[turns];
#pragma unroll
    for (int turn = 0; turn < turns; turn++) {
        const int i = turn * CURVE_THREADS + thread;
        sums[turn] = curve_warp_scan(i < n ? values[i] : 0);
        if (lane == 31)
            scratch[turn * CURVE_WARPS + warp] = sums[turn];
    }
    curve_barrier();
    curve_scan_warps<turns>(before, scratch);
#pragma unroll
    for (int turn = 0; turn < turns; turn++)
        if (const int i = turn * CURVE_THREADS + thread; i < n)
            values[i] = before[turn] + sums[turn];
    curve_barrier();
}

/* `n` is at most CURVE_BINS. */
CURVE_CALL void curve_scan(uint32_t *values, int n, uint32_t *scratch)
{
    if (CURVE_TURNS == 1 || n <= CURVE_THREADS)
        curve_scan_turns<1>(values, n, scratch);
    else
        curve_scan_turns<CURVE_TURNS>(values, n, scratch);
}

/* Waits for the previous kernel on the stream, if this one started early. */
CURVE_FN void curve_wait_for_kernel_before(void)
{
#if __CUDA_ARCH__ >= 900
    cudaGridDependencySynchronize();
#endif
}

#include "equalizer/curve_types.h"

static_assert(sizeof(CurveBin) == sizeof(uint4), "a bin is moved as one vector");

/* Loads everything before the bins into the L1 cache, to avoid a series of slow loads later. */
CURVE_FN void curve_fetch_head(const CurveResult *before)
{
    const int words = (int)(offsetof(CurveResult, bin) / sizeof(uint32_t));
    for (int i = (int)threadIdx.x; i < words; i += CURVE_THREADS)
        asm volatile("{ .reg .u32 word;\n"
                     "ld.global.ca.u32 word, [%0]; }" ::"l"((const uint32_t *)before + i));
}

/* Waits for the previous frame's result, and loads the thread's part of it. */
CURVE_FN void curve_recall(const CurveParams &params, const CurveResult *before, CurveBin *was)
{
    curve_wait_for_kernel_before();
    curve_fetch_head(before);
    CURVE_EACH (i, params.bins)
        *(uint4 *)&CURVE_OWN(was, i) = __ldcg((const uint4 *)&before->bin[i]);
}

#include "equalizer/curve.h"

/* Loads the counters, and clears them. */
CURVE_FN void curve_load(const CurveParams &params, uint32_t *counts, CurveBin *now)
{
    CURVE_EACH (i, params.bins) {
        CURVE_OWN(now, i).hist = __ldcg(&counts[i]);
        counts[i] = 0;
    }
}

CURVE_FN void curve_store(const CurveParams &params, CurveResult *result, const CurveBin *now)
{
    CURVE_EACH (i, params.bins)
        *(uint4 *)&result->bin[i] = *(const uint4 *)&CURVE_OWN(now, i);
}

#endif
