/* lumeq-bench histogram: compares ways to build a histogram; checks each against a plain loop. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/engine.h"
#include "bench/bench.h"
#include "bench/gpu.h"
#include "equalizer/cpu/kernels.h"

#define STRATEGIES "cpu|cpu-simd|cub|lumeq"

/* Limits of the number of timed runs on the CPU, and the time after which MIN_RUNS are enough. */
#define MIN_RUNS 5
#define MAX_RUNS 101
#define ENOUGH_US 100e3

/* A run repeats its work for at least this long, so that reading the clock does not matter. */
#define RUN_US 50

typedef struct HistogramOptions {
    BenchPictures pictures;
    BenchList strategies;
    int check_only;
} HistogramOptions;

typedef struct Run {
    HistogramOptions options;
    char content[32];
    BenchPicture picture;
    int has_gpu;
    HistogramResult reference, result;
} Run;

/* ---- options ---- */

const BenchOption bench_histogram_options[] = {
    BENCH_PICTURE_OPTIONS("3840x2160", "natural", "8|10|12"),
    {"--strategy", "LIST", "strategies, separated by commas [all]",
     BENCH_STORE(LIST, HistogramOptions, strategies), .allowed = STRATEGIES},
    {"--check", NULL, "check the results without measuring",
     BENCH_STORE(FLAG, HistogramOptions, check_only)},
    BENCH_FORMAT_OPTIONS,
};

static void print_notes(void)
{
    printf("\nStrategies: cpu, a plain loop on one core; cpu-simd, lumeq's kernels on one core;\n"
           "cub, CUB's HistogramEven on the GPU; lumeq, lumeq's kernels on the GPU.\n\n"
           "GPU times are medians over replays of a graph and include clearing the counters.\n"
           "The graph counts up to 1024 copies of the picture, together several times as large\n"
           "as the L2 cache. Pictures below some hundred KB are too small for that and stay in\n"
           "the cache. On the CPU, each run counts the same picture. noise is the distance\n"
           "between the quartiles, relative to the median.\n" BENCH_ORIGIN_HELP);
}

static int read_options(HistogramOptions *o, int argc, char **argv)
{
    *o = (HistogramOptions){
        .pictures = {.bits = "8", .contents = {1, {BENCH_NATURAL}}, .common.seed = 1}};
    bench_take_sizes(o, "3840x2160");
    const int ret = bench_arguments("histogram", bench_histogram_options, o, argc, argv);
    if (ret > 0)
        print_notes();
    return ret;
}

/* ---- rows ---- */

static void print_row(const Run *run, HistogramKind kind, const char *strategy,
                      const HistogramResult *r)
{
    const BenchPicture *const p = &run->picture;
    char device[16], size[32];
    snprintf(device, sizeof(device), "%d", run->options.pictures.device);
    snprintf(size, sizeof(size), "%dx%d", p->width, p->height);
    bench_text("strategy", "strategy", 17, strategy);
    bench_text("device", "device", 6, kind < HISTOGRAM_CUB ? "CPU" : device);
    bench_text("size", "size", 11, size);
    bench_number("elements", NULL, 0, 0, (double)p->width * p->height);
    bench_number("depth", "depth", 5, 0, p->depth);
    bench_text("content", "content", 9, run->content);
    bench_number("time_us", "time us", 11, 2, r->us);
    bench_number("noise_percent", "noise %", 7, 1, 100 * r->spread_us / r->us);
    bench_number("gb_per_s", "GB/s", 8, 2, (double)bench_row_size(p) * p->height / r->us / 1e3);
    bench_number("speedup", "speedup", 8, 2, run->reference.us / r->us);
    bench_end_row();
}

/* ---- on the CPU ---- */

static void count_plain(uint32_t *counts, const BenchPicture *p)
{
    const size_t elements = (size_t)p->width * (size_t)p->height;
    const uint8_t *const bytes = p->luma;
    const uint16_t *const words = p->luma;
    for (size_t i = 0; i < elements; i++)
        counts[p->depth > 8 ? words[i] : bytes[i]]++;
}

static void count_simd(uint32_t *counts, const BenchPicture *p)
{
    LumeqKernels kernels;
    const CurveParams params = {.depth = p->depth, .bins = 1 << p->depth};
    lumeq_kernels_init(&kernels, lumeq_cpu_flags() & ~engine_cpu_without());
    (p->depth > 8 ? kernels.histogram16 : kernels.histogram8)(
        counts, p->luma, (ptrdiff_t)bench_row_size(p), p->width, p->height, &params);
}

