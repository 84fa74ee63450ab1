/* An open camera, which is reopened after it was unplugged. */
#include "media/camera/camera.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <libavcodec/avcodec.h>
#include <libavutil/avstring.h>
#include <libavutil/time.h>

#include "media/camera/camera_find.h"
#include "media/camera/camera_modes.h"
#include "media/camera/v4l2_device.h"

#define TICK_MS 20 /* longest reaction time to a stop */

#define FIRST_FRAME_US 5000000 /* time limit for the first frame: some cameras start slowly */
#define STALL_US 2000000       /* limit for later frames: in the dark, some cameras send 1 per s */

/* Delay between attempts to reopen, doubled after each failure. */
#define RETRY_US 500000
#define MOST_RETRY_US 8000000

/* Maximum number of packets to skip per read, because frames may keep arriving. */
#define MOST_LEFT_OUT 8

/* Only every 4th attempt probes all devices, because probing may wake them up. */
#define EVERYWHERE 4

/* Timestamps that differ more than this from the monotonic clock are from another clock. */
#define CLOCK_LIMIT_US 10000000

struct Camera {
    int (*is_stopped)(void *opaque);
    void *opaque;
    int wait, ends_changed, newest;
    void (*note)(const char *line); /* see CameraOptions */
    int64_t gone_at;                /* time of the loss */
    CameraSetting setting;
    V4l2Setting chosen;
    CameraDevice first_device; /* the device that was opened first */
    AVFormatContext *format;   /* describes the packets, also while the camera is gone */
    V4l2Device *device;        /* NULL while the camera is gone */
    AVPacket *first;           /* packet read during opening, or blank */
    AVPacket *scratch;         /* for reading a newer packet */
    int64_t interval;          /* frame interval; 0: unknown */
    int64_t last_packet_at;    /* time of the last packet, or of opening */
    int64_t silence_limit;     /* after this time without a packet the camera counts as gone */
    int64_t retry;             /* time of the next attempt to reopen */
    int64_t retry_after;       /* delay between attempts */
    unsigned tries;            /* attempts since the loss */
    bool has_sequence;         /* `sequence` is the last frame's number */
    uint32_t sequence;
    int64_t origin, last; /* capture times of the first and of the last packet */

    pthread_mutex_t lock;
    CameraStatus status;
};

/* Stands in for a demuxer: the source's code reads its name. */
static const AVInputFormat v4l2_format = {.name = "v4l2", .long_name = "V4L2"};

static bool is_raw(const AVCodecParameters *par)
{
    return par->codec_id == AV_CODEC_ID_RAWVIDEO;
}

static int open_device(Camera *c, const char *path)
{
    const int ret = v4l2_device_open(&c->device, path, &c->chosen);
    c->last_packet_at = av_gettime_relative();
    c->silence_limit = FIRST_FRAME_US;
    c->has_sequence = false;
    return ret;
}

/* ---- losing and reopening the device ---- */

static void set_gone(Camera *c, const char *why)
{
    v4l2_device_close(&c->device);
    c->retry_after = RETRY_US;
    c->tries = 0;
    c->gone_at = av_gettime_relative();
    c->retry = c->gone_at + c->retry_after;
    media_note(c->note, "the camera is gone: %s%s", why, c->wait ? "; waiting for it" : "");
    pthread_mutex_lock(&c->lock);
    c->status.state = CAMERA_GONE;
    c->status.unusable = 0;
    av_strlcpy(c->status.why, why, sizeof(c->status.why));
    pthread_mutex_unlock(&c->lock);
}

/* Sets the status of a camera that is back. `ret`: result of opening it; 1: its format changed. */
static void set_back(Camera *c, int ret)
{
    static const struct {
        int ret;
        const char *why;
    } reasons[] = {{0, "no picture yet"},
                   {1, "other size or format than before"},
                   {AVERROR(EBUSY), "in use by another program"},
                   {AVERROR(EACCES), "no permission to use it"},
                   {AVERROR(ENOSPC), "no room on its USB bus"}};
    const char *why = media_av_text(ret);
    for (size_t i = 0; i < FF_ARRAY_ELEMS(reasons); i++)
        if (reasons[i].ret == ret)
            why = reasons[i].why;
    if (ret != 0 && (!c->status.unusable || strcmp(why, c->status.why) != 0))
        media_note(c->note, "camera: %s, waiting", why);
    pthread_mutex_lock(&c->lock);
    c->status.unusable = ret != 0;
    av_strlcpy(c->status.why, why, sizeof(c->status.why));
    pthread_mutex_unlock(&c->lock);
}

