/* The strategies of lumeq-bench histogram. */
#ifndef LUMEQ_BENCH_STRATEGIES_H
#define LUMEQ_BENCH_STRATEGIES_H

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

#endif
