#include "fake_gpu.h"

#include <limits.h>
#include <pthread.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "equalizer/backend.h"
#include "equalizer/last_error.h"

#define BLOCKS 512

typedef struct Fake {
    void *cpu; /* the CPU backend's private data */
    int device;
    int applied; /* frames written */
} Fake;

void (*fake_gpu_closed)(int device, int frames);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the variables below */
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int is_shut;
static int gave_up;                 /* a frame has passed the shut gate */
static int at_gate;                 /* frames that wait at the gate */
static int frames_left = INT_MAX;   /* frames to write before the loss */
static int measures_left = INT_MAX; /* frames to measure before the loss */
static int lost;
static const char *refusal;  /* not guarded by the lock */
static int only = -1;        /* the GPU that can be lost; -1: any */
static void *blocks[BLOCKS]; /* allocated memory */
/* Bytes reserved by decoders: now, the peak, and the limit. */
static uint64_t reserved, most_reserved, limit = (uint64_t)1 << 40;

static struct timespec deadline(void)
{
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += GATE_LIVENESS_S;
    return end;
}

static void pass_gate(void)
{
    const struct timespec end = deadline();
    int ret = 0;
    pthread_mutex_lock(&lock);
    at_gate++;
    pthread_cond_broadcast(&changed);
    while (is_shut && ret == 0)
        ret = pthread_cond_timedwait(&changed, &lock, &end);
    gave_up |= ret != 0;
    at_gate--;
    pthread_mutex_unlock(&lock);
}

static int open_fake(void *priv, const LumeqConfig *config, char *text, size_t size)
{
    Fake *fake = priv;
    if (refusal)
        return lumeq_refuse_with(LUMEQ_ERR_UNAVAILABLE, "%s", refusal);
    fake->device = config->device;
    fake->cpu = calloc(1, lumeq_backend_cpu.priv_size);
    return fake->cpu ? lumeq_backend_cpu.open(fake->cpu, config, text, size) : LUMEQ_ERR_MEMORY;
}

static void *alloc_fake(void *priv, size_t size)
{
    void *memory = NULL;
    (void)priv;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < BLOCKS && !memory && !lost; i++)
        if (!blocks[i])
            memory = blocks[i] = aligned_alloc(64, (size + 63) / 64 * 64);
    pthread_mutex_unlock(&lock);
    return memory;
}

/* After a loss, only fake_gpu_free() frees memory. */
static void free_fake(void *priv, void *memory)
{
    (void)priv;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < BLOCKS && !lost; i++)
        if (memory && blocks[i] == memory) {
            free(memory);
            blocks[i] = NULL;
        }
    pthread_mutex_unlock(&lock);
}

/* Returns placeholders, for callers that only pass them on. */
static int get_cuda_fake(void *priv, void **context, void **stream)
{
    *context = priv;
    *stream = NULL;
    return 0;
}

static void memory_use_fake(int device, LumeqMemoryUse *use)
{
    (void)device;
    pthread_mutex_lock(&lock);
    *use =
        (LumeqMemoryUse){.device = reserved, .device_most = most_reserved, .device_limit = limit};
    pthread_mutex_unlock(&lock);
}

static int reserve_fake(int device, int64_t bytes)
{
    int ret = 0;
    (void)device;
    pthread_mutex_lock(&lock);
    if (bytes > 0 && reserved + (uint64_t)bytes > limit)
        ret = LUMEQ_ERR_MEMORY;
    else
        reserved += (uint64_t)bytes;
    most_reserved = reserved > most_reserved ? reserved : most_reserved;
    pthread_mutex_unlock(&lock);
    return ret;
}

static void close_fake(void *priv)
{
    Fake *fake = priv;
    if (fake_gpu_closed)
        fake_gpu_closed(fake->device, fake->applied);
    if (fake->cpu)
        lumeq_backend_cpu.close(fake->cpu);
    free(fake->cpu);
}

/* Decrements *left; if *left was 0, the GPU is lost. Returns LUMEQ_ERR_GPU after a loss. */
static int count_down(const Fake *fake, int *left)
{
    pthread_mutex_lock(&lock);
    lost |= (only < 0 || only == fake->device) && (*left)-- <= 0;
    const int gone = lost && (only < 0 || only == fake->device);
    pthread_mutex_unlock(&lock);
    if (gone)
        lumeq_refuse("no progress");
    return gone ? LUMEQ_ERR_GPU : 0;
}

static int measure_fake(void *priv, const LumeqMeasureJob *job, void **pending)
{
    Fake *fake = priv;
    pass_gate();
    const int ret = count_down(fake, &measures_left);
    return ret < 0 ? ret : lumeq_backend_cpu.measure(fake->cpu, job, pending);
}

static int apply_fake(void *priv, const LumeqApplyJob *job)
{
    Fake *fake = priv;
    const int ret = count_down(fake, &frames_left);
    pthread_mutex_lock(&lock);
    fake->applied += ret == 0;
    pthread_mutex_unlock(&lock);
    return ret < 0 ? ret : lumeq_backend_cpu.apply(fake->cpu, job);
}

static int list_fake(LumeqGpu *gpus, int count)
{
    if (count > 0)
        gpus[0] = (LumeqGpu){.size = sizeof(*gpus), .name = "Made-up GPU 0"};
    return 1;
}

const LumeqBackend lumeq_backend_cuda = {
    .name = "cuda",
    .build_info = "CPU and CUDA 13.0, made up",
    .priv_size = sizeof(Fake),
    .open = open_fake,
    .measure = measure_fake,
    .apply = apply_fake,
    .alloc_host = alloc_fake,
    .free_host = free_fake,
    .alloc_device = alloc_fake,
    .free_device = free_fake,
    .get_cuda = get_cuda_fake,
    .memory_use = memory_use_fake,
    .reserve = reserve_fake,
    .list_gpus = list_fake,
    .close = close_fake,
};

void fake_gpu_refuse(const char *why)
{
    refusal = why;
}

void fake_gpu_limit(int64_t bytes)
{
    limit = (uint64_t)bytes;
}

void gate_set(int shut)
{
    pthread_mutex_lock(&lock);
    is_shut = shut;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

int gate_is_reached(void)
{
    pthread_mutex_lock(&lock);
    const int answer = at_gate > 0;
    pthread_mutex_unlock(&lock);
    return answer;
}

int gate_wait(void)
{
    const struct timespec end = deadline();
    int ret = 0;
    pthread_mutex_lock(&lock);
    while (!at_gate && ret == 0)
        ret = pthread_cond_timedwait(&changed, &lock, &end);
    pthread_mutex_unlock(&lock);
    return ret == 0;
}

int gate_gave_up(void)
{
    pthread_mutex_lock(&lock);
    const int answer = gave_up;
    pthread_mutex_unlock(&lock);
    return answer;
}

void fake_gpu_lose_after(int frames)
{
    pthread_mutex_lock(&lock);
    frames_left = frames;
    lost = 0;
    pthread_mutex_unlock(&lock);
}

void fake_gpu_lose_after_measures(int frames)
{
    pthread_mutex_lock(&lock);
    measures_left = frames;
    pthread_mutex_unlock(&lock);
}

void fake_gpu_lose_only(int device)
{
    pthread_mutex_lock(&lock);
    only = device;
    pthread_mutex_unlock(&lock);
}

int fake_gpu_is_lost(void)
{
    pthread_mutex_lock(&lock);
    const int is = lost;
    pthread_mutex_unlock(&lock);
    return is;
}

void fake_gpu_free(void)
{
    for (int i = 0; i < BLOCKS; i++) {
        free(blocks[i]);
        blocks[i] = NULL;
    }
}
