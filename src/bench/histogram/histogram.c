/* lumeq-bench histogram: every way to count, side by side, each checked against a plain loop. */
#include "bench/histogram/histogram.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "bench/command_line.h"
#include "bench/content.h"
#include "bench/report.h"
#include "lumeq/lumeq.h"

#define HISTOGRAM_MAX_CHOICES 32

typedef enum HistogramSweep {
    HISTOGRAM_SWEEP_NONE,
    HISTOGRAM_SWEEP_SIZES,
    HISTOGRAM_SWEEP_BINS,
    HISTOGRAM_SWEEP_CONTENT,
    HISTOGRAM_SWEEP_LOAD_FACTOR
} HistogramSweep;

typedef struct HistogramOptions {
    BenchCommon common;
    HistogramJob job; /* without its elements */
    int64_t elements; /* 0: not said */
    int64_t pitch;
    const char *type, *content, *partition, *memory;
    int device; /* -1: not said, -2: all */
    HistogramSweep sweep;
    int bins_given, content_given;
    HistogramChoice choices[HISTOGRAM_MAX_CHOICES];
    int chosen;
    int gpu_wanted; /* something that was named needs one */
} HistogramOptions;

/* What rows have in common. */
typedef struct HistogramCase {
    const HistogramJob *job;
    const char *type, *content;
    const char *partition, *memory;
    double cpu_us; /* of strategy cpu */
} HistogramCase;

/* ---- options ---- */

#define MAX_SIDE 65535

static const struct {
    const char *name;
    int in_all;
} strategies[HISTOGRAM_KINDS] = {
    [HISTOGRAM_CPU] = {"cpu", 1},
    [HISTOGRAM_CPU_SIMD] = {"cpu-simd", 1},
    [HISTOGRAM_GLOBAL] = {"global", 1},
    [HISTOGRAM_GLOBAL_STRIDE] = {"global-stride", 1},
    [HISTOGRAM_SHARED] = {"shared", 1},
    [HISTOGRAM_SHARED_WARP] = {"shared-warp", 1},
    [HISTOGRAM_SHARED_REPLICATED] = {"shared-replicated", 1},
    [HISTOGRAM_AGGREGATED] = {"aggregated", 1},
    [HISTOGRAM_PER_THREAD] = {"per-thread-64", 1},
    [HISTOGRAM_RACY] = {"racy", 0},
    [HISTOGRAM_CUB] = {"cub", 1},
    [HISTOGRAM_LUMEQ] = {"lumeq", 1},
};

static const char *const types[] = {"u8", "u16", "u32", NULL};
static const char *const partitions[] = {"interleaved", "sectioned", NULL};
static const char *const memories[] = {"pinned", "pageable", "managed", NULL};
static const char *const sweeps[] = {"none", "sizes", "bins", "content", "load-factor", NULL};

static int take_elements(void *options, const char *value)
{
    HistogramOptions *const o = options;
    return bench_read_integer(value, 1, HISTOGRAM_MAX_ELEMENTS, &o->elements);
}

static int take_size(void *options, const char *value)
{
    HistogramJob *const job = &((HistogramOptions *)options)->job;
    return bench_read_size(value, MAX_SIDE, &job->width, &job->height) < 0 ||
                   histogram_elements(job) > HISTOGRAM_MAX_ELEMENTS
               ? -1
               : 0;
}

static int take_pitch(void *options, const char *value)
{
    return bench_read_integer(value, 1, 1 << 20, &((HistogramOptions *)options)->pitch);
}

static int take_type(void *options, const char *value)
{
    HistogramOptions *const o = options;
    const int type = bench_read_choice(value, types);
    o->job.sample_size = 1 << (type < 0 ? 0 : type);
    o->type = value;
    return type < 0 ? -1 : 0;
}

static int take_bins(void *options, const char *value)
{
    HistogramOptions *const o = options;
    o->bins_given = 1;
    return bench_read_int(value, 1, HISTOGRAM_MAX_BINS, &o->job.bins);
}

static int take_content(void *options, const char *value)
{
    HistogramOptions *const o = options;
    o->content_given = 1;
    o->content = value;
    return *value ? 0 : -1;
}

static int take_saturate(void *options, const char *value)
{
    int64_t limit;
    if (bench_read_integer(value, 1, UINT32_MAX, &limit) < 0)
        return -1;
    ((HistogramOptions *)options)->job.saturate = (uint32_t)limit;
    return 0;
}

