#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "equalizer/backend.h"
#include "equalizer/cpu/kernels.h"
#include "equalizer/cpu/workers.h"

#define MAX_THREADS 256
#define ALIGNMENT 64

/* Bands smaller than this cost more to hand out than to work through. */
#define MIN_BAND_PIXELS (64 * 1024)

typedef struct BandHistogram {
    _Alignas(ALIGNMENT) uint32_t bins[LUMEQ_MAX_BINS]; /* no cache line is shared by two threads */
} BandHistogram;

typedef struct CpuBackend {
    LumeqKernels kernels;
    LumeqWorkers *workers;
    BandHistogram *hists; /* one a band */
    int threads;
    CurveState state; /* the history after the frame submitted last */
    CurveWork work;
    uint8_t table[LUMEQ_MAX_BINS];

    const LumeqFrame *frame; /* while the workers run */
    int bands;

    CurveResult result; /* of the frame in flight */
    double begin_us, end_us;

    double opened_us;
} CpuBackend;

static double now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static int open_cpu(void *priv, const LumeqConfig *config, char *text, size_t text_size)
{
    CpuBackend *cpu = priv;
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    cpu->opened_us = now_us();
    cpu->threads = config->threads ? config->threads : cores > 0 ? (int)cores : 1;
    if (cpu->threads > MAX_THREADS)
        cpu->threads = MAX_THREADS;
    lumeq_kernels_c(&cpu->kernels);
    cpu->hists = aligned_alloc(ALIGNMENT, (size_t)cpu->threads * sizeof(*cpu->hists));
    cpu->workers = lumeq_workers_create(cpu->threads);
    if (!cpu->hists || !cpu->workers) {
        snprintf(text, text_size, "no memory for %d CPU threads", cpu->threads);
        return LUMEQ_ERR_MEMORY;
    }
    snprintf(text, text_size, "the CPU, %d thread%s", cpu->threads, cpu->threads == 1 ? "" : "s");
    return 0;
}

static void close_cpu(void *priv)
{
    CpuBackend *cpu = priv;
    lumeq_workers_destroy(&cpu->workers);
    free(cpu->hists);
    cpu->hists = NULL;
}

static int band_start(const CpuBackend *cpu, int band)
{
    return (int)((int64_t)cpu->frame->in.height * band / cpu->bands);
}

static const void *row(const LumeqImage *image, int y)
{
    return (const uint8_t *)image->plane[0] + y * image->stride[0];
}

static void histogram_band(void *priv, int band)
{
    CpuBackend *cpu = priv;
    const LumeqImage *in = &cpu->frame->in;
    const int y = band_start(cpu, band);
    uint32_t *hist = cpu->hists[band].bins;
    memset(hist, 0, sizeof(cpu->hists[band].bins));
    cpu->kernels.histogram8(hist, row(in, y), in->stride[0], in->width,
                            band_start(cpu, band + 1) - y);
}

static void apply_band(void *priv, int band)
{
    CpuBackend *cpu = priv;
    const LumeqImage *in = &cpu->frame->in, *out = &cpu->frame->out;
    const int y = band_start(cpu, band);
    cpu->kernels.apply8((void *)row(out, y), out->stride[0], row(in, y), in->stride[0], in->width,
                        band_start(cpu, band + 1) - y, cpu->table);
}

static int count_bands(const CpuBackend *cpu, const LumeqImage *image)
{
    const int64_t wanted = (int64_t)image->width * image->height / MIN_BAND_PIXELS;
    int bands = wanted < cpu->threads ? (int)wanted : cpu->threads;
    if (bands > image->height)
        bands = image->height;
    return bands < 1 ? 1 : bands;
}

static int submit_cpu(void *priv, LumeqJob *job, char *text, size_t text_size)
{
    (void)text;
    (void)text_size;
    CpuBackend *cpu = priv;
    cpu->begin_us = now_us() - cpu->opened_us;
    cpu->frame = &job->frame;
    cpu->bands = count_bands(cpu, &job->frame.in);
    lumeq_workers_run(cpu->workers, histogram_band, cpu, cpu->bands);
    for (int band = 1; band < cpu->bands; band++)
        for (int i = 0; i < job->curve.bins; i++)
            cpu->hists[0].bins[i] += cpu->hists[band].bins[i];

    if (job->restore)
        cpu->state = *job->restore;
    curve_compute(&job->curve, cpu->hists[0].bins, &cpu->state, &cpu->result, cpu->table,
                  &cpu->work);
    cpu->state = cpu->result.state;
    if (job->write)
        lumeq_workers_run(cpu->workers, apply_band, cpu, cpu->bands);
    cpu->end_us = now_us() - cpu->opened_us;
    return 0;
}

static int receive_cpu(void *priv, LumeqJob *job, int wait, char *text, size_t text_size)
{
    (void)wait;
    (void)text;
    (void)text_size;
    const CpuBackend *cpu = priv;
    job->result = cpu->result;
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
