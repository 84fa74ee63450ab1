#include "gate.h"

#include <pthread.h>

#include "equalizer/backend.h"

typedef struct Gated {
    _Alignas(max_align_t) char cpu[1 << 20];
} Gated;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* all below */
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int is_shut, gave_up;
static int at_gate; /* frames that wait there */

static struct timespec deadline(void)
{
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += GATE_LIVENESS_S;
    return end;
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

void gate_wait(void)
{
    const struct timespec end = deadline();
    int ret = 0;
    pthread_mutex_lock(&lock);
    while (!at_gate && ret == 0)
        ret = pthread_cond_timedwait(&changed, &lock, &end);
    pthread_mutex_unlock(&lock);
    CHECK(ret == 0, "no frame comes");
}

int gate_gave_up(void)
{
    pthread_mutex_lock(&lock);
    const int answer = gave_up;
    pthread_mutex_unlock(&lock);
    return answer;
}

static void pass(void)
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

static int open_gated(void *priv, const LumeqConfig *config, char *text, size_t size)
{
    Gated *g = priv;
    if (lumeq_backend_cpu.priv_size > sizeof(g->cpu))
        return LUMEQ_ERR_MEMORY;
    return lumeq_backend_cpu.open(g->cpu, config, text, size);
}

static int submit_gated(void *priv, LumeqJob *job, char *text, size_t size)
{
    pass();
    return lumeq_backend_cpu.submit(((Gated *)priv)->cpu, job, text, size);
}

static int receive_gated(void *priv, LumeqJob *job, int wait, char *text, size_t size)
{
    return lumeq_backend_cpu.receive(((Gated *)priv)->cpu, job, wait, text, size);
}

static void *alloc_none(void *priv, size_t size)
{
    (void)priv;
    (void)size;
    return NULL;
}

static void free_none(void *priv, void *memory)
{
    (void)priv;
    (void)memory;
}

static void close_gated(void *priv)
{
    lumeq_backend_cpu.close(((Gated *)priv)->cpu);
}

const LumeqBackend lumeq_backend_cuda = {
    .name = "cuda",
    .build_info = "a gate before the CPU",
    .priv_size = sizeof(Gated),
    .slots = 1,
    .open = open_gated,
    .submit = submit_gated,
    .receive = receive_gated,
    .alloc_host = alloc_none,
    .free_host = free_none,
    .alloc_device = alloc_none,
    .free_device = free_none,
    .close = close_gated,
};
