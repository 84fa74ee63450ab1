#include "bench/bench.h"

const BenchCommand bench_commands[] = {
    {"histogram", "every way to build a histogram, side by side", bench_histogram,
     bench_histogram_options},
    {"equalize", "whole pictures, step by step, beside what bounds them", bench_equalize,
     bench_equalize_options},
    {"pipeline", "from file to file: each stage alone, and all together", bench_pipeline,
     bench_pipeline_options},
    {"streams", "several live videos at once, and what is late", bench_streams,
     bench_streams_options},
    {0},
};
