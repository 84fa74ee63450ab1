#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "equalizer/backend.h"
#include "equalizer/cpu/bars_profile.h"
#include "equalizer/cpu/clahe.h"
#include "equalizer/cpu/kernels.h"
#include "equalizer/cpu/workers.h"

#define MAX_THREADS 256
#define ALIGNMENT 64

/* Bands smaller than this cost more to hand out than to work through. */
#define MIN_BAND_PIXELS (64 * 1024)

/* Rows that are measured at once: they stay in a core's second cache. */
#define STRIP_BYTES (256 * 1024)

typedef struct BandHistogram {
    _Alignas(ALIGNMENT) uint32_t bins[LUMEQ_MAX_BINS]; /* no cache line is shared by two threads */
} BandHistogram;

typedef struct CpuBackend {
    LumeqKernels kernels;
    LumeqWorkers *workers;
    BandHistogram *hists; /* one a band */
    int threads;
    LumeqHistory results[2]; /* by turns: of the frame submitted last, and of the one before */
    int last;                /* the former's number */
    BarsProfile *profile;
    BarsWork bars;
    CurveWork work;
    CurveTable table;
    ClaheWork *clahe; /* once there was a frame of mode CLAHE */

    const LumeqJob *job; /* while the workers run */
    LumeqRect active;    /* its picture */
    LumeqImage in, out;  /* of that */
    const TileResult *tiles_before;
    int bands;

    double begin_us, end_us; /* of the frame in flight */

    double opened_us;
} CpuBackend;

static double now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

/* All, or what LUMEQ_CPU_MASK in the environment says. */
static unsigned allowed_flags(void)
{
    const char *mask = getenv("LUMEQ_CPU_MASK");
    return mask && *mask ? (unsigned)strtoul(mask, NULL, 0) : LUMEQ_CPU_ALL;
}

static int open_cpu(void *priv, const LumeqConfig *config, char *text, size_t text_size)
{
    CpuBackend *cpu = priv;
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    cpu->opened_us = now_us();
    cpu->threads = config->threads ? config->threads : cores > 0 ? (int)cores : 1;
    if (cpu->threads > MAX_THREADS)
        cpu->threads = MAX_THREADS;
    const unsigned flags = lumeq_cpu_flags() & allowed_flags();
    lumeq_kernels_init(&cpu->kernels, flags);
    cpu->hists = aligned_alloc(ALIGNMENT, (size_t)cpu->threads * sizeof(*cpu->hists));
    cpu->profile = malloc(sizeof(*cpu->profile));
    cpu->workers = lumeq_workers_create(cpu->threads);
    if (!cpu->hists || !cpu->profile || !cpu->workers) {
        snprintf(text, text_size, "no memory for %d CPU threads", cpu->threads);
        return LUMEQ_ERR_MEMORY;
    }
    snprintf(text, text_size, "the CPU, %d thread%s%s", cpu->threads, cpu->threads == 1 ? "" : "s",
             flags & LUMEQ_CPU_AVX512 ? ", AVX-512"
             : flags & LUMEQ_CPU_AVX2 ? ", AVX2"
                                      : "");
    return 0;
}

static void close_cpu(void *priv)
{
    CpuBackend *cpu = priv;
    lumeq_workers_destroy(&cpu->workers);
    free(cpu->hists);
    free(cpu->profile);
    free(cpu->clahe);
    cpu->hists = NULL;
    cpu->profile = NULL;
    cpu->clahe = NULL;
}

/* First of a band's rows, of `rows` in all. */
static int band_start(const CpuBackend *cpu, int band, int rows)
{
    return (int)((int64_t)rows * band / cpu->bands);
}

static void *row(const LumeqImage *image, int plane, int y)
{
    return (uint8_t *)image->plane[plane] + y * image->stride[plane];
}

/* The histogram of some rows of the frame, and their profile while they are in the cache. */
static void measure_rows(CpuBackend *cpu, uint32_t *hist, int from, int to)
{
    const LumeqJob *job = cpu->job;
    const LumeqImage *in = &job->frame.in;
    LumeqHistogramKernel *const histogram =
        in->depth > 8 ? cpu->kernels.histogram16 : cpu->kernels.histogram8;
    histogram(hist, row(in, 0, from), in->stride[0], in->width, to - from, &job->curve);
    if (!job->bars.ignore)
        lumeq_profile_rows(&job->bars, cpu->profile, in->plane[0], in->stride[0], from, to);
}

