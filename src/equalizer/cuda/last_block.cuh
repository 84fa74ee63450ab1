/* Which block of a kernel is the last to be done: it goes on with what all have found. */
#ifndef LUMEQ_CUDA_LAST_BLOCK_CUH
#define LUMEQ_CUDA_LAST_BLOCK_CUH

#include <stdint.h>

/* Adds one, back to zero after the last of `all`; answers whether this was the last. All that the
 * threads wrote before their addition is seen after this one. For one thread of a group, whose
 * barriers before and after order the others' memory around it. */
static __device__ __forceinline__ bool is_last_block(uint32_t *done, uint32_t all)
{
    uint32_t before;
    asm volatile("atom.acq_rel.gpu.global.inc.u32 %0, [%1], %2;"
                 : "=r"(before)
                 : "l"(done), "r"(all - 1)
                 : "memory");
    return before == all - 1;
}

#endif
