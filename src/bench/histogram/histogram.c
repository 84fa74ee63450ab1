/* lumeq-bench histogram: every way to count, side by side, each checked against a plain loop. */
#include "bench/histogram/histogram.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "bench/histogram/histogram_options.h"
#include "bench/histogram/histogram_rows.h"
#include "lumeq/lumeq.h"

#define MAX_DEVICES 64

typedef struct Run {
    HistogramOptions options;
    BenchReport report;
    const char *command;
    int heading; /* is out */
    int devices[MAX_DEVICES], device_count;
    char gpu[160]; /* its name, for the heading */
    HistogramOutcome reference, outcomes[MAX_DEVICES], all;
} Run;

static int differs(const char *strategy, const char *what, const uint32_t *expected,
                   const uint32_t *got, int bins)
{
    for (int i = 0; i < bins; i++)
        if (expected[i] != got[i]) {
            fprintf(stderr, "lumeq-bench histogram: %s: %s %d: expected %u, got %u\n", strategy,
                    what, i, expected[i], got[i]);
            return -1;
        }
    return 0;
}

static int64_t total(const uint32_t *counts, int bins)
{
    int64_t sum = 0;
    for (int i = 0; i < bins; i++)
        sum += counts[i];
    return sum;
}

static int check_total(const char *strategy, const HistogramJob *job, const uint32_t *counts)
{
    const int64_t sum = total(counts, job->bins), elements = histogram_elements(job);
    if (sum == elements)
        return 0;
    fprintf(stderr, "lumeq-bench histogram: %s: the sum of all bins: expected %lld, got %lld\n",
            strategy, (long long)elements, (long long)sum);
    return -1;
}

/* 0, or -1 where the strategy counts wrong; a sentence says where. Racy ones may. */
static int check(const Run *run, const HistogramJob *job, const HistogramChoice *choice,
                 const HistogramOutcome *outcome, char *text, size_t text_size)
{
    const HistogramOutcome *const r = &run->reference;
    const int64_t lost = total(r->counts, job->bins) - total(outcome->counts, job->bins);
    if (choice->kind == HISTOGRAM_RACY) {
        snprintf(text, text_size, "%lld of %lld counts lost", (long long)lost,
                 (long long)total(r->counts, job->bins));
        return 0;
    }
    int wrong = differs(choice->name, "bin", r->counts, outcome->counts, job->bins) |
                check_total(choice->name, job, job->saturate ? outcome->whole : outcome->counts);
    if (job->saturate)
        wrong |=
            differs(choice->name, "without --saturate, bin", r->whole, outcome->whole, job->bins);
    if (job->cumulate)
        wrong |= differs(choice->name, "sum up to bin", r->sums, outcome->sums, job->bins);
    snprintf(text, text_size, wrong ? "wrong" : "ok");
    return wrong;
}

/* A row and its check. 0, or -1: wrong or failed. */
static int report(const Run *run, const HistogramCase *c, const HistogramChoice *choice,
                  const char *device, int devices, const HistogramOutcome *outcome)
{
    char text[256];
    int ret = 0;
    if (outcome->status == HISTOGRAM_DONE)
        ret = check(run, c->job, choice, outcome, text, sizeof(text));
    else
        snprintf(text, sizeof(text), "%s: %s",
                 outcome->status == HISTOGRAM_SKIPPED ? "skipped" : "failed", outcome->why);
    if (outcome->status == HISTOGRAM_FAILED) {
        fprintf(stderr, "lumeq-bench histogram: %s: %s\n", choice->name, outcome->why);
        ret = -1;
    }
    histogram_row(&run->report, c, choice->name, device, devices, outcome, text);
    return ret;
}

static int report_devices(Run *run, const HistogramCase *c, const HistogramChoice *choice)
{
    int ret = 0;
    for (int i = 0; i < run->device_count; i++) {
        char device[16];
        snprintf(device, sizeof(device), "%d", run->devices[i]);
        ret |= report(run, c, choice, device, 1, &run->outcomes[i]);
    }
    if (run->options.device == -2) {
        histogram_sum_up(&run->all, run->outcomes, run->device_count);
        ret |= report(run, c, choice, "all", run->device_count, &run->all);
    }
    return ret;
}

/* Those of the CPU, or of the GPUs when there are any. */
static int run_strategies(Run *run, const HistogramCase *c, HistogramGpus *gpus)
{
    int ret = 0;
    for (int i = 0; i < run->options.chosen; i++) {
        const HistogramChoice *const choice = &run->options.choices[i];
        if ((choice->kind >= HISTOGRAM_GLOBAL) != (gpus != NULL))
            continue;
        if (gpus) {
            histogram_gpus_run(gpus, choice, run->outcomes);
            ret |= report_devices(run, c, choice);
        } else if (choice->kind == HISTOGRAM_CPU) {
            ret |= report(run, c, choice, "CPU", 1, &run->reference);
        } else {
            histogram_cpu(&run->all, c->job, choice->kind);
            ret |= report(run, c, choice, "CPU", 1, &run->all);
        }
    }
    return ret;
}

