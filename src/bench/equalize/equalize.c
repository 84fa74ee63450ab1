/* lumeq-bench equalize: whole pictures, step by step, and the copies that limit them. */
#include "bench/equalize/equalize.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_LIST 16 /* parts of an option's list */
#define ALL_DEVICES (-1)

#define BACKENDS "cpu|naive|improved|cuda"
#define MODES "global, clahe, stretch, off, reference, clahe-reference"

static const EqualizeMode modes[] = {
    {"global", LUMEQ_MODE_GLOBAL, 0},    {"clahe", LUMEQ_MODE_CLAHE, 0},
    {"stretch", LUMEQ_MODE_STRETCH, 0},  {"off", LUMEQ_MODE_OFF, 0},
    {"reference", LUMEQ_MODE_GLOBAL, 1}, {"clahe-reference", LUMEQ_MODE_CLAHE, 1},
};

typedef struct EqualizeOptions {
    BenchCommon common;
    int widths[MAX_LIST], heights[MAX_LIST], sizes;
    char content[MAX_LIST][256];
    int contents;
    int backend[EQUALIZE_BACKENDS], backends; /* selected or not; 0 backends: all available ones */
    const EqualizeMode *mode[MAX_LIST];
    int modes;
    int threads[MAX_LIST], thread_counts;
    const char *bits;
    int load_factor, batch, device, depth;
    double seconds;
} EqualizeOptions;

typedef struct Run {
    EqualizeOptions options;
    LumeqGpu gpu[EQUALIZE_MAX_DEVICES];
    int gpus;
    char why[256]; /* there are no GPUs */
    int failed;
} Run;

/* ---- options ---- */

/* The library accepts areas up to 2^31 - 1. */
static int add_size(void *options, const char *part)
{
    EqualizeOptions *o = options;
    int width, height;
    if (o->sizes == MAX_LIST || bench_read_size(part, LUMEQ_MAX_SIDE, &width, &height) < 0 ||
        (int64_t)width * height > INT32_MAX)
        return -1;
    o->widths[o->sizes] = width;
    o->heights[o->sizes++] = height;
    return 0;
}

static int add_content(void *options, const char *part)
{
    EqualizeOptions *o = options;
    if (o->contents == MAX_LIST || !*part)
        return -1;
    snprintf(o->content[o->contents++], sizeof(o->content[0]), "%s", part);
    return 0;
}

static int add_backend(void *options, const char *part)
{
    EqualizeOptions *o = options;
    const int backend = bench_read_choice(part, BACKENDS);
    if (backend < 0)
        return -1;
    if (!o->backends++)
        memset(o->backend, 0, sizeof(o->backend));
    o->backend[backend] = 1;
    return 0;
}

static int add_mode(void *options, const char *part)
{
    EqualizeOptions *o = options;
    for (size_t i = 0; i < sizeof(modes) / sizeof(*modes) && o->modes < MAX_LIST; i++)
        if (!strcmp(part, modes[i].name)) {
            o->mode[o->modes++] = &modes[i];
            return 0;
        }
    return -1;
}

static int add_threads(void *options, const char *part)
{
    EqualizeOptions *o = options;
    int64_t threads;
    if (o->thread_counts == MAX_LIST || bench_read_integer(part, 0, 256, &threads) < 0)
        return -1;
    o->threads[o->thread_counts++] = (int)threads;
    return 0;
}

static int take_device(void *options, const char *value)
{
    int64_t device = ALL_DEVICES;
    if (strcmp(value, "all") != 0 && bench_read_integer(value, 0, 255, &device) < 0)
        return -1;
    ((EqualizeOptions *)options)->device = (int)device;
    return 0;
}

#define SIZES_ALLOWED                                                                              \
    "a list of up to 16 sizes such as 1920x1080: sides from 1 to 65535, areas up to 2147483647"

