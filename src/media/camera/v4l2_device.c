#include "media/camera/v4l2_device.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/videodev2.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <libavutil/imgutils.h>
#include <libavutil/pixdesc.h>
#include <libavutil/time.h>

/* With more buffers, a reader can be busy longer without missing frames. */
#define MOST_BUFFERS 32
#define FEWEST_BUFFERS 4
#define MOST_BYTES (256 << 20) /* limit of all buffers together; FEWEST_BUFFERS may exceed it */

typedef struct Buffer {
    uint8_t *data;
    size_t length;
} Buffer;

struct V4l2Device {
    int fd;
    AVCodecParameters *par;
    AVRational rate;
    size_t image_size; /* the driver's maximum for a frame, in bytes */
    Buffer buffers[MOST_BUFFERS];
    unsigned count;
    /* For uncompressed pictures: */
    int strides[4];    /* the driver's strides */
    bool is_padded;    /* rows have padding to remove */
    size_t frame_size; /* bytes of a frame in a buffer */
    int packed_size;   /* bytes of a frame without padding */
};

int v4l2_device_ioctl(int fd, unsigned long request, void *argument)
{
    int ret;
    do
        ret = ioctl(fd, request, argument);
    while (ret < 0 && errno == EINTR);
    return ret;
}

/* Returns 0 or AVERROR. */
static int ask(int fd, unsigned long request, void *argument)
{
    return v4l2_device_ioctl(fd, request, argument) < 0 ? AVERROR(errno) : 0;
}

bool v4l2_device_captures(int fd)
{
    struct v4l2_capability has = {0};
    if (ask(fd, VIDIOC_QUERYCAP, &has) < 0)
        return false;
    const uint32_t can =
        has.capabilities & V4L2_CAP_DEVICE_CAPS ? has.device_caps : has.capabilities;
    return (can & V4L2_CAP_STREAMING) && (can & V4L2_CAP_VIDEO_CAPTURE);
}

/* ---- settings ---- */

static enum AVColorSpace matrix_of(const struct v4l2_pix_format *pix)
{
    const uint32_t encoding =
        pix->ycbcr_enc ? pix->ycbcr_enc : V4L2_MAP_YCBCR_ENC_DEFAULT(pix->colorspace);
    switch (encoding) {
    case V4L2_YCBCR_ENC_709:
    case V4L2_YCBCR_ENC_XV709: return AVCOL_SPC_BT709;
    case V4L2_YCBCR_ENC_BT2020: return AVCOL_SPC_BT2020_NCL;
    case V4L2_YCBCR_ENC_BT2020_CONST_LUM: return AVCOL_SPC_BT2020_CL;
    case V4L2_YCBCR_ENC_SMPTE240M: return AVCOL_SPC_SMPTE240M;
    default: return AVCOL_SPC_SMPTE170M; /* V4L2's default at any size */
    }
}

static enum AVColorPrimaries primaries_of(const struct v4l2_pix_format *pix)
{
    switch (pix->colorspace) {
    case V4L2_COLORSPACE_SMPTE170M: return AVCOL_PRI_SMPTE170M;
    case V4L2_COLORSPACE_SMPTE240M: return AVCOL_PRI_SMPTE240M;
    case V4L2_COLORSPACE_470_SYSTEM_M: return AVCOL_PRI_BT470M;
    case V4L2_COLORSPACE_470_SYSTEM_BG: return AVCOL_PRI_BT470BG;
    case V4L2_COLORSPACE_BT2020: return AVCOL_PRI_BT2020;
    case V4L2_COLORSPACE_DCI_P3: return AVCOL_PRI_SMPTE431;
    case V4L2_COLORSPACE_REC709:
    case V4L2_COLORSPACE_SRGB:
    case V4L2_COLORSPACE_JPEG: return AVCOL_PRI_BT709;
    default: return AVCOL_PRI_UNSPECIFIED;
    }
}

