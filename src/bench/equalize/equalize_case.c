/* What lumeq-bench equalize is asked for, and the rows it answers with. */
#include "bench/equalize/equalize.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/bench.h"

/* ---- options ---- */

const char *const equalize_backends[] = {"cpu", "naive", "improved", "cuda", NULL};

static const EqualizeMode modes[] = {
    {"global", LUMEQ_MODE_GLOBAL, 0},    {"clahe", LUMEQ_MODE_CLAHE, 0},
    {"stretch", LUMEQ_MODE_STRETCH, 0},  {"off", LUMEQ_MODE_OFF, 0},
    {"reference", LUMEQ_MODE_GLOBAL, 1}, {"clahe-reference", LUMEQ_MODE_CLAHE, 1},
};

LumeqParams equalize_params(const EqualizeMode *mode)
{
    LumeqParams params = {.size = sizeof(params)};
    lumeq_params_default(&params);
    params.mode = mode->mode;
    params.reference = mode->reference;
    return params;
}

/* The library takes areas up to 2^31 - 1. */
static int take_size(void *options, const char *part)
{
    EqualizeOptions *o = options;
    int width, height;
    if (o->sizes == EQUALIZE_LIST || bench_read_size(part, LUMEQ_MAX_SIDE, &width, &height) < 0 ||
        (int64_t)width * height > INT32_MAX)
        return -1;
    o->widths[o->sizes] = width;
    o->heights[o->sizes++] = height;
    return 0;
}

static int take_sizes(void *options, const char *value)
{
    ((EqualizeOptions *)options)->sizes = 0;
    return bench_read_list(value, take_size, options);
}

static int take_content(void *options, const char *part)
{
    EqualizeOptions *o = options;
    if (o->contents == EQUALIZE_LIST || !*part)
        return -1;
    snprintf(o->content[o->contents++], sizeof(o->content[0]), "%s", part);
    return 0;
}

static int take_contents(void *options, const char *value)
{
    ((EqualizeOptions *)options)->contents = 0;
    return bench_read_list(value, take_content, options);
}

static int take_backend(void *options, const char *part)
{
    EqualizeOptions *o = options;
    const int backend = bench_read_choice(part, equalize_backends);
    if (backend < 0)
        return -1;
    o->backend[backend] = 1;
    o->backends++;
    return 0;
}

static int take_backends(void *options, const char *value)
{
    EqualizeOptions *o = options;
    o->backends = 0;
    memset(o->backend, 0, sizeof(o->backend));
    return bench_read_list(value, take_backend, options);
}

static int take_mode(void *options, const char *part)
{
    EqualizeOptions *o = options;
    for (size_t i = 0; i < sizeof(modes) / sizeof(*modes) && o->modes < EQUALIZE_LIST; i++)
        if (!strcmp(part, modes[i].name)) {
            o->mode[o->modes++] = &modes[i];
            return 0;
        }
    return -1;
}

static int take_modes(void *options, const char *value)
{
    ((EqualizeOptions *)options)->modes = 0;
    return bench_read_list(value, take_mode, options);
}

static int take_thread_count(void *options, const char *part)
{
    EqualizeOptions *o = options;
    return o->thread_counts == EQUALIZE_LIST
               ? -1
               : bench_read_int(part, 0, 256, &o->threads[o->thread_counts++]);
}

static int take_threads(void *options, const char *value)
{
    ((EqualizeOptions *)options)->thread_counts = 0;
    return bench_read_list(value, take_thread_count, options);
}

static int take_load_factor(void *options, const char *value)
{
    return bench_read_int(value, 1, 256, &((EqualizeOptions *)options)->load_factor);
}

static int take_depth(void *options, const char *value)
{
    static const char *const depths[] = {"8", "10", "12", "16", NULL};
    if (bench_read_choice(value, depths) < 0)
        return -1;
    ((EqualizeOptions *)options)->depth = atoi(value);
    return 0;
}

static int take_device(void *options, const char *value)
{
    EqualizeOptions *o = options;
    if (!strcmp(value, "all")) {
        o->device = EQUALIZE_ALL_DEVICES;
        return 0;
    }
    return bench_read_int(value, 0, 255, &o->device);
}

static int take_seconds(void *options, const char *value)
{
    return bench_read_number(value, 0.01, 3600, &((EqualizeOptions *)options)->seconds);
}

#define SIZES_ALLOWED                                                                              \
    "a list of up to 16 sizes as 1920x1080: sides from 1 to 65535, areas up to 2147483647"

