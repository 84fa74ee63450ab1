#include "app/virtual_camera.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "app/terminal.h"
#include "media/camera/camera_output.h"
#include "media/compat.h"
#include "media/output/turner.h"
#include "player/camera_watch.h"
#include "player/clock.h"

#define DEFAULT_RATE 30 /* for an input whose frame rate is unknown */

/* Maximum number of repetitions per second. Higher declared frame rates are only the resolution of
 * time stamps. */
#define MAX_REPEATS 120

/* Repeat the last picture after this many frame intervals without a new one. A camera's intervals
 * vary, and double in the dark. */
#define PATIENCE 2.5

/* How often the thread checks the camera while there is nothing to repeat. */
#define LOOK_US 100000

/* While nobody watches, still take a new picture this often, for the next watcher. */
#define FRESH_US 1000000

struct VirtualCamera {
    CameraOutput *output;
    atomic_int *stop;
    const Source *source;
    Camera *watched; /* or NULL */
    int64_t interval;
    AVRational rate;
    char input[128]; /* name of the input */
    Pace pace;       /* for a file */
    int64_t end_us;  /* end of the last frame */
    pthread_t thread;
    int running;
    atomic_int mirrored;

    pthread_mutex_t lock; /* protects the members below */
    pthread_cond_t ended;
    int ending, set; /* `set`: the output has a size and a format */
    int64_t next;    /* time to repeat the last picture */
    int64_t written; /* time of the last new picture */
    Turner *turner;  /* for frames with the turn, size and format below; or NULL */
    PictureTurn turn;
    int width, height, format;
    AVFrame *turned;
    int64_t frames, repeats;
    Delay delay;
    MediaError error;
};

int virtual_camera_open(VirtualCamera **camera, const Options *options, atomic_int *stop,
                        MediaError *error)
{
    *camera = NULL;
    if (!options->virtual_camera)
        return 0;
    VirtualCamera *v = *camera = calloc(1, sizeof(*v));
    if (!v)
        return media_no_memory(error, MEDIA_OUTPUT);
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&v->ended, &monotonic);
    pthread_condattr_destroy(&monotonic);
    pthread_mutex_init(&v->lock, NULL);
    v->stop = stop;
    v->turn = picture_upright();
    atomic_init(&v->mirrored, options->mirror);
    v->turned = av_frame_alloc();
    int ret = v->turned ? camera_output_open(&v->output, options->virtual_camera, error)
                        : media_no_memory(error, MEDIA_OUTPUT);
    if (ret < 0)
        virtual_camera_close(camera);
    return ret;
}

/* ---- pictures; hold the lock for end_run(), upright() and set() ---- */

static void end_run(VirtualCamera *v)
{
    int on = RUN_ON;
    atomic_compare_exchange_strong(v->stop, &on, RUN_OVER);
}

/* Returns the frame as displayed, possibly in `turned`. NULL on failure. */
static const AVFrame *upright(VirtualCamera *v, const AVFrame *frame)
{
    const PictureTurn none = picture_upright();
    PictureTurn turn = none;
    PictureFormat format;
    char why[256];
    int ret = 0;
    if (picture_format(&format, frame, why, sizeof(why)) >= 0 && format.has_turn)
        turn = format.turn;
    if (atomic_load(&v->mirrored)) {
        turn.xx = -turn.xx;
        turn.xy = -turn.xy;
    }
    if (memcmp(&turn, &none, sizeof(turn)) == 0)
        return frame;
    if (!v->turner || memcmp(&turn, &v->turn, sizeof(turn)) != 0 || frame->width != v->width ||
        frame->height != v->height || frame->format != v->format) {
        turner_close(&v->turner);
        v->turn = turn;
        v->width = frame->width;
        v->height = frame->height;
        v->format = frame->format;
        ret = turner_open(&v->turner, frame, turn, 0);
    }
    if (ret >= 0)
        ret = turner_run(v->turner, frame, v->turned);
    if (ret >= 0)
        return v->turned;
    media_fail(&v->error, MEDIA_OUTPUT, "cannot rotate a picture for the virtual camera: %s",
               media_av_text(ret));
    return NULL;
}

