#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "bench/equalize/equalize.h"

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
