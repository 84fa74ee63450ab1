/*
 * The order of frames in a row, whose kernels run at the same time. A kernel starts when all blocks
 * of the one before it on the stream have; so what a frame waits for here is told by a kernel that
 * runs, and does come.
 */
#ifndef LUMEQ_CUDA_ROW_CUH
#define LUMEQ_CUDA_ROW_CUH

#include <stdint.h>

#include "equalizer/curve_types.h"

#define ROW_FN static __device__ __forceinline__

/* For all blocks of a kernel: the frame takes its number, one of the block with the number 0, and
 * then the next kernel may start, once all blocks are here. `row` NULL: it takes none. */
ROW_FN void row_begin(CurveRow *row, uint32_t *number)
{
    if (threadIdx.x != 0)
        return;
    if (row && blockIdx.x == 0)
        *number = atomicAdd(&row->begun, 1);
#if __CUDA_ARCH__ >= 900
    cudaTriggerProgrammaticLaunchCompletion();
#endif
}

/* Waits until so many frames have told. For one thread, before row_look(). */
ROW_FN void row_wait(const CurveRow *row, uint32_t count)
{
    for (;;) {
        uint32_t told;
        asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(told) : "l"(&row->told));
        if ((int32_t)(told - count) >= 0)
            return;
        __nanosleep(32);
    }
}

/* What was told is seen by the thread, and behind a barrier by its block. */
ROW_FN void row_look(void)
{
    asm volatile("fence.acq_rel.gpu;" ::: "memory");
}

/* For one thread, behind a barrier: all that the block wrote before is seen by who has waited. */
ROW_FN void row_tell(CurveRow *row, uint32_t number)
{
    asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(&row->told), "r"(number + 1)
                 : "memory");
}

/* Where this kernel started before the one in front of it on the stream had ended. */
ROW_FN void row_wait_for_kernel_before(void)
{
#if __CUDA_ARCH__ >= 900
    cudaGridDependencySynchronize();
#endif
}

#endif
