/* Stands in for pcie.c in builds without CUDA. */
#include "bench/pcie.h"

#include <stdio.h>

int bench_pcie(double *us, long *count, int device, PcieWay way, size_t size, double seconds,
               char *text, size_t text_size)
{
    (void)us, (void)count, (void)device, (void)way, (void)size, (void)seconds;
    snprintf(text, text_size, "this build has no CUDA");
    return -1;
}

double bench_gpu_memory(int device)
{
    (void)device;
    return -1;
}
