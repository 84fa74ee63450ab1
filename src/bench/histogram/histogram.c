/* lumeq-bench histogram: compares ways to build a histogram; checks each against a plain loop. */
#include "bench/histogram/histogram.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "bench/content.h"
#include "lumeq/lumeq.h"

#define MAX_CHOICES 32
#define MAX_DEVICES 64
#define MAX_SIDE 65535
#define ALL_DEVICES (-2) /* as the number of a device; -1: not given */

#define TYPES "u8|u16|u32"
#define PARTITIONS "interleaved|sectioned"
#define MEMORIES "pinned|pageable|managed"
#define SWEEPS "sizes|bins|content|load-factor"

enum { SWEEP_NONE, SWEEP_SIZES, SWEEP_BINS, SWEEP_CONTENT, SWEEP_LOAD_FACTOR };

typedef struct HistogramOptions {
    BenchCommon common;
    HistogramJob job; /* without elements */
    int64_t elements; /* 0: not given */
    int64_t pitch, saturate;
    const char *type, *content, *partition, *memory, *sweep_name;
    int device, sweep;
    int bins; /* 0: not given */
    HistogramChoice choices[MAX_CHOICES];
    int choice_count;
    int needs_gpu; /* the command line names something that needs a GPU */
} HistogramOptions;

typedef struct Run {
    HistogramOptions options;
    BenchReport report;
    const char *command;
    int has_heading; /* the report has begun */
    int devices[MAX_DEVICES], device_count;
    char gpu[160]; /* its name, for the heading */
    HistogramOutcome reference, outcomes[MAX_DEVICES], all;
    HistogramJob job; /* of the case that is measured */
    const char *content;
} Run;

/* ---- options ---- */

static const char *const strategies[HISTOGRAM_KINDS] = {
    [HISTOGRAM_CPU] = "cpu",
    [HISTOGRAM_CPU_SIMD] = "cpu-simd",
    [HISTOGRAM_GLOBAL] = "global",
    [HISTOGRAM_GLOBAL_STRIDE] = "global-stride",
    [HISTOGRAM_SHARED] = "shared",
    [HISTOGRAM_SHARED_WARP] = "shared-warp",
    [HISTOGRAM_SHARED_REPLICATED] = "shared-replicated",
    [HISTOGRAM_AGGREGATED] = "aggregated",
    [HISTOGRAM_PER_THREAD] = "per-thread-64",
    [HISTOGRAM_RACY] = "racy",
    [HISTOGRAM_CUB] = "cub",
    [HISTOGRAM_LUMEQ] = "lumeq",
};

static int take_size(void *options, const char *value)
{
    HistogramJob *const job = &((HistogramOptions *)options)->job;
    return bench_read_size(value, MAX_SIDE, &job->width, &job->height) < 0 ||
                   histogram_elements(job) > HISTOGRAM_MAX_ELEMENTS
               ? -1
               : 0;
}

static int take_content(void *options, const char *value)
{
    ((HistogramOptions *)options)->content = value;
    return *value ? 0 : -1;
}

static int take_device(void *options, const char *value)
{
    HistogramOptions *const o = options;
    int64_t device = ALL_DEVICES;
    if (strcmp(value, "all") != 0 && bench_read_integer(value, 0, 255, &device) < 0)
        return -1;
    o->needs_gpu = 1;
    o->device = (int)device;
    return 0;
}

static int add_choice(HistogramOptions *o, HistogramKind kind, int copies)
{
    if (o->choice_count == MAX_CHOICES)
        return -1;
    HistogramChoice *const choice = &o->choices[o->choice_count++];
    *choice = (HistogramChoice){.kind = kind, .copies = copies};
    if (copies)
        snprintf(choice->name, sizeof(choice->name), "%s:%d", strategies[kind], copies);
    else
        snprintf(choice->name, sizeof(choice->name), "%s", strategies[kind]);
    return 0;
}

static int add_all(HistogramOptions *o)
{
    int ret = 0;
    for (int i = 0; i < HISTOGRAM_KINDS && ret == 0; i++)
        if (i != HISTOGRAM_RACY)
            ret = add_choice(o, (HistogramKind)i, 0);
    return ret;
}

