/* Sums over the first 256 threads of a block, one for each code. Others do not take part. */
#ifndef LUMEQ_CUDA_GROUP_CUH
#define LUMEQ_CUDA_GROUP_CUH

#include <stdint.h>

#include "equalizer/cuda/warp.cuh"

#define GROUP_THREADS 256
#define GROUP_WARPS (GROUP_THREADS / 32)

static __device__ __forceinline__ void group_barrier(void)
{
    asm volatile("bar.sync 1, %0;" ::"n"(GROUP_THREADS) : "memory");
}

/* `scratch` has GROUP_WARPS elements, and is used by one sum only. */
static __device__ __forceinline__ uint32_t group_sum(uint32_t value, uint32_t *scratch)
{
    uint32_t sum = 0;
    value = warp_sum(value);
    if (threadIdx.x % 32 == 0)
        scratch[threadIdx.x / 32] = value;
    group_barrier();
#pragma unroll
    for (int i = 0; i < GROUP_WARPS; i++)
        sum += scratch[i];
    return sum;
}

/* The sum of the values of this thread and those before it; `scratch` as above. */
static __device__ __forceinline__ uint32_t group_scan(uint32_t value, uint32_t *scratch)
{
    const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
        const uint32_t left = __shfl_up_sync(~0u, value, step);
        if (lane >= step)
            value += left;
    }
    if (lane == 31)
        scratch[warp] = value;
    group_barrier();
#pragma unroll
    for (int i = 0; i < GROUP_WARPS - 1; i++)
        if (i < warp)
            value += scratch[i];
    return value;
}

#endif