/* If the driver only names a colour space, the transfer function stays unspecified. */
static enum AVColorTransferCharacteristic transfer_of(const struct v4l2_pix_format *pix)
{
    switch (pix->xfer_func) {
    case V4L2_XFER_FUNC_709: return AVCOL_TRC_BT709;
    case V4L2_XFER_FUNC_SRGB: return AVCOL_TRC_IEC61966_2_1;
    case V4L2_XFER_FUNC_SMPTE240M: return AVCOL_TRC_SMPTE240M;
    case V4L2_XFER_FUNC_NONE: return AVCOL_TRC_LINEAR;
    case V4L2_XFER_FUNC_SMPTE2084: return AVCOL_TRC_SMPTE2084;
    default: return AVCOL_TRC_UNSPECIFIED;
    }
}

/* For uncompressed pictures; compressed ones carry their own tags. */
static void set_colours(AVCodecParameters *par, const struct v4l2_pix_format *set, int is_rgb)
{
    struct v4l2_pix_format pix = *set;
    if (pix.priv != V4L2_PIX_FMT_PRIV_MAGIC) /* old drivers do not set these fields */
        pix.ycbcr_enc = pix.quantization = pix.xfer_func = 0;
    par->color_primaries = primaries_of(&pix);
    par->color_trc = transfer_of(&pix);
    if (is_rgb)
        return;
    par->color_space = matrix_of(&pix);
    if (pix.quantization == V4L2_QUANTIZATION_FULL_RANGE ||
        (pix.quantization == V4L2_QUANTIZATION_DEFAULT && pix.colorspace == V4L2_COLORSPACE_JPEG))
        par->color_range = AVCOL_RANGE_JPEG;
    else if (pix.quantization == V4L2_QUANTIZATION_LIM_RANGE)
        par->color_range = AVCOL_RANGE_MPEG;
}

/* Computes plane strides from the stride of the first plane, the only one that V4L2 reports. */
static int set_layout(V4l2Device *d, const struct v4l2_pix_format *pix)
{
    const AVCodecParameters *par = d->par;
    const AVPixFmtDescriptor *desc = av_pix_fmt_desc_get(par->format);
    const int stride = (int)FFMIN(pix->bytesperline, INT32_MAX / 2);
    uint8_t *planes[4];
    int packed[4], ret = av_image_check_size((unsigned)par->width, (unsigned)par->height, 0, NULL);
    if (ret >= 0)
        ret = av_image_fill_linesizes(packed, par->format, par->width);
    if (ret < 0)
        return ret;
    memcpy(d->strides, packed, sizeof(packed));
    d->is_padded = stride > packed[0];
    const int last = av_pix_fmt_count_planes(par->format) - 1;
    for (int i = 0; d->is_padded && i <= last; i++)
        d->strides[i] = i == 0 || last == 1 ? stride : AV_CEIL_RSHIFT(stride, desc->log2_chroma_w);
    d->packed_size = av_image_get_buffer_size(par->format, par->width, par->height, 1);
    ret = av_image_fill_pointers(planes, par->format, par->height, NULL, d->strides);
    if (ret < 0 || d->packed_size < 0)
        return AVERROR(EINVAL);
    d->frame_size =
        (size_t)(ret - d->strides[last] + packed[last]); /* the last row may lack padding */
    return 0;
}

static int describe(V4l2Device *d, const struct v4l2_pix_format *pix, const char *format)
{
    AVCodecParameters *par = d->par;
    const enum AVPixelFormat pixels = av_get_pix_fmt(format);
    const AVCodecDescriptor *codec = avcodec_descriptor_get_by_name(format);
    par->codec_type = AVMEDIA_TYPE_VIDEO;
    par->width = (int)pix->width;
    par->height = (int)pix->height;
    if (pixels == AV_PIX_FMT_NONE) {
        par->codec_id = codec ? codec->id : AV_CODEC_ID_NONE;
        return codec ? 0 : AVERROR(EINVAL);
    }
    par->codec_id = AV_CODEC_ID_RAWVIDEO;
    par->codec_tag = avcodec_pix_fmt_to_codec_tag(pixels);
    par->format = pixels;
    set_colours(par, pix, (av_pix_fmt_desc_get(pixels)->flags & AV_PIX_FMT_FLAG_RGB) != 0);
    return set_layout(d, pix);
}

