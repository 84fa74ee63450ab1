/* Measurements of lumeq-bench that need CUDA; no_cuda.c replaces gpu.c in builds without it. */
#ifndef LUMEQ_BENCH_GPU_H
#define LUMEQ_BENCH_GPU_H

#include <stddef.h>
#include <stdint.h>

#include "bench/content.h"

/* Copies pieces of `size` bytes between pinned memory and the GPU, in both directions at the same
 * time, for about `seconds`. Sets *us to the mean time for one piece in each direction. Returns 0,
 * or -1 after a sentence on stderr. Builds without CUDA only return -1. */
int bench_copies(double *us, int device, size_t size, double seconds);

/* ---- histograms ---- */

#define HISTOGRAM_MAX_BINS 4096

/* The strategies of lumeq-bench histogram. */
typedef enum HistogramKind {
    HISTOGRAM_CPU,
    HISTOGRAM_CPU_SIMD,
    HISTOGRAM_CUB,   /* needs a GPU */
    HISTOGRAM_LUMEQ, /* needs a GPU */
    HISTOGRAM_KINDS
} HistogramKind;

typedef struct HistogramResult {
    double us, spread_us; /* median time; distance between the quartiles. NAN: not measured */
    uint32_t counts[HISTOGRAM_MAX_BINS];
} HistogramResult;

typedef struct HistogramGpu HistogramGpu;

/* Copies the picture to a GPU. Returns NULL after a sentence on stderr. */
HistogramGpu *histogram_gpu_open(const BenchPicture *picture, int device);

/* Counts with a strategy; `measure`: also times it. Returns 0, or -1 after a sentence on stderr. */
int histogram_gpu_run(HistogramGpu *gpu, HistogramKind kind, int measure, HistogramResult *result);

void histogram_gpu_close(HistogramGpu *gpu);

#endif
