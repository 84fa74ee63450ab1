/*
 * A source is opened by a thread of its own: demuxers may compute for minutes without a look at
 * their interrupt callback. Such a thread is left alone with all it uses; it cleans up when it is
 * done, if the program is still there.
 */
#include <pthread.h>
#include <string.h>
#include <time.h>

#include <libavutil/time.h>

#include "media/input/source_parts.h"

/* Time between two looks at the stop flag, and for a thread that was told to stop to do so. */
#define POLL_MS 50
#define GRACE_MS 200

struct SourceOpening {
    SourceOptions options;
    char *path;
    int64_t begin;
    Source *source; /* the thread's until it is done, as the error */
    MediaError error;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int done, left; /* under the lock */
};

static atomic_int left_count;

int source_is_left_opening(void)
{
    return atomic_load(&left_count) > 0;
}

static void free_opening(SourceOpening *o)
{
    source_close(&o->source);
    pthread_cond_destroy(&o->changed);
    pthread_mutex_destroy(&o->lock);
    av_free(o->path);
    av_free(o);
}

static void *opening_main(void *arg)
{
    SourceOpening *o = arg;
    (void)source_open_format(o->source, &o->options, &o->error);
    pthread_mutex_lock(&o->lock);
    const int left = o->left;
    o->done = 1;
    pthread_cond_signal(&o->changed);
    pthread_mutex_unlock(&o->lock);
    if (left) {
        free_opening(o);
        atomic_fetch_sub(&left_count, 1);
    }
    return NULL;
}

static int set_name(Source *s, const char *path)
{
    s->name = av_strdup(media_quote_input(path));
    return s->name ? 0 : AVERROR(ENOMEM);
}

static Source *create_source(const SourceOptions *options)
{
    Source *s = av_mallocz(sizeof(*s));
    if (!s || (!options->camera && set_name(s, options->path) < 0)) {
        av_free(s);
        return NULL;
    }
    s->fd = -1;
    s->stop = options->stop;
    s->max_pixels = options->max_pixels;
    s->live = options->camera || options->low_latency;
    return s;
}

static void init_wait(SourceOpening *o)
{
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&o->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    pthread_mutex_init(&o->lock, NULL);
}

int source_opening_start(SourceOpening **opening, const SourceOptions *options, MediaError *error)
{
    SourceOpening *o = *opening = av_mallocz(sizeof(*o));
    if (!o)
        return media_fail(error, MEDIA_INPUT, "out of memory");
    init_wait(o);
    o->options = *options;
    o->options.path = o->path = av_strdup(options->path);
    o->source = create_source(options);
    o->begin = av_gettime_relative();
    const int ret = o->path && o->source ? 0 : media_fail(error, MEDIA_INPUT, "out of memory");
    if (ret >= 0 && pthread_create(&o->thread, NULL, opening_main, o) == 0)
        return 0;
    free_opening(o);
    *opening = NULL;
    return media_fail(error, MEDIA_INPUT, "no thread can be started to open the input");
}

/* Under the lock. */
static void wait_until_done(SourceOpening *o, int ms)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += ms * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000L;
    until.tv_nsec %= 1000000000L;
    while (!o->done && pthread_cond_timedwait(&o->changed, &o->lock, &until) == 0)
        ;
}

void source_opening_cancel(SourceOpening **opening, int wait)
{
    SourceOpening *o = *opening;
    if (!o)
        return;
    *opening = NULL;
    source_halt(o->source, 1);
    pthread_mutex_lock(&o->lock);
    wait_until_done(o, wait ? GRACE_MS : 0);
    const int done = o->done;
    o->left = !done;
    if (!done)
        atomic_fetch_add(&left_count, 1);
    const pthread_t thread = o->thread;
    pthread_mutex_unlock(&o->lock); /* it is the thread's from here on, where it is left */
    if (!done) {
        pthread_detach(thread);
        return;
    }
    pthread_join(thread, NULL);
    free_opening(o);
}

static int is_too_long(const SourceOpening *o)
{
    const double limit = o->options.network ? 0 : o->options.open_timeout_s;
    return limit > 0 && !atomic_load(&o->source->patient) &&
           (double)(av_gettime_relative() - o->begin) > limit * AV_TIME_BASE;
}

/* Gives up on it where that is due; AVERROR(EAGAIN) where it is not. */
static int give_up(SourceOpening **opening, int wait, MediaError *error)
{
    const SourceOpening *o = *opening;
    int ret = AVERROR(EAGAIN);
    if (source_is_stopped(o->source))
        ret = media_fail(error, MEDIA_INPUT, "interrupted while opening %s", o->source->name);
    else if (is_too_long(o))
        ret = media_fail(error, MEDIA_INPUT,
                         "%s takes longer to open than the %g s that --open-timeout allows",
                         o->source->name, o->options.open_timeout_s);
    if (ret != AVERROR(EAGAIN))
        source_opening_cancel(opening, wait);
    return ret;
}

/* The thread is done. */
static int take_result(SourceOpening **opening, Source **source, MediaError *error)
{
    SourceOpening *o = *opening;
    *opening = NULL;
    pthread_join(o->thread, NULL);
    int ret = o->error.fault;
    if (ret < 0)
        (void)media_fail(error, ret, "%s", o->error.text);
    else
        ret = source_pick_video(o->source, &o->options, error);
    if (ret >= 0) {
        *source = o->source;
        o->source = NULL;
    }
    free_opening(o);
    return ret;
}

int source_opening_take(SourceOpening **opening, int wait_ms, Source **source, MediaError *error)
{
    SourceOpening *o = *opening;
    *source = NULL;
    pthread_mutex_lock(&o->lock);
    wait_until_done(o, wait_ms);
    const int done = o->done;
    pthread_mutex_unlock(&o->lock);
    return done ? take_result(opening, source, error) : give_up(opening, wait_ms > 0, error);
}

static int open_camera(Source **source, const SourceOptions *options, MediaError *error)
{
    Source *s = *source = create_source(options);
    int ret = s ? camera_open(&s->camera, options->camera, source_stop_callback, s, error)
                : media_fail(error, MEDIA_INPUT, "out of memory");
    if (ret >= 0) {
        s->format = camera_format(s->camera);
        const char *path = camera_setting(s->camera)->path;
        if (stat(path, &s->file) < 0)
            s->file = (struct stat){0}; /* it is gone already */
        ret = set_name(s, path) < 0 ? media_fail(error, MEDIA_INPUT, "out of memory")
                                    : source_pick_video(s, options, error);
    }
    if (ret < 0)
        source_close(source);
    return ret;
}

int source_open(Source **source, const SourceOptions *options, MediaError *error)
{
    SourceOpening *opening;
    *source = NULL;
    if (options->camera)
        return open_camera(source, options, error);
    int ret = source_opening_start(&opening, options, error);
    if (ret < 0)
        return ret;
    do
        ret = source_opening_take(&opening, POLL_MS, source, error);
    while (ret == AVERROR(EAGAIN));
    return ret;
}
