#include "bench/bench.h"

const BenchCommand bench_commands[] = {
    {"histogram", "compare ways to build a histogram", bench_histogram, bench_histogram_options},
    {"equalize", "measure whole pictures against the copies that limit them", bench_equalize,
     bench_equalize_options},
    {"streams", "play several live videos at once, and count late frames", bench_streams,
     bench_streams_options},
    {0},
};
