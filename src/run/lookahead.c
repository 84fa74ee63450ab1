#include "run/lookahead.h"

#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>

#include <libavutil/fifo.h>

#include "run/curve_maker.h"
#include "run/measure_pass.h"
#include "run/queue.h"

/* Maximum number of curves that wait. Later frames wait as measures, in the history. */
#define CURVES 8

#define FIRST_FRAMES 256 /* initial capacity of `unplanned` */

/* A measured frame, first with its measure, then with its curve. */
typedef struct Ahead {
    MeasuredFrame frame;
    LumeqMoment moment;
    LumeqMeasure *measure;
    LumeqCurve *curve;
} Ahead;

struct Lookahead {
    LookaheadOptions options;
    Source *source;
    LumeqParams params;
    CurveMaker *maker;
    AVFifo *unplanned; /* of Ahead: measured but not in the history yet */
    Queue *curves;     /* of Ahead */
    int64_t measured;
    int damaged;

    /* The survey of the first seconds, which counts all frames and the denoised ones. */
    CurveMaker *surveyor; /* NULL: there is no survey, or it is over */
    int64_t surveyed, filtered;
    int survey_over;
    int started;          /* set by lookahead_start() and lookahead_close() */
    pthread_mutex_t lock; /* protects survey_over and started */
    pthread_cond_t changed;

    pthread_t thread;
    int running;
    MediaError error; /* belongs to the thread until the queue has ended */
};

static void free_ahead(void *item)
{
    Ahead *ahead = item;
    lumeq_measure_free(&ahead->measure);
    lumeq_curve_unref(&ahead->curve);
}

int lookahead_open(Lookahead **lookahead, const LookaheadOptions *options, MediaError *error)
{
    const QueueOptions queue = {.item = sizeof(Ahead), .count = CURVES, .free = free_ahead};
    Lookahead *l = *lookahead = calloc(1, sizeof(*l));
    if (!l)
        return media_no_memory(error, MEDIA_INPUT);
    l->options = *options;
    pthread_mutex_init(&l->lock, NULL);
    pthread_cond_init(&l->changed, NULL);
    l->unplanned = av_fifo_alloc2(FIRST_FRAMES, sizeof(Ahead), AV_FIFO_FLAG_AUTO_GROW);
    if (!l->unplanned || queue_open(&l->curves, &queue) < 0)
        return media_no_memory(error, MEDIA_INPUT);
    return options->open(options->opaque, options->source, &l->source, error);
}

/* ---- the thread: from measures to curves ---------------------------------------------------- */

/* Puts a measure (NULL: the end) into the history, frees it, and queues the curves that are now
 * known. */
static int put(Lookahead *l, Ahead *ahead, MediaError *error)
{
    Ahead next = {0};
    int ret = curve_maker_put(l->maker, ahead ? &ahead->frame : NULL, ahead ? ahead->measure : NULL,
                              ahead ? &ahead->moment : NULL, error);
    if (ahead)
        lumeq_measure_free(&ahead->measure);
    while (ret >= 0 && (ret = curve_maker_next(l->maker, &next.frame, &next.curve, error)) > 0) {
        ret = queue_put(l->curves, &next, 0, QUEUE_WAIT);
        if (ret < 0)
            free_ahead(&next);
    }
    return ret;
}

/* Waits for lookahead_start(), then puts the frames that were measured before. */
static int put_waiting(Lookahead *l, MediaError *error)
{
    Ahead ahead;
    int ret = 0;
    pthread_mutex_lock(&l->lock);
    while (!l->started)
        pthread_cond_wait(&l->changed, &l->lock);
    pthread_mutex_unlock(&l->lock);
    if (!l->maker) /* closed without a start */
        return AVERROR_EXIT;
    while (ret >= 0 && av_fifo_read(l->unplanned, &ahead, 1) >= 0)
        ret = put(l, &ahead, error);
    return ret;
}

static void end_survey(Lookahead *l)
{
    curve_maker_close(&l->surveyor);
    pthread_mutex_lock(&l->lock);
    l->survey_over = 1;
    pthread_cond_broadcast(&l->changed);
    pthread_mutex_unlock(&l->lock);
}

