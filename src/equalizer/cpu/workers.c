#include "equalizer/cpu/workers.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

struct LumeqWorkers {
    _Atomic pid_t process; /* owns the threads; fork() does not copy them */
    pthread_mutex_t lock;
    pthread_cond_t start, done;
    void (*band)(void *context, int index);
    void *context;
    int bands, next, finished; /* of the current run: number of bands, next band, bands done */
    int quit;
    int count, most; /* number of threads: running, wanted */
    pthread_t threads[];
};

/* Works on bands until all are taken. The lock is held on entry and on return. */
static void work(LumeqWorkers *w)
{
    while (w->next < w->bands) {
        const int index = w->next++;
        pthread_mutex_unlock(&w->lock);
        w->band(w->context, index);
        pthread_mutex_lock(&w->lock);
        if (++w->finished == w->bands)
            pthread_cond_signal(&w->done);
    }
}

static void *thread_main(void *arg)
{
    LumeqWorkers *w = arg;
    pthread_mutex_lock(&w->lock);
    while (!w->quit) {
        work(w);
        if (!w->quit)
            pthread_cond_wait(&w->start, &w->lock);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

static void start(LumeqWorkers *w)
{
    w->bands = w->next = w->count = 0;
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->start, NULL);
    pthread_cond_init(&w->done, NULL);
    while (w->count < w->most && pthread_create(&w->threads[w->count], NULL, thread_main, w) == 0)
        w->count++;
    atomic_store(&w->process, getpid());
}

LumeqWorkers *lumeq_workers_create(int threads)
{
    LumeqWorkers *w = calloc(1, sizeof(*w) + (size_t)threads * sizeof(w->threads[0]));
    if (!w)
        return NULL;
    w->most = threads - 1;
    start(w);
    if (w->count < w->most)
        lumeq_workers_destroy(&w);
    return w;
}

static bool are_here(const LumeqWorkers *w)
{
    return atomic_load(&w->process) == getpid();
}

void lumeq_workers_after_fork(LumeqWorkers *w, pthread_mutex_t *lock)
{
    static pthread_mutex_t one_thread = PTHREAD_MUTEX_INITIALIZER;
    if (are_here(w))
        return;
    pthread_mutex_lock(&one_thread);
    if (!are_here(w)) {
        pthread_mutex_init(lock, NULL);
        start(w);
    }
    pthread_mutex_unlock(&one_thread);
}

void lumeq_workers_destroy(LumeqWorkers **workers)
{
    LumeqWorkers *w = *workers;
    if (w && are_here(w)) {
        pthread_mutex_lock(&w->lock);
        w->quit = 1;
        pthread_cond_broadcast(&w->start);
        pthread_mutex_unlock(&w->lock);
        for (int i = 0; i < w->count; i++)
            pthread_join(w->threads[i], NULL);
        pthread_cond_destroy(&w->done);
        pthread_cond_destroy(&w->start);
        pthread_mutex_destroy(&w->lock);
    }
    free(w);
    *workers = NULL;
}

void lumeq_workers_run(LumeqWorkers *w, void (*band)(void *context, int index), void *context,
                       int bands)
{
    pthread_mutex_lock(&w->lock);
    w->band = band;
    w->context = context;
    w->bands = bands;
    w->next = w->finished = 0;
    if (bands > 1)
        pthread_cond_broadcast(&w->start);
    work(w);
    while (w->finished < w->bands)
        pthread_cond_wait(&w->done, &w->lock);
    w->bands = w->next = 0;
    pthread_mutex_unlock(&w->lock);
}