static double time_runs(HistogramResult *r, const BenchPicture *p, HistogramKind kind, int runs)
{
    const double start = bench_now_us();
    for (int i = 0; i < runs; i++) {
        memset(r->counts, 0, sizeof(r->counts));
        (kind == HISTOGRAM_CPU ? count_plain : count_simd)(r->counts, p);
    }
    return (bench_now_us() - start) / runs;
}

static void count_on_cpu(HistogramResult *r, const BenchPicture *p, HistogramKind kind, int measure)
{
    double times[MAX_RUNS];
    int count = 0;
    const int runs = 1 + (int)(RUN_US / time_runs(r, p, kind, 1));
    const double start = bench_now_us();
    r->us = r->spread_us = NAN;
    if (!measure)
        return;
    while (count < MIN_RUNS || (count < MAX_RUNS && bench_now_us() - start < ENOUGH_US))
        times[count++] = time_runs(r, p, kind, runs);
    r->us = bench_median(times, count); /* sorts */
    r->spread_us = times[count * 3 / 4] - times[count / 4];
}

/* ---- measuring ---- */

static int compare(const char *strategy, const uint32_t *expected, const uint32_t *got)
{
    for (int i = 0; i < HISTOGRAM_MAX_BINS; i++)
        if (expected[i] != got[i])
            return bench_fail("histogram", "%s: bin %d: expected %u, got %u", strategy, i,
                              expected[i], got[i]);
    return 0;
}

/* Counts the picture with all strategies. Returns 0, or -1 if a result is wrong or missing. */
static int run_strategies(Run *run, HistogramGpu *gpu)
{
    const HistogramOptions *const o = &run->options;
    const int measure = !o->check_only;
    int failed = 0;
    count_on_cpu(&run->reference, &run->picture, HISTOGRAM_CPU, measure);
    for (int i = 0; i < HISTOGRAM_KINDS; i++) {
        HistogramResult *const r = i == HISTOGRAM_CPU ? &run->reference : &run->result;
        char strategy[32];
        int ret = 0;
        if ((o->strategies.count && !bench_list_has(&o->strategies, i)) ||
            (i >= HISTOGRAM_CUB && !gpu))
            continue;
        bench_word(strategy, STRATEGIES, i);
        if (i == HISTOGRAM_CPU_SIMD)
            count_on_cpu(r, &run->picture, HISTOGRAM_CPU_SIMD, measure);
        else if (i >= HISTOGRAM_CUB)
            ret = histogram_gpu_run(gpu, (HistogramKind)i, measure, r);
        if (ret == 0)
            ret = compare(strategy, run->reference.counts, r->counts);
        if (ret == 0)
            print_row(run, (HistogramKind)i, strategy, r);
        failed |= ret;
    }
    return failed;
}

static int run_picture(Run *run, int size, int content)
{
    const BenchPictures *const o = &run->options.pictures;
    HistogramGpu *gpu = NULL;
    int ret = bench_make_picture(&run->picture, o, size, content);
    if (ret < 0)
        return ret;
    bench_word(run->content, BENCH_CONTENTS, o->contents.items[content]);
    if (run->has_gpu) {
        gpu = histogram_gpu_open(&run->picture, o->device);
        ret = gpu ? 0 : -1;
    }
    if (ret == 0)
        ret = run_strategies(run, gpu);
    if (gpu)
        histogram_gpu_close(gpu);
    free(run->picture.luma);
    return ret;
}

int bench_histogram(int argc, char **argv)
{
    static Run run;
    HistogramOptions *const o = &run.options;
    const BenchPictures *const p = &o->pictures;
    char gpu[128] = "";
    int ret = read_options(o, argc, argv), needs_gpu = 0;
    if (ret)
        return ret < 0;
    for (int i = HISTOGRAM_CUB; i < HISTOGRAM_KINDS; i++)
        needs_gpu |= bench_list_has(&o->strategies, i);
    if (needs_gpu || !o->strategies.count)
        run.has_gpu = bench_find_gpu("histogram", "a strategy on a GPU", p->device, needs_gpu, gpu,
                                     sizeof(gpu));
    if (run.has_gpu < 0)
        return 1;
    bench_report_begin(p->common.csv, bench_command_line(argc, argv), *gpu ? gpu : NULL);
    for (int i = 0; i < p->sizes; i++)
        for (int k = 0; k < p->contents.count; k++)
            ret |= run_picture(&run, i, k);
    return ret != 0;
}
