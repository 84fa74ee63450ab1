/* Shared by the parts of lumeq-bench histogram. */
#ifndef LUMEQ_BENCH_HISTOGRAM_H
#define LUMEQ_BENCH_HISTOGRAM_H

#include <stdint.h>

#include "bench/content.h"

#define HISTOGRAM_MAX_BINS 4096

typedef enum HistogramKind {
    HISTOGRAM_CPU,
    HISTOGRAM_CPU_SIMD,
    HISTOGRAM_GLOBAL, /* this and the following need a GPU */
    HISTOGRAM_SHARED,
    HISTOGRAM_SHARED_WARP,
    HISTOGRAM_SHARED_REPLICATED,
    HISTOGRAM_AGGREGATED,
    HISTOGRAM_CUB,
    HISTOGRAM_LUMEQ,
    HISTOGRAM_KINDS
} HistogramKind;

/* Times are medians in microseconds; NAN: not measured. */
typedef struct HistogramResult {
    double us, spread_us;
    double alone_us; /* each run begins after the one before has finished */
    uint32_t counts[HISTOGRAM_MAX_BINS];
} HistogramResult;

typedef struct HistogramGpu HistogramGpu;

/* Copies the picture to a GPU. Stores the bandwidth of a copy in device memory if `measure`.
 * Returns NULL after a sentence on stderr. */
HistogramGpu *histogram_gpu_open(const BenchPicture *picture, int device, int measure,
                                 double *copy_gb_s);

/* Counts with a strategy, and times it if `measure`. Returns 0, or -1 after a sentence. */
int histogram_gpu_run(HistogramGpu *gpu, HistogramKind kind, int measure, HistogramResult *result);

void histogram_gpu_close(HistogramGpu *gpu);

#endif