static void measure_band(void *priv, int band)
{
    CpuBackend *cpu = priv;
    const LumeqJob *job = cpu->job;
    const LumeqImage *in = &job->frame.in;
    const int end = band_start(cpu, band + 1, in->height);
    const int strip = 1 + (int)(STRIP_BYTES / lumeq_row_size(in, 0));
    uint32_t *hist = cpu->hists[band].bins;
    memset(hist, 0, (size_t)job->curve.bins * sizeof(*hist));
    for (int y = band_start(cpu, band, in->height); y < end; y += strip)
        measure_rows(cpu, hist, y, y + strip < end ? y + strip : end);
    if (!job->bars.ignore)
        lumeq_profile_columns(&job->bars, cpu->profile, in->plane[0], in->stride[0],
                              band_start(cpu, band, in->width),
                              band_start(cpu, band + 1, in->width));
}

static LumeqApplyKernel *choose_apply(const CpuBackend *cpu, const CurveParams *params)
{
    if (curve_has_nodes(params))
        return params->depth > 8 ? cpu->kernels.nodes16 : cpu->kernels.nodes8;
    return params->depth > 8 ? cpu->kernels.apply16 : cpu->kernels.apply8;
}

static void equalize_tile(void *priv, int tile)
{
    CpuBackend *cpu = priv;
    LumeqHistory *result = &cpu->results[cpu->last];
    const LumeqImage *in = &cpu->job->frame.in;
    lumeq_clahe_tile(&cpu->job->grid, tile, &cpu->kernels, in->plane[0], in->stride[0],
                     &result->curve, cpu->tiles_before, &result->tiles, cpu->clahe);
}

static void apply_luma(const CpuBackend *cpu, int band)
{
    const CurveParams *params = &cpu->job->curve;
    const LumeqImage *in = &cpu->in, *out = &cpu->out;
    const int y = band_start(cpu, band, in->height);
    if (cpu->job->clahe) {
        const LumeqFrame *frame = &cpu->job->frame;
        const LumeqRect *a = &cpu->active;
        lumeq_clahe_apply(&cpu->job->grid, row(&frame->out, 0, a->y + y), out->stride[0],
                          row(&frame->in, 0, a->y + y), in->stride[0], a->x, a->x + a->width,
                          band_start(cpu, band + 1, in->height) - y, a->y + y, &cpu->clahe->tables);
        return;
    }
    choose_apply(cpu, params)(row(out, 0, y), out->stride[0], row(in, 0, y), in->stride[0],
                              in->width, band_start(cpu, band + 1, in->height) - y, y, &cpu->table,
                              params);
}

static void apply_chroma(const CpuBackend *cpu, int band)
{
    const LumeqImage *in = &cpu->in, *out = &cpu->out;
    const int height = lumeq_height(in, 1), step = lumeq_step(in, 1);
    const int y = band_start(cpu, band, height), luma_y = y << in->chroma_y;
    LumeqChromaRows rows = {
        .luma = row(in, 0, luma_y),
        .luma_stride = in->stride[0],
        .luma_width = in->width,
        .luma_height = in->height - luma_y,
        .sub_x = in->chroma_x,
        .sub_y = in->chroma_y,
        .step = step,
        .height = band_start(cpu, band + 1, height) - y,
        .y = y,
        .grid = cpu->job->clahe ? &cpu->job->grid : NULL,
        .tables = cpu->job->clahe ? &cpu->clahe->tables : NULL,
    };
    for (int i = 0; i < 2; i++) { /* in turns in one plane, or each in its own */
        const int plane = step == 2 ? 1 : i + 1,
                  offset = step == 2 && i ? in->depth > 8 ? 2 : 1 : 0;
        rows.dst[i] = (uint8_t *)row(out, plane, y) + offset;
        rows.src[i] = (uint8_t *)row(in, plane, y) + offset;
        rows.dst_stride[i] = out->stride[plane];
        rows.src_stride[i] = in->stride[plane];
    }
    (in->depth > 8 ? cpu->kernels.chroma16 : cpu->kernels.chroma8)(&rows, &cpu->table,
                                                                   &cpu->job->curve);
}

static void apply_band(void *priv, int band)
{
    const CpuBackend *cpu = priv;
    apply_luma(cpu, band);
    if (cpu->job->write > 1)
        apply_chroma(cpu, band);
}

static void copy_part(const LumeqFrame *frame, int planes, LumeqRect part)
{
    const LumeqImage in = lumeq_part(&frame->in, part), out = lumeq_part(&frame->out, part);
    for (int plane = 0; plane < planes; plane++)
        for (int y = 0; y < lumeq_height(&in, plane); y++)
            memcpy(row(&out, plane, y), row(&in, plane, y), (size_t)lumeq_row_size(&in, plane));
}