/* Drivers replace unsupported values by similar ones. A changed pixel format is an error. */
static int set_format(V4l2Device *d, const V4l2Setting *wanted)
{
    struct v4l2_format format = {.type = V4L2_BUF_TYPE_VIDEO_CAPTURE};
    struct v4l2_pix_format *pix = &format.fmt.pix;
    int ret = ask(d->fd, VIDIOC_G_FMT, &format);
    if (ret < 0)
        return ret;
    *pix = (struct v4l2_pix_format){
        .width = wanted->width ? (uint32_t)wanted->width : pix->width,
        .height = wanted->width ? (uint32_t)wanted->height : pix->height,
        .pixelformat = wanted->fourcc,
        .field = V4L2_FIELD_ANY,
        .priv = V4L2_PIX_FMT_PRIV_MAGIC,
    };
    ret = ask(d->fd, VIDIOC_S_FMT, &format);
    if (ret < 0)
        return ret;
    d->image_size = pix->sizeimage;
    return pix->pixelformat == wanted->fourcc ? describe(d, pix, wanted->format) : AVERROR(EINVAL);
}

static int set_rate(V4l2Device *d, AVRational wanted)
{
    struct v4l2_streamparm set = {.type = V4L2_BUF_TYPE_VIDEO_CAPTURE};
    struct v4l2_fract *interval = &set.parm.capture.timeperframe;
    d->rate = (AVRational){0, 1};
    if (ask(d->fd, VIDIOC_G_PARM, &set) < 0)
        return 0;
    if (wanted.num > 0 && (set.parm.capture.capability & V4L2_CAP_TIMEPERFRAME)) {
        *interval = (struct v4l2_fract){(uint32_t)wanted.den, (uint32_t)wanted.num};
        const int ret = ask(d->fd, VIDIOC_S_PARM, &set);
        if (ret < 0)
            return ret;
    }
    if (interval->numerator && interval->denominator)
        av_reduce(&d->rate.num, &d->rate.den, interval->denominator, interval->numerator,
                  INT32_MAX);
    return 0;
}

/* ---- buffers ---- */

static struct v4l2_buffer buffer_number(unsigned index)
{
    return (struct v4l2_buffer){
        .index = index, .type = V4L2_BUF_TYPE_VIDEO_CAPTURE, .memory = V4L2_MEMORY_MMAP};
}

/* A buffer that the driver refuses stays unused. If the device failed, the next read fails. */
static int queue(const V4l2Device *d, unsigned index)
{
    struct v4l2_buffer number = buffer_number(index);
    return ask(d->fd, VIDIOC_QBUF, &number);
}

static int open_buffers(V4l2Device *d)
{
    const size_t fitting = MOST_BYTES / FFMAX(d->image_size, 1);
    struct v4l2_requestbuffers request = {
        .count = (uint32_t)FFMAX(FFMIN(fitting, MOST_BUFFERS), FEWEST_BUFFERS),
        .type = V4L2_BUF_TYPE_VIDEO_CAPTURE,
        .memory = V4L2_MEMORY_MMAP,
    };
    int ret = ask(d->fd, VIDIOC_REQBUFS, &request);
    if (ret >= 0 && request.count < 2)
        ret = AVERROR(ENOMEM);
    for (unsigned i = 0; ret >= 0 && i < FFMIN(request.count, MOST_BUFFERS); i++) {
        struct v4l2_buffer number = buffer_number(i);
        ret = ask(d->fd, VIDIOC_QUERYBUF, &number);
        if (ret < 0)
            break;
        void *data = mmap(NULL, number.length, PROT_READ | PROT_WRITE, MAP_SHARED, d->fd,
                          (off_t)number.m.offset);
        if (data == MAP_FAILED)
            return AVERROR(errno);
        d->buffers[d->count++] = (Buffer){data, number.length};
        ret = queue(d, i);
    }
    return ret;
}

/* ---- frames ---- */

static int pack(const V4l2Device *d, uint8_t *data, AVPacket *packet)
{
    const AVCodecParameters *par = d->par;
    const uint8_t *planes[4] = {NULL};
    uint8_t *at[4];
    int ret = av_image_fill_pointers(at, par->format, par->height, data, d->strides);
    if (ret >= 0)
        ret = av_new_packet(packet, d->packed_size);
    if (ret < 0)
        return ret;
    memcpy(planes, at, sizeof(at));
    ret = av_image_copy_to_buffer(packet->data, packet->size, planes, d->strides, par->format,
                                  par->width, par->height, 1);
    return FFMIN(ret, 0);
}