static int take_cumulate(void *options, const char *value)
{
    (void)value;
    return ((HistogramOptions *)options)->job.cumulate = 1, 0;
}

static int take_load_factor(void *options, const char *value)
{
    return bench_read_int(value, 1, 256, &((HistogramOptions *)options)->job.load_factor);
}

static int take_partition(void *options, const char *value)
{
    HistogramOptions *const o = options;
    const int partition = bench_read_choice(value, partitions);
    o->job.sectioned = partition == 1;
    o->partition = value;
    return partition < 0 ? -1 : 0;
}

static int take_memory(void *options, const char *value)
{
    HistogramOptions *const o = options;
    const int memory = bench_read_choice(value, memories);
    o->job.memory = memory < 0 ? HISTOGRAM_PINNED : (HistogramMemory)memory;
    o->memory = value;
    return memory < 0 ? -1 : 0;
}

static int take_device(void *options, const char *value)
{
    HistogramOptions *const o = options;
    o->gpu_wanted = 1;
    o->device = -2;
    return strcmp(value, "all") ? bench_read_int(value, 0, 255, &o->device) : 0;
}

static int add_choice(HistogramOptions *o, HistogramKind kind, int copies)
{
    if (o->chosen == HISTOGRAM_MAX_CHOICES)
        return -1;
    HistogramChoice *const choice = &o->choices[o->chosen++];
    *choice = (HistogramChoice){.kind = kind, .copies = copies};
    if (copies)
        snprintf(choice->name, sizeof(choice->name), "%s:%d", strategies[kind].name, copies);
    else
        snprintf(choice->name, sizeof(choice->name), "%s", strategies[kind].name);
    return 0;
}

static int add_all(HistogramOptions *o)
{
    int ret = 0;
    for (int i = 0; i < HISTOGRAM_KINDS && ret == 0; i++)
        if (strategies[i].in_all)
            ret = add_choice(o, (HistogramKind)i, 0);
    return ret;
}

/* NAME or, of what has copies, NAME:R. */
static int add_strategy(void *options, const char *part)
{
    HistogramOptions *const o = options;
    const size_t length = strcspn(part, ":");
    int kind = 0, copies = 0;
    if (!strcmp(part, "all"))
        return add_all(o);
    while (kind < HISTOGRAM_KINDS && (strlen(strategies[kind].name) != length ||
                                      strncmp(strategies[kind].name, part, length) != 0))
        kind++;
    if (kind == HISTOGRAM_KINDS ||
        (part[length] && (kind != HISTOGRAM_SHARED_REPLICATED ||
                          bench_read_int(part + length + 1, 1, 256, &copies) < 0)))
        return -1;
    o->gpu_wanted |= kind >= HISTOGRAM_GLOBAL;
    return add_choice(o, (HistogramKind)kind, copies);
}

static int take_strategy(void *options, const char *value)
{
    ((HistogramOptions *)options)->chosen = 0;
    return bench_read_list(value, add_strategy, options);
}

static int take_sweep(void *options, const char *value)
{
    const int sweep = bench_read_choice(value, sweeps);
    ((HistogramOptions *)options)->sweep = (HistogramSweep)sweep;
    return sweep < 1 ? -1 : 0;
}

static int take_check(void *options, const char *value)
{
    (void)value;
    return ((HistogramOptions *)options)->job.check_only = 1, 0;
}

