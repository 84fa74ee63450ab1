/* A virtual camera through v4l2loopback. Uses write(), which behaves alike in all versions of the
 * driver, unlike streaming from mapped buffers. */
#include "media/camera/camera_output_kind.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/videodev2.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <libavutil/avstring.h>
#include <libavutil/imgutils.h>
#include <libavutil/pixdesc.h>

#include "media/camera/camera_find.h"
#include "media/camera/v4l2_device.h"

#define LOOPBACK "v4l2 loopback"

#define HOW_TO_HAVE_ONE                                                                            \
    "v4l2loopback makes one: sudo apt install v4l2loopback-dkms, then sudo modprobe v4l2loopback " \
    "exclusive_caps=1"

typedef struct Format {
    uint32_t fourcc;
    enum AVPixelFormat pixels;
} Format;

static const Format yuyv = {V4L2_PIX_FMT_YUYV, AV_PIX_FMT_YUYV422};
static const Format nv12 = {V4L2_PIX_FMT_NV12, AV_PIX_FMT_NV12};
static const Format yu12 = {V4L2_PIX_FMT_YUV420, AV_PIX_FMT_YUV420P};

#define FORMATS 3

typedef struct Loopback {
    int fd;
    CameraDevice device;
    /* Settings: */
    const Format *format;
    int width, height;
    AVRational rate;
    uint8_t *picture; /* in the device's format */
    int size;
} Loopback;

/* ---- finding a device ---- */

/* "the virtual camera '/dev/video9' (Dummy)" */
static const char *what(const CameraDevice *device, char text[420])
{
    char name[400];
    snprintf(text, 420, "the virtual camera %s",
             camera_device_text(device->path, device->name, name));
    return text;
}

static int device_fail(const CameraDevice *device, int system_error, MediaError *error)
{
    char text[420];
    return camera_device_fail(error, MEDIA_OUTPUT, device->path, what(device, text), system_error);
}

/* Opens a virtual camera. Returns a descriptor, MEDIA_OUTPUT, or MEDIA_USAGE if it does not exist
 * or is another device. A v4l2loopback that reports itself as a camera is in use. */
static int open_device(const char *path, CameraDevice *device, MediaError *error)
{
    *device = (CameraDevice){.name = ""};
    av_strlcpy(device->path, path, sizeof(device->path));
    const int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0 && (errno == ENOENT || errno == ENXIO || errno == ENODEV))
        return media_fail(error, MEDIA_USAGE, "there is no virtual camera %s; " HOW_TO_HAVE_ONE,
                          media_quote(path));
    if (fd < 0)
        return device_fail(device, errno, error);
    const uint32_t can = camera_ask_device(fd, device);
    if ((can & V4L2_CAP_VIDEO_OUTPUT) && (can & V4L2_CAP_READWRITE))
        return fd;
    close(fd);
    char text[400];
    if ((can & V4L2_CAP_VIDEO_CAPTURE) && strcmp(device->driver, LOOPBACK) == 0)
        return device_fail(device, EBUSY, error);
    return media_fail(error, MEDIA_USAGE,
                      "%s is not a virtual camera: it accepts no pictures; " HOW_TO_HAVE_ONE,
                      camera_device_text(path, device->name, text));
}

static int open_first(CameraDevice *device, MediaError *error)
{
    char path[32];
    int next = 0;
    MediaError first = {0}; /* the first error of a possible virtual camera */
    while (camera_next_device(&next, path)) {
        MediaError why = {0};
        const int fd = open_device(path, device, &why);
        if (fd >= 0 && strcmp(device->driver, LOOPBACK) == 0)
            return fd;
        if (fd >= 0)
            close(fd);
        else if (fd == MEDIA_OUTPUT)
            media_fail(&first, fd, "%s", why.text);
    }
    if (first.fault)
        return media_fail(error, first.fault, "%s", first.text);
    return media_fail(error, MEDIA_USAGE, HOW_TO_HAVE_ONE);
}

static int loopback_open(void **self, const char *wanted, MediaError *error)
{
    char path[256];
    Loopback *o = *self = av_mallocz(sizeof(*o));
    if (!o)
        return media_no_memory(error, MEDIA_OUTPUT);
    if (wanted)
        camera_device_path(wanted, path);
    o->fd = wanted ? open_device(path, &o->device, error) : open_first(&o->device, error);
    return o->fd < 0 ? o->fd : 0;
}

static const char *loopback_path(const void *self)
{
    return ((const Loopback *)self)->device.path;
}

/* ---- settings ---- */

static const Format *known_format(uint32_t fourcc)
{
    static const Format *const all[FORMATS] = {&yuyv, &nv12, &yu12};
    for (int i = 0; i < FORMATS; i++)
        if (all[i]->fourcc == fourcc)
            return all[i];
    return NULL;
}

/* Requests a format, and sets *set to the format that the driver chose. AVERROR(EINVAL): lumeq does
 * not support that format. */
