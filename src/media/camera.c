/* An open camera: libavdevice reads it, and it is opened again when it was gone. */
#include "media/camera.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <libavcodec/avcodec.h>
#include <libavdevice/avdevice.h>
#include <libavutil/avstring.h>
#include <libavutil/pixdesc.h>
#include <libavutil/time.h>

#include "media/camera_parts.h"
#include "media/log.h"

/* libavdevice keeps its descriptor for itself, and what would wait in it cannot be stopped: it is
 * asked again and again. Between two frames that is not before most of the interval has gone by; so
 * it costs some wake-ups a frame, and a delay of a millisecond at most. */
#define NAP_US 1000
#define LONG_NAP_US 20000 /* for how long a stop may go unnoticed */

#define FIRST_FRAME_US 5000000 /* some cameras take seconds to start */
#define STALL_US 2000000       /* in the dark, cameras go down to some frames a second, not below */
#define RETRY_US 500000        /* between two tries to open it again */

/* Timestamps further than this from a clock are not of that clock. */
#define CLOCK_LIMIT_US 10000000

struct Camera {
    int (*is_stopped)(const void *opaque);
    const void *opaque;
    int wait;
    CameraSetting setting;
    char size[32], rate[32]; /* as libavdevice takes them; "": what the driver has */
    AVFormatContext *format; /* what the packets are, also while it is gone */
    AVFormatContext *device; /* NULL: it is gone */
    AVPacket *read;          /* from the device; its bytes lie in the driver's memory */
    AVPacket *first;         /* read by opening, or blank */
    int64_t interval;        /* between two frames, 0: unknown */
    int64_t heard;           /* when the last packet came, or it was opened */
    int64_t patience;        /* without a packet until it counts as gone */
    int64_t retry;           /* when to try to open it again */
    int clock_known;         /* of this opening */
    int64_t clock;           /* to be added to the driver's times; AV_NOPTS_VALUE: useless */
    int64_t origin, last;    /* capture times of the first and the last packet */

    pthread_mutex_t lock;
    CameraStatus status;
};

int camera_is_supported(void)
{
    return 1;
}

const char *camera_support(void)
{
    static char text[64];
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    const unsigned v = avdevice_version();
    pthread_mutex_lock(&lock);
    snprintf(text, sizeof(text), "V4L2 through libavdevice %u.%u.%u", AV_VERSION_MAJOR(v),
             AV_VERSION_MINOR(v), AV_VERSION_MICRO(v));
    pthread_mutex_unlock(&lock);
    return text;
}

/* ---- opening the device ---- */

static int set_options(const Camera *c, AVDictionary **options)
{
    int ret = av_dict_set(options, "input_format", c->setting.format, 0);
    if (ret >= 0 && c->size[0])
        ret = av_dict_set(options, "video_size", c->size, 0);
    if (ret >= 0 && c->rate[0])
        ret = av_dict_set(options, "framerate", c->rate, 0);
    if (ret >= 0) /* the driver's own, of the monotonic clock */
        ret = av_dict_set(options, "timestamps", "default", 0);
    return ret;
}

/* Opens the device at `path` with the settings that were chosen: 0 or AVERROR. */
static int open_device(Camera *c, const char *path)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    AVDictionary *options = NULL;
    pthread_once(&once, avdevice_register_all);
    const AVInputFormat *v4l2 = av_find_input_format("v4l2");
    if (!v4l2)
        return AVERROR_DEMUXER_NOT_FOUND;
    c->device = avformat_alloc_context();
    int ret = c->device ? set_options(c, &options) : AVERROR(ENOMEM);
    media_log_clear();
    if (ret >= 0) {
        c->device->flags |= AVFMT_FLAG_NONBLOCK | AVFMT_FLAG_NOBUFFER;
        ret = avformat_open_input(&c->device, path, v4l2, &options);
    }
    av_dict_free(&options);
    if (ret < 0) {
        avformat_free_context(c->device);
        c->device = NULL;
        return ret;
    }
    c->heard = av_gettime_relative();
    c->patience = FIRST_FRAME_US;
    c->clock_known = 0;
    return 0;
}

static int is_raw(const AVCodecParameters *par)
{
    return par->codec_id == AV_CODEC_ID_RAWVIDEO;
}

