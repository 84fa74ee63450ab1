/* An open camera: libavdevice reads it, and it is opened again when it was gone. */
#include "media/camera/camera.h"

#include <stdio.h>
#include <string.h>

#include <libavdevice/avdevice.h>
#include <libavutil/avstring.h>
#include <libavutil/time.h>

#include "media/camera/camera_parts.h"

/* libavdevice keeps its descriptor for itself, and what would wait in it cannot be stopped: it is
 * asked again and again. Between two frames that is not before most of the interval has gone by; so
 * it costs some wake-ups a frame, and a delay of a millisecond where the rate holds. One that is
 * overdue is asked for ever less often: what that adds to its delay is a small part of how late it
 * is. */
#define NAP_US 1000
#define LONG_NAP_US 20000 /* for how long a stop may go unnoticed */
#define OVERDUE_PART 16

/* Where the driver does not say the interval, that of the last two frames stands for it, up to so
 * much: the next one may come sooner. */
#define MOST_GUESSED_US 50000

#define STALL_US 2000000 /* in the dark, cameras go down to some frames a second, not below */

/* Between two tries to open it again: longer after each that fails, as libavdevice leaves mappings
 * behind where a stream does not start. */
#define RETRY_US 500000
#define MOST_RETRY_US 8000000

/* All devices are looked at in one try of so many: asking others may wake them up. */
#define EVERYWHERE 4

/* Timestamps further than this from a clock are not of that clock. */
#define CLOCK_LIMIT_US 10000000

int camera_is_supported(void)
{
    return 1;
}

const char *camera_support(void)
{
    static _Thread_local char text[64];
    const unsigned v = avdevice_version();
    snprintf(text, sizeof(text), "V4L2 through libavdevice %u.%u.%u", AV_VERSION_MAJOR(v),
             AV_VERSION_MINOR(v), AV_VERSION_MICRO(v));
    return text;
}

int camera_is_raw(const AVCodecParameters *par)
{
    return par->codec_id == AV_CODEC_ID_RAWVIDEO;
}

/* ---- being gone ---- */

static void set_gone(Camera *c, const char *why)
{
    avformat_close_input(&c->device);
    c->retry_after = RETRY_US;
    c->tries = 0;
    c->retry = av_gettime_relative() + c->retry_after;
    pthread_mutex_lock(&c->lock);
    c->status.state = CAMERA_GONE;
    c->status.unusable = 0;
    av_strlcpy(c->status.why, why, sizeof(c->status.why));
    pthread_mutex_unlock(&c->lock);
}

static void set_lost(Camera *c, int ret)
{
    char why[sizeof(c->status.why)];
    snprintf(why, sizeof(why), "unplugged (%s)", media_av_text(ret));
    set_gone(c, why);
}

static void set_stalled(Camera *c)
{
    char why[sizeof(c->status.why)];
    snprintf(why, sizeof(why), "no picture for %d s", (int)(c->patience / 1000000));
    set_gone(c, why);
}

/* It is there; `ret` came of opening it, 1: its pictures are others than they were. */
static void set_there(Camera *c, int ret)
{
    const char *why = ret == 0                 ? "no picture yet"
                      : ret == 1               ? "other size or format than before"
                      : ret == AVERROR(EBUSY)  ? "in use by another program"
                      : ret == AVERROR(EACCES) ? "no permission to use it"
                      : ret == AVERROR(ENOSPC) ? "no room on its USB bus"
                                               : media_av_text(ret);
    pthread_mutex_lock(&c->lock);
    c->status.unusable = ret != 0;
    av_strlcpy(c->status.why, why, sizeof(c->status.why));
    pthread_mutex_unlock(&c->lock);
}

static void set_absent(Camera *c)
{
    pthread_mutex_lock(&c->lock);
    if (c->status.unusable)
        av_strlcpy(c->status.why, "unplugged", sizeof(c->status.why));
    c->status.unusable = 0;
    pthread_mutex_unlock(&c->lock);
}

