/* Reductions over a whole warp. */
#ifndef LUMEQ_CUDA_WARP_CUH
#define LUMEQ_CUDA_WARP_CUH

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

#endif
