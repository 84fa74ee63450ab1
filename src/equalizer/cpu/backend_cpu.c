#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "equalizer/backend.h"
#include "equalizer/cpu/bands.h"
#include "equalizer/last_error.h"
#include "equalizer/platform.h"

#define MAX_THREADS 256

typedef struct CpuBackend {
    CpuTeam team;
    pthread_mutex_t lock; /* serializes use of the team */
    int locks;            /* the lock is initialized */
} CpuBackend;

static int open_cpu(void *priv, const LumeqConfig *config, char *text, size_t text_size)
{
    CpuBackend *cpu = priv;
    int threads = config->threads ? config->threads : lumeq_core_count();
    if (threads > MAX_THREADS)
        threads = MAX_THREADS;
    const unsigned flags = lumeq_cpu_flags() & ~config->cpu_without;
    lumeq_kernels_init(&cpu->team.kernels, flags);
    cpu->team.threads = threads;
    cpu->team.counts = lumeq_alloc((size_t)threads * sizeof(*cpu->team.counts));
    cpu->team.workers = lumeq_workers_create(threads);
    cpu->locks = pthread_mutex_init(&cpu->lock, NULL) == 0;
    if (!cpu->team.counts || !cpu->team.workers || !cpu->locks)
        return lumeq_refuse_with(LUMEQ_ERR_MEMORY,
                                 "%d CPU threads cannot be started: out of memory or threads",
                                 threads);
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
    lumeq_free(cpu->team.counts);
    lumeq_free(cpu->team.lift_memory);
    cpu->team.counts = NULL;
    cpu->team.lift_memory = NULL;
}

static int measure_cpu(void *priv, const LumeqMeasureJob *job, void **pending)
{
    CpuBackend *cpu = priv;
    *pending = NULL;
    lumeq_workers_after_fork(cpu->team.workers, &cpu->lock);
    pthread_mutex_lock(&cpu->lock);
    lumeq_cpu_measure(&cpu->team, job);
    pthread_mutex_unlock(&cpu->lock);
    return 0;
}

static int apply_cpu(void *priv, const LumeqApplyJob *job)
{
    CpuBackend *cpu = priv;
    lumeq_workers_after_fork(cpu->team.workers, &cpu->lock);
    pthread_mutex_lock(&cpu->lock);
    const int ret = lumeq_cpu_apply(&cpu->team, job);
    pthread_mutex_unlock(&cpu->lock);
    return ret < 0 ? lumeq_refuse_with(LUMEQ_ERR_MEMORY, "out of memory for the noise filter") : 0;
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
    return lumeq_alloc(size);
}

static void free_cpu(void *priv, void *memory)
{
    (void)priv;
    lumeq_free(memory);
}

const LumeqBackend lumeq_backend_cpu = {
    .name = "cpu",
    .priv_size = sizeof(CpuBackend),
    .open = open_cpu,
    .measure = measure_cpu,
    .apply = apply_cpu,
    .convert = convert_cpu,
    .alloc_host = alloc_cpu,
    .free_host = free_cpu,
    .close = close_cpu,
};
