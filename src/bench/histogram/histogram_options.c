#include "bench/histogram/histogram_options.h"

#include <stdio.h>
#include <string.h>

#include "bench/command_line.h"
#include "bench/content.h"

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

static int take_integer(const char *value, int64_t least, int64_t most, int *to)
{
    int64_t number;
    if (bench_read_integer(value, least, most, &number) < 0)
        return -1;
    *to = (int)number;
    return 0;
}

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
    return take_integer(value, 1, HISTOGRAM_MAX_BINS, &o->job.bins);
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
    return take_integer(value, 1, 256, &((HistogramOptions *)options)->job.load_factor);
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
    return strcmp(value, "all") ? take_integer(value, 0, 255, &o->device) : 0;
}

static int take_seed(void *options, const char *value)
{
    return bench_read_integer(value, 1, INT64_MAX, &((HistogramOptions *)options)->seed);
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
                          take_integer(part + length + 1, 1, 256, &copies) < 0)))
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

static int take_csv(void *options, const char *value)
{
    (void)value;
    return ((HistogramOptions *)options)->csv = 1, 0;
}

static int take_json(void *options, const char *value)
{
    (void)value;
    return ((HistogramOptions *)options)->json = 1, 0;
}

static const BenchOption table[] = {
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
    {"--seed", "N", "1 or more", "of the random numbers (default 1)", take_seed},
    {"--strategy", "LIST",
     "all, or some of cpu, cpu-simd, global, global-stride, shared, shared-warp, "
     "shared-replicated[:1..256], aggregated, per-thread-64, racy, cub and lumeq, at most 32",
     "which, with commas between them (default all: all but racy)", take_strategy},
    {"--sweep", "WHAT", "one of sizes, bins, content and load-factor",
     "many runs over sizes (up to --elements, default 67108864), bins, content or load-factor",
     take_sweep},
    {"--check", NULL, NULL, "count and check, measure nothing", take_check},
    {"--csv", NULL, NULL, "comma-separated values instead of a table", take_csv},
    {"--json", NULL, NULL, "a JSON object a line instead of a table", take_json},
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
    if (o->csv && o->json)
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

int histogram_options(HistogramOptions *options, int argc, char **argv)
{
    *options = (HistogramOptions){.job = {.sample_size = 1, .bins = 256},
                                  .type = types[0],
                                  .content = "natural",
                                  .partition = partitions[0],
                                  .memory = memories[0],
                                  .device = -1,
                                  .seed = 1};
    const int ret = bench_arguments("histogram", table, options, argc, argv);
    if (ret > 0)
        print_notes();
    if (ret)
        return ret;
    if (!options->chosen && add_all(options) < 0)
        return -1;
    return check_options(options) < 0 || settle_size(options) < 0 ? -1 : 0;
}