/* NAME, or NAME:R for a strategy with copies. */
static int add_strategy(void *options, const char *part)
{
    HistogramOptions *const o = options;
    const size_t length = strcspn(part, ":");
    int kind = 0;
    int64_t copies = 0;
    if (!strcmp(part, "all"))
        return add_all(o);
    while (kind < HISTOGRAM_KINDS &&
           (strlen(strategies[kind]) != length || strncmp(strategies[kind], part, length) != 0))
        kind++;
    if (kind == HISTOGRAM_KINDS ||
        (part[length] && (kind != HISTOGRAM_SHARED_REPLICATED ||
                          bench_read_integer(part + length + 1, 1, 256, &copies) < 0)))
        return -1;
    o->needs_gpu |= kind >= HISTOGRAM_GLOBAL;
    return add_choice(o, (HistogramKind)kind, (int)copies);
}

const BenchOption bench_histogram_options[] = {
    {"--elements", "N", "one row of N elements [all of a file]",
     BENCH_RANGE(INT64, HistogramOptions, elements, 1, HISTOGRAM_MAX_ELEMENTS)},
    {"--size", "WxH", "rows of elements [3840x2160]", .take = take_size,
     .allowed = "1x1 to 65535x65535 and at most 1073741824 elements"},
    {"--pitch", "BYTES", "from one row to the next [no gap]",
     BENCH_RANGE(INT64, HistogramOptions, pitch, 1, 1 << 20)},
    {"--type", TYPES, "type of the elements [u8]", BENCH_STORE(CHOICE, HistogramOptions, type)},
    {"--bins", "N", "elements are 0 to N - 1 [256]",
     BENCH_RANGE(INT, HistogramOptions, bins, 1, HISTOGRAM_MAX_BINS)},
    {"--content", "NAME|FILE", BENCH_CONTENTS ", or a file's bytes [natural]", .take = take_content,
     .allowed = "one of " BENCH_CONTENTS ", or a file"},
    {"--saturate", "S", "limit counts to S, with a second kernel",
     BENCH_RANGE(INT64, HistogramOptions, saturate, 1, UINT32_MAX)},
    {"--cumulate", NULL, "compute the cumulative histogram as well, with one more kernel",
     BENCH_STORE(FLAG, HistogramOptions, job.cumulate)},
    {"--load-factor", "N", "elements per thread [global: 1, else as few threads as fill the GPU]",
     BENCH_RANGE(INT, HistogramOptions, job.load_factor, 1, 256)},
    {"--partition", PARTITIONS,
     "interleaved: neighbouring threads count neighbouring elements; sectioned: each thread counts "
     "a run of elements [interleaved]",
     BENCH_STORE(CHOICE, HistogramOptions, partition)},
    {"--memory", MEMORIES, "copy elements from this memory; managed: with prefetch [pinned]",
     BENCH_STORE(CHOICE, HistogramOptions, memory)},
    {"--device", "N|all", "GPU; all: all of them at the same time [0]", .take = take_device,
     .allowed = "a GPU's number, from 0, or all"},
    BENCH_SEED_OPTION,
    {"--strategy", "LIST", "strategies, separated by commas [all: all but racy]",
     BENCH_STORE(LIST, HistogramOptions, choice_count), .take = add_strategy,
     .allowed = "all, or some of cpu, cpu-simd, global, global-stride, shared, shared-warp, "
                "shared-replicated[:1..256], aggregated, per-thread-64, racy, cub and lumeq, at "
                "most 32"},
    {"--sweep", SWEEPS, "vary sizes (up to --elements [67108864]), bins, content or load factor",
     BENCH_STORE(CHOICE, HistogramOptions, sweep_name)},
    {"--check", NULL, "count and check, measure nothing",
     BENCH_STORE(FLAG, HistogramOptions, job.check_only)},
    BENCH_FORMAT_OPTIONS,
};

