/* What a camera offers: formats, their sizes, and the rates of these. */
#include <linux/videodev2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <libavutil/avstring.h>
#include <libavutil/mem.h>

#include "media/camera/camera_parts.h"

#define MAX_MODES 512 /* a driver that has no end of them is cut off */

/* FFmpeg's names of what its reader takes, which it finds again by them: no format has two codes
 * here, or the first that the driver refuses would become the other. */
static const struct {
    uint32_t fourcc;
    const char *format;
} formats[] = {
    {V4L2_PIX_FMT_NV12, "nv12"},    {V4L2_PIX_FMT_YUV420, "yuv420p"},
    {V4L2_PIX_FMT_YUYV, "yuyv422"}, {V4L2_PIX_FMT_UYVY, "uyvy422"},
    {V4L2_PIX_FMT_RGB24, "rgb24"},  {V4L2_PIX_FMT_BGR24, "bgr24"},
    {V4L2_PIX_FMT_BGR32, "bgr0"},   {V4L2_PIX_FMT_YUV422P, "yuv422p"},
    {V4L2_PIX_FMT_MJPEG, "mjpeg"},  {V4L2_PIX_FMT_JPEG, "mjpeg"},
    {V4L2_PIX_FMT_H264, "h264"},    {V4L2_PIX_FMT_GREY, "gray"},
    {V4L2_PIX_FMT_Y16, "gray16le"},
};

static const char *format_name(uint32_t fourcc)
{
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
        if (formats[i].fourcc == fourcc)
            return formats[i].format;
    return NULL;
}

/* ---- asking ---- */

typedef struct ModeList {
    CameraMode *modes;
    int count, failed;
} ModeList;

static void add(ModeList *list, const CameraMode *mode)
{
    CameraMode *more = av_realloc_array(list->modes, (size_t)list->count + 1, sizeof(*more));
    if (!more) {
        list->failed = 1;
        return;
    }
    list->modes = more;
    more[list->count++] = *mode;
}

static AVRational rate_of(struct v4l2_fract interval)
{
    AVRational rate = {0, 1};
    if (interval.numerator && interval.denominator)
        av_reduce(&rate.num, &rate.den, interval.denominator, interval.numerator, INT32_MAX);
    return rate;
}

static int compare_rates(const void *a, const void *b)
{
    return av_cmp_q(*(const AVRational *)b, *(const AVRational *)a);
}

static void ask_rates(int fd, CameraMode *mode)
{
    struct v4l2_frmivalenum ask = {
        .pixel_format = mode->fourcc,
        .width = (uint32_t)(mode->max_width ? mode->max_width : mode->width),
        .height = (uint32_t)(mode->max_height ? mode->max_height : mode->height),
    };
    while (mode->rate_count < CAMERA_RATES &&
           camera_ioctl(fd, VIDIOC_ENUM_FRAMEINTERVALS, &ask) >= 0) {
        if (ask.type != V4L2_FRMIVAL_TYPE_DISCRETE) {
            mode->rates[0] = rate_of(ask.stepwise.min);
            mode->rates[1] = rate_of(ask.stepwise.max);
            mode->rate_range = 1;
            mode->rate_count = mode->rates[0].num ? 2 : 0;
            return;
        }
        const AVRational rate = rate_of(ask.discrete);
        if (rate.num)
            mode->rates[mode->rate_count++] = rate;
        ask.index++;
    }
    qsort(mode->rates, (size_t)mode->rate_count, sizeof(mode->rates[0]), compare_rates);
}

static void take_size(CameraMode *mode, const struct v4l2_frmsizeenum *size)
{
    if (size->type == V4L2_FRMSIZE_TYPE_DISCRETE) {
        mode->width = (int)size->discrete.width;
        mode->height = (int)size->discrete.height;
        return;
    }
    mode->width = (int)size->stepwise.min_width;
    mode->height = (int)size->stepwise.min_height;
    mode->max_width = (int)size->stepwise.max_width;
    mode->max_height = (int)size->stepwise.max_height;
    mode->step_width = FFMAX(1, (int)size->stepwise.step_width);
    mode->step_height = FFMAX(1, (int)size->stepwise.step_height);
}

static void ask_sizes(int fd, const CameraMode *format, ModeList *list)
{
    struct v4l2_frmsizeenum ask = {.pixel_format = format->fourcc};
    while (list->count < MAX_MODES && camera_ioctl(fd, VIDIOC_ENUM_FRAMESIZES, &ask) >= 0) {
        CameraMode mode = *format;
        take_size(&mode, &ask);
        ask_rates(fd, &mode);
        add(list, &mode);
        if (ask.type != V4L2_FRMSIZE_TYPE_DISCRETE)
            return;
        ask.index++;
    }
    if (ask.index == 0)
        add(list, format);
}

int camera_ask_modes(int fd, CameraMode **modes, MediaError *error)
{
    ModeList list = {0};
    struct v4l2_fmtdesc ask = {.type = V4L2_BUF_TYPE_VIDEO_CAPTURE};
    while (list.count < MAX_MODES && camera_ioctl(fd, VIDIOC_ENUM_FMT, &ask) >= 0) {
        CameraMode format = {.fourcc = ask.pixelformat, .format = format_name(ask.pixelformat)};
        snprintf(format.description, sizeof(format.description), "%.31s",
                 (const char *)ask.description);
        ask_sizes(fd, &format, &list);
        ask.index++;
    }
    *modes = list.modes;
    if (!list.failed)
        return list.count;
    camera_free(modes);
    return media_fail(error, MEDIA_INPUT, "out of memory");
}

int camera_list_modes(const char *camera, CameraDevice *device, CameraMode **modes,
                      MediaError *error)
{
    *modes = NULL;
    const int fd = camera_find(camera, device, error);
    if (fd < 0)
        return fd;
    const int count = camera_ask_modes(fd, modes, error);
    close(fd);
    return count;
}

/* ---- texts ---- */

void camera_fourcc_text(uint32_t fourcc, char text[5])
{
    for (int i = 0; i < 4; i++) {
        const unsigned char c = (unsigned char)(fourcc >> 8 * i);
        text[i] = c > 0x20 && c < 0x7f ? (char)c : i == 3 && c == ' ' ? '\0' : '?';
    }
    text[4] = '\0';
}

static void add_rates(const CameraMode *mode, char *text, size_t size)
{
    if (mode->rate_range)
        av_strlcatf(text, size, " at %.4g to %.4g fps", av_q2d(mode->rates[1]),
                    av_q2d(mode->rates[0]));
    else if (!mode->rate_count)
        av_strlcat(text, " at any rate", size);
    for (int i = 0; !mode->rate_range && i < mode->rate_count; i++)
        av_strlcatf(text, size, "%s%.4g%s", i ? ", " : " at ", av_q2d(mode->rates[i]),
                    i == mode->rate_count - 1 ? " fps" : "");
}

void camera_mode_text(const CameraMode *mode, char *text, size_t size)
{
    if (!mode->width)
        snprintf(text, size, "any size");
    else
        snprintf(text, size, "%dx%d", mode->width, mode->height);
    if (mode->max_width)
        av_strlcatf(text, size, " to %dx%d", mode->max_width, mode->max_height);
    add_rates(mode, text, size);
}