/* Copies the name of the camera, or of the file, without folder and quotes. */
static void name_input(const Source *source, char text[128])
{
    const char *name = source->camera ? camera_setting(source->camera)->name : source->name;
    const char *slash = source->camera ? NULL : strrchr(name, '/');
    snprintf(text, 128, "%s", slash ? slash + 1 : name + (*name == '\''));
    const size_t length = strlen(text);
    if (length && text[length - 1] == '\'')
        text[length - 1] = '\0';
}

static void set(VirtualCamera *v, const AVFrame *first)
{
    char text[512];
    if (camera_output_set(v->output, first, v->rate, v->input, &v->error) < 0)
        return;
    camera_output_text(v->output, text, sizeof(text));
    say(SAY_NORMAL, "virtual camera %s", text);
    v->set = 1;
}

void virtual_camera_frame(VirtualCamera *v, const AVFrame *frame, int64_t captured_at)
{
    if (!v)
        return;
    pthread_mutex_lock(&v->lock);
    const AVFrame *picture = v->error.fault ? NULL : upright(v, frame);
    if (picture && !v->set)
        set(v, picture);
    const int64_t now = clock_now();
    const int64_t time = captured_at != AV_NOPTS_VALUE ? captured_at : now;
    if (v->set && picture && camera_output_write(v->output, picture, time, &v->error) >= 0) {
        v->next = now + (int64_t)(PATIENCE * (double)v->interval);
        v->written = now;
        v->frames++;
        if (captured_at != AV_NOPTS_VALUE)
            delay_note(&v->delay, clock_now() - captured_at);
    }
    if (v->error.fault)
        end_run(v);
    pthread_mutex_unlock(&v->lock);
}

/* ---- the thread ---- */

/* Repeats the last picture; does not catch up if late. Call with the lock held. */
static void repeat(VirtualCamera *v, int64_t now)
{
    const int sent = camera_output_repeat(v->output, now, &v->error);
    if (sent < 0) {
        end_run(v);
        return;
    }
    v->repeats += sent;
    v->next = now - v->next < v->interval ? v->next + v->interval : now + v->interval;
}

static void *repeat_main(void *arg)
{
    VirtualCamera *v = arg;
    CameraWatch watch = {0};
    int64_t seen = 0;
    pthread_mutex_lock(&v->lock);
    while (!v->ending && !v->error.fault) {
        const int64_t now = clock_now(), look = now + LOOK_US;
        if (v->set && now >= v->next)
            repeat(v, now);
        camera_watch(&watch, v->watched, v->frames != seen, now, say_line);
        camera_output_tend(v->output, now, say_line);
        seen = v->frames;
        const int64_t until = v->set && v->next < look ? v->next : look;
        const struct timespec time = {.tv_sec = until / 1000000, .tv_nsec = until % 1000000 * 1000};
        (void)pthread_cond_timedwait(&v->ended, &v->lock, &time);
    }
    pthread_mutex_unlock(&v->lock);
    return NULL;
}

int virtual_camera_start(VirtualCamera *v, const Source *source, int watch, MediaError *error)
{
    if (!v)
        return 0;
    const char *path = camera_output_path(v->output);
    if (source->camera && path && strcmp(camera_setting(source->camera)->path, path) == 0)
        return media_fail(error, MEDIA_USAGE,
                          "%s is both the camera and the virtual camera: choose another with "
                          "--camera=DEV; --list-devices lists them",
                          media_quote(path));
    v->source = source;
    name_input(source, v->input);
    v->rate = source->camera ? camera_setting(source->camera)->rate : source->video->avg_frame_rate;
    v->interval = v->rate.num > 0 && v->rate.den > 0
                      ? av_rescale(AV_TIME_BASE, v->rate.den, v->rate.num)
                      : AV_TIME_BASE / DEFAULT_RATE;
    v->interval = FFMAX(v->interval, AV_TIME_BASE / MAX_REPEATS);
    v->watched = watch ? source->camera : NULL;
    v->running = pthread_create(&v->thread, NULL, repeat_main, v) == 0;
    return v->running
               ? 0
               : media_fail(error, MEDIA_INPUT, "cannot start a thread for the virtual camera");
}

