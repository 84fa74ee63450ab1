/* Selects the kernels in plain C, the only ones on this architecture. */
#include "equalizer/cpu/kernels.h"

unsigned lumeq_cpu_flags(void)
{
    return 0;
}

void lumeq_kernels_init(LumeqKernels *kernels, unsigned flags)
{
    (void)flags;
    lumeq_kernels_c(kernels);
}
