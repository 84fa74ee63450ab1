/* How a camera is opened: with the best of its modes, and once a picture has come. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <libavcodec/avcodec.h>
#include <libavdevice/avdevice.h>
#include <libavutil/avstring.h>
#include <libavutil/pixdesc.h>
#include <libavutil/time.h>

#include "media/camera/camera_parts.h"
#include "media/log.h"

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

int camera_open_device(Camera *c, const char *path)
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
    c->patience = CAMERA_FIRST_FRAME_US;
    c->clock = CAMERA_CLOCK_UNKNOWN;
    return 0;
}

/* Not 0: the driver gives the format that it was asked for, not another one that it likes more. */
static int is_chosen_format(const Camera *c)
{
    const AVCodecParameters *par = c->device->streams[0]->codecpar;
    const char *name =
        camera_is_raw(par) ? av_get_pix_fmt_name(par->format) : avcodec_get_name(par->codec_id);
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
    if (!camera_is_raw(par))
        par->format = AV_PIX_FMT_YUV420P;
    else if (!(av_pix_fmt_desc_get(par->format)->flags & AV_PIX_FMT_FLAG_RGB))
        par->color_space = AVCOL_SPC_SMPTE170M; /* V4L2's default at any size */
    return 0;
}

static int wait_for_first(Camera *c, MediaError *error)
{
    const CameraSetting *s = &c->setting;
    const int64_t end = av_gettime_relative() + CAMERA_FIRST_FRAME_US;
    while (av_gettime_relative() < end) {
        if (c->is_stopped(c->opaque))
            return media_fail(error, MEDIA_INPUT, "interrupted while opening %s",
                              media_quote(s->path));
        const int ret = camera_read_device(c, c->first);
        if (ret == 0 && learn_from(c, c->first) >= 0)
            return 0;
        av_packet_unref(c->first);
        c->origin = AV_NOPTS_VALUE;
        if (ret == AVERROR(EAGAIN))
            camera_nap(c);
        else if (ret < 0)
            return camera_fail(error, s->path, s->name, AVUNERROR(ret));
    }
    if (c->status.frames || c->status.corrupt)
        return media_fail(error, MEDIA_INPUT, "the camera %s (%s) gives damaged pictures only",
                          media_quote(s->path), s->name);
    return media_fail(error, MEDIA_INPUT, "the camera %s (%s) gives no picture: none came in %d s",
                      media_quote(s->path), s->name, CAMERA_FIRST_FRAME_US / 1000000);
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

static int set_choice(Camera *c)
{
    const int ret = camera_open_device(c, c->setting.path);
    if (ret < 0 || is_chosen_format(c))
        return ret;
    avformat_close_input(&c->device);
    return AVERROR(EINVAL);
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
    int fault = camera_choose(&choice, options, modes, mode_count, name, error), left = fault;
    while (left >= 0) {
        take_choice(c, &choice);
        const int ret = set_choice(c);
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

/* An error of a mode that another one made good is none. */
static int open_chosen(Camera *c, const CameraOptions *options, MediaError *error)
{
    CameraDevice device;
    CameraMode *modes = NULL;
    MediaError why = {0};
    const int fd = camera_find(options->device, &device, error);
    if (fd < 0)
        return fd;
    c->place = device;
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
