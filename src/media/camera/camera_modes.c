#include "media/camera/camera_modes.h"

#include <linux/videodev2.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <libavutil/avstring.h>
#include <libavutil/common.h>
#include <libavutil/mem.h>

#include "media/camera/v4l2_device.h"

#define MAX_MODES 512 /* limit for drivers with endless lists */

/* Formats that FFmpeg reads, and FFmpeg's names for them. */
static const struct {
    uint32_t fourcc;
    const char *format;
} formats[] = {
    {V4L2_PIX_FMT_NV12, "nv12"},       {V4L2_PIX_FMT_YUV420, "yuv420p"},
    {V4L2_PIX_FMT_YUYV, "yuyv422"},    {V4L2_PIX_FMT_UYVY, "uyvy422"},
    {V4L2_PIX_FMT_RGB24, "rgb24"},     {V4L2_PIX_FMT_BGR24, "bgr24"},
    {V4L2_PIX_FMT_BGR32, "bgr0"},      {V4L2_PIX_FMT_XBGR32, "bgr0"},
    {V4L2_PIX_FMT_YUV422P, "yuv422p"}, {V4L2_PIX_FMT_MJPEG, "mjpeg"},
    {V4L2_PIX_FMT_JPEG, "mjpeg"},      {V4L2_PIX_FMT_H264, "h264"},
    {V4L2_PIX_FMT_GREY, "gray"},       {V4L2_PIX_FMT_Y10, "gray10le"},
    {V4L2_PIX_FMT_Y12, "gray12le"},    {V4L2_PIX_FMT_Y14, "gray14le"},
    {V4L2_PIX_FMT_Y16, "gray16le"},    {V4L2_PIX_FMT_Y16_BE, "gray16be"},
};

/* ---- offered modes ---- */

typedef struct ModeList {
    CameraMode *modes;
    int count, failed;
} ModeList;