/* ---- frames of a run ---- */

#define MAX_LATE_US 500000 /* if a frame is later than this, the next ones do not catch up */
#define MAX_NAP_US 20000   /* between checks of `stop` */

void pace_wait(Pace *p, int64_t time_us, const atomic_int *stop)
{
    int64_t now = clock_now();
    if (!p->begun || now - (p->begin + time_us) > MAX_LATE_US)
        p->begin = now - time_us;
    p->begun = 1;
    for (; now < p->begin + time_us && atomic_load(stop) == RUN_ON; now = clock_now()) {
        const int64_t nap = FFMIN(p->begin + time_us - now, MAX_NAP_US);
        const struct timespec time = {.tv_nsec = nap * 1000};
        (void)nanosleep(&time, NULL);
    }
}

static int show_frame(void *self, Frame *f)
{
    VirtualCamera *v = self;
    const AVFrame *frame = f->out;
    const Camera *camera = v->source->camera;
    v->end_us = av_rescale_q(frame->pts + FRAME_DURATION(frame), frame->time_base, AV_TIME_BASE_Q);
    if (!v->source->live)
        pace_wait(&v->pace, f->time_us, v->stop);
    virtual_camera_frame(
        v, frame, camera ? camera_captured_at(camera, f->time_us + f->zero_us) : AV_NOPTS_VALUE);
    return 0;
}

static void end_frames(void *self, int complete, MediaError *error)
{
    VirtualCamera *v = self;
    if (complete && !v->source->camera)
        pace_wait(&v->pace, v->end_us, v->stop);
    virtual_camera_check(v, error);
}

Sink virtual_camera_sink(VirtualCamera *v)
{
    return (Sink){.self = v, .frame = show_frame, .end = end_frames};
}

int virtual_camera_is_unwatched(void *camera)
{
    VirtualCamera *v = camera;
    pthread_mutex_lock(&v->lock);
    const int unwatched = v->set && clock_now() - v->written < FRESH_US && !v->error.fault &&
                          !camera_output_is_watched(v->output);
    pthread_mutex_unlock(&v->lock);
    return unwatched;
}

void virtual_camera_mirror(VirtualCamera *v, int mirrored)
{
    if (v)
        atomic_store(&v->mirrored, mirrored);
}

int virtual_camera_check(VirtualCamera *v, MediaError *error)
{
    if (!v)
        return 0;
    pthread_mutex_lock(&v->lock);
    const int ret = v->error.fault ? media_fail(error, v->error.fault, "%s", v->error.text) : 0;
    pthread_mutex_unlock(&v->lock);
    return ret;
}

void virtual_camera_close(VirtualCamera **camera)
{
    VirtualCamera *v = *camera;
    if (!v)
        return;
    pthread_mutex_lock(&v->lock);
    v->ending = 1;
    pthread_cond_signal(&v->ended);
    pthread_mutex_unlock(&v->lock);
    if (v->running)
        pthread_join(v->thread, NULL);
    if (v->frames)
        say(SAY_DETAILS,
            "the virtual camera showed %lld picture%s and repeated the last one %lld time%s",
            (long long)v->frames, v->frames == 1 ? "" : "s", (long long)v->repeats,
            v->repeats == 1 ? "" : "s");
    if (v->delay.count)
        say(SAY_DETAILS,
            "latency from capture to virtual camera: %.1f ms, 95 %% of frames within %.0f ms, all "
            "within %.1f ms",
            delay_mean(&v->delay), delay_share(&v->delay, 0.95), (double)v->delay.most * 1e-3);
    camera_output_close(&v->output);
    turner_close(&v->turner);
    av_frame_free(&v->turned);
    pthread_cond_destroy(&v->ended);
    pthread_mutex_destroy(&v->lock);
    free(v);
    *camera = NULL;
}
