/* Selects the kernels on 64-bit ARM. */
#include "equalizer/cpu/kernels.h"

unsigned lumeq_cpu_flags(void)
{
    return LUMEQ_CPU_NEON;
}

void lumeq_kernels_init(LumeqKernels *kernels, unsigned flags)
{
    lumeq_kernels_c(kernels);
    if (flags & LUMEQ_CPU_NEON)
        lumeq_kernels_neon(kernels);
}