static int ask_for(const Loopback *o, const Format *format, const AVFrame *first,
                   struct v4l2_pix_format *set)
{
    struct v4l2_format ask = {.type = V4L2_BUF_TYPE_VIDEO_OUTPUT};
    /* V4L2's SRGB implies limited range and BT.601's matrix. */
    const int unknown = first->colorspace == AVCOL_SPC_UNSPECIFIED;
    const bool is_709 = first->colorspace == AVCOL_SPC_BT709 ||
                        (unknown && first->height >= CAMERA_OUTPUT_HD_LINES);
    ask.fmt.pix = (struct v4l2_pix_format){
        .width = (uint32_t)first->width & ~1U,
        .height = (uint32_t)first->height & ~1U,
        .pixelformat = format->fourcc,
        .field = V4L2_FIELD_NONE,
        .colorspace = is_709 ? V4L2_COLORSPACE_REC709 : V4L2_COLORSPACE_SRGB,
        .priv = V4L2_PIX_FMT_PRIV_MAGIC,
    };
    if (v4l2_device_ioctl(o->fd, VIDIOC_S_FMT, &ask) < 0)
        return AVERROR(errno);
    *set = ask.fmt.pix;
    return known_format(set->pixelformat) ? 0 : AVERROR(EINVAL);
}

static int loopback_set(void *self, const AVFrame *first, AVRational rate, const char *input,
                        MediaError *error)
{
    (void)input;
    Loopback *o = self;
    const Format *order[FORMATS];
    char text[420];
    struct v4l2_pix_format set = {0};
    int ret = AVERROR(EINVAL);
    if (first->width < 2 || first->height < 2)
        return media_fail(error, MEDIA_OUTPUT,
                          "%s needs pictures of at least 2x2 pixels; this one has %dx%d",
                          what(&o->device, text), first->width, first->height);
    /* Ask first for the format that loses least. */
    const AVPixFmtDescriptor *desc = av_pix_fmt_desc_get(first->format);
    const bool halved = desc->log2_chroma_h > 0;
    const Format *planes = desc->comp[1].plane == desc->comp[2].plane ? &nv12 : &yu12;
    order[0] = halved ? planes : &yuyv;
    order[1] = order[0] == &yu12 ? &nv12 : &yu12;
    order[2] = halved ? &yuyv : &nv12;
    for (int i = 0; i < FORMATS && ret == AVERROR(EINVAL); i++)
        ret = ask_for(o, order[i], first, &set);
    if (ret == AVERROR(EINVAL))
        return media_fail(error, MEDIA_OUTPUT, "%s does not accept YUYV, NV12 or YU12",
                          what(&o->device, text));
    if (ret < 0)
        return device_fail(&o->device, AVUNERROR(ret), error);
    o->format = known_format(set.pixelformat);
    o->width = first->width & ~1;
    o->height = first->height & ~1;
    if ((int)set.width != o->width || (int)set.height != o->height)
        return media_fail(
            error, MEDIA_OUTPUT,
            "%s refuses %dx%d and has %ux%u instead: close the programs that use it, or "
            "give it pictures of that size",
            what(&o->device, text), o->width, o->height, set.width, set.height);
    o->rate = rate;
    if (rate.num > 0 && rate.den > 0) { /* best effort: some drivers store no rate */
        struct v4l2_streamparm parm = {.type = V4L2_BUF_TYPE_VIDEO_OUTPUT};
        parm.parm.output.timeperframe = (struct v4l2_fract){(uint32_t)rate.den, (uint32_t)rate.num};
        (void)v4l2_device_ioctl(o->fd, VIDIOC_S_PARM, &parm);
    }
    o->size = av_image_get_buffer_size(o->format->pixels, o->width, o->height, 1);
    o->picture = o->size > 0 ? av_malloc((size_t)o->size) : NULL;
    return o->picture ? 0 : media_no_memory(error, MEDIA_OUTPUT);
}

static void loopback_text(const void *self, char *text, size_t size)
{
    const Loopback *o = self;
    snprintf(text, size, "%s (%s): %s %dx%d", o->device.name, o->device.path,
             av_get_pix_fmt_name(o->format->pixels), o->width, o->height);
    if (o->rate.num > 0 && o->rate.den > 0)
        av_strlcatf(text, size, " at %.4g fps", av_q2d(o->rate));
}

/* ---- pictures ---- */

static enum AVPixelFormat loopback_wanted(void *self, int *width, int *height)
{
    const Loopback *o = self;
    *width = o->width;
    *height = o->height;
    return o->format ? o->format->pixels : AV_PIX_FMT_NONE;
}

static int loopback_send(void *self, const AVFrame *frame, int64_t time, MediaError *error)
{
    (void)time; /* the driver stamps the picture itself */
    Loopback *o = self;
    char text[420];
    const uint8_t *from[4] = {frame->data[0], frame->data[1], frame->data[2]};
    (void)av_image_copy_to_buffer(o->picture, o->size, from, frame->linesize, o->format->pixels,
                                  o->width, o->height, 1);
    ssize_t n;
    do
        n = write(o->fd, o->picture, (size_t)o->size);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return device_fail(&o->device, errno, error);
    if (n != o->size)
        return media_fail(error, MEDIA_OUTPUT, "%s accepted only %zd of the %d bytes of a picture",
                          what(&o->device, text), n, o->size);
    return 0;
}

static void loopback_close(void **self)
{
    Loopback *o = *self;
    if (!o)
        return;
    if (o->fd >= 0)
        close(o->fd);
    av_free(o->picture);
    av_freep(self);
}

const CameraOutputKind camera_loopback = {
    .open = loopback_open,
    .path = loopback_path,
    .set = loopback_set,
    .text = loopback_text,
    .wanted = loopback_wanted,
    .send = loopback_send,
    .close = loopback_close,
};