const BenchOption bench_equalize_options[] = {
    {"--sizes", "WxH,..",
     "picture sizes [512x384,910x682,1000x667,1920x1080,3840x2160,5120x2880,7680x4320]",
     BENCH_STORE(LIST, EqualizeOptions, sizes), .take = add_size, .allowed = SIZES_ALLOWED},
    {"--size", "WxH", "the same, for one size", BENCH_STORE(LIST, EqualizeOptions, sizes),
     .take = add_size, .allowed = SIZES_ALLOWED},
    {"--content", "NAME,..",
     "pictures: " BENCH_CONTENTS ", or files of raw samples [natural,noise,flat]",
     BENCH_STORE(LIST, EqualizeOptions, contents), .take = add_content,
     .allowed = "a list of up to 16 of " BENCH_CONTENTS " and names of files of raw samples"},
    {"--backend", "NAME,..",
     "cpu, cuda: lumeq; naive, improved: textbook kernels on the GPU [all available]",
     BENCH_STORE(LIST, EqualizeOptions, backends), .take = add_backend,
     .allowed = "a list of cpu, naive, improved, cuda"},
    {"--modes", "NAME,..", "modes of cpu and cuda: " MODES " [global]",
     BENCH_STORE(LIST, EqualizeOptions, modes), .take = add_mode, .allowed = "a list of " MODES},
    {"--threads", "N,..", "threads of cpu, measured one by one; 0: one per core [0]",
     BENCH_STORE(LIST, EqualizeOptions, thread_counts), .take = add_threads,
     .allowed = "a list of up to 16 numbers from 0 to 256"},
    {"--load-factor", "N", "pixels per thread of improved [16]",
     BENCH_RANGE(INT, EqualizeOptions, load_factor, 1, 256)},
    {"--batch", "N", "most frames that lumeq launches together on a GPU [1]",
     BENCH_RANGE(INT, EqualizeOptions, batch, 1, LUMEQ_MAX_BATCH)},
    {"--depth", "8|10|12|16", "bits per sample; naive and improved support 8 only [8]",
     BENCH_STORE(CHOICE, EqualizeOptions, bits)},
    {"--device", "N", "GPU; all: the first GPU alone, then all of them at the same time [0]",
     .take = take_device, .allowed = "a GPU's number from 0, or all"},
    {"--seconds", "S", "duration of each rate measurement [1]",
     BENCH_RANGE(DOUBLE, EqualizeOptions, seconds, 0.01, 3600)},
    BENCH_SEED_OPTION,
    BENCH_FORMAT_OPTIONS,
};

static void print_columns(void)
{
    printf(
        "\nColumns, in microseconds per frame; \"-\" was not measured:\n"
        "  cpu_total_us         one frame through the library on the CPU\n"
        "  upload_us            from pinned memory to the GPU; download_us: back\n"
        "  histogram_us, curve_us, apply_us   one step for frame after frame; lumeq has one "
        "kernel\n"
        "                       for the first two, histogram_curve_us; curve_us is the rest of it\n"
        "  gpu_total_us         of the reference: kernels alone, frames in a row on two streams\n"
        "                       without uploads between them, so that frames overlap (throughput)\n"
        "  latency_us           the same, each frame waits until the one before has finished\n"
        "  gpu_spread_us        distance of the quartiles of gpu_total_us over the replays\n"
        "  copy_us              the same bytes copied within GPU memory: the lower bound\n"
        "  multiple_of_copy     gpu_total_us / copy_us\n"
        "  chroma_us            cpu_total_us with 4:2:0 chroma, scaled\n"
        "  resident_us          time per frame through the library, in GPU memory all the time, "
        "with\n"
        "                       as many frames in flight as possible\n"
        "  host_total_us        one frame alone from pinned memory to pinned memory\n"
        "  frames_per_s         frames in flight from host memory to host memory\n"
        "  duplex_frames_per_s  what copies up and down at the same time allow\n"
        "  linearity            rate of all GPUs as a multiple of one GPU alone\n"
        "  checked              results equal plain C on one thread, bit for bit; otherwise there\n"
        "                       is no row, and the exit code is 1\n"
        "\nFor comparison: CV-CUDA publishes 25.4 us for HistogramEq, 19.6 for CLAHE and 3.0 for\n"
        "Histogram: 1080p, one channel, H100 PCIe at 1,095 MHz, batches of 16, 64 and 128\n"
        "independent pictures. lumeq's frames depend on each other, and include bars, noise and "
        "the\n"
        "lift rule, but for --modes reference.\n" BENCH_ORIGIN_HELP);
}

