/* The options of lumeq-bench histogram. */
#ifndef LUMEQ_BENCH_HISTOGRAM_OPTIONS_H
#define LUMEQ_BENCH_HISTOGRAM_OPTIONS_H

#include "bench/histogram/histogram.h"
#include "bench/report.h"

#define HISTOGRAM_MAX_CHOICES 32

typedef enum HistogramSweep {
    HISTOGRAM_SWEEP_NONE,
    HISTOGRAM_SWEEP_SIZES,
    HISTOGRAM_SWEEP_BINS,
    HISTOGRAM_SWEEP_CONTENT,
    HISTOGRAM_SWEEP_LOAD_FACTOR
} HistogramSweep;

typedef struct HistogramOptions {
    HistogramJob job; /* without its elements */
    int64_t elements; /* 0: not said */
    int64_t pitch;
    const char *type, *content, *partition, *memory;
    int device; /* -1: not said, -2: all */
    int64_t seed;
    HistogramSweep sweep;
    int csv, json, bins_given, content_given;
    HistogramChoice choices[HISTOGRAM_MAX_CHOICES];
    int chosen;
    int gpu_wanted; /* something that was named needs one */
} HistogramOptions;

/* 0, 1 after the help, or -1 after a sentence on stderr. */
int histogram_options(HistogramOptions *options, int argc, char **argv);

#endif
