#include "bench/pipeline/pipeline_rows.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    WHAT,
    BACKEND,
    WIDTH,
    HEIGHT,
    DEPTH,
    FRAMES,
    RATE,
    TIME,
    BANDWIDTH,
    CPU,
    MEMORY,
    GPU,
    GPU_MEMORY,
    DECODE,
    UPLOAD,
    EQUALIZE,
    DOWNLOAD,
    ENCODE,
    SHARE,
    BOUND,
    COLUMNS
};

static const BenchColumn columns[COLUMNS] = {
    [WHAT] = {"stages", "stages", 22, -1},
    [BACKEND] = {"backend", "backend", 7, -1},
    [WIDTH] = {"width", NULL, 0, 0},
    [HEIGHT] = {"height", NULL, 0, 0},
    [DEPTH] = {"depth", NULL, 0, 0},
    [FRAMES] = {"frames", "frames", 7, 0},
    [RATE] = {"frames_per_s", "frames/s", 9, 1},
    [TIME] = {"frame_us", "us/frame", 9, 1},
    [BANDWIDTH] = {"gb_per_s", "GB/s", 6, 2},
    [CPU] = {"cpu_percent", "CPU %", 6, 1},
    [MEMORY] = {"memory_mib", "MiB", 7, 1},
    [GPU] = {"gpu_busy_percent", "GPU %", 5, 1},
    [GPU_MEMORY] = {"gpu_memory_mib", "GPU MiB", 7, 1},
    [DECODE] = {"decode_busy_percent", "decode", 6, 1},
    [UPLOAD] = {"upload_busy_percent", "upload", 6, 1},
    [EQUALIZE] = {"equalize_busy_percent", "equalize", 8, 1},
    [DOWNLOAD] = {"download_busy_percent", "download", 8, 1},
    [ENCODE] = {"encode_busy_percent", "encode", 6, 1},
    [SHARE] = {"share_of_bound_percent", "share %", 7, 1},
    [BOUND] = {"bound", "of", 2, -1},
};

void pipeline_print_columns(void)
{
    int used = 0;
    for (int i = 0; i < COLUMNS; i++) {
        const int more = (int)strlen(columns[i].key) + 2;
        if (used + more > 88) {
            putchar('\n');
            used = 0;
        }
        used += more;
        printf("%s%s", columns[i].key, i + 1 < COLUMNS ? ", " : "\n");
    }
}

void pipeline_report(BenchReport *report, BenchFormat format)
{
    *report = (BenchReport){format, columns, COLUMNS};
}

void pipeline_row(const BenchReport *report, const PipelineRow *row, const PipelineResult *video)
{
    const PipelineResult *r = &row->result;
    const double frame_us = r->wall_us / (double)r->frames;
    const BenchValue values[COLUMNS] = {
        [WHAT] = {.text = row->what},
        [BACKEND] = {.text = row->backend},
        [WIDTH] = {.number = video->width},
        [HEIGHT] = {.number = video->height},
        [DEPTH] = {.number = video->depth},
        [FRAMES] = {.number = (double)r->frames},
        [RATE] = {.number = 1e6 / frame_us},
        [TIME] = {.number = frame_us},
        [BANDWIDTH] = {.number = row->bytes ? (double)row->bytes / frame_us / 1e3 : NAN},
        [CPU] = {.number = 100 * r->cpu_us / r->wall_us},
        [MEMORY] = {.number = r->memory_mib},
        [GPU] = {.number = 100 * r->gpu_busy},
        [GPU_MEMORY] = {.number = r->gpu_memory_mib},
        [DECODE] = {.number = 100 * r->decode_busy},
        [UPLOAD] = {.number = 100 * r->upload_busy},
        [EQUALIZE] = {.number = 100 * r->equalize_busy},
        [DOWNLOAD] = {.number = 100 * r->download_busy},
        [ENCODE] = {.number = 100 * r->sink_busy},
        [SHARE] = {.number = row->bound ? 100 * row->bound_us / frame_us : NAN},
        [BOUND] = {.text = row->bound},
    };
    bench_report_row(report, values);
}