static void add(ModeList *list, const CameraMode *mode)
{
    list->failed |= !av_dynarray2_add((void **)&list->modes, &list->count, sizeof(*mode),
                                      (const uint8_t *)mode);
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
           v4l2_device_ioctl(fd, VIDIOC_ENUM_FRAMEINTERVALS, &ask) >= 0) {
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
    while (list->count < MAX_MODES && v4l2_device_ioctl(fd, VIDIOC_ENUM_FRAMESIZES, &ask) >= 0) {
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
    while (list.count < MAX_MODES && v4l2_device_ioctl(fd, VIDIOC_ENUM_FMT, &ask) >= 0) {
        CameraMode format = {.fourcc = ask.pixelformat};
        for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
            if (formats[i].fourcc == ask.pixelformat)
                format.format = formats[i].format;
        snprintf(format.description, sizeof(format.description), "%.31s",
                 (const char *)ask.description);
        ask_sizes(fd, &format, &list);
        ask.index++;
    }
    *modes = list.modes;
    if (!list.failed)
        return list.count;
    camera_free(modes);
    return media_no_memory(error, MEDIA_INPUT);
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

#define BIG_ENDIAN_FLAG (UINT32_C(1) << 31)

void camera_fourcc_text(uint32_t fourcc, char text[8])
{
    for (int i = 0; i < 4; i++) {
        const unsigned char c = (unsigned char)((fourcc & ~BIG_ENDIAN_FLAG) >> 8 * i);
        text[i] = c > 0x20 && c < 0x7f ? (char)c : '?';
        if (i == 3 && c == ' ')
            text[i] = '\0';
    }
    text[4] = '\0';
    if (fourcc & BIG_ENDIAN_FLAG)
        av_strlcat(text, "-BE", 8);
}

/* The kernel has dozens of Bayer formats, whose descriptions all contain "Bayer". */
const char *camera_mode_advice(const CameraMode *mode)
{
    return !mode->format && strstr(mode->description, "Bayer")
               ? "the sensor's raw data needs libcamera, as in "
                 "'rpicam-vid -t 0 -o - | lumeq --low-latency -'"
               : "";
}

void camera_mode_text(const CameraMode *mode, char *text, size_t size)
{
    if (!mode->width)
        snprintf(text, size, "any size");
    else
        snprintf(text, size, "%dx%d", mode->width, mode->height);
    if (mode->max_width)
        av_strlcatf(text, size, " to %dx%d", mode->max_width, mode->max_height);
    if (mode->rate_range)
        av_strlcatf(text, size, " at %.4g to %.4g fps", av_q2d(mode->rates[1]),
                    av_q2d(mode->rates[0]));
    else if (!mode->rate_count)
        av_strlcat(text, " at any rate", size);
    for (int i = 0; !mode->rate_range && i < mode->rate_count; i++)
        av_strlcatf(text, size, "%s%.4g%s", i ? ", " : " at ", av_q2d(mode->rates[i]),
                    i == mode->rate_count - 1 ? " fps" : "");
}

/* ---- ranking ---- */

/* Frames per second. The largest size with this rate is best, because motion is smooth from this
 * rate on. The relative tolerance admits NTSC's 29.97. */
#define USUAL_RATE 30
#define RATE_TOLERANCE 0.005

/* The largest size to choose from a range of sizes. Drivers do not report which sizes of a range
 * reach USUAL_RATE; every camera should reach it at this size. */
#define RANGE_WIDTH 1920
#define RANGE_HEIGHT 1080

/*
 * Formats at the same rate, best first. Uncompressed ones have no artefacts or encoder delay, and
 * planar luma needs no conversion. H.264 follows MJPEG because dropping a frame damages later ones.
 * Gray is not listed and ranks last: it is the infrared picture of a colour camera.
 */
static const char *const preferred[] = {"nv12",  "yuv420p", "yuv422p", "yuyv422", "uyvy422",
                                        "rgb24", "bgr24",   "bgr0",    "mjpeg",   "h264"};
#define PREFERRED_COUNT (int)(sizeof(preferred) / sizeof(preferred[0]))

static int format_rank(const char *format)
{
    int rank = 0;
    while (rank < PREFERRED_COUNT && strcmp(preferred[rank], format) != 0)
        rank++;
    return rank;
}

/* ---- matching ---- */

static bool is_format(const CameraMode *mode, const char *wanted)
{
    char code[8];
    camera_fourcc_text(mode->fourcc, code);
    return av_strcasecmp(wanted, code) == 0 ||
           (mode->format && av_strcasecmp(wanted, mode->format) == 0);
}

static bool has_size(const CameraMode *mode, int width, int height)
{
    if (!mode->width)
        return true;
    if (!mode->max_width)
        return mode->width == width && mode->height == height;
    return width >= mode->width && width <= mode->max_width && height >= mode->height &&
           height <= mode->max_height && (width - mode->width) % mode->step_width == 0 &&
           (height - mode->height) % mode->step_height == 0;
}

static int same_rate(double a, double b)
{
    return fabs(a - b) <= b * RATE_TOLERANCE;
}

/* Returns the driver's rate that equals `wanted` within the tolerance, or {0}. */
static AVRational offered_rate(const CameraMode *mode, AVRational wanted)
{
    const double rate = av_q2d(wanted);
    if (!mode->rate_count ||
        (mode->rate_range && rate <= av_q2d(mode->rates[0]) && rate >= av_q2d(mode->rates[1])))
        return wanted;
    for (int i = 0; i < mode->rate_count; i++)
        if (same_rate(av_q2d(mode->rates[i]), rate))
            return mode->rates[i];
    return (AVRational){0, 1};
}

/* Applies the options to a mode. Returns 0 if the mode does not match them. */
static int fit(CameraChoice *choice, const CameraMode *mode, const CameraOptions *wanted)
{
    *choice = (CameraChoice){.mode = mode, .rate = {0, 1}};
    if (!mode->format || (wanted->format && !is_format(mode, wanted->format)))
        return 0;
    if (wanted->width && !has_size(mode, wanted->width, wanted->height))
        return 0;
    choice->width = wanted->width ? wanted->width : mode->width;
    choice->height = wanted->width ? wanted->height : mode->height;
    if (!wanted->width && mode->max_width) {
        const int width = FFMIN(mode->max_width, RANGE_WIDTH) - mode->width;
        const int height = FFMIN(mode->max_height, RANGE_HEIGHT) - mode->height;
        choice->width += FFMAX(width - width % mode->step_width, 0);
        choice->height += FFMAX(height - height % mode->step_height, 0);
    }
    if (wanted->rate.num > 0)
        choice->rate = offered_rate(mode, wanted->rate);
    else if (mode->rate_count)
        choice->rate = mode->rates[0];
    return wanted->rate.num <= 0 || choice->rate.num > 0;
}

/* ---- comparing ---- */

/* Returns > 0 if `a` is better. Criteria, in this order: colour before gray; the rate, capped at
 * USUAL_RATE (not if `rate_wanted`); the size; the rate; format_rank(). */
static int compare_choices(const CameraChoice *a, const CameraChoice *b, int rate_wanted)
{
    const double usual = rate_wanted ? 0 : USUAL_RATE * (1 - RATE_TOLERANCE);
    const double rate_a = av_q2d(a->rate), rate_b = av_q2d(b->rate);
    const int rank_a = format_rank(a->mode->format), rank_b = format_rank(b->mode->format);
    int order = (rank_a < PREFERRED_COUNT) - (rank_b < PREFERRED_COUNT);
    if (!order)
        order = FFDIFFSIGN(FFMIN(rate_a, usual), FFMIN(rate_b, usual));
    if (!order)
        order = FFDIFFSIGN((double)a->width * a->height, (double)b->width * b->height);
    if (!order && !same_rate(rate_a, rate_b))
        order = FFDIFFSIGN(rate_a, rate_b);
    return order ? order : rank_b - rank_a;
}

static int find_best(CameraChoice *best, const CameraOptions *wanted, const CameraMode *modes,
                     int count)
{
    int found = 0;
    for (int i = 0; i < count; i++) {
        CameraChoice choice;
        if (!fit(&choice, &modes[i], wanted))
            continue;
        if (!found || compare_choices(&choice, best, wanted->rate.num > 0) > 0)
            *best = choice;
        found = 1;
    }
    return found;
}

static int refuse(const CameraOptions *wanted, const CameraMode *modes, int count,
                  const char *camera, MediaError *error)
{
    static const char *const hint = "--list-formats lists what it offers";
    char settings[MEDIA_QUOTED + 64] = "";
    CameraChoice unused;
    if (!find_best(&unused, &(CameraOptions){0}, modes, count))
        return media_fail(error, MEDIA_INPUT, "%s offers no supported format; %s", camera, hint);
    if (wanted->format)
        av_strlcatf(settings, sizeof(settings), " --input-format %s", media_quote(wanted->format));
    if (wanted->width)
        av_strlcatf(settings, sizeof(settings), " --video-size %dx%d", wanted->width,
                    wanted->height);
    if (wanted->rate.num > 0)
        av_strlcatf(settings, sizeof(settings), " --framerate %.4g", av_q2d(wanted->rate));
    return media_fail(error, MEDIA_USAGE, "%s does not offer%s; %s", camera, settings, hint);
}

int camera_choose(CameraChoice *choice, const CameraOptions *wanted, const CameraMode *modes,
                  int count, const char *camera, MediaError *error)
{
    if (find_best(choice, wanted, modes, count))
        return 0;
    return refuse(wanted, modes, count, camera, error);
}
