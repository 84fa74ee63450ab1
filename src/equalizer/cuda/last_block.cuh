/* Which block of a kernel is the last to be done: it goes on with what all have found. */
#ifndef LUMEQ_CUDA_LAST_BLOCK_CUH
#define LUMEQ_CUDA_LAST_BLOCK_CUH

#include <stdint.h>

/* Adds one, back to zero after the last of `all`; answers whether this was the last. All that the
 * threads wrote before their addition is seen after this one. */
static __device__ __forceinline__ bool count_block_done(uint32_t *done, uint32_t all)
{
    uint32_t before;
    asm volatile("atom.acq_rel.gpu.global.inc.u32 %0, [%1], %2;"
                 : "=r"(before)
                 : "l"(done), "r"(all - 1)
                 : "memory");
    return before == all - 1;
}

/* The same of a group of threads, the block's first one among them, with its barrier, which orders
 * the others' memory. */
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
