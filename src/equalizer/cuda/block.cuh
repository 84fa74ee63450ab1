/* Functions that the threads of a block call together. A block's first 256 threads are called its
 * group; each works on one code. */
#ifndef LUMEQ_CUDA_BLOCK_CUH
#define LUMEQ_CUDA_BLOCK_CUH

#include <stdint.h>

static __device__ __forceinline__ uint32_t warp_sum(uint32_t value)
{
#if __CUDA_ARCH__ >= 800
    return __reduce_add_sync(~0u, value);
#else
    for (int lanes = 16; lanes; lanes /= 2)
        value += __shfl_xor_sync(~0u, value, lanes);
    return value;
#endif
}

#define GROUP_THREADS 256
#define GROUP_WARPS (GROUP_THREADS / 32)

static __device__ __forceinline__ void group_barrier(void)
{
    asm volatile("bar.sync 1, %0;" ::"n"(GROUP_THREADS) : "memory");
}

/* The sum over the group. `scratch`: GROUP_WARPS elements; each call needs its own. */
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

/* The sum over the group's threads up to this one; `scratch` as above. */
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

/* Increments the counter. After `all` calls, the counter is 0 again. The last call returns true,
 * and its thread sees all memory that other threads wrote before their calls. */
static __device__ __forceinline__ bool count_block_done(uint32_t *done, uint32_t all)
{
    uint32_t before;
    asm volatile("atom.acq_rel.gpu.global.inc.u32 %0, [%1], %2;"
                 : "=r"(before)
                 : "l"(done), "r"(all - 1)
                 : "memory");
    return before == all - 1;
}

/* Calls count_block_done() once for the block. All threads that `barrier` synchronizes must call
 * this function, and all get the result; thread 0 must be one of them. */
template <void barrier()>
static __device__ __forceinline__ bool is_last_block(uint32_t *done, uint32_t all)
{
    __shared__ bool last;
    barrier();
    if (threadIdx.x == 0)
        last = count_block_done(done, all);
    barrier();
    return last;
}

#endif