/* Once there is something to count. */
static void begin(Run *run)
{
    if (!run->heading)
        bench_report_begin(&run->report, run->command, run->device_count ? run->gpu : NULL);
    run->heading = 1;
}

/* The elements are where they are to be counted. */
static int run_both(Run *run, const HistogramJob *job, const char *content, HistogramGpus *gpus)
{
    const HistogramOptions *const o = &run->options;
    HistogramCase c = {job, o->type, content, o->partition, o->memory, 0};
    begin(run);
    histogram_cpu(&run->reference, job, HISTOGRAM_CPU);
    c.cpu_us = run->reference.us;
    const int ret = run_strategies(run, &c, NULL);
    return gpus ? ret | run_strategies(run, &c, gpus) : ret;
}

static int run_case(Run *run, HistogramJob *job, const char *content)
{
    char why[256] = "";
    HistogramGpus *gpus = NULL;
    int ret = histogram_fill(job, content, (uint64_t)run->options.seed);
    if (ret == 0 && run->device_count) {
        gpus = histogram_gpus_open(job, run->devices, run->device_count, why, sizeof(why));
        if (!gpus)
            fprintf(stderr, "lumeq-bench histogram: %s\n", why);
        ret = gpus ? 0 : -1;
    }
    if (ret == 0)
        ret = run_both(run, job, content, gpus);
    if (gpus)
        histogram_gpus_close(gpus);
    free(job->data);
    job->data = NULL;
    return ret;
}

/* Four times the one before, up to what was asked for. 0 after the last. */
static int next_size(HistogramJob *job, int number, int64_t most)
{
    const int64_t elements = number < 11 ? (int64_t)1024 << (2 * number) : INT64_MAX;
    if (number > 0 && elements / 4 >= most)
        return 0;
    job->width = (int)(elements < most ? elements : most);
    job->pitch = (size_t)job->width * (size_t)job->sample_size;
    return 1;
}

/* The case of a number. 0 after the last. */
static int next_case(const HistogramOptions *o, int number, HistogramJob *job, const char **content)
{
    const int most = o->job.sample_size == 1 ? 256 : HISTOGRAM_MAX_BINS;
    *job = o->job;
    *content = o->content;
    switch (o->sweep) {
    case HISTOGRAM_SWEEP_SIZES: return next_size(job, number, o->elements);
    case HISTOGRAM_SWEEP_BINS: job->bins = 2 << number; return job->bins <= most;
    case HISTOGRAM_SWEEP_LOAD_FACTOR: job->load_factor = 1 << number; return number <= 8;
    case HISTOGRAM_SWEEP_CONTENT: *content = bench_contents[number]; return *content != NULL;
    default: return number == 0;
    }
}

/* The devices that were asked for, or a line that says why there are none. */
static int find_devices(Run *run)
{
    static LumeqGpu gpus[MAX_DEVICES];
    const HistogramOptions *const o = &run->options;
    char why[256] = "";
    const int there = lumeq_list_gpus(gpus, MAX_DEVICES, why, sizeof(why));
    if (there < 1) {
        if (o->gpu_wanted)
            fprintf(stderr, "lumeq-bench histogram: what was asked for needs a GPU: %s\n", why);
        else
            fprintf(stderr, "lumeq-bench histogram: strategies of the GPU are left out: %s\n", why);
        return o->gpu_wanted ? -1 : 0;
    }
    if (o->device >= there) {
        fprintf(stderr,
                "lumeq-bench histogram: there is no GPU %d: this machine has %d, counted from 0\n",
                o->device, there);
        return -1;
    }
    run->device_count = o->device != -2 ? 1 : there < MAX_DEVICES ? there : MAX_DEVICES;
    for (int i = 0; i < run->device_count; i++)
        run->devices[i] = o->device > 0 ? o->device : i;
    snprintf(run->gpu, sizeof(run->gpu), "%d x %s", run->device_count, gpus[run->devices[0]].name);
    return 0;
}

static int needs_gpu(const HistogramOptions *options)
{
    int needs = options->gpu_wanted;
    for (int i = 0; i < options->chosen; i++)
        needs |= options->choices[i].kind >= HISTOGRAM_GLOBAL;
    return needs;
}

int bench_histogram(int argc, char **argv)
{
    static Run run;
    HistogramJob job;
    const char *content;
    int ret = histogram_options(&run.options, argc, argv);
    if (ret)
        return ret < 0;
    if (needs_gpu(&run.options) && find_devices(&run) < 0)
        return 1;
    histogram_report(&run.report, run.options.csv    ? BENCH_CSV
                                  : run.options.json ? BENCH_JSON
                                                     : BENCH_TABLE);
    run.command = bench_command_line(argc, argv);
    for (int i = 0; next_case(&run.options, i, &job, &content); i++)
        ret |= run_case(&run, &job, content);
    return ret != 0;
}
