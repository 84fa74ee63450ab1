#include "run/planned_curves.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "media/convert.h"
#include "media/gpu_frame.h"
#include "run/equalizer_frame.h"

struct PlannedCurves {
    PlannedOptions options;
    int64_t count; /* frames */
    int differs;
};

int planned_open(PlannedCurves **planned, const PlannedOptions *options, MediaError *error)
{
    PlannedCurves *p = *planned = calloc(1, sizeof(*p));
    if (!p)
        return media_no_memory(error, MEDIA_INPUT);
    p->options = *options;
    return 0;
}

/* Handles a frame that differs from the measured one. */
static int note_other(PlannedCurves *p, MediaError *error)
{
    const PlannedOptions *o = &p->options;
    p->differs = 1;
    if (source_is_changed(o->source, o->path, error) < 0)
        return error->fault;
    return o->strict ? media_fail(error, MEDIA_INPUT,
                                  "the frames of %s differ from those that were measured: all "
                                  "steps need the same file",
                                  o->source->name)
                     : 0;
}

int planned_take(PlannedCurves *p, const AVFrame *in, int64_t zero, LumeqCurve **curve,
                 MediaError *error)
{
    const PlannedOptions *o = &p->options;
    const int64_t shift = av_rescale_q(zero, AV_TIME_BASE_Q, in->time_base);
    const MeasuredFrame here = measured_frame(in, shift);
    MeasuredFrame measured;
    *curve = NULL;
    const int ret = o->next(o->opaque, &measured, curve, error);
    if (ret > 0)
        measured.format = convert_deeper((enum AVPixelFormat)measured.format, o->depth);
    if (ret > 0 && measured_is_same(&measured, &here)) {
        p->count++;
        return 1;
    }
    lumeq_curve_unref(curve);
    if (ret == 0 && atomic_load(o->source->stop))
        return AVERROR_EOF;
    return ret < 0 ? ret : note_other(p, error);
}

/* Equalizes a frame into `out`; NULL: only fills the statistics. Returns 1, PLANNED_LOST or
 * MEDIA_INPUT. Any thread, several at a time. */
static int planned_apply(const PlannedCurves *p, Frame *f, AVFrame *out, MediaError *error)
{
    const AVFrame *in = f->decoded.frame;
    AVFrame *const *before = f->previous;
    const LumeqFrame frame = equalizer_frame(in, out);
    LumeqImage previous[FRAME_PREVIOUS];
    int count = 0, on_gpu = gpu_frame_is(in) || (out && gpu_frame_is(out));
    while (count < FRAME_PREVIOUS) {
        previous[count] = equalizer_previous(before[count], in);
        if (!previous[count].plane[0])
            break;
        on_gpu |= gpu_frame_is(before[count++]);
    }
    const LumeqSync sync = equalizer_sync(in);
    int ret = 0;
    const double begin = run_now_us();
    if (out)
        ret = lumeq_apply(p->options.context, f->curve, &frame.in, previous, count, &frame.out,
                          sync.after ? &sync : NULL);
    const double took = run_now_us() - begin;
    if (ret >= 0)
        ret = lumeq_curve_stats(f->curve, &f->stats);
    if (ret == LUMEQ_ERR_GPU && on_gpu)
        return PLANNED_LOST;
    if (ret < 0)
        return media_fail(error, MEDIA_INPUT, "the equalizer failed: %s", lumeq_last_error(NULL));
    equalizer_offset_stats(&f->stats, in);
    f->stats.equalize_us = out ? took : 0;
    return 1;
}

int64_t planned_count(const PlannedCurves *p)
{
    return p->count;
}

int planned_differs(const PlannedCurves *p)
{
    return p->differs || p->count < p->options.count;
}

void planned_close(PlannedCurves **planned)
{
    free(*planned);
    *planned = NULL;
}

/* ---- several at a time ---- */

struct ApplyPool {
    const PlannedCurves *planned;
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
    f->result = planned_apply(pool->planned, f, pool->writes ? f->out : NULL, &error);
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

ApplyPool *apply_pool_create(const PlannedCurves *planned, int threads, int writes)
{
    ApplyPool *pool = calloc(1, sizeof(*pool));
    if (!pool)
        return NULL;
    pool->planned = planned;
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