/* MeasurePass.take() */
static int take(void *opaque, const AVFrame *frame, const MeasuredFrame *which,
                LumeqMeasure **measure, MediaError *error)
{
    Lookahead *l = opaque;
    Ahead ahead = {
        .frame = *which,
        .moment = measured_moment(which, l->measured++, which->pts - frame->pts, frame->time_base),
        .measure = *measure,
    };
    *measure = NULL;
    if (!l->surveyor)
        return put(l, &ahead, error);
    const bool is_last = ahead.moment.time >= l->options.nanoseconds;
    int ret = curve_maker_judge(l->surveyor, which, ahead.measure, &ahead.moment, error);
    l->surveyed += ret >= 0;
    l->filtered += ret > 0;
    ret = FFMIN(ret, 0);
    if (ret >= 0 && av_fifo_write(l->unplanned, &ahead, 1) < 0)
        ret = media_no_memory(error, MEDIA_INPUT);
    if (ret < 0)
        free_ahead(&ahead);
    if (ret < 0 || !is_last)
        return ret;
    end_survey(l);
    return put_waiting(l, error);
}

static void *lookahead_main(void *arg)
{
    Lookahead *l = arg;
    MediaError *error = &l->error;
    char damage[512];
    pthread_setname_np(pthread_self(), "lookahead");
    MeasurePass pass = {.source = l->source,
                        .input = l->options.input,
                        .context = l->options.context,
                        .params = &l->params,
                        .from_pts = INT64_MIN,
                        .take = take,
                        .opaque = l};
    pass.input.copy = 0;
    int ret = measure_pass_run(&pass, error);
#ifdef __GLIBC__
    malloc_trim(0); /* returns the decoder's memory, which glibc would keep */
#endif
    l->damaged = ret >= 0 && damage_describe(pass.source, &pass.report, damage, sizeof(damage));
    if (l->surveyor) {
        end_survey(l);
        ret = ret < 0 ? ret : put_waiting(l, error);
    }
    if (ret >= 0 && l->maker)
        ret = put(l, NULL, error);
    queue_end(l->curves, ret < 0 ? ret : AVERROR_EOF);
    return NULL;
}

/* ---- for the other threads ------------------------------------------------------------------ */

static int run(Lookahead *l, MediaError *error)
{
    l->running = pthread_create(&l->thread, NULL, lookahead_main, l) == 0;
    return l->running ? 0 : media_fail(error, MEDIA_INPUT, "cannot start a thread to look ahead");
}

int lookahead_survey(Lookahead *l, const LumeqParams *params, int64_t *frames, int64_t *filtered,
                     MediaError *error)
{
    l->params = *params;
    if (curve_maker_open(&l->surveyor, params, 0, 0, error) < 0 || run(l, error) < 0)
        return error->fault;
    pthread_mutex_lock(&l->lock);
    while (!l->survey_over)
        pthread_cond_wait(&l->changed, &l->lock);
    pthread_mutex_unlock(&l->lock);
    *frames = l->surveyed;
    *filtered = l->filtered;
    return 0;
}

int lookahead_start(Lookahead *l, const LumeqParams *params, int depth, MediaError *error)
{
    if (curve_maker_open(&l->maker, params, l->options.nanoseconds, depth, error) < 0)
        return error->fault;
    pthread_mutex_lock(&l->lock);
    l->started = 1;
    pthread_cond_broadcast(&l->changed);
    pthread_mutex_unlock(&l->lock);
    if (l->running)
        return 0;
    l->params = *params;
    return run(l, error);
}

int lookahead_next(Lookahead *l, MeasuredFrame *frame, LumeqCurve **curve, MediaError *error)
{
    Ahead ahead;
    const int ret = queue_take(l->curves, &ahead, QUEUE_WAIT);
    if (ret == AVERROR_EOF)
        return 0;
    if (ret < 0)
        return media_fail(error, l->error.fault ? l->error.fault : MEDIA_INPUT, "%s",
                          l->error.text);
    *frame = ahead.frame;
    *curve = ahead.curve;
    return 1;
}

bool lookahead_is_damaged(const Lookahead *l)
{
    return l->damaged;
}

void lookahead_close(Lookahead **lookahead)
{
    Lookahead *l = *lookahead;
    Ahead ahead;
    if (!l)
        return;
    if (l->curves)
        queue_stop(l->curves);
    pthread_mutex_lock(&l->lock);
    l->started = 1;
    pthread_cond_broadcast(&l->changed);
    pthread_mutex_unlock(&l->lock);
    if (l->running)
        pthread_join(l->thread, NULL);
    while (l->unplanned && av_fifo_read(l->unplanned, &ahead, 1) >= 0)
        free_ahead(&ahead);
    av_fifo_freep2(&l->unplanned);
    curve_maker_close(&l->maker);
    curve_maker_close(&l->surveyor);
    source_close(&l->source);
    queue_close(&l->curves);
    pthread_cond_destroy(&l->changed);
    pthread_mutex_destroy(&l->lock);
    free(l);
    *lookahead = NULL;
}
