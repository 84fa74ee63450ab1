/* Replaces gpu.c in builds without CUDA; the library then finds no GPU. */
#include "bench/gpu.h"

int bench_copies(double *us, int device, size_t size, double seconds)
{
    (void)us, (void)device, (void)size, (void)seconds;
    return -1;
}

HistogramGpu *histogram_gpu_open(const BenchPicture *picture, int device)
{
    (void)picture, (void)device;
    return NULL;
}

int histogram_gpu_run(HistogramGpu *gpu, HistogramKind kind, int measure, HistogramResult *result)
{
    (void)gpu, (void)kind, (void)measure, (void)result;
    return -1;
}

void histogram_gpu_close(HistogramGpu *gpu)
{
    (void)gpu;
}