static int copy_frame(const V4l2Device *d, uint8_t *data, size_t used, AVPacket *packet)
{
    const bool is_raw = d->par->codec_id == AV_CODEC_ID_RAWVIDEO;
    if (!used || used > INT32_MAX / 2 || (is_raw && used < d->frame_size))
        return AVERROR_INVALIDDATA;
    if (is_raw && d->is_padded)
        return pack(d, data, packet);
    const int ret = av_new_packet(packet, (int)(is_raw ? d->frame_size : used));
    if (ret >= 0)
        memcpy(packet->data, data, (size_t)packet->size);
    return ret;
}

int v4l2_device_read(V4l2Device *d, AVPacket *packet, V4l2Stamp *stamp)
{
    struct v4l2_buffer got = buffer_number(0);
    int ret = ask(d->fd, VIDIOC_DQBUF, &got);
    if (ret < 0)
        return ret;
    if (got.index >= d->count)
        return AVERROR(EIO);
    *stamp = (V4l2Stamp){
        .time = (int64_t)got.timestamp.tv_sec * 1000000 + got.timestamp.tv_usec,
        .sequence = got.sequence,
    };
    const Buffer *b = &d->buffers[got.index];
    const size_t used = got.flags & V4L2_BUF_FLAG_ERROR ? 0 : FFMIN(got.bytesused, b->length);
    ret = copy_frame(d, b->data, used, packet);
    (void)queue(d, got.index);
    return ret;
}

void v4l2_device_wait(const V4l2Device *d, int ms)
{
    struct pollfd waiting = {.fd = d->fd, .events = POLLIN};
    if (poll(&waiting, 1, ms) > 0 && !(waiting.revents & POLLIN))
        av_usleep((unsigned)ms * 1000); /* poll() does not wait if the device has failed */
}

const AVCodecParameters *v4l2_device_parameters(const V4l2Device *d)
{
    return d->par;
}

AVRational v4l2_device_rate(const V4l2Device *d)
{
    return d->rate;
}

/* ---- open and close ---- */

int v4l2_device_open(V4l2Device **device, const char *path, const V4l2Setting *wanted)
{
    V4l2Device *d = *device = av_mallocz(sizeof(*d));
    if (!d)
        return AVERROR(ENOMEM);
    d->par = avcodec_parameters_alloc();
    d->fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    int ret = d->fd < 0 ? AVERROR(errno) : 0;
    if (!d->par)
        ret = AVERROR(ENOMEM);
    if (ret >= 0)
        ret = v4l2_device_captures(d->fd) ? set_format(d, wanted) : AVERROR(ENODEV);
    if (ret >= 0)
        ret = set_rate(d, wanted->rate);
    if (ret >= 0)
        ret = open_buffers(d);
    if (ret >= 0)
        ret = ask(d->fd, VIDIOC_STREAMON, &(int){V4L2_BUF_TYPE_VIDEO_CAPTURE});
    if (ret < 0)
        v4l2_device_close(device);
    return ret;
}

/* Ignores errors, since the device may be gone. */
void v4l2_device_close(V4l2Device **device)
{
    V4l2Device *d = *device;
    if (!d)
        return;
    struct v4l2_requestbuffers none = {.type = V4L2_BUF_TYPE_VIDEO_CAPTURE,
                                       .memory = V4L2_MEMORY_MMAP};
    if (d->fd >= 0)
        (void)ask(d->fd, VIDIOC_STREAMOFF, &(int){V4L2_BUF_TYPE_VIDEO_CAPTURE});
    for (unsigned i = 0; i < d->count; i++)
        munmap(d->buffers[i].data, d->buffers[i].length);
    if (d->fd >= 0) {
        (void)ask(d->fd, VIDIOC_REQBUFS, &none);
        close(d->fd);
    }
    avcodec_parameters_free(&d->par);
    av_freep(device);
}