static int count_bands(const CpuBackend *cpu, const LumeqImage *image)
{
    const int64_t wanted = (int64_t)image->width * image->height / MIN_BAND_PIXELS;
    int bands = wanted < cpu->threads ? (int)wanted : cpu->threads;
    if (bands > image->height)
        bands = image->height;
    return bands < 1 ? 1 : bands;
}

/* The bars, the picture's histogram, and its curve. */
static void find_curve(CpuBackend *cpu, const LumeqHistory *before, LumeqHistory *result)
{
    const CurveParams *params = &cpu->job->curve;
    CurveBin *bin = result->curve.bin;
    cpu->bands = count_bands(cpu, &cpu->job->frame.in);
    lumeq_workers_run(cpu->workers, measure_band, cpu, cpu->bands);
    result->curve.bars =
        bars_update(&cpu->job->bars, &before->curve.bars, cpu->profile, &cpu->bars);
    for (int i = 0; i < params->bins; i++) {
        bin[i].hist = 0;
        for (int band = 0; band < cpu->bands; band++)
            bin[i].hist += cpu->hists[band].bins[i];
    }
    curve_compute(params, &before->curve, before->curve.bin, &result->curve, bin, &cpu->table,
                  &cpu->work);
}

static void find_tiles(CpuBackend *cpu, const LumeqHistory *before, LumeqHistory *result)
{
    lumeq_no_tiles(&result->tiles);
    if (!cpu->job->clahe)
        return;
    cpu->tiles_before = &before->tiles;
    lumeq_workers_run(cpu->workers, equalize_tile, cpu, tile_count(&cpu->job->grid));
    lumeq_clahe_sum(&cpu->job->grid, &result->curve.bars, &result->tiles, cpu->clahe);
}

static void write_output(CpuBackend *cpu)
{
    const LumeqJob *job = cpu->job;
    LumeqRect bars[LUMEQ_BARS];
    const int count =
        lumeq_find_bars(&cpu->active, job->frame.in.width, job->frame.in.height, bars);
    cpu->in = lumeq_part(&job->frame.in, cpu->active);
    cpu->out = lumeq_part(&job->frame.out, cpu->active);
    cpu->bands = count_bands(cpu, &cpu->in);
    lumeq_workers_run(cpu->workers, apply_band, cpu, cpu->bands);
    for (int i = 0; i < count; i++)
        copy_part(&job->frame, job->write, bars[i]);
}

static int submit_cpu(void *priv, LumeqJob *job, char *text, size_t text_size)
{
    CpuBackend *cpu = priv;
    cpu->begin_us = now_us() - cpu->opened_us;
    if (job->clahe && !cpu->clahe)
        cpu->clahe = malloc(sizeof(*cpu->clahe));
    if (job->clahe && !cpu->clahe) {
        snprintf(text, text_size, "no memory for the tiles");
        return LUMEQ_ERR_MEMORY;
    }
    cpu->job = job;
    const LumeqHistory *before = job->restore ? job->restore : &cpu->results[cpu->last];
    cpu->last = !cpu->last;
    find_curve(cpu, before, &cpu->results[cpu->last]);
    cpu->active = cpu->results[cpu->last].curve.bars.active;
    find_tiles(cpu, before, &cpu->results[cpu->last]);
    if (job->write)
        write_output(cpu);
    cpu->end_us = now_us() - cpu->opened_us;
    return 0;
}

static int receive_cpu(void *priv, LumeqJob *job, int wait, char *text, size_t text_size)
{
    (void)wait;
    (void)text;
    (void)text_size;
    const CpuBackend *cpu = priv;
    lumeq_copy_history(&job->result, &cpu->results[cpu->last]);
    for (int stage = 0; stage < LUMEQ_STAGES; stage++)
        job->stage_begin_us[stage] = job->stage_end_us[stage] = 0;
    job->stage_begin_us[LUMEQ_STAGE_EQUALIZE] = cpu->begin_us;
    job->stage_end_us[LUMEQ_STAGE_EQUALIZE] = cpu->end_us;
    return 0;
}

static void *alloc_cpu(void *priv, size_t size)
{
    (void)priv;
    if (size > SIZE_MAX - ALIGNMENT)
        return NULL;
    return aligned_alloc(ALIGNMENT, (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
}

static void free_cpu(void *priv, void *memory)
{
    (void)priv;
    free(memory);
}

const LumeqBackend lumeq_backend_cpu = {
    .name = "cpu",
    .priv_size = sizeof(CpuBackend),
    .slots = 1,
    .open = open_cpu,
    .submit = submit_cpu,
    .receive = receive_cpu,
    .alloc_host = alloc_cpu,
    .free_host = free_cpu,
    .close = close_cpu,
};
