/* Finds which block of a kernel finishes last, to continue with the results of all. */
#ifndef LUMEQ_CUDA_LAST_BLOCK_CUH
#define LUMEQ_CUDA_LAST_BLOCK_CUH

#include <stdint.h>

/* Increments the counter; the last of `all` resets it to 0. Returns true for the last. It sees all
 * memory that other threads wrote before their increments. */
static __device__ __forceinline__ bool count_block_done(uint32_t *done, uint32_t all)
{
    uint32_t before;
    asm volatile("atom.acq_rel.gpu.global.inc.u32 %0, [%1], %2;"
                 : "=r"(before)
                 : "l"(done), "r"(all - 1)
                 : "memory");
    return before == all - 1;
}

/* The same for a group of threads that includes thread 0, with a barrier that orders the memory of
 * the others. */
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