/* Not 0: the driver gives the format that it was asked for, not another one that it likes more. */
static int is_chosen_format(const Camera *c)
{
    const AVCodecParameters *par = c->device->streams[0]->codecpar;
    const char *name =
        is_raw(par) ? av_get_pix_fmt_name(par->format) : avcodec_get_name(par->codec_id);
    return name && strcmp(name, c->setting.format) == 0;
}

static int open_failed(const Camera *c, int ret, MediaError *error)
{
    const CameraSetting *s = &c->setting;
    const char *detail = media_log_error();
    if (ret == AVERROR_DEMUXER_NOT_FOUND)
        return media_fail(error, MEDIA_USAGE, "this FFmpeg's libavdevice reads no V4L2 cameras");
    if (ret == AVERROR(EINVAL))
        return media_fail(error, MEDIA_INPUT, "the camera %s (%s) refuses %s %s: %s",
                          media_quote(s->path), s->name, s->format, c->size,
                          detail[0] ? detail : media_av_text(ret));
    return camera_fail(error, s->path, s->name, AVUNERROR(ret));
}

/* ---- being gone ---- */

static void set_gone(Camera *c, const char *why)
{
    avformat_close_input(&c->device);
    c->retry = av_gettime_relative() + RETRY_US;
    pthread_mutex_lock(&c->lock);
    c->status.state = CAMERA_GONE;
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

/* What is waited for has to be what it was: decoders and files were made for it. */
static int is_same(const Camera *c)
{
    const AVCodecParameters *was = c->format->streams[0]->codecpar;
    const AVCodecParameters *is = c->device->streams[0]->codecpar;
    if (is->codec_id != was->codec_id || (is_raw(was) && is->format != was->format))
        return 0;
    return is->width == c->setting.width && is->height == c->setting.height;
}

/* It runs again from its first packet on. */
static void try_again(Camera *c)
{
    CameraDevice device;
    c->retry = av_gettime_relative() + RETRY_US;
    if (!camera_find_again(c->setting.path, c->setting.name, &device))
        return;
    if (open_device(c, device.path) >= 0 && !is_same(c))
        avformat_close_input(&c->device);
}

/* ---- packets ---- */

/* Keeps what is drawn from the driver's clock in the monotonic one; of another clock, or none, the
 * time of arrival. */
static int64_t captured(Camera *c, int64_t time, int64_t now)
{
    const int64_t wall = av_gettime();
    if (!c->clock_known) {
        c->clock_known = 1;
        c->clock = AV_NOPTS_VALUE;
        if (time != AV_NOPTS_VALUE && FFABS(now - time) < CLOCK_LIMIT_US)
            c->clock = 0;
        else if (time != AV_NOPTS_VALUE && FFABS(wall - time) < CLOCK_LIMIT_US)
            c->clock = now - wall;
    }
    if (c->clock == AV_NOPTS_VALUE || time == AV_NOPTS_VALUE)
        return now;
    return FFMIN(time + c->clock, now);
}

static void count(Camera *c, int corrupt)
{
    pthread_mutex_lock(&c->lock);
    if (c->status.state == CAMERA_GONE)
        c->status.returns++;
    c->status.state = CAMERA_RUNNING;
    c->status.why[0] = '\0';
    c->status.frames += !corrupt;
    c->status.corrupt += corrupt;
    pthread_mutex_unlock(&c->lock);
}

/* Copies the packet out of the driver's memory, which goes when the camera does: 0 or ENOMEM. */
static int take(Camera *c, AVPacket *packet)
{
    const int64_t now = av_gettime_relative();
    const int ret = av_new_packet(packet, c->read->size);
    if (ret < 0)
        return ret;
    memcpy(packet->data, c->read->data, (size_t)c->read->size);
    int64_t time = captured(c, c->read->pts, now);
    if (c->origin == AV_NOPTS_VALUE)
        c->origin = time;
    else
        time = FFMAX(time, c->last + 1);
    c->last = time;
    packet->pts = packet->dts = time - c->origin;
    packet->duration = c->interval;
    packet->flags = c->read->flags;
    if (c->format->streams[0]->codecpar->codec_id != AV_CODEC_ID_H264)
        packet->flags |= AV_PKT_FLAG_KEY;
    return 0;
}

static void nap(const Camera *c)
{
    const int64_t quiet = c->heard + c->interval * 3 / 4 - av_gettime_relative();
    av_usleep((unsigned)av_clip64(quiet, NAP_US, LONG_NAP_US));
}

/* The next packet of the device: 0, AVERROR(EAGAIN) (none now), or what went wrong with it. */
static int read_device(Camera *c, AVPacket *packet)
{
    int ret = av_read_frame(c->device, c->read);
    if (ret < 0)
        return ret;
    const int corrupt = c->read->size == 0;
    c->heard = av_gettime_relative();
    c->patience = FFMAX(STALL_US, 4 * c->interval);
    ret = corrupt ? AVERROR(EAGAIN) : take(c, packet);
    av_packet_unref(c->read);
    if (ret != AVERROR(ENOMEM))
        count(c, corrupt);
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
    const int ret = read_device(c, packet);
    if (ret == 0 || ret == AVERROR(ENOMEM))
        return ret;
    if (ret != AVERROR(EAGAIN))
        set_lost(c, ret);
    else if (av_gettime_relative() - c->heard > c->patience)
        set_stalled(c);
    else
        nap(c);
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

/* ---- opening ---- */

/* What JPEGs hold is known from one of them: 0, or AVERROR of a damaged one. */
static int learn_from_jpeg(AVCodecParameters *par, const AVPacket *packet)
{
    const AVCodec *decoder = avcodec_find_decoder(par->codec_id);
    AVCodecContext *codec = decoder ? avcodec_alloc_context3(decoder) : NULL;
    AVFrame *frame = av_frame_alloc();
    int ret = codec && frame ? 0 : AVERROR(ENOMEM);
    if (ret >= 0)
        codec->thread_count = 1; /* it answers at once then */
    if (ret >= 0)
        ret = avcodec_open2(codec, decoder, NULL);
    if (ret >= 0)
        ret = avcodec_send_packet(codec, packet);
    if (ret >= 0)
        ret = avcodec_receive_frame(codec, frame);
    if (ret >= 0) {
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

static int learn_from(Camera *c, const AVPacket *packet)
{
    AVCodecParameters *par = c->format->streams[0]->codecpar;
    if (par->codec_id == AV_CODEC_ID_MJPEG)
        return learn_from_jpeg(par, packet);
    if (!is_raw(par))
        par->format = AV_PIX_FMT_YUV420P;
    else if (!(av_pix_fmt_desc_get(par->format)->flags & AV_PIX_FMT_FLAG_RGB))
        par->color_space = AVCOL_SPC_SMPTE170M; /* V4L2's default at any size */
    return 0;
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
        if (ret == 0 && learn_from(c, c->first) >= 0)
            return 0;
        av_packet_unref(c->first);
        c->origin = AV_NOPTS_VALUE;
        if (ret == AVERROR(EAGAIN))
            nap(c);
        else if (ret < 0)
            return camera_fail(error, s->path, s->name, AVUNERROR(ret));
    }
    if (c->status.frames || c->status.corrupt)
        return media_fail(error, MEDIA_INPUT, "the camera %s (%s) gives damaged pictures only",
                          media_quote(s->path), s->name);
    return media_fail(error, MEDIA_INPUT, "the camera %s (%s) gives no picture: none came in %d s",
                      media_quote(s->path), s->name, FIRST_FRAME_US / 1000000);
}

/* What the driver has set, and a demuxer of our own that says so. */
static int describe(Camera *c)
{
    const AVStream *from = c->device->streams[0];
    c->format = avformat_alloc_context();
    AVStream *to = c->format ? avformat_new_stream(c->format, NULL) : NULL;
    if (!to || avcodec_parameters_copy(to->codecpar, from->codecpar) < 0)
        return AVERROR(ENOMEM);
    c->format->iformat = c->device->iformat;
    c->format->start_time = to->start_time = 0;
    c->format->duration = to->duration = AV_NOPTS_VALUE;
    to->time_base = AV_TIME_BASE_Q;
    to->avg_frame_rate = to->r_frame_rate = c->setting.rate = from->avg_frame_rate;
    c->setting.width = from->codecpar->width;
    c->setting.height = from->codecpar->height;
    if (c->setting.rate.num > 0 && c->setting.rate.den > 0)
        c->interval = av_rescale_q(1, av_inv_q(c->setting.rate), AV_TIME_BASE_Q);
    return 0;
}

static void take_choice(Camera *c, const CameraChoice *choice)
{
    c->setting.format = choice->mode->format;
    c->setting.wanted = choice->rate;
    c->size[0] = c->rate[0] = '\0';
    if (choice->width)
        snprintf(c->size, sizeof(c->size), "%dx%d", choice->width, choice->height);
    if (choice->rate.num)
        snprintf(c->rate, sizeof(c->rate), "%d/%d", choice->rate.num, choice->rate.den);
}

/* Opens it with the best mode that the driver does set: what it offers may be more than what it
 * has room for on its bus. The error is that of the best. */
static int open_best(Camera *c, const CameraOptions *options, CameraMode *modes, int mode_count,
                     MediaError *error)
{
    CameraChoice choice;
    MediaError none = {0};
    char name[400];
    snprintf(name, sizeof(name), "the camera %s (%s)", media_quote(c->setting.path),
             c->setting.name);
    int ret = camera_choose(&choice, options, modes, mode_count, name, error);
    while (ret >= 0) {
        take_choice(c, &choice);
        ret = open_device(c, c->setting.path);
        if (ret >= 0 && is_chosen_format(c))
            return 0;
        if (ret >= 0)
            avformat_close_input(&c->device);
        ret = ret >= 0 ? AVERROR(EINVAL) : ret;
        open_failed(c, ret, error);
        if (ret != AVERROR(EINVAL) && ret != AVERROR(ENOSPC))
            break;
        modes[choice.mode - modes].format = NULL;
        ret = camera_choose(&choice, options, modes, mode_count, name, &none);
    }
    return error->fault;
}

/* An error of a mode that another one made good is none. */
static int open_chosen(Camera *c, const CameraOptions *options, MediaError *error)
{
    CameraDevice device;
    CameraMode *modes = NULL;
    MediaError why = {0};
    const int fd = camera_find(options->device, &device, error);
    if (fd < 0)
        return fd;
    av_strlcpy(c->setting.path, device.path, sizeof(c->setting.path));
    av_strlcpy(c->setting.name, device.name, sizeof(c->setting.name));
    int ret = camera_ask_modes(fd, &modes, &why);
    close(fd);
    if (ret >= 0)
        ret = open_best(c, options, modes, ret, &why);
    camera_free(&modes);
    return ret < 0 ? media_fail(error, why.fault, "%s", why.text) : 0;
}

int camera_open(Camera **camera, const CameraOptions *options,
                int (*is_stopped)(const void *opaque), const void *opaque, MediaError *error)
{
    Camera *c = av_mallocz(sizeof(*c));
    *camera = c;
    if (!c)
        return media_fail(error, MEDIA_INPUT, "out of memory");
    pthread_mutex_init(&c->lock, NULL);
    c->is_stopped = is_stopped;
    c->opaque = opaque;
    c->wait = options->wait;
    c->origin = AV_NOPTS_VALUE;
    c->read = av_packet_alloc();
    c->first = av_packet_alloc();
    int ret = c->read && c->first ? open_chosen(c, options, error)
                                  : media_fail(error, MEDIA_INPUT, "out of memory");
    if (ret >= 0 && describe(c) < 0)
        ret = media_fail(error, MEDIA_INPUT, "out of memory");
    if (ret >= 0)
        ret = wait_for_first(c, error);
    if (ret < 0)
        camera_close(camera);
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
    snprintf(text, size, "%s (%s): %s %dx%d", s->name, s->path, s->format, s->width, s->height);
    if (s->rate.num > 0)
        av_strlcatf(text, size, " at %.4g fps", av_q2d(s->rate));
    if (s->rate.num > 0 && s->wanted.num > 0 && av_cmp_q(s->rate, s->wanted) != 0)
        av_strlcatf(text, size, "; %.4g fps was asked for", av_q2d(s->wanted));
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
