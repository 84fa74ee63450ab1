/* lumeq-bench equalize: whole pictures, step by step, and the copies that limit them. */
#include "bench/equalize.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MODES "global, clahe, stretch, off, reference, clahe-reference"

static const EqualizeMode modes[] = {
    {"global", LUMEQ_MODE_GLOBAL, 0},    {"clahe", LUMEQ_MODE_CLAHE, 0},
    {"stretch", LUMEQ_MODE_STRETCH, 0},  {"off", LUMEQ_MODE_OFF, 0},
    {"reference", LUMEQ_MODE_GLOBAL, 1}, {"clahe-reference", LUMEQ_MODE_CLAHE, 1},
};

typedef struct EqualizeOptions {
    BenchPictures pictures;
    int backend[2], backends; /* cpu, cuda; 0 backends: all available ones */
    const EqualizeMode *mode[BENCH_MAX_LIST];
    int modes;
    int threads, batch;
    double seconds;
} EqualizeOptions;

/* ---- options ---- */

static int add_backend(void *options, const char *part)
{
    EqualizeOptions *o = options;
    const int backend = bench_read_choice(part, "cpu|cuda");
    if (backend < 0)
        return -1;
    o->backends++;
    o->backend[backend] = 1;
    return 0;
}

static int add_mode(void *options, const char *part)
{
    EqualizeOptions *o = options;
    for (size_t i = 0; i < sizeof(modes) / sizeof(*modes) && o->modes < BENCH_MAX_LIST; i++)
        if (!strcmp(part, modes[i].name)) {
            o->mode[o->modes++] = &modes[i];
            return 0;
        }
    return -1;
}

const BenchOption bench_equalize_options[] = {
    BENCH_PICTURE_OPTIONS("1920x1080,3840x2160", "natural,noise,flat", "8|10|12|16"),
    {"--backend", "NAME,..", "cpu, cuda [all available]",
     BENCH_STORE(LIST, EqualizeOptions, backends), .take = add_backend,
     .allowed = "a list of cpu, cuda"},
    {"--modes", "NAME,..", "modes: " MODES " [global]", BENCH_STORE(LIST, EqualizeOptions, modes),
     .take = add_mode, .allowed = "a list of " MODES},
    {"--threads", "N", "threads of cpu; 0: one per core [0]",
     BENCH_RANGE(INT, EqualizeOptions, threads, 0, 256)},
    {"--batch", "N", "most frames that lumeq launches together on a GPU [1]",
     BENCH_RANGE(INT, EqualizeOptions, batch, 1, LUMEQ_MAX_BATCH)},
    {"--seconds", "S", "duration of each rate measurement [1]",
     BENCH_RANGE(DOUBLE, EqualizeOptions, seconds, 0.01, 3600)},
    BENCH_FORMAT_OPTIONS,
};

static void print_columns(void)
{
    printf(
        "\nColumns, in microseconds per frame; \"-\" was not measured:\n"
        "  cpu_total_us         one frame through the library on the CPU\n"
        "  chroma_us            the same with 4:2:0 chroma, scaled\n"
        "  gpu_total_us         of the reference: kernels alone, frames in a row on two streams\n"
        "                       without uploads between them, so that frames overlap (throughput)\n"
        "  gpu_spread_us        distance of the quartiles of gpu_total_us over the replays\n"
        "  latency_us           the same, each frame waits until the one before has finished\n"
        "  copy_us              the same bytes copied within GPU memory: the lower bound\n"
        "  multiple_of_copy     gpu_total_us / copy_us\n"
        "  resident_us          time per frame through the library, in GPU memory all the time, "
        "with\n"
        "                       as many frames in flight as possible\n"
        "  host_total_us        one frame alone from pinned memory to pinned memory\n"
        "  frames_per_s         frames in flight from host memory to host memory\n"
        "  duplex_frames_per_s  what copies up and down at the same time allow\n"
        "  share_of_duplex      frames_per_s / duplex_frames_per_s\n"
        "\nAll results equal plain C on one thread, bit for bit; otherwise there is no row, and\n"
        "the exit code is 1.\n"
        "\nFor comparison: CV-CUDA publishes 25.4 us for HistogramEq, 19.6 for CLAHE and 3.0 for\n"
        "Histogram: 1080p, one channel, H100 PCIe at 1,095 MHz, batches of 16, 64 and 128\n"
        "independent pictures. lumeq's frames depend on each other, and include bars, noise and "
        "the\n"
        "lift rule, but for --modes reference.\n" BENCH_ORIGIN_HELP);
}

static int read_options(EqualizeOptions *o, int argc, char **argv)
{
    *o = (EqualizeOptions){.pictures = {.bits = "8", .common.seed = 1}, .batch = 1, .seconds = 1};
    bench_read_list("1920x1080,3840x2160", bench_add_size, o);
    bench_read_list("natural,noise,flat", bench_add_content, o);
    o->mode[o->modes++] = &modes[0];
    const int ret = bench_arguments("equalize", bench_equalize_options, o, argc, argv);
    if (ret > 0)
        print_columns();
    for (int i = 0; i < o->modes && ret == 0; i++)
        if (o->mode[i]->reference && strcmp(o->pictures.bits, "8") != 0)
            return bench_refuse("equalize", "mode %s is for --depth 8, not %s", o->mode[i]->name,
                                o->pictures.bits);
    return ret;
}