static void print_notes(void)
{
    printf(
        "\nStrategies: cpu, a plain loop on one core; cpu-simd, lumeq's kernels on one core;\n"
        "global, an atomic addition in global memory for each element; global-stride, the same\n"
        "with as few threads as fill the GPU; shared, a table per block in shared memory, added "
        "up\n"
        "at the end; shared-warp, a table per warp; shared-replicated:R, R interleaved copies of "
        "a\n"
        "block's table, without :R as many as fit, up to 32; aggregated, like shared, but equal\n"
        "neighbours are added at once; per-thread-64, byte counters for each thread, at most 64\n"
        "bins; racy, additions that are not atomic and lose counts; cub, CUB's HistogramEven;\n"
        "lumeq, lumeq's kernels.\n\n"
        "shared-replicated, aggregated and per-thread-64 read 16 bytes at a time: a thread counts\n"
        "--load-factor elements rounded up to whole 16 bytes. load_factor in CSV and JSON is the\n"
        "most elements that a thread counted; cub and lumeq ignore --load-factor.\n\n"
        "GPU times are medians over replays of a graph. The graph works on copies of the elements\n"
        "that together are several times the L2 cache (at most 1024 copies: below some hundred KB\n"
        "they stay in the cache). Clearing the counters is included, and the kernels of "
        "--saturate\n"
        "and --cumulate. On the CPU the elements stay in place. noise is the distance of the\n"
        "quartiles relative to the median. Bandwidth is compared with the theoretical bandwidth\n"
        "(memory clock and bus width), and with a large copy on the device in the same run, which\n"
        "counts bytes read and written.\n" BENCH_ORIGIN_HELP);
}

/* Checks combinations of options. */
static int check_options(const HistogramOptions *o)
{
    const HistogramJob *const job = &o->job;
    const char *wrong = NULL;
    if (o->common.csv && o->common.json)
        wrong = "--csv and --json exclude each other";
    else if (o->elements && job->width)
        wrong = "--elements and --size exclude each other";
    else if (o->pitch && !job->width)
        wrong = "--pitch needs --size";
    else if (o->sweep == SWEEP_SIZES && job->width)
        wrong = "--sweep sizes uses --elements, not --size";
    else if (o->sweep == SWEEP_LOAD_FACTOR && job->load_factor)
        wrong = "--sweep load-factor and --load-factor exclude each other";
    else if (o->sweep == SWEEP_BINS && o->bins)
        wrong = "--sweep bins and --bins exclude each other";
    else if (o->sweep == SWEEP_CONTENT && o->content)
        wrong = "--sweep content and --content exclude each other";
    else if (o->pitch % job->sample_size)
        wrong = "--pitch is not a multiple of the size of an element";
    else if (o->pitch && o->pitch < (int64_t)job->width * job->sample_size)
        wrong = "--pitch is less than the bytes of a row of --size";
    return wrong ? bench_refuse("histogram", "%s", wrong) : 0;
}

static int choose_size(HistogramOptions *o)
{
    HistogramJob *const job = &o->job;
    if (!o->elements && o->sweep == SWEEP_SIZES)
        o->elements = 1 << 26;
    if (!o->elements && !job->width && bench_content_index(o->content) < 0) {
        if (histogram_file_elements(o->content, job->sample_size, &o->elements) < 0)
            return -1;
        if (o->elements > HISTOGRAM_MAX_ELEMENTS)
            o->elements = HISTOGRAM_MAX_ELEMENTS;
    }
    if (o->elements) {
        job->width = (int)o->elements;
        job->height = 1;
    } else if (!job->width) {
        job->width = 3840;
        job->height = 2160;
    }
    job->pitch = o->pitch ? (size_t)o->pitch : (size_t)job->width * (size_t)job->sample_size;
    return 0;
}

/* Returns 0, 1 after the help, or -1 after a sentence on stderr. */
static int read_options(HistogramOptions *o, int argc, char **argv)
{
    *o = (HistogramOptions){.type = "u8",
                            .partition = "interleaved",
                            .memory = "pinned",
                            .device = -1,
                            .common.seed = 1};
    const int ret = bench_arguments("histogram", bench_histogram_options, o, argc, argv);
    if (ret > 0)
        print_notes();
    if (ret)
        return ret;
    o->job.sample_size = 1 << bench_read_choice(o->type, TYPES);
    o->job.sectioned = bench_read_choice(o->partition, PARTITIONS);
    o->job.memory = (HistogramMemory)bench_read_choice(o->memory, MEMORIES);
    o->job.saturate = (uint32_t)o->saturate;
    o->job.bins = o->bins ? o->bins : 256;
    o->sweep = o->sweep_name ? 1 + bench_read_choice(o->sweep_name, SWEEPS) : SWEEP_NONE;
    if ((!o->choice_count && add_all(o) < 0) || check_options(o) < 0)
        return -1;
    if (!o->content)
        o->content = "natural";
    return choose_size(o);
}

/* ---- rows ---- */