static int read_options(EqualizeOptions *o, int argc, char **argv)
{
    *o = (EqualizeOptions){
        .bits = "8", .load_factor = 16, .batch = 1, .seconds = 1, .common.seed = 1};
    bench_read_list("512x384,910x682,1000x667,1920x1080,3840x2160,5120x2880,7680x4320", add_size,
                    o);
    bench_read_list("natural,noise,flat", add_content, o);
    o->mode[o->modes++] = &modes[0];
    o->thread_counts = 1; /* 0: one per core */
    const int ret = bench_arguments("equalize", bench_equalize_options, o, argc, argv);
    if (ret > 0)
        print_columns();
    if (ret)
        return ret;
    o->depth = atoi(o->bits);
    for (int i = 0; i < o->modes; i++)
        if (o->mode[i]->reference && o->depth != 8)
            return bench_refuse("equalize", "mode %s is for --depth 8, not %d", o->mode[i]->name,
                                o->depth);
    if (o->depth != 8 && o->backends && !o->backend[EQUALIZE_CPU] && !o->backend[EQUALIZE_CUDA])
        return bench_refuse("equalize", "naive and improved are for --depth 8, not %d", o->depth);
    return 0;
}

/* Selects all available backends, or checks those of --backend. */
static int choose_backends(Run *run)
{
    EqualizeOptions *const o = &run->options;
    const int all = o->backends == 0;
    for (int i = 0; i < EQUALIZE_BACKENDS; i++) {
        o->backend[i] = all || o->backend[i];
        if (!o->backend[i] || i == EQUALIZE_CPU || run->gpus)
            continue;
        if (!all)
            return bench_refuse("equalize", "backend %s: %s", equalize_backends[i], run->why);
        o->backend[i] = 0;
    }
    if (all && !run->gpus)
        bench_refuse("equalize", "naive, improved and cuda are left out: %s", run->why);
    if (o->depth != 8 && (o->backend[EQUALIZE_NAIVE] || o->backend[EQUALIZE_IMPROVED])) {
        bench_refuse("equalize", "naive and improved are left out: they are for --depth 8");
        o->backend[EQUALIZE_NAIVE] = o->backend[EQUALIZE_IMPROVED] = 0;
    }
    if (run->gpus && o->device >= run->gpus)
        return bench_refuse("equalize", "there is no GPU %d; this machine has %d, from number 0",
                            o->device, run->gpus);
    return 0;
}

/* ---- rows ---- */