const BenchOption bench_histogram_options[] = {
    {"--elements", "N", "1 to 1073741824",
     "one row of so many; of a file, by default all there are", take_elements},
    {"--size", "WxH", "1x1 to 65535x65535 and at most 1073741824 elements",
     "rows of elements (default 3840x2160)", take_size},
    {"--pitch", "BYTES", "1 to 1048576", "from one row to the next (default: no gap)", take_pitch},
    {"--type", "u8|u16|u32", "one of u8, u16 and u32", "of the elements (default u8)", take_type},
    {"--bins", "N", "1 to 4096", "elements are 0 to N - 1 (default 256)", take_bins},
    {"--content", "NAME|FILE", "one of " BENCH_CONTENTS ", or a file",
     BENCH_CONTENTS " (default natural), or a file's bytes", take_content},
    {"--saturate", "S", "1 to 4294967295", "no bin counts beyond S: a second kernel cuts them",
     take_saturate},
    {"--cumulate", NULL, NULL, "the cumulated histogram as well: one more kernel", take_cumulate},
    {"--load-factor", "N", "1 to 256",
     "elements a thread (default: one for global, else as few threads as fill the GPU)",
     take_load_factor},
    {"--partition", "HOW", "one of interleaved and sectioned",
     "interleaved: neighbouring threads, neighbouring elements (default); sectioned: each its own "
     "run of them",
     take_partition},
    {"--memory", "KIND", "one of pinned, pageable and managed",
     "the elements are copied from (default pinned), or managed with prefetch", take_memory},
    {"--device", "N|all", "a GPU's number, from 0, or all", "all: at the same time", take_device},
    {"--seed", "N", "1 or more", "of the random numbers (default 1)", bench_take_seed},
    {"--strategy", "LIST",
     "all, or some of cpu, cpu-simd, global, global-stride, shared, shared-warp, "
     "shared-replicated[:1..256], aggregated, per-thread-64, racy, cub and lumeq, at most 32",
     "which, with commas between them (default all: all but racy)", take_strategy},
    {"--sweep", "WHAT", "one of sizes, bins, content and load-factor",
     "many runs over sizes (up to --elements, default 67108864), bins, content or load-factor",
     take_sweep},
    {"--check", NULL, NULL, "count and check, measure nothing", take_check},
    {"--csv", NULL, NULL, "comma-separated values instead of a table", bench_take_csv},
    {"--json", NULL, NULL, "a JSON object a line instead of a table", bench_take_json},
    {NULL, NULL, NULL, NULL, NULL},
};

static void print_notes(void)
{
    printf(
        "\nStrategies: cpu, a plain loop on one core; cpu-simd, lumeq's kernels on one core;\n"
        "global, an atomic addition in memory for each element; global-stride, the same in as\n"
        "few threads as fill the GPU; shared, a table for each block in shared memory, added up\n"
        "at the end; shared-warp, one for each warp; shared-replicated:R, R copies of a block's\n"
        "table with their counters in turns, without :R as many as fit, up to 32; aggregated,\n"
        "as shared, equal neighbours are added at once; per-thread-64, counters of a byte for\n"
        "each thread, at most 64 bins; racy, additions that are not atomic and lose counts; cub,\n"
        "CUB's HistogramEven; lumeq, lumeq's kernels.\n\n"
        "shared-replicated, aggregated and per-thread-64 read 16 bytes at a time: of them a "
        "thread\n"
        "counts --load-factor elements rounded up to whole 16 bytes. load_factor in CSV and JSON "
        "is\n"
        "what a thread did count at most; cub and lumeq have none, whatever --load-factor is.\n\n"
        "A time on a GPU is the median of replays of a graph that does the work on one copy of\n"
        "the elements after the other, together several times the L2 cache (at most 1024 copies:\n"
        "below some hundred KB they stay in it). The clearing of the counters is in it, and what\n"
        "--saturate and --cumulate add. On the CPU the elements stay where they are. Noise is\n"
        "the distance of the quartiles, as a share of the median. The shares are of the bandwidth\n"
        "that follows from the memory's clock and width, and of that of a large copy on the\n"
        "device in the same run, read and written bytes counted.\n" BENCH_ORIGIN_HELP);
}

static int refuse(const char *sentence)
{
    fprintf(stderr, "lumeq-bench histogram: %s\n", sentence);
    return -1;
}

/* What options say only together. */
static int check_options(const HistogramOptions *o)
{
    const HistogramJob *const job = &o->job;
    if (o->common.csv && o->common.json)
        return refuse("--csv and --json exclude each other");
    if (o->elements && job->width)
        return refuse("--elements and --size exclude each other");
    if (o->pitch && !job->width)
        return refuse("--pitch is of the rows of --size, which is missing");
    if (o->sweep == HISTOGRAM_SWEEP_SIZES && job->width)
        return refuse("--sweep sizes is over rows of up to --elements, without --size");
    if (o->sweep == HISTOGRAM_SWEEP_LOAD_FACTOR && job->load_factor)
        return refuse("--sweep load-factor and --load-factor exclude each other");
    if (o->sweep == HISTOGRAM_SWEEP_BINS && o->bins_given)
        return refuse("--sweep bins and --bins exclude each other");
    if (o->sweep == HISTOGRAM_SWEEP_CONTENT && o->content_given)
        return refuse("--sweep content and --content exclude each other");
    if (o->pitch % job->sample_size)
        return refuse("--pitch is no multiple of the size of an element");
    if (o->pitch && o->pitch < (int64_t)job->width * job->sample_size)
        return refuse("--pitch is less than a row of --size has bytes");
    return 0;
}