/* True if codec, pixel format and size are as before; with `ends_changed`, also the rate. */
static bool is_same(const Camera *c)
{
    const AVCodecParameters *was = c->format->streams[0]->codecpar;
    const AVCodecParameters *is = v4l2_device_parameters(c->device);
    if (is->codec_id != was->codec_id || (is_raw(was) && is->format != was->format))
        return false;
    const AVRational rate = v4l2_device_rate(c->device), old = c->setting.rate;
    if (c->ends_changed && (int64_t)rate.num * old.den != (int64_t)old.num * rate.den)
        return false;
    return is->width == c->setting.width && is->height == c->setting.height;
}

/* Tries to reopen the camera, which counts as running only after its first packet. */
static void reopen(Camera *c)
{
    CameraDevice device;
    c->retry = av_gettime_relative() + c->retry_after;
    int ret = camera_find_again(&c->first_device, c->tries++ % EVERYWHERE == 0, &device);
    if (ret == 0) {
        pthread_mutex_lock(&c->lock);
        if (c->status.unusable)
            av_strlcpy(c->status.why, "unplugged", sizeof(c->status.why));
        c->status.unusable = 0;
        pthread_mutex_unlock(&c->lock);
        return;
    }
    if (ret > 0) {
        ret = open_device(c, device.path);
        if (ret >= 0 && !is_same(c)) {
            v4l2_device_close(&c->device);
            ret = 1;
        }
        if (c->ends_changed && (ret == 1 || ret == AVERROR(EINVAL))) {
            media_note(c->note, "the camera is back after %.1f s with another size, format or rate",
                       (double)(av_gettime_relative() - c->gone_at) / AV_TIME_BASE);
            pthread_mutex_lock(&c->lock);
            c->status.state = CAMERA_CHANGED;
            pthread_mutex_unlock(&c->lock);
            return;
        }
        if (ret != 0)
            c->retry_after = FFMIN(2 * c->retry_after, MOST_RETRY_US);
    }
    set_back(c, ret);
}

/* ---- packets ---- */

static void count(Camera *c, int is_damaged, uint32_t missed)
{
    CameraStatus *s = &c->status;
    if (s->state == CAMERA_GONE && !is_damaged)
        media_note(c->note, "the camera is back after %.1f s",
                   (double)(av_gettime_relative() - c->gone_at) / AV_TIME_BASE);
    pthread_mutex_lock(&c->lock);
    s->missed += missed;
    if (is_damaged) {
        s->corrupt++;
    } else {
        s->returns += s->state == CAMERA_GONE;
        s->state = CAMERA_RUNNING;
        s->unusable = 0;
        s->why[0] = '\0';
        s->frames++;
    }
    pthread_mutex_unlock(&c->lock);
}

/* Reads the device's next packet. Returns 0, AVERROR(EAGAIN) if no packet is ready, or an error. */
static int read_device(Camera *c, AVPacket *packet)
{
    V4l2Stamp stamp;
    const int ret = v4l2_device_read(c->device, packet, &stamp);
    if (ret < 0 && ret != AVERROR_INVALIDDATA)
        return ret;
    /* `missed` is huge if the number stays or goes back: such drivers do not count frames. */
    const uint32_t missed = c->has_sequence ? stamp.sequence - c->sequence - 1 : 0;
    c->has_sequence = true;
    c->sequence = stamp.sequence;
    count(c, ret < 0, missed <= INT32_MAX ? missed : 0);
    if (ret < 0)
        return AVERROR(EAGAIN);
    c->last_packet_at = av_gettime_relative();
    c->silence_limit = FFMAX(STALL_US, 4 * c->interval);
    /* Use the time of arrival if the driver uses another clock. */
    const int64_t now = c->last_packet_at;
    int64_t time = FFABS(now - stamp.time) < CLOCK_LIMIT_US ? FFMIN(stamp.time, now) : now;
    if (c->origin == AV_NOPTS_VALUE)
        c->origin = c->last = time;
    else
        time = FFMAX(time, c->last + 1);
    packet->pts = packet->dts = time - c->origin;
    packet->duration = c->interval ? c->interval : time - c->last;
    c->last = time;
    if (c->format->streams[0]->codecpar->codec_id != AV_CODEC_ID_H264)
        packet->flags |= AV_PKT_FLAG_KEY;
    return 0;
}

