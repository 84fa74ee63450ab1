#include "fake_gpu.h"

#include <limits.h>
#include <pthread.h>

#include "fake_flights.h"

#define BLOCKS 512

typedef struct Fake {
    FakeDevice base;
    int device, received;
} Fake;

void (*fake_gpu_closed)(int device, int frames);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* all below */
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int is_shut, gave_up;
static int at_gate;               /* frames that wait there */
static int most;                  /* frames at a time */
static int frames_left = INT_MAX; /* until it is lost */
static int measures_left = INT_MAX;
static int lost;
static const char *refusal; /* before it is opened; no lock */
static int only = -1;       /* number of the one that is lost; -1: any */
static LumeqImage late[FLIGHTS];
static void *blocks[BLOCKS]; /* its memory */
/* Bytes reserved by decoders: now, at most, and the limit. */
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
    if (refusal) {
        snprintf(text, size, "%s", refusal);
        return LUMEQ_ERR_UNAVAILABLE;
    }
    fake->device = config->device;
    return fake_open(&fake->base, config, text, size);
}

static int place_fake(void *priv, const LumeqMeasureJob *job, const LumeqFlight *flight,
                      void **pending, char *text, size_t size)
{
    Fake *fake = priv;
    pass_gate();
    const int ret = fake_place(&fake->base, job, flight, pending);
    if (ret < 0)
        snprintf(text, size, "no memory for a made-up frame");
    pthread_mutex_lock(&lock);
    most = fake_in_flight(&fake->base) > most ? fake_in_flight(&fake->base) : most;
    pthread_mutex_unlock(&lock);
    return ret;
}

static int begin_fake(void *priv, void *const *pendings, int count, int may_refuse, char *text,
                      size_t size)
{
    (void)priv, (void)may_refuse, (void)text, (void)size;
    for (int i = 0; i < count; i++) {
        Flight *f = pendings[i];
        if (f->to.reference)
            *f->to.late = f->written = f->to.write > 0;
    }
    return 0;
}

static int measure_finish_fake(void *priv, void *pending, const LumeqCounts *counts, int wait,
                               char *text, size_t size)
{
    return wait ? fake_measure(priv, pending, counts, text, size) : LUMEQ_ERR_AGAIN;
}

static int land_fake(void *priv, void *pending, const LumeqCounts *counts, int wait,
                     double begin_us[LUMEQ_STAGES], double end_us[LUMEQ_STAGES], char *text,
                     size_t size)
{
    Fake *fake = priv;
    int left = 0;
    (void)begin_us;
    (void)end_us;
    if (!wait)
        return LUMEQ_ERR_AGAIN;
    pthread_mutex_lock(&lock);
    lost = (only < 0 || only == fake->device) && frames_left-- <= 0;
    for (const Flight *f = fake->base.flights; f && lost; f = f->next)
        if (f->written && !f->landed && left < FLIGHTS)
            late[left++] = f->to.out;
    pthread_mutex_unlock(&lock);
    if (lost) {
        snprintf(text, size, "no progress");
        return LUMEQ_ERR_GPU;
    }
    Flight *f = pending;
    f->landed = 1;
    fake->received++;
    return counts ? fake_reference(&fake->base, f, counts, text, size) : 0;
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

/* A lost one is not asked to. */
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

/* For what never looks into them. */
static int get_cuda_fake(void *priv, void **context, void **stream, char *text, size_t size)
{
    (void)text;
    (void)size;
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
        fake_gpu_closed(fake->device, fake->received);
    fake_close(&fake->base);
}

static int measure_fake(void *priv, const LumeqMeasureJob *job, void **pending, char *text,
                        size_t size)
{
    Fake *fake = priv;
    pthread_mutex_lock(&lock);
    const int gone = (only < 0 || only == fake->device) && measures_left-- <= 0;
    pthread_mutex_unlock(&lock);
    if (!gone)
        return lumeq_backend_cpu.measure(fake->base.cpu, job, pending, text, size);
    snprintf(text, size, "no progress");
    return LUMEQ_ERR_GPU;
}

static int write_fake(void *priv, const LumeqApplyJob *jobs, int count, char *text, size_t size)
{
    return fake_write(priv, jobs, count, text, size);
}

static int apply_fake(void *priv, const LumeqApplyJob *job, char *text, size_t size)
{
    Fake *fake = priv;
    pthread_mutex_lock(&lock);
    lost = (only < 0 || only == fake->device) && frames_left-- <= 0;
    const int ret = lost ? LUMEQ_ERR_GPU : 0;
    fake->received += !lost;
    pthread_mutex_unlock(&lock);
    if (ret < 0) {
        snprintf(text, size, "no progress");
        return ret;
    }
    return lumeq_backend_cpu.apply(fake->base.cpu, job, text, size);
}

const LumeqBackend lumeq_backend_cuda = {
    .name = "cuda",
    .build_info = "CPU and CUDA 13.0, made up",
    .priv_size = sizeof(Fake),
    .open = open_fake,
    .measure = measure_fake,
    .measure_finish = measure_finish_fake,
    .apply = apply_fake,
    .place = place_fake,
    .begin = begin_fake,
    .write = write_fake,
    .land = land_fake,
    .leave = fake_leave,
    .alloc_host = alloc_fake,
    .free_host = free_fake,
    .alloc_device = alloc_fake,
    .free_device = free_fake,
    .get_cuda = get_cuda_fake,
    .memory_use = memory_use_fake,
    .reserve = reserve_fake,
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

int fake_gpu_most(void)
{
    pthread_mutex_lock(&lock);
    const int answer = most;
    most = 0;
    pthread_mutex_unlock(&lock);
    return answer;
}

void fake_gpu_lose_after(int frames)
{
    pthread_mutex_lock(&lock);
    frames_left = frames;
    lost = 0;
    memset(late, 0, sizeof(late));
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

void fake_gpu_wake(void)
{
    pthread_mutex_lock(&lock);
    for (int i = 0; i < FLIGHTS; i++)
        for (int plane = 0; plane < lumeq_planes(&late[i]) && late[i].plane[0]; plane++)
            memset(late[i].plane[plane], 0xA5,
                   (size_t)(late[i].stride[plane] * lumeq_height(&late[i], plane)));
    pthread_mutex_unlock(&lock);
}

void fake_gpu_free(void)
{
    for (int i = 0; i < BLOCKS; i++) {
        free(blocks[i]);
        blocks[i] = NULL;
    }
}