static int settle_size(HistogramOptions *o)
{
    const int made_up = bench_read_choice(o->content, bench_contents) >= 0;
    HistogramJob *const job = &o->job;
    if (!o->elements && o->sweep == HISTOGRAM_SWEEP_SIZES)
        o->elements = 1 << 26;
    if (!o->elements && !job->width && !made_up) {
        if (histogram_file_elements(o->content, job->sample_size, &o->elements) < 0)
            return -1;
        if (o->elements > HISTOGRAM_MAX_ELEMENTS)
            o->elements = HISTOGRAM_MAX_ELEMENTS;
    }
    if (!o->elements && !job->width) {
        job->width = 3840;
        job->height = 2160;
    } else if (o->elements) {
        job->width = (int)o->elements;
        job->height = 1;
    }
    job->pitch = o->pitch ? (size_t)o->pitch : (size_t)job->width * (size_t)job->sample_size;
    return 0;
}

/* 0, 1 after the help, or -1 after a sentence on stderr. */
static int read_options(HistogramOptions *options, int argc, char **argv)
{
    *options = (HistogramOptions){.job = {.sample_size = 1, .bins = 256},
                                  .type = types[0],
                                  .content = "natural",
                                  .partition = partitions[0],
                                  .memory = memories[0],
                                  .device = -1,
                                  .common.seed = 1};
    const int ret = bench_arguments("histogram", bench_histogram_options, options, argc, argv);
    if (ret > 0)
        print_notes();
    if (ret)
        return ret;
    if (!options->chosen && add_all(options) < 0)
        return -1;
    return check_options(options) < 0 || settle_size(options) < 0 ? -1 : 0;
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

static void start_report(BenchReport *report, BenchFormat format)
{
    *report = (BenchReport){format, columns, COLUMNS};
}

/* NAN where something is not known stays so. */
static void fill_times(BenchValue *values, const HistogramCase *c, int devices,
                       const HistogramOutcome *o)
{
    const double elements = (double)histogram_elements(c->job) * devices;
    const double gb_s = elements * c->job->sample_size / o->us / 1e3;
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
    values[SPEEDUP].number = devices * c->cpu_us / o->us;
    values[SPEEDUP_COPIES].number = devices * c->cpu_us / (o->us + copies);
}

/* `device`: "CPU", a number, or "all"; elements are those of one device, `devices` times. `result`:
 * of the check, or why there is none. */
static void print_row(const BenchReport *report, const HistogramCase *c, const char *strategy,
                      const char *device, int devices, const HistogramOutcome *outcome,
                      const char *result)
{
    BenchValue values[COLUMNS];
    for (int i = 0; i < COLUMNS; i++)
        values[i] = (BenchValue){NULL, NAN};
    values[STRATEGY].text = strategy;
    values[DEVICE].text = device;
    values[ELEMENTS].number = (double)histogram_elements(c->job) * devices;
    values[TYPE].text = c->type;
    values[BINS].number = c->job->bins;
    values[CONTENT].text = c->content;
    if (strcmp(device, "CPU")) {
        values[LOAD_FACTOR].number =
            outcome->load_factor ? (double)outcome->load_factor : (double)NAN;
        values[PARTITION].text = c->partition;
        values[MEMORY].text = c->memory;
    }
    values[SATURATE].number = c->job->saturate ? (double)c->job->saturate : (double)NAN;
    if (outcome->status == HISTOGRAM_DONE)
        fill_times(values, c, devices, outcome);
    values[RESULT].text = result;
    bench_report_row(report, values);
}

/* All devices at once: rates are sums, the time is what follows from that; copies take as long as
 * the slowest one's. */
static void sum_up(HistogramOutcome *all, const HistogramOutcome *outcomes, int count)
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

/* ---- measuring ---- */

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
    print_row(&run->report, c, choice->name, device, devices, outcome, text);
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
        sum_up(&run->all, run->outcomes, run->device_count);
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
    int ret = histogram_fill(job, content, (uint64_t)run->options.common.seed);
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
    int ret = read_options(&run.options, argc, argv);
    if (ret)
        return ret < 0;
    if (needs_gpu(&run.options) && find_devices(&run) < 0)
        return 1;
    start_report(&run.report, bench_format(&run.options.common));
    run.command = bench_command_line(argc, argv);
    for (int i = 0; next_case(&run.options, i, &job, &content); i++)
        ret |= run_case(&run, &job, content);
    return ret != 0;
}