/* Returns 0, AVERROR(EAGAIN), AVERROR_EOF or AVERROR(ENOMEM). */
static int poll_device(Camera *c, AVPacket *packet)
{
    if (!c->device && (!c->wait || c->status.state == CAMERA_CHANGED))
        return AVERROR_EOF;
    if (!c->device && av_gettime_relative() >= c->retry)
        reopen(c);
    if (!c->device) {
        av_usleep(TICK_MS * 1000);
        return AVERROR(EAGAIN);
    }
    const int ret = read_device(c, packet);
    if (ret == 0 || ret == AVERROR(ENOMEM))
        return ret;
    char why[sizeof(c->status.why)];
    if (ret != AVERROR(EAGAIN)) {
        snprintf(why, sizeof(why), "unplugged (%s)", media_av_text(ret));
        set_gone(c, why);
    } else if (av_gettime_relative() - c->last_packet_at > c->silence_limit) {
        snprintf(why, sizeof(why), "no picture for %d s", (int)(c->silence_limit / 1000000));
        set_gone(c, why);
    } else {
        v4l2_device_wait(c->device, TICK_MS);
    }
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
    /* Errors are ignored here, because the next read returns them again. */
    int more = c->newest ? MOST_LEFT_OUT : 0;
    while (ret == 0 && more-- > 0 && (packet->flags & AV_PKT_FLAG_KEY) && c->device &&
           read_device(c, c->scratch) == 0) {
        av_packet_unref(packet);
        av_packet_move_ref(packet, c->scratch);
    }
    return ret;
}

/* ---- opening ---- */

static int open_failed(const Camera *c, int ret, MediaError *error)
{
    const CameraSetting *s = &c->setting;
    char size[32] = ""; /* empty if unknown */
    if (ret != AVERROR(EINVAL))
        return camera_fail(error, s->path, s->name, AVUNERROR(ret));
    if (c->chosen.width)
        snprintf(size, sizeof(size), " %dx%d", c->chosen.width, c->chosen.height);
    return media_fail(error, MEDIA_INPUT, "the camera %s (%s) refuses %s%s", media_quote(s->path),
                      s->name, s->format, size);
}

/* Learns format, size and colours by decoding a JPEG. Returns 0, or AVERROR if it is damaged. */
static int learn_from_jpeg(AVCodecParameters *par, const AVPacket *packet)
{
    const AVCodec *decoder = avcodec_find_decoder(par->codec_id);
    AVCodecContext *codec = decoder ? avcodec_alloc_context3(decoder) : NULL;
    AVFrame *frame = av_frame_alloc();
    int ret = codec && frame ? 0 : AVERROR(ENOMEM);
    if (ret >= 0)
        codec->thread_count = 1; /* avoids frame delay */
    if (ret >= 0 && (ret = avcodec_open2(codec, decoder, NULL)) >= 0 &&
        (ret = avcodec_send_packet(codec, packet)) >= 0 &&
        (ret = avcodec_receive_frame(codec, frame)) >= 0) {
        par->format = frame->format;
        par->width = frame->width;
        par->height = frame->height;
        par->color_range = frame->color_range;
        par->color_space = frame->colorspace;
    }
    av_frame_free(&frame);
    avcodec_free_context(&codec);
    return ret;
}

static int wait_for_first(Camera *c, MediaError *error)
{
    const CameraSetting *s = &c->setting;
    const int64_t end = av_gettime_relative() + FIRST_FRAME_US;
    while (av_gettime_relative() < end) {
        if (c->is_stopped(c->opaque))
            return media_fail(error, MEDIA_INPUT, "interrupted while opening %s",
                              media_quote(s->path));
        const int ret = read_device(c, c->first);
        AVCodecParameters *par = c->format->streams[0]->codecpar;
        if (ret == 0 && par->codec_id != AV_CODEC_ID_MJPEG) {
            par->format = is_raw(par) ? par->format : AV_PIX_FMT_YUV420P;
            return 0;
        }
        if (ret == 0 && learn_from_jpeg(par, c->first) >= 0)
            return 0;
        av_packet_unref(c->first);
        c->origin = AV_NOPTS_VALUE;
        if (ret == AVERROR(EAGAIN))
            v4l2_device_wait(c->device, TICK_MS);
        else if (ret < 0)
            return camera_fail(error, s->path, s->name, AVUNERROR(ret));
    }
    if (c->status.frames || c->status.corrupt)
        return media_fail(error, MEDIA_INPUT, "all pictures of the camera %s (%s) are damaged",
                          media_quote(s->path), s->name);
    return media_fail(error, MEDIA_INPUT, "the camera %s (%s) sent no picture for %d s",
                      media_quote(s->path), s->name, FIRST_FRAME_US / 1000000);
}

/* Makes a format context, like a demuxer's, for the mode that the driver has set. */
static int describe(Camera *c)
{
    const AVCodecParameters *from = v4l2_device_parameters(c->device);
    c->format = avformat_alloc_context();
    AVStream *to = c->format ? avformat_new_stream(c->format, NULL) : NULL;
    if (!to || avcodec_parameters_copy(to->codecpar, from) < 0)
        return AVERROR(ENOMEM);
    c->format->iformat = &v4l2_format;
    c->format->start_time = to->start_time = 0;
    c->format->duration = to->duration = AV_NOPTS_VALUE;
    to->time_base = AV_TIME_BASE_Q;
    to->avg_frame_rate = to->r_frame_rate = c->setting.rate = v4l2_device_rate(c->device);
    c->setting.width = from->width;
    c->setting.height = from->height;
    if (c->setting.rate.num > 0)
        c->interval = av_rescale_q(1, av_inv_q(c->setting.rate), AV_TIME_BASE_Q);
    return 0;
}

