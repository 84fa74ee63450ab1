#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "equalizer/backend.h"
#include "equalizer/cpu/bands.h"
#include "equalizer/cpu/clahe.h"

#define MAX_THREADS 256
#define ALIGNMENT 64

typedef struct CpuBackend {
    CpuTeam team;
    pthread_mutex_t lock;  /* serializes use of the team by step-by-step calls */
    int locks;             /* the lock is initialized */
    LumeqState results[2]; /* of the last submitted frame and of the one before, alternately */
    int last;              /* index of the last submitted frame's result */
    BarsProfile *profile;
    uint32_t hist[LUMEQ_MAX_BINS];
    NoiseProfile noise;
    BarsWork bars;
    CurveWork work;
    CurveTable table;
    ClaheWork *clahe; /* allocated at the first frame of mode CLAHE */

    const LumeqJob *job; /* while the workers run */
    const TileResult *tiles_before;
    double begin_us, end_us; /* of the frame in flight */
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
    cpu->opened_us = now_us();
    /* A cluster's scheduler may allot a process only some of the cores. */
    cpu_set_t set;
    int threads = config->threads;
    if (!threads)
        threads = sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set)
                                                               : (int)sysconf(_SC_NPROCESSORS_ONLN);
    if (threads < 1)
        threads = 1;
    if (threads > MAX_THREADS)
        threads = MAX_THREADS;
    const unsigned flags = lumeq_cpu_flags() & ~config->cpu_without;
    lumeq_kernels_init(&cpu->team.kernels, flags);
    cpu->team.threads = threads;
    cpu->team.counts = aligned_alloc(ALIGNMENT, (size_t)threads * sizeof(*cpu->team.counts));
    cpu->profile = malloc(sizeof(*cpu->profile));
    cpu->team.workers = lumeq_workers_create(threads);
    cpu->locks = pthread_mutex_init(&cpu->lock, NULL) == 0;
    if (!cpu->team.counts || !cpu->profile || !cpu->team.workers || !cpu->locks) {
        snprintf(text, text_size, "%d CPU threads cannot be started: out of memory or threads",
                 threads);
        return LUMEQ_ERR_MEMORY;
    }
    snprintf(text, text_size, "the CPU, %d thread%s%s", threads, threads == 1 ? "" : "s",
             flags & LUMEQ_CPU_AVX512  ? ", AVX-512"
             : flags & LUMEQ_CPU_AVX2  ? ", AVX2"
             : flags & LUMEQ_CPU_SSE42 ? ", SSE4.2"
             : flags & LUMEQ_CPU_NEON  ? ", NEON"
                                       : "");
    return 0;
}

static void close_cpu(void *priv)
{
    CpuBackend *cpu = priv;
    lumeq_workers_destroy(&cpu->team.workers);
    if (cpu->locks)
        pthread_mutex_destroy(&cpu->lock);
    cpu->locks = 0;
    free(cpu->team.counts);
    free(cpu->profile);
    free(cpu->clahe);
    free(cpu->team.lift_memory);
    cpu->team.counts = NULL;
    cpu->profile = NULL;
    cpu->clahe = NULL;
    cpu->team.lift_memory = NULL;
}

static void equalize_tile(void *priv, int tile)
{
    CpuBackend *cpu = priv;
    LumeqState *result = &cpu->results[cpu->last];
    const LumeqImage *in = &cpu->job->frame.in;
    lumeq_clahe_tile(&cpu->job->grid, tile, &cpu->team.kernels, in->plane[0], in->stride[0],
                     &result->curve, cpu->tiles_before, &result->tiles, cpu->clahe);
}

/* Finds the bars, and the curve of the picture between them. */
static void find_curve(CpuBackend *cpu, const LumeqState *before, LumeqState *result)
{
    const LumeqJob *job = cpu->job;
    CurveBin *bin = result->curve.bin;
    const LumeqMeasureJob measure = {
        .in = job->frame.in,
        .previous = job->previous,
        .curve = job->curve,
        .bars = job->bars,
        .counts = {.hist = cpu->hist,
                   .lit = {cpu->profile->lit[BARS_COLUMNS], cpu->profile->lit[BARS_ROWS]},
                   .noise = &cpu->noise},
    };
    lumeq_cpu_measure(&cpu->team, &measure);
    result->curve.bars = bars_update(&job->bars, &before->curve.bars, cpu->profile, &cpu->bars);
    for (int i = 0; i < job->curve.bins; i++)
        bin[i].hist = cpu->hist[i];
    result->curve.noise = noise_of(&cpu->noise);
    curve_compute(&job->curve, &before->curve, before->curve.bin, &result->curve, bin, &cpu->table,
                  &cpu->work);
}