enum {
    STRATEGY,
    DEVICE,
    ELEMENTS,
    TYPE,
    BINS,
    CONTENT,
    LOAD_FACTOR,
    PARTITION,
    MEMORY,
    SATURATE,
    TIME,
    NOISE,
    ALONE,
    RATE,
    BANDWIDTH,
    SHARE_PEAK,
    SHARE_COPY,
    UP,
    DOWN,
    SPEEDUP,
    SPEEDUP_COPIES,
    RESULT,
    COLUMNS
};

static const BenchColumn columns[COLUMNS] = {
    [STRATEGY] = {"strategy", "strategy", 20, -1},
    [DEVICE] = {"device", "device", 6, -1},
    [ELEMENTS] = {"elements", "elements", 10, 0},
    [TYPE] = {"type", "type", 4, -1},
    [BINS] = {"bins", "bins", 4, 0},
    [CONTENT] = {"content", "content", 9, -1},
    [LOAD_FACTOR] = {"load_factor", NULL, 0, 0},
    [PARTITION] = {"partition", NULL, 0, -1},
    [MEMORY] = {"memory", NULL, 0, -1},
    [SATURATE] = {"saturate", NULL, 0, 0},
    [TIME] = {"time_us", "time us", 11, 2},
    [NOISE] = {"noise_percent", "noise %", 7, 1},
    [ALONE] = {"alone_us", "alone us", 9, 2},
    [RATE] = {"gelements_per_s", "Gelem/s", 8, 3},
    [BANDWIDTH] = {"gb_per_s", "GB/s", 8, 2},
    [SHARE_PEAK] = {"share_of_theoretical_percent", "theory%", 7, 1},
    [SHARE_COPY] = {"share_of_copy_percent", "copy%", 6, 1},
    [UP] = {"up_us", "up us", 9, 1},
    [DOWN] = {"down_us", "down us", 8, 1},
    [SPEEDUP] = {"speedup", "speedup", 8, 2},
    [SPEEDUP_COPIES] = {"speedup_with_copies", "+copies", 8, 2},
    [RESULT] = {"result", "result", 2, -1},
};

/* Prints a row. `device`: "CPU", a number, or "all" for `devices` of them; each has the case's
 * elements. `result`: of the check, or the reason for a failure. */
static void print_row(const Run *run, const char *strategy, const char *device, int devices,
                      const HistogramOutcome *o, const char *result)
{
    const HistogramJob *job = &run->job;
    const double elements = (double)histogram_elements(job) * devices;
    BenchValue values[COLUMNS];
    bench_report_clear(values, COLUMNS);
    values[STRATEGY].text = strategy;
    values[DEVICE].text = device;
    values[ELEMENTS].number = elements;
    values[TYPE].text = run->options.type;
    values[BINS].number = job->bins;
    values[CONTENT].text = run->content;
    if (strcmp(device, "CPU")) {
        if (o->load_factor)
            values[LOAD_FACTOR].number = o->load_factor;
        values[PARTITION].text = run->options.partition;
        values[MEMORY].text = run->options.memory;
    }
    if (job->saturate)
        values[SATURATE].number = job->saturate;
    if (o->status == HISTOGRAM_DONE) { /* unknown times remain NAN */
        const double gb_s = elements * job->sample_size / o->us / 1e3;
        const double copies = isfinite(o->up_us) ? o->up_us + o->down_us : 0;
        values[TIME].number = o->us;
        values[NOISE].number = 100 * o->spread_us / o->us;
        values[ALONE].number = o->alone_us;
        values[RATE].number = elements / o->us / 1e3;
        values[BANDWIDTH].number = gb_s;
        values[SHARE_PEAK].number = 100 * gb_s / o->peak_gb_s;
        values[SHARE_COPY].number = 100 * gb_s / o->copy_gb_s;
        values[UP].number = o->up_us;
        values[DOWN].number = o->down_us;
        values[SPEEDUP].number = devices * run->reference.us / o->us;
        values[SPEEDUP_COPIES].number = devices * run->reference.us / (o->us + copies);
    }
    values[RESULT].text = result;
    bench_report_row(&run->report, values);
}

/* Combines the outcomes of devices that worked at the same time: the sum of rates and bandwidths,
 * and the longest of all other times. If a device failed or was skipped, returns its outcome. */