/* Opens the best mode that the driver accepts: the USB bus may not have room for all modes. Sets
 * *error to the error of the best mode, even if another mode works. */
static int open_best(Camera *c, const CameraOptions *options, CameraMode *modes, int mode_count,
                     MediaError *error)
{
    CameraChoice choice;
    MediaError none = {0};
    char name[400];
    snprintf(name, sizeof(name), "the camera %s (%s)", media_quote(c->setting.path),
             c->setting.name);
    int fault = camera_choose(&choice, options, modes, mode_count, name, error), left = fault;
    while (left >= 0) {
        c->setting.format = choice.mode->format;
        c->setting.wanted = choice.rate;
        c->chosen = (V4l2Setting){choice.mode->fourcc, choice.mode->format, choice.width,
                                  choice.height, choice.rate};
        const int ret = open_device(c, c->setting.path);
        if (ret >= 0)
            return 0;
        fault = open_failed(c, ret, error);
        if (ret != AVERROR(EINVAL) && ret != AVERROR(ENOSPC))
            break;
        modes[choice.mode - modes].format = NULL;
        left = camera_choose(&choice, options, modes, mode_count, name, &none);
    }
    return fault;
}

/* Finds and opens a camera. Sets *error only if that fails. */
static int open_chosen(Camera *c, const CameraOptions *options, MediaError *error)
{
    CameraDevice device;
    CameraMode *modes = NULL;
    MediaError why = {0};
    const int fd = camera_find(options->device, &device, error);
    if (fd < 0)
        return fd;
    c->first_device = device;
    av_strlcpy(c->setting.path, device.path, sizeof(c->setting.path));
    av_strlcpy(c->setting.name, device.name, sizeof(c->setting.name));
    int ret = camera_ask_modes(fd, &modes, &why);
    close(fd);
    if (ret >= 0)
        ret = open_best(c, options, modes, ret, &why);
    camera_free(&modes);
    if (ret < 0)
        media_fail(error, why.fault, "%s", why.text);
    return ret;
}

int camera_open(Camera **camera, const CameraOptions *options, int (*is_stopped)(void *opaque),
                void *opaque, MediaError *error)
{
    Camera *c = av_mallocz(sizeof(*c));
    *camera = c;
    if (!c)
        return media_no_memory(error, MEDIA_INPUT);
    pthread_mutex_init(&c->lock, NULL);
    c->is_stopped = is_stopped;
    c->opaque = opaque;
    c->wait = options->wait;
    c->ends_changed = options->ends_changed;
    c->newest = options->newest;
    c->note = options->note;
    c->scratch = av_packet_alloc();
    c->origin = AV_NOPTS_VALUE;
    c->first = av_packet_alloc();
    int ret = c->first && c->scratch ? open_chosen(c, options, error)
                                     : media_no_memory(error, MEDIA_INPUT);
    while (ret == MEDIA_INPUT && options->awaits && !is_stopped(opaque)) {
        av_usleep(RETRY_US);
        *error = (MediaError){0};
        ret = open_chosen(c, options, error);
    }
    if (ret >= 0 && describe(c) < 0)
        ret = media_no_memory(error, MEDIA_INPUT);
    if (ret >= 0)
        ret = wait_for_first(c, error);
    if (ret < 0)
        camera_close(camera);
    return ret;
}

void camera_close(Camera **camera)
{
    Camera *c = *camera;
    if (!c)
        return;
    v4l2_device_close(&c->device);
    av_packet_free(&c->first);
    av_packet_free(&c->scratch);
    avformat_free_context(c->format);
    pthread_mutex_destroy(&c->lock);
    av_freep(camera);
}

/* ---- queries ---- */

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
    snprintf(text, size, "%s (%s): %s %dx%d", s->name, s->path, s->format, s->width, s->height);
    if (s->rate.num > 0)
        av_strlcatf(text, size, " at %.4g fps", av_q2d(s->rate));
    if (s->rate.num > 0 && s->wanted.num > 0 && av_cmp_q(s->rate, s->wanted) != 0)
        av_strlcatf(text, size, "; %.4g fps was requested", av_q2d(s->wanted));
    if (c->chosen.width && (c->chosen.width != s->width || c->chosen.height != s->height))
        av_strlcatf(text, size, "; %dx%d was requested", c->chosen.width, c->chosen.height);
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
