#include "run/apply.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "media/gpu_frame.h"

int apply_frame(LumeqContext *context, Frame *f, int writes, MediaError *error)
{
    const AVFrame *in = f->decoded.frame;
    LumeqFrame frame = equalizer_frame(in, writes ? f->out : NULL);
    LumeqImage previous[FRAME_PREVIOUS];
    int count = 0, ret = 0;
    while (count < FRAME_PREVIOUS) {
        previous[count] = equalizer_previous(f->previous[count], in);
        if (!previous[count].plane[0])
            break;
        count++;
    }
    if (f->on_device)
        frame.out.memory = LUMEQ_MEMORY_CUDA;
    const LumeqSync sync = equalizer_sync(in);
    const double begin = run_now_us();
    if (writes)
        ret = lumeq_apply(context, f->curve, &frame.in, previous, count, &frame.out,
                          sync.after ? &sync : NULL);
    const double took = run_now_us() - begin;
    if (ret >= 0)
        ret = lumeq_curve_stats(f->curve, &f->stats);
    if (ret == LUMEQ_ERR_GPU)
        return EQUALIZER_LOST;
    if (ret < 0)
        return equalizer_failed(error);
    equalizer_offset_stats(&f->stats, in);
    f->stats.equalize_us = writes ? took : 0;
    return 0;
}

/* ---- several at a time ---- */

struct ApplyPool {
    LumeqContext *context;
    int writes;
    pthread_mutex_t lock; /* of all that follows */
    pthread_cond_t changed;
    Frame *waiting[APPLY_MOST];
    int count; /* that wait */
    int ends;
    MediaError error;
    pthread_t threads[APPLY_MOST];
    int thread_count;
};

static void apply(ApplyPool *pool, Frame *f)
{
    MediaError error = {0};
    f->result = apply_frame(pool->context, f, pool->writes, &error);
    pthread_mutex_lock(&pool->lock);
    if (error.fault && !pool->error.fault)
        pool->error = error;
    f->is_done = 1;
    pthread_cond_broadcast(&pool->changed);
    pthread_mutex_unlock(&pool->lock);
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
        Frame *frame = pool->waiting[0];
        memmove(&pool->waiting[0], &pool->waiting[1], (size_t)--pool->count * sizeof(frame));
        pthread_mutex_unlock(&pool->lock);
        apply(pool, frame);
        pthread_mutex_lock(&pool->lock);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

ApplyPool *apply_pool_create(LumeqContext *context, int threads, int writes)
{
    ApplyPool *pool = calloc(1, sizeof(*pool));
    if (!pool)
        return NULL;
    pool->context = context;
    pool->writes = writes;
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->changed, NULL);
    while (pool->thread_count < threads &&
           pthread_create(&pool->threads[pool->thread_count], NULL, work, pool) == 0)
        pool->thread_count++;
    if (threads && !pool->thread_count)
        apply_pool_close(&pool);
    return pool;
}

void apply_pool_start(ApplyPool *pool, Frame *frame)
{
    frame->is_done = 0;
    if (!pool->thread_count) {
        apply(pool, frame);
        return;
    }
    pthread_mutex_lock(&pool->lock);
    pool->waiting[pool->count++] = frame;
    pthread_cond_broadcast(&pool->changed);
    pthread_mutex_unlock(&pool->lock);
}

int apply_pool_wait(ApplyPool *pool, Frame *frame, MediaError *error)
{
    pthread_mutex_lock(&pool->lock);
    while (!frame->is_done)
        pthread_cond_wait(&pool->changed, &pool->lock);
    if (frame->result < 0 && !error->fault)
        *error = pool->error;
    pthread_mutex_unlock(&pool->lock);
    return frame->result;
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