/* What is waited for has to be what it was: decoders and files were made for it. */
static int is_same(const Camera *c)
{
    const AVCodecParameters *was = c->format->streams[0]->codecpar;
    const AVCodecParameters *is = c->device->streams[0]->codecpar;
    if (is->codec_id != was->codec_id || (camera_is_raw(was) && is->format != was->format))
        return 0;
    return is->width == c->setting.width && is->height == c->setting.height;
}

/* Opens what is there again: 0, or AVERROR; 1: it is not what it was. */
static int open_again(Camera *c, const char *path)
{
    int ret = camera_open_device(c, path);
    if (ret >= 0 && !is_same(c)) {
        avformat_close_input(&c->device);
        ret = 1;
    }
    if (ret != 0)
        c->retry_after = FFMIN(2 * c->retry_after, MOST_RETRY_US);
    return ret;
}

/* It runs again from its first packet on. */
static void try_again(Camera *c)
{
    CameraDevice device;
    c->retry = av_gettime_relative() + c->retry_after;
    const int there = camera_find_again(&c->place, c->tries++ % EVERYWHERE == 0, &device);
    if (there < 0)
        set_there(c, there);
    else if (there)
        set_there(c, open_again(c, device.path));
    else
        set_absent(c);
}

/* ---- packets ---- */

static CameraClock clock_of(int64_t time, int64_t now, int64_t wall)
{
    if (time != AV_NOPTS_VALUE && FFABS(now - time) < CLOCK_LIMIT_US)
        return CAMERA_CLOCK_MONOTONIC;
    if (time != AV_NOPTS_VALUE && FFABS(wall - time) < CLOCK_LIMIT_US)
        return CAMERA_CLOCK_WALL;
    return CAMERA_CLOCK_NONE;
}

/* The wall clock may be set at any time: how far it is ahead is taken anew for each frame. One that
 * was stamped before that and comes after it may seem older than the last. */
static int64_t from_wall(const Camera *c, int64_t time, int64_t now, int64_t wall)
{
    const int64_t captured = now - (wall - time);
    return captured < c->last ? now : captured;
}

/* The driver's time, brought to the monotonic clock where it is of the wall's; the time of arrival
 * where it is of none. */
static int64_t captured(Camera *c, int64_t time, int64_t now, int64_t wall)
{
    if (c->clock == CAMERA_CLOCK_UNKNOWN)
        c->clock = clock_of(time, now, wall);
    if (c->clock == CAMERA_CLOCK_NONE || time == AV_NOPTS_VALUE)
        return now;
    return FFMIN(c->clock == CAMERA_CLOCK_WALL ? from_wall(c, time, now, wall) : time, now);
}

static void count_corrupt(Camera *c)
{
    pthread_mutex_lock(&c->lock);
    c->status.corrupt++;
    pthread_mutex_unlock(&c->lock);
}

static void count_good(Camera *c)
{
    pthread_mutex_lock(&c->lock);
    if (c->status.state == CAMERA_GONE)
        c->status.returns++;
    c->status.state = CAMERA_RUNNING;
    c->status.unusable = 0;
    c->status.why[0] = '\0';
    c->status.frames++;
    pthread_mutex_unlock(&c->lock);
}

/* Copies the packet out of the driver's memory, which goes when the camera does: 0 or ENOMEM. */
static int take(Camera *c, AVPacket *packet)
{
    const int64_t now = av_gettime_relative(), wall = av_gettime();
    const int ret = av_new_packet(packet, c->read->size);
    if (ret < 0)
        return ret;
    memcpy(packet->data, c->read->data, (size_t)c->read->size);
    int64_t time = captured(c, c->read->pts, now, wall);
    if (c->origin == AV_NOPTS_VALUE)
        c->origin = c->last = time;
    else
        time = FFMAX(time, c->last + 1);
    packet->pts = packet->dts = time - c->origin;
    packet->duration = c->interval ? c->interval : time - c->last;
    c->expected = c->interval ? c->interval : FFMIN(time - c->last, MOST_GUESSED_US);
    c->last = time;
    packet->flags = c->read->flags;
    if (c->format->streams[0]->codecpar->codec_id != AV_CODEC_ID_H264)
        packet->flags |= AV_PKT_FLAG_KEY;
    return 0;
}