const BenchOption bench_equalize_options[] = {
    {"--sizes", "WxH,..", SIZES_ALLOWED,
     "pictures (512x384, 910x682, 1000x667, 1920x1080, 3840x2160, 5120x2880, 7680x4320)",
     take_sizes},
    {"--size", "WxH", SIZES_ALLOWED, "the same, for one", take_sizes},
    {"--content", "NAME,..",
     "a list of up to 16 of " BENCH_CONTENTS " and names of files of raw samples",
     "what they show: " BENCH_CONTENTS ", or FILE: raw samples (natural,noise,flat)",
     take_contents},
    {"--backend", "NAME,..", "a list of cpu, naive, improved, cuda",
     "cpu and cuda: lumeq's; naive and improved: the textbook's on the GPU (all there are)",
     take_backends},
    {"--modes", "NAME,..", "a list of " EQUALIZE_MODES,
     "of cpu and cuda: " EQUALIZE_MODES " (global)", take_modes},
    {"--threads", "N,..", "a list of up to 16 numbers from 0 to 256",
     "of cpu, each in turn; 0: one for each core (0)", take_threads},
    {"--load-factor", "N", "a number from 1 to 256", "pixels a thread of improved takes (16)",
     take_load_factor},
    {"--depth", "BITS", "8, 10, 12 or 16", "of a sample (8); naive and improved know 8 only",
     take_depth},
    {"--device", "N", "a GPU's number from 0, or all",
     "GPU, or all: the first alone, then all at the same time, an equalizer each (0)", take_device},
    {"--seconds", "S", "a number from 0.01 to 3600", "how long each rate is measured (1)",
     take_seconds},
    {"--seed", "N", "a number from 1 to 9223372036854775807", "of the random contents (1)",
     bench_take_seed},
    {"--csv", NULL, NULL, "as comma-separated values", bench_take_csv},
    {"--json", NULL, NULL, "as JSON, one object a line", bench_take_json},
    {0},
};

static void print_columns(void)
{
    printf(
        "\nColumns, in microseconds of a frame; \"-\" is not measured:\n"
        "  cpu_total_us         one frame through the library on the CPU\n"
        "  upload_us            from pinned memory to the GPU; download_us: back\n"
        "  histogram_us, curve_us, apply_us   of one kind after another; lumeq's kernel has both "
        "in\n"
        "                       it, histogram_curve_us: curve_us is what the curve adds\n"
        "  gpu_total_us         device to device, frames in a row on the library's two streams "
        "with\n"
        "                       nothing between them: one's kernels may begin while those before\n"
        "                       end (throughput; in the library uploads lie between)\n"
        "  latency_us           the same, each frame waiting until all of the one before is done\n"
        "  gpu_spread_us        between the quartiles of gpu_total_us over the replays\n"
        "  copy_us              the same bytes copied within the GPU's memory: the floor\n"
        "  multiple_of_copy     gpu_total_us / copy_us\n"
        "  chroma_us            luma and 4:2:0 chroma, scaled; clahe_us: luma with mode clahe\n"
        "  resident_us          the next frame through the library, in the GPU's memory all the "
        "time,\n"
        "                       as many in flight as can be\n"
        "  host_total_us        one frame from pinned memory to pinned memory, alone\n"
        "  frames_per_s         frames in flight from host memory to host memory\n"
        "  duplex_frames_per_s  what the copies up and down at the same time allow\n"
        "  linearity            all GPUs' rate as a multiple of one alone\n"
        "  checked              results are those of plain C on one thread, bit for bit; else "
        "there\n"
        "                       is no row, and the exit code is 1\n"
        "\nFor comparison: CV-CUDA publishes 25.4 us for HistogramEq, 19.6 for CLAHE and 3.0 for\n"
        "Histogram, a 1080p frame of one channel, on an H100 PCIe at 1,095 MHz, in batches of 16, "
        "64\n"
        "and 128 pictures a call that do not depend on each other. Here each frame goes on from "
        "the\n"
        "one before; bars, noise and the rule of the lift are in it: of these --modes reference\n"
        "has the noise.\n" BENCH_ORIGIN_HELP);
}

static void set_defaults(EqualizeOptions *options)
{
    *options = (EqualizeOptions){.load_factor = 16, .depth = 8, .seconds = 1, .common.seed = 1};
    take_sizes(options, "512x384,910x682,1000x667,1920x1080,3840x2160,5120x2880,7680x4320");
    take_contents(options, "natural,noise,flat");
    take_modes(options, "global");
    take_threads(options, "0");
}

