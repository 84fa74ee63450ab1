#include "run/apply_pool.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct ApplyPool {
    const PlannedCurves *planned;
    pthread_mutex_t lock; /* of all that follows */
    pthread_cond_t changed;
    ApplyWork *waiting[APPLY_MOST];
    int count; /* that wait */
    int ends;
    pthread_t threads[APPLY_MOST];
    int thread_count;
};

static void apply(const ApplyPool *pool, ApplyWork *w)
{
    w->ret = planned_apply(pool->planned, w->curve, w->in, w->before, w->out, w->stats, &w->error);
}

static void *work(void *arg)
{
    ApplyPool *pool = arg;
    pthread_mutex_lock(&pool->lock);
    for (;;) {
        while (!pool->count && !pool->ends)
            pthread_cond_wait(&pool->changed, &pool->lock);
        if (!pool->count)
            break;
        ApplyWork *w = pool->waiting[0];
        memmove(&pool->waiting[0], &pool->waiting[1], (size_t)--pool->count * sizeof(w));
        pthread_mutex_unlock(&pool->lock);
        apply(pool, w);
        pthread_mutex_lock(&pool->lock);
        w->is_done = 1;
        pthread_cond_broadcast(&pool->changed);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

ApplyPool *apply_pool_create(const PlannedCurves *planned, int threads)
{
    ApplyPool *pool = calloc(1, sizeof(*pool));
    if (!pool)
        return NULL;
    pool->planned = planned;
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->changed, NULL);
    while (pool->thread_count < threads &&
           pthread_create(&pool->threads[pool->thread_count], NULL, work, pool) == 0)
        pool->thread_count++;
    if (threads && !pool->thread_count)
        apply_pool_close(&pool);
    return pool;
}

void apply_pool_start(ApplyPool *pool, ApplyWork *w)
{
    w->is_done = !pool->thread_count;
    if (w->is_done) {
        apply(pool, w);
        return;
    }
    pthread_mutex_lock(&pool->lock);
    pool->waiting[pool->count++] = w;
    pthread_cond_broadcast(&pool->changed);
    pthread_mutex_unlock(&pool->lock);
}

void apply_pool_wait(ApplyPool *pool, ApplyWork *w)
{
    pthread_mutex_lock(&pool->lock);
    while (!w->is_done)
        pthread_cond_wait(&pool->changed, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
}

void apply_pool_close(ApplyPool **pool)
{
    ApplyPool *p = *pool;
    if (!p)
        return;
    pthread_mutex_lock(&p->lock);
    p->ends = 1;
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->lock);
    for (int i = 0; i < p->thread_count; i++)
        pthread_join(p->threads[i], NULL);
    pthread_cond_destroy(&p->changed);
    pthread_mutex_destroy(&p->lock);
    free(p);
    *pool = NULL;
}