static const BenchColumn columns[EQUALIZE_COLUMNS] = {
    [EQ_SIZE] = {"size", "size", 9, -1},
    [EQ_CONTENT] = {"content", "content", 9, -1},
    [EQ_BACKEND] = {"backend", "backend", 8, -1},
    [EQ_CPU_TOTAL_US] = {"cpu_total_us", "CPU us", 9, 2},
    [EQ_UPLOAD_US] = {"upload_us", "up us", 8, 2},
    [EQ_HISTOGRAM_US] = {"histogram_us", "hist us", 8, 2},
    [EQ_CURVE_US] = {"curve_us", "curve us", 8, 2},
    [EQ_APPLY_US] = {"apply_us", "apply us", 8, 2},
    [EQ_DOWNLOAD_US] = {"download_us", "down us", 8, 2},
    [EQ_GPU_TOTAL_US] = {"gpu_total_us", "GPU us", 8, 2},
    [EQ_COPY_US] = {"copy_us", "copy us", 8, 2},
    [EQ_MODE] = {"mode", "mode", 8, -1},
    [EQ_DEPTH] = {"depth", NULL, 0, 0},
    [EQ_THREADS] = {"threads", "thr", 3, 0},
    [EQ_DEVICE] = {"device", "GPU", 4, -1},
    [EQ_LOAD_FACTOR] = {"load_factor", NULL, 0, 0},
    [EQ_BATCH] = {"batch", "batch", 5, 0},
    [EQ_MULTIPLE_OF_COPY] = {"multiple_of_copy", "x copy", 6, 3},
    [EQ_LATENCY_US] = {"latency_us", "alone us", 8, 2},
    [EQ_GPU_SPREAD_US] = {"gpu_spread_us", "+- us", 5, 2},
    [EQ_HISTOGRAM_CURVE_US] = {"histogram_curve_us", "h+curve", 7, 2},
    [EQ_CHROMA_US] = {"chroma_us", "+chroma", 8, 2},
    [EQ_RESIDENT_US] = {"resident_us", "live us", 8, 2},
    [EQ_HOST_TOTAL_US] = {"host_total_us", "host us", 8, 1},
    [EQ_FRAMES_PER_S] = {"frames_per_s", "frames/s", 9, 1},
    [EQ_DUPLEX_FRAMES_PER_S] = {"duplex_frames_per_s", "duplex/s", 9, 1},
    [EQ_SHARE_OF_DUPLEX] = {"share_of_duplex", "share", 5, 3},
    [EQ_LINEARITY] = {"linearity", "linear", 6, 2},
    [EQ_CHECKED] = {"checked", "checked", 7, -1},
};

/* Completes the row with the case's fields and prints it. `device`: NULL on the CPU. */
static void print_row(BenchFormat format, const EqualizeCase *c, const char *device, BenchValue *v)
{
    const BenchReport report = {format, columns, EQUALIZE_COLUMNS};
    const long cores =
        sysconf(_SC_NPROCESSORS_ONLN); /* as many threads as the library uses for 0 */
    char size[32];
    snprintf(size, sizeof(size), "%dx%d", c->picture.width, c->picture.height);
    v[EQ_SIZE].text = size;
    v[EQ_CONTENT].text = c->content;
    v[EQ_BACKEND].text = equalize_backends[c->backend];
    v[EQ_MODE].text = c->mode ? c->mode->name : "textbook";
    v[EQ_DEPTH].number = c->picture.depth;
    v[EQ_DEVICE].text = device;
    if (c->backend == EQUALIZE_CPU)
        v[EQ_THREADS].number = c->threads ? c->threads : fmin(fmax((double)cores, 1), 256);
    if (c->backend == EQUALIZE_IMPROVED)
        v[EQ_LOAD_FACTOR].number = c->load_factor;
    if (c->backend == EQUALIZE_CUDA)
        v[EQ_BATCH].number = c->batch;
    v[EQ_MULTIPLE_OF_COPY].number = v[EQ_GPU_TOTAL_US].number / v[EQ_COPY_US].number;
    v[EQ_SHARE_OF_DUPLEX].number = v[EQ_FRAMES_PER_S].number / v[EQ_DUPLEX_FRAMES_PER_S].number;
    bench_report_row(&report, v);
}

/* ---- measuring ---- */

static void run_cpu(Run *run, EqualizeCase *c)
{
    for (int i = 0; i < run->options.thread_counts; i++) {
        EqualizeRow row;
        bench_report_clear(row, EQUALIZE_COLUMNS);
        c->threads = run->options.threads[i];
        if (equalize_library(c, row) < 0)
            run->failed = 1;
        else
            print_row(bench_format(&run->options.common), c, NULL, row);
    }
}

