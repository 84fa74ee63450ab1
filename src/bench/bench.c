#include "bench/bench.h"

#include <stdlib.h>
#include <time.h>

const BenchCommand bench_commands[] = {
    {"histogram", "compare ways to build a histogram", bench_histogram, bench_histogram_options},
    {"equalize", "equalize whole pictures, step by step, beside the copies that bound them",
     bench_equalize, bench_equalize_options},
    {"pipeline", "measure from file to file: each stage alone, and all together", bench_pipeline,
     bench_pipeline_options},
    {"streams", "play several live videos at once, and count late frames", bench_streams,
     bench_streams_options},
    {0},
};

double bench_now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double bench_median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof(*values), compare_doubles);
    return (values[(count - 1) / 2] + values[count / 2]) / 2;
}