/* Only codes of 8 bits have a reference. */
static int check_modes(const EqualizeOptions *options)
{
    for (int i = 0; i < options->modes; i++)
        if (options->mode[i]->reference && options->depth != 8) {
            fprintf(stderr, "lumeq-bench equalize: mode %s is for --depth 8, not %d\n",
                    options->mode[i]->name, options->depth);
            return -1;
        }
    return 0;
}

/* As frames of a kind that some backend has. */
static int check_depth(const EqualizeOptions *options)
{
    const int ours = options->backend[EQUALIZE_CPU] || options->backend[EQUALIZE_CUDA];
    if (options->depth == 8 || ours || !options->backends)
        return 0;
    fprintf(stderr, "lumeq-bench equalize: naive and improved are for --depth 8, not %d\n",
            options->depth);
    return -1;
}

int equalize_options(EqualizeOptions *options, int argc, char **argv)
{
    set_defaults(options);
    const int ret = bench_arguments("equalize", bench_equalize_options, options, argc, argv);
    if (ret > 0)
        print_columns();
    if (ret == 0 && (check_modes(options) < 0 || check_depth(options) < 0))
        return -1;
    return ret;
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
    [EQ_MULTIPLE_OF_COPY] = {"multiple_of_copy", "x copy", 6, 3},
    [EQ_LATENCY_US] = {"latency_us", "alone us", 8, 2},
    [EQ_GPU_SPREAD_US] = {"gpu_spread_us", "+- us", 5, 2},
    [EQ_HISTOGRAM_CURVE_US] = {"histogram_curve_us", "h+curve", 7, 2},
    [EQ_CHROMA_US] = {"chroma_us", "+chroma", 8, 2},
    [EQ_CLAHE_US] = {"clahe_us", "CLAHE us", 8, 2},
    [EQ_RESIDENT_US] = {"resident_us", "live us", 8, 2},
    [EQ_HOST_TOTAL_US] = {"host_total_us", "host us", 8, 1},
    [EQ_FRAMES_PER_S] = {"frames_per_s", "frames/s", 9, 1},
    [EQ_DUPLEX_FRAMES_PER_S] = {"duplex_frames_per_s", "duplex/s", 9, 1},
    [EQ_SHARE_OF_DUPLEX] = {"share_of_duplex", "share", 5, 3},
    [EQ_LINEARITY] = {"linearity", "linear", 6, 2},
    [EQ_CHECKED] = {"checked", "checked", 7, -1},
};

void equalize_report_begin(BenchFormat format, const char *command, const char *gpu)
{
    const BenchReport report = {format, columns, EQUALIZE_COLUMNS};
    bench_report_begin(&report, command, gpu);
}

EqualizeRow equalize_row(void)
{
    EqualizeRow row;
    for (int i = 0; i < EQUALIZE_COLUMNS; i++)
        row.value[i] = (BenchValue){NULL, NAN};
    return row;
}

/* As many as the library takes for 0. */
static int thread_count(int threads)
{
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return threads ? threads : cores < 1 ? 1 : cores > 256 ? 256 : (int)cores;
}

void equalize_report_row(BenchFormat format, const EqualizeCase *c, const char *device,
                         EqualizeRow *row)
{
    const BenchReport report = {format, columns, EQUALIZE_COLUMNS};
    BenchValue *v = row->value;
    char size[32];
    snprintf(size, sizeof(size), "%dx%d", c->picture.width, c->picture.height);
    v[EQ_SIZE].text = size;
    v[EQ_CONTENT].text = c->content;
    v[EQ_BACKEND].text = equalize_backends[c->backend];
    v[EQ_MODE].text = c->mode ? c->mode->name : "textbook";
    v[EQ_DEPTH].number = c->picture.depth;
    v[EQ_DEVICE].text = device;
    if (c->backend == EQUALIZE_CPU)
        v[EQ_THREADS].number = thread_count(c->threads);
    if (c->backend == EQUALIZE_IMPROVED)
        v[EQ_LOAD_FACTOR].number = c->load_factor;
    v[EQ_MULTIPLE_OF_COPY].number = v[EQ_GPU_TOTAL_US].number / v[EQ_COPY_US].number;
    v[EQ_SHARE_OF_DUPLEX].number = v[EQ_FRAMES_PER_S].number / v[EQ_DUPLEX_FRAMES_PER_S].number;
    bench_report_row(&report, v);
}
