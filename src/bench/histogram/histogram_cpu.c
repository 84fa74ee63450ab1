/* Histograms on one CPU core. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/engine.h"
#include "bench/bench.h"
#include "bench/histogram/histogram.h"
#include "equalizer/cpu/kernels.h"

/* Number of timed runs, and the time after which MIN_RUNS are enough. */
#define MIN_RUNS 5
#define MAX_RUNS 101
#define ENOUGH_US 100e3

/* A run repeats its work for at least this long, so that reading the clock does not matter. */
#define RUN_US 50

typedef void Count(uint32_t *counts, const HistogramJob *job);

#define DEFINE_COUNT(bits)                                                                         \
    static void count##bits(uint32_t *counts, const HistogramJob *job)                             \
    {                                                                                              \
        for (int y = 0; y < job->height; y++) {                                                    \
            const uint##bits##_t *row = (const void *)(job->data + (size_t)y * job->pitch);        \
            for (int x = 0; x < job->width; x++)                                                   \
                counts[row[x]]++;                                                                  \
        }                                                                                          \
    }                                                                                              \
    static void saturate##bits(uint32_t *counts, const HistogramJob *job)                          \
    {                                                                                              \
        for (int y = 0; y < job->height; y++) {                                                    \
            const uint##bits##_t *row = (const void *)(job->data + (size_t)y * job->pitch);        \
            for (int x = 0; x < job->width; x++)                                                   \
                counts[row[x]] += counts[row[x]] < job->saturate;                                  \
        }                                                                                          \
    }

DEFINE_COUNT(8)
DEFINE_COUNT(16)
DEFINE_COUNT(32)

static Count *plain_loop(const HistogramJob *job)
{
    switch (job->sample_size) {
    case 1: return job->saturate ? saturate8 : count8;
    case 2: return job->saturate ? saturate16 : count16;
    default: return job->saturate ? saturate32 : count32;
    }
}

static void count_simd(uint32_t *counts, const HistogramJob *job)
{
    LumeqKernels kernels;
    CurveParams params = {.depth = 8, .bins = 256};
    lumeq_kernels_init(&kernels, lumeq_cpu_flags() & ~engine_cpu_without());
    if (job->sample_size == 2)
        params = (CurveParams){.depth = 12, .bins = job->bins};
    LumeqHistogramKernel *const kernel =
        job->sample_size == 2 ? kernels.histogram16 : kernels.histogram8;
    kernel(counts, job->data, (ptrdiff_t)job->pitch, job->width, job->height, &params);
    for (int i = 0; job->saturate && i < job->bins; i++)
        if (counts[i] > job->saturate)
            counts[i] = job->saturate;
}

static void run_once(HistogramOutcome *outcome, const HistogramJob *job, Count *count)
{
    memset(outcome->counts, 0, sizeof(outcome->counts));
    count(outcome->counts, job);
    uint32_t sum = 0;
    for (int i = 0; job->cumulate && i < job->bins; i++)
        outcome->sums[i] = sum += outcome->counts[i];
}

static double time_runs(HistogramOutcome *outcome, const HistogramJob *job, Count *count, int runs)
{
    const double start = bench_now_us();
    for (int i = 0; i < runs; i++)
        run_once(outcome, job, count);
    return (bench_now_us() - start) / runs;
}

void histogram_cpu(HistogramOutcome *outcome, const HistogramJob *job, HistogramKind kind)
{
    double times[MAX_RUNS];
    int count = 0;
    outcome->up_us = outcome->down_us = outcome->peak_gb_s = outcome->copy_gb_s = NAN;
    outcome->status = HISTOGRAM_SKIPPED;
    if (kind == HISTOGRAM_CPU_SIMD && job->sample_size == 4) {
        snprintf(outcome->why, sizeof(outcome->why), "there are no kernels for u32");
        return;
    }
    outcome->status = HISTOGRAM_DONE;
    outcome->us = outcome->spread_us = outcome->alone_us = NAN;
    Count *const how = kind == HISTOGRAM_CPU ? plain_loop(job) : count_simd;
    if (job->saturate) { /* count without the limit as well */
        HistogramJob whole = *job;
        whole.saturate = 0;
        memset(outcome->whole, 0, sizeof(outcome->whole));
        (kind == HISTOGRAM_CPU ? plain_loop(&whole) : count_simd)(outcome->whole, &whole);
    }
    if (job->check_only) {
        run_once(outcome, job, how);
        return;
    }
    const int runs = 1 + (int)(RUN_US / time_runs(outcome, job, how, 1));
    const double start = bench_now_us();
    while (count < MIN_RUNS || (count < MAX_RUNS && bench_now_us() - start < ENOUGH_US))
        times[count++] = time_runs(outcome, job, how, runs);
    outcome->us = bench_median(times, count); /* sorts */
    outcome->spread_us = times[count * 3 / 4] - times[count / 4];
}