/* Measures all GPUs at the same time. `alone`: frames per second of one. */
static int run_together(const Run *run, const EqualizeCase *c, double alone)
{
    static EqualizeRow rows[EQUALIZE_MAX_DEVICES + 1];
    if (equalize_together(c, run->gpus, alone, rows) < 0)
        return -1;
    for (int i = 0; i <= run->gpus; i++) {
        char device[32];
        snprintf(device, sizeof(device), "%d/%d", i, run->gpus);
        print_row(bench_format(&run->options.common), c, i < run->gpus ? device : "all", rows[i]);
    }
    return 0;
}

static void run_gpu(Run *run, const EqualizeCase *c)
{
    const BenchFormat format = bench_format(&run->options.common);
    EqualizeRow row;
    char device[16];
    bench_report_clear(row, EQUALIZE_COLUMNS);
    snprintf(device, sizeof(device), "%d", c->device);
    int ret = c->mode ? equalize_device(c, row) : equalize_baseline(c, row);
    if (ret == 0 && c->mode)
        ret = equalize_library(c, row);
    if (ret == 0)
        print_row(format, c, device, row);
    if (ret == 0 && c->mode && run->options.device == ALL_DEVICES)
        ret = run_together(run, c, row[EQ_FRAMES_PER_S].number);
    if (ret < 0)
        run->failed = 1;
}

/* Runs the backend in all modes; the textbook has only one. */
static void run_backend(Run *run, EqualizeCase *c)
{
    const int has_modes = c->backend == EQUALIZE_CPU || c->backend == EQUALIZE_CUDA;
    for (int i = 0; i < (has_modes ? run->options.modes : 1); i++) {
        c->mode = has_modes ? run->options.mode[i] : NULL;
        if (c->backend == EQUALIZE_CPU)
            run_cpu(run, c);
        else
            run_gpu(run, c);
    }
}

/* Returns 0, or -1 if the picture cannot be made. */
static int run_picture(Run *run, int size, const char *content)
{
    const EqualizeOptions *const o = &run->options;
    EqualizeCase c = {
        .content = content,
        .load_factor = o->load_factor,
        .batch = o->batch,
        .device = o->device == ALL_DEVICES ? 0 : o->device,
        .seconds = o->seconds,
        .picture = {.width = o->widths[size], .height = o->heights[size], .depth = o->depth}};
    c.picture.luma = malloc(bench_row_size(&c.picture) * (size_t)c.picture.height);
    if (!c.picture.luma)
        return bench_refuse("equalize", "out of memory");
    const int ret = bench_fill(&c.picture, content, (uint64_t)o->common.seed);
    for (c.backend = 0; c.backend < EQUALIZE_BACKENDS && ret == 0; c.backend++)
        if (o->backend[c.backend])
            run_backend(run, &c);
    free(c.picture.luma);
    return ret;
}

int bench_equalize(int argc, char **argv)
{
    static Run run;
    EqualizeOptions *const o = &run.options;
    char names[160];
    const int ret = read_options(o, argc, argv);
    if (ret)
        return ret < 0;
    run.gpu[0].size = sizeof(run.gpu[0]);
    const int gpus = lumeq_list_gpus(run.gpu, EQUALIZE_MAX_DEVICES, run.why, sizeof(run.why));
    run.gpus = gpus < 0 ? 0 : gpus < EQUALIZE_MAX_DEVICES ? gpus : EQUALIZE_MAX_DEVICES;
    if (gpus == 0)
        snprintf(run.why, sizeof(run.why), "there is no GPU");
    if (choose_backends(&run) < 0)
        return 1;
    snprintf(names, sizeof(names), "%d x %s", run.gpus, run.gpu[0].name);
    const BenchReport report = {bench_format(&o->common), columns, EQUALIZE_COLUMNS};
    bench_report_begin(&report, bench_command_line(argc, argv), run.gpus ? names : NULL);
    for (int i = 0; i < o->sizes; i++)
        for (int k = 0; k < o->contents; k++)
            if (run_picture(&run, i, o->content[k]) < 0)
                return 1;
    return run.failed;
}