static void find_tiles(CpuBackend *cpu, const LumeqState *before, LumeqState *result)
{
    lumeq_no_tiles(&result->tiles);
    if (!cpu->job->clahe)
        return;
    cpu->tiles_before = &before->tiles;
    lumeq_workers_run(cpu->team.workers, equalize_tile, cpu, tile_count(&cpu->job->grid));
    lumeq_tile_sum(&cpu->job->grid, &result->curve.bars, &result->tiles, cpu->clahe);
}

static int write_output(CpuBackend *cpu)
{
    const LumeqJob *job = cpu->job;
    const LumeqApplyJob apply = {
        .in = job->frame.in,
        .out = job->frame.out,
        .previous = {job->previous},
        .previous_count = job->previous.plane[0] != NULL,
        .fields = job->frame.interlaced,
        .write = job->write,
        .curve = job->curve,
        .bars = &cpu->results[cpu->last].curve.bars,
        .table = &cpu->table,
        .clahe = job->clahe,
        .grid = &job->grid,
        .tables = job->clahe ? &cpu->clahe->tables : NULL,
    };
    return lumeq_cpu_apply(&cpu->team, &apply);
}

static int no_memory(const char *what, char *text, size_t text_size)
{
    snprintf(text, text_size, "no memory for %s", what);
    return LUMEQ_ERR_MEMORY;
}

static int submit_cpu(void *priv, LumeqJob *job, char *text, size_t text_size)
{
    CpuBackend *cpu = priv;
    lumeq_workers_after_fork(cpu->team.workers, &cpu->lock);
    cpu->begin_us = now_us() - cpu->opened_us;
    if (job->clahe && !cpu->clahe)
        cpu->clahe = malloc(sizeof(*cpu->clahe));
    if (job->clahe && !cpu->clahe)
        return no_memory("the tiles", text, text_size);
    cpu->job = job;
    const LumeqState *before = job->restore ? job->restore : &cpu->results[cpu->last];
    cpu->last = !cpu->last;
    find_curve(cpu, before, &cpu->results[cpu->last]);
    find_tiles(cpu, before, &cpu->results[cpu->last]);
    if (job->write && write_output(cpu) < 0) {
        cpu->last = !cpu->last; /* undo the switch: the frame was not accepted */
        return no_memory("the output", text, text_size);
    }
    cpu->end_us = now_us() - cpu->opened_us;
    return 0;
}

static int receive_cpu(void *priv, LumeqJob *job, int wait, char *text, size_t text_size)
{
    (void)wait;
    (void)text;
    (void)text_size;
    const CpuBackend *cpu = priv;
    lumeq_copy_state(&job->result, &cpu->results[cpu->last]);
    for (int stage = 0; stage < LUMEQ_STAGES; stage++)
        job->stage_begin_us[stage] = job->stage_end_us[stage] = 0;
    job->stage_begin_us[LUMEQ_STAGE_EQUALIZE] = cpu->begin_us;
    job->stage_end_us[LUMEQ_STAGE_EQUALIZE] = cpu->end_us;
    return 0;
}

static int measure_cpu(void *priv, const LumeqMeasureJob *job, void **pending, char *text,
                       size_t text_size)
{
    CpuBackend *cpu = priv;
    (void)text;
    (void)text_size;
    *pending = NULL;
    lumeq_workers_after_fork(cpu->team.workers, &cpu->lock);
    pthread_mutex_lock(&cpu->lock);
    lumeq_cpu_measure(&cpu->team, job);
    pthread_mutex_unlock(&cpu->lock);
    return 0;
}

static int apply_cpu(void *priv, const LumeqApplyJob *job, char *text, size_t text_size)
{
    CpuBackend *cpu = priv;
    lumeq_workers_after_fork(cpu->team.workers, &cpu->lock);
    pthread_mutex_lock(&cpu->lock);
    const int ret = lumeq_cpu_apply(&cpu->team, job);
    pthread_mutex_unlock(&cpu->lock);
    return ret < 0 ? no_memory("the output", text, text_size) : 0;
}

static void convert_cpu(void *priv, const LumeqPixelsJob *job)
{
    CpuBackend *cpu = priv;
    CpuTeam alone = {0};
    if (cpu)
        lumeq_workers_after_fork(cpu->team.workers, &cpu->lock);
    else
        lumeq_kernels_init(&alone.kernels, lumeq_cpu_flags());
    lumeq_cpu_convert(cpu ? &cpu->team : &alone, job);
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
    .measure = measure_cpu,
    .apply = apply_cpu,
    .convert = convert_cpu,
    .alloc_host = alloc_cpu,
    .free_host = free_cpu,
    .close = close_cpu,
};