/* ---- rows ---- */

static const BenchColumn columns[EQUALIZE_COLUMNS] = {
    [EQ_SIZE] = {"size", "size", 9, -1},
    [EQ_CONTENT] = {"content", "content", 9, -1},
    [EQ_BACKEND] = {"backend", "backend", 7, -1},
    [EQ_MODE] = {"mode", "mode", 8, -1},
    [EQ_DEPTH] = {"depth", NULL, 0, 0},
    [EQ_THREADS] = {"threads", "thr", 3, 0},
    [EQ_DEVICE] = {"device", "GPU", 3, 0},
    [EQ_BATCH] = {"batch", "batch", 5, 0},
    [EQ_CPU_TOTAL_US] = {"cpu_total_us", "CPU us", 9, 2},
    [EQ_CHROMA_US] = {"chroma_us", "+chroma", 8, 2},
    [EQ_GPU_TOTAL_US] = {"gpu_total_us", "GPU us", 8, 2},
    [EQ_GPU_SPREAD_US] = {"gpu_spread_us", "+- us", 5, 2},
    [EQ_LATENCY_US] = {"latency_us", "alone us", 8, 2},
    [EQ_COPY_US] = {"copy_us", "copy us", 8, 2},
    [EQ_MULTIPLE_OF_COPY] = {"multiple_of_copy", "x copy", 6, 3},
    [EQ_RESIDENT_US] = {"resident_us", "live us", 8, 2},
    [EQ_HOST_TOTAL_US] = {"host_total_us", "host us", 8, 1},
    [EQ_FRAMES_PER_S] = {"frames_per_s", "frames/s", 9, 1},
    [EQ_DUPLEX_FRAMES_PER_S] = {"duplex_frames_per_s", "duplex/s", 9, 1},
    [EQ_SHARE_OF_DUPLEX] = {"share_of_duplex", "share", 5, 3},
};

/* Measures a case and prints its row. Returns 0, or -1 after a sentence on stderr. */
static int run_case(const BenchReport *report, const EqualizeCase *c)
{
    const long cores =
        sysconf(_SC_NPROCESSORS_ONLN); /* as many threads as the library uses for 0 */
    char size[32];
    BenchValue v[EQUALIZE_COLUMNS];
    bench_report_clear(v, EQUALIZE_COLUMNS);
    if ((c->on_gpu && c->mode->reference && equalize_device(c, v) < 0) ||
        equalize_library(c, v) < 0)
        return -1;
    snprintf(size, sizeof(size), "%dx%d", c->picture.width, c->picture.height);
    v[EQ_SIZE].text = size;
    v[EQ_CONTENT].text = c->content;
    v[EQ_BACKEND].text = c->on_gpu ? "cuda" : "cpu";
    v[EQ_MODE].text = c->mode->name;
    v[EQ_DEPTH].number = c->picture.depth;
    if (c->on_gpu) {
        v[EQ_DEVICE].number = c->device;
        v[EQ_BATCH].number = c->batch;
    } else {
        v[EQ_THREADS].number = c->threads ? c->threads : fmin(fmax((double)cores, 1), 256);
    }
    v[EQ_MULTIPLE_OF_COPY].number = v[EQ_GPU_TOTAL_US].number / v[EQ_COPY_US].number;
    v[EQ_SHARE_OF_DUPLEX].number = v[EQ_FRAMES_PER_S].number / v[EQ_DUPLEX_FRAMES_PER_S].number;
    bench_report_row(report, v);
    return 0;
}

/* Measures a picture with all backends in all modes. Returns 0, or -1 if a result is wrong. */
static int run_picture(const EqualizeOptions *o, const BenchReport *report, EqualizeCase *c)
{
    int ret = 0;
    for (c->on_gpu = 0; c->on_gpu < 2; c->on_gpu++)
        for (int i = 0; i < o->modes && o->backend[c->on_gpu]; i++) {
            c->mode = o->mode[i];
            ret |= run_case(report, c);
        }
    return ret;
}

int bench_equalize(int argc, char **argv)
{
    static EqualizeOptions o;
    const BenchPictures *const p = &o.pictures;
    char gpu[128] = "";
    int ret = read_options(&o, argc, argv);
    if (ret)
        return ret < 0;
    const int needs_gpu = o.backend[1],
              has_gpu = o.backends && !needs_gpu
                            ? 0
                            : bench_find_gpu("equalize", "backend cuda", p->device, needs_gpu, gpu,
                                             sizeof(gpu));
    if (has_gpu < 0)
        return 1;
    o.backend[0] |= !o.backends;
    o.backend[1] = has_gpu;
    const BenchReport report = {bench_format(&p->common), columns, EQUALIZE_COLUMNS};
    bench_report_begin(&report, bench_command_line(argc, argv), has_gpu ? gpu : NULL);
    for (int i = 0; i < p->sizes; i++)
        for (int k = 0; k < p->contents; k++) {
            EqualizeCase c = {.content = p->content[k],
                              .threads = o.threads,
                              .device = p->device,
                              .batch = o.batch,
                              .seconds = o.seconds};
            if (bench_make_picture(&c.picture, p, i, k) < 0)
                return 1;
            ret |= run_picture(&o, &report, &c);
            free(c.picture.luma);
        }
    return ret != 0;
}
