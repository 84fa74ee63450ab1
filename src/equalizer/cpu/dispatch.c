/* Selects the kernels for this CPU. */
#include "equalizer/cpu/kernels.h"

#if defined(__x86_64__) && defined(__LP64__)
unsigned lumeq_cpu_flags(void)
{
    unsigned flags = 0;
    __builtin_cpu_init();
    if (__builtin_cpu_supports("sse4.2"))
        flags |= LUMEQ_CPU_SSE42;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2"))
        flags |= LUMEQ_CPU_AVX2;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vbmi") &&
        __builtin_cpu_supports("avx512bitalg") && __builtin_cpu_supports("gfni"))
        flags |= LUMEQ_CPU_AVX512;
    return flags;
}

void lumeq_kernels_init(LumeqKernels *kernels, unsigned flags)
{
    lumeq_kernels_c(kernels);
    if (flags & LUMEQ_CPU_SSE42)
        lumeq_kernels_sse42(kernels);
    if (flags & LUMEQ_CPU_AVX2)
        lumeq_kernels_avx2(kernels);
    if (flags & LUMEQ_CPU_AVX512)
        lumeq_kernels_avx512(kernels);
}
#else
unsigned lumeq_cpu_flags(void)
{
#ifdef LUMEQ_NEON
    return LUMEQ_CPU_NEON;
#else
    return 0;
#endif
}

void lumeq_kernels_init(LumeqKernels *kernels, unsigned flags)
{
    lumeq_kernels_c(kernels);
    (void)flags;
#ifdef LUMEQ_NEON
    if (flags & LUMEQ_CPU_NEON)
        lumeq_kernels_neon(kernels);
#endif
}
#endif