static void combine(HistogramOutcome *all, const HistogramOutcome *outcomes, int count)
{
    double rate = 0;
    *all = outcomes[0];
    all->peak_gb_s = all->copy_gb_s = 0;
    for (int i = 0; i < count; i++) {
        const HistogramOutcome *o = &outcomes[i];
        if (o->status != HISTOGRAM_DONE) {
            *all = *o;
            return;
        }
        rate += 1 / o->us;
        all->peak_gb_s += o->peak_gb_s;
        all->copy_gb_s += o->copy_gb_s;
        all->spread_us = fmax(all->spread_us, o->spread_us);
        all->alone_us = fmax(all->alone_us, o->alone_us);
        all->up_us = fmax(all->up_us, o->up_us);
        all->down_us = fmax(all->down_us, o->down_us);
    }
    all->us = count / rate;
}

/* ---- checks ---- */

static int compare(const char *strategy, const char *what, const uint32_t *expected,
                   const uint32_t *got, int bins)
{
    for (int i = 0; i < bins; i++)
        if (expected[i] != got[i])
            return bench_refuse("histogram", "%s: %s %d: expected %u, got %u", strategy, what, i,
                                expected[i], got[i]);
    return 0;
}

static int64_t total(const uint32_t *counts, int bins)
{
    int64_t sum = 0;
    for (int i = 0; i < bins; i++)
        sum += counts[i];
    return sum;
}

/* Returns 0, or -1 after a sentence if the counts are wrong. Strategy racy may be wrong. */
static int check(const Run *run, const HistogramChoice *choice, const HistogramOutcome *o,
                 char *text, size_t text_size)
{
    const HistogramOutcome *const r = &run->reference;
    const HistogramJob *const job = &run->job;
    const int64_t elements = histogram_elements(job), right = total(r->counts, job->bins);
    if (choice->kind == HISTOGRAM_RACY) {
        snprintf(text, text_size, "%lld of %lld counts lost",
                 (long long)(right - total(o->counts, job->bins)), (long long)right);
        return 0;
    }
    int wrong = compare(choice->name, "bin", r->counts, o->counts, job->bins);
    const int64_t sum = total(job->saturate ? o->whole : o->counts, job->bins);
    if (sum != elements)
        wrong = bench_refuse("histogram", "%s: the sum of all bins: expected %lld, got %lld",
                             choice->name, (long long)elements, (long long)sum);
    if (job->saturate)
        wrong |= compare(choice->name, "without --saturate, bin", r->whole, o->whole, job->bins);
    if (job->cumulate)
        wrong |= compare(choice->name, "sum up to bin", r->sums, o->sums, job->bins);
    snprintf(text, text_size, wrong ? "wrong" : "ok");
    return wrong;
}

/* Checks an outcome and prints its row. Returns 0, or -1 if it is wrong or failed. */
static int report(const Run *run, const HistogramChoice *choice, const char *device, int devices,
                  const HistogramOutcome *outcome)
{
    char text[256];
    int ret = 0;
    if (outcome->status == HISTOGRAM_DONE)
        ret = check(run, choice, outcome, text, sizeof(text));
    else
        snprintf(text, sizeof(text), "%s: %s",
                 outcome->status == HISTOGRAM_SKIPPED ? "skipped" : "failed", outcome->why);
    if (outcome->status == HISTOGRAM_FAILED)
        ret = bench_refuse("histogram", "%s: %s", choice->name, outcome->why);
    print_row(run, choice->name, device, devices, outcome, text);
    return ret;
}

/* ---- measuring ---- */

static int run_on_gpus(Run *run, const HistogramChoice *choice, HistogramGpus *gpus)
{
    int ret = 0;
    histogram_gpus_run(gpus, choice, run->outcomes);
    for (int i = 0; i < run->device_count; i++) {
        char device[16];
        snprintf(device, sizeof(device), "%d", run->devices[i]);
        ret |= report(run, choice, device, 1, &run->outcomes[i]);
    }
    if (run->options.device == ALL_DEVICES) {
        combine(&run->all, run->outcomes, run->device_count);
        ret |= report(run, choice, "all", run->device_count, &run->all);
    }
    return ret;
}