void camera_nap(const Camera *c)
{
    const int64_t waited = av_gettime_relative() - c->heard;
    const int64_t quiet = c->expected * 3 / 4 - waited, overdue = waited - c->expected;
    av_usleep((unsigned)av_clip64(FFMAX(quiet, overdue / OVERDUE_PART), NAP_US, LONG_NAP_US));
}

int camera_read_device(Camera *c, AVPacket *packet)
{
    int ret = av_read_frame(c->device, c->read);
    if (ret < 0)
        return ret;
    const int corrupt = c->read->size == 0;
    if (!corrupt) {
        c->heard = av_gettime_relative();
        c->patience = FFMAX(STALL_US, 4 * c->interval);
    }
    ret = corrupt ? AVERROR(EAGAIN) : take(c, packet);
    av_packet_unref(c->read);
    if (corrupt)
        count_corrupt(c);
    else if (ret == 0)
        count_good(c);
    return ret;
}

/* One look at the device, and what follows of it: 0, AVERROR(EAGAIN), AVERROR_EOF, ENOMEM. */
static int poll_device(Camera *c, AVPacket *packet)
{
    if (!c->device && !c->wait)
        return AVERROR_EOF;
    if (!c->device && av_gettime_relative() >= c->retry)
        try_again(c);
    if (!c->device) {
        av_usleep(LONG_NAP_US);
        return AVERROR(EAGAIN);
    }
    const int ret = camera_read_device(c, packet);
    if (ret == 0 || ret == AVERROR(ENOMEM))
        return ret;
    if (ret != AVERROR(EAGAIN))
        set_lost(c, ret);
    else if (av_gettime_relative() - c->heard > c->patience)
        set_stalled(c);
    else
        camera_nap(c);
    return AVERROR(EAGAIN);
}

int camera_read(Camera *c, AVPacket *packet)
{
    int ret = 0;
    if (c->first->data)
        av_packet_move_ref(packet, c->first);
    else
        do
            ret = c->is_stopped(c->opaque) ? AVERROR_EXIT : poll_device(c, packet);
        while (ret == AVERROR(EAGAIN));
    return ret;
}

/* ---- what it says ---- */

AVFormatContext *camera_format(Camera *c)
{
    return c->format;
}

const CameraSetting *camera_setting(const Camera *c)
{
    return &c->setting;
}

void camera_setting_text(const Camera *c, char *text, size_t size)
{
    const CameraSetting *s = &c->setting;
    char set[sizeof(c->size)];
    snprintf(text, size, "%s (%s): %s %dx%d", s->name, s->path, s->format, s->width, s->height);
    if (s->rate.num > 0)
        av_strlcatf(text, size, " at %.4g fps", av_q2d(s->rate));
    if (s->rate.num > 0 && s->wanted.num > 0 && av_cmp_q(s->rate, s->wanted) != 0)
        av_strlcatf(text, size, "; %.4g fps was asked for", av_q2d(s->wanted));
    snprintf(set, sizeof(set), "%dx%d", s->width, s->height);
    if (c->size[0] && strcmp(c->size, set) != 0)
        av_strlcatf(text, size, "; %s was asked for", c->size);
}

CameraStatus camera_status(Camera *c)
{
    pthread_mutex_lock(&c->lock);
    const CameraStatus status = c->status;
    pthread_mutex_unlock(&c->lock);
    return status;
}

int64_t camera_captured_at(const Camera *c, int64_t pts)
{
    return c->origin + pts;
}

void camera_close(Camera **camera)
{
    Camera *c = *camera;
    if (!c)
        return;
    avformat_close_input(&c->device);
    avformat_free_context(c->format);
    av_packet_free(&c->read);
    av_packet_free(&c->first);
    pthread_mutex_destroy(&c->lock);
    av_freep(camera);
}