/* Runs all strategies: first on the CPU, then on the GPUs, if any. */
static int run_strategies(Run *run, HistogramGpus *gpus)
{
    int ret = 0;
    histogram_cpu(&run->reference, &run->job, HISTOGRAM_CPU);
    for (int on_gpu = 0; on_gpu <= (gpus != NULL); on_gpu++)
        for (int i = 0; i < run->options.choice_count; i++) {
            const HistogramChoice *const choice = &run->options.choices[i];
            if ((choice->kind >= HISTOGRAM_GLOBAL) != on_gpu)
                continue;
            if (choice->kind == HISTOGRAM_CPU_SIMD)
                histogram_cpu(&run->all, &run->job, choice->kind);
            ret |= on_gpu ? run_on_gpus(run, choice, gpus)
                          : report(run, choice, "CPU", 1,
                                   choice->kind == HISTOGRAM_CPU ? &run->reference : &run->all);
        }
    return ret;
}

static int run_case(Run *run)
{
    char why[256] = "";
    HistogramGpus *gpus = NULL;
    int ret = histogram_fill(&run->job, run->content, (uint64_t)run->options.common.seed);
    if (ret == 0 && run->device_count) {
        gpus = histogram_gpus_open(&run->job, run->devices, run->device_count, why, sizeof(why));
        ret = gpus ? 0 : bench_refuse("histogram", "%s", why);
    }
    if (ret == 0 && !run->has_heading) /* not before there is something to count */
        bench_report_begin(&run->report, run->command, run->device_count ? run->gpu : NULL);
    if (ret == 0) {
        run->has_heading = 1;
        ret = run_strategies(run, gpus);
    }
    if (gpus)
        histogram_gpus_close(gpus);
    free(run->job.data);
    return ret;
}

/* Sets up the case of that number. Returns 0 after the last. */
static int next_case(Run *run, int number)
{
    const HistogramOptions *const o = &run->options;
    HistogramJob *const job = &run->job;
    const int64_t elements = number < 11 ? (int64_t)1024 << (2 * number) : INT64_MAX;
    *job = o->job;
    run->content = o->content;
    switch (o->sweep) {
    case SWEEP_SIZES: /* they grow by a factor of 4, up to --elements */
        job->width = (int)(elements < o->elements ? elements : o->elements);
        job->pitch = (size_t)job->width * (size_t)job->sample_size;
        return number == 0 || elements / 4 < o->elements;
    case SWEEP_LOAD_FACTOR: job->load_factor = 1 << number; return number <= 8;
    case SWEEP_CONTENT: run->content = bench_contents[number]; return run->content != NULL;
    case SWEEP_BINS:
        job->bins = 2 << number;
        return job->bins <= (job->sample_size == 1 ? 256 : HISTOGRAM_MAX_BINS);
    default: return number == 0;
    }
}

/* Finds the devices. Without GPUs it says that strategies are left out, or returns -1 if the
 * command line needs one. */
static int find_devices(Run *run)
{
    static LumeqGpu gpus[MAX_DEVICES];
    const HistogramOptions *const o = &run->options;
    char why[256] = "";
    const int count = lumeq_list_gpus(gpus, MAX_DEVICES, why, sizeof(why));
    if (count < 1) {
        bench_refuse("histogram",
                     o->needs_gpu ? "these options need a GPU: %s"
                                  : "strategies on a GPU are left out: %s",
                     why);
        return o->needs_gpu ? -1 : 0;
    }
    if (o->device >= count)
        return bench_refuse("histogram", "there is no GPU %d; this machine has %d, from number 0",
                            o->device, count);
    run->device_count = o->device != ALL_DEVICES ? 1 : count < MAX_DEVICES ? count : MAX_DEVICES;
    for (int i = 0; i < run->device_count; i++)
        run->devices[i] = o->device > 0 ? o->device : i;
    snprintf(run->gpu, sizeof(run->gpu), "%d x %s", run->device_count, gpus[run->devices[0]].name);
    return 0;
}

int bench_histogram(int argc, char **argv)
{
    static Run run;
    HistogramOptions *const o = &run.options;
    int ret = read_options(o, argc, argv);
    if (ret)
        return ret < 0;
    int needs_gpu = o->needs_gpu;
    for (int i = 0; i < o->choice_count; i++)
        needs_gpu |= o->choices[i].kind >= HISTOGRAM_GLOBAL;
    if (needs_gpu && find_devices(&run) < 0)
        return 1;
    run.report = (BenchReport){bench_format(&o->common), columns, COLUMNS};
    run.command = bench_command_line(argc, argv);
    for (int i = 0; next_case(&run, i); i++)
        ret |= run_case(&run);
    return ret != 0;
}
