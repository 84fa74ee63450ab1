#include <errno.h>
#include <linux/videodev2.h>
#include <stdio.h>
#include <string.h>

#include "fake_device.h"
#include "fake_output.h"
#include "fake_words.h"
#include "pattern.h"

static struct {
    struct v4l2_pix_format set;
    FILE *frames, *log;
} out;

/* ---- records ---- */

/* Returns NULL if FAKE_OUTPUT_RECORD is not set. */
static FILE *open_beside(const char *end)
{
    char path[4096];
    const char *name = fake_setting("FAKE_OUTPUT_RECORD", NULL);
    if (!name)
        return NULL;
    snprintf(path, sizeof(path), "%s%s", name, end);
    return fopen(path, "ae");
}

static FILE *log_file(void)
{
    if (!out.log)
        out.log = open_beside(".log");
    return out.log;
}

void fake_output_note_captured(unsigned number, int64_t time)
{
    if (!log_file())
        return;
    fprintf(out.log, "captured %u %lld\n", number, (long long)time);
    fflush(out.log);
}

ssize_t fake_output_write(const void *data, size_t size)
{
    if (!out.set.sizeimage)
        return fake_fail(EINVAL);
    if (fake_is("out.eio"))
        return fake_fail(EIO);
    if (fake_is("out.taken"))
        return fake_fail(EBUSY);
    size = size < out.set.sizeimage ? size : out.set.sizeimage;
    if (!out.frames)
        out.frames = open_beside("");
    if (!out.frames || !log_file())
        return (ssize_t)size;
    fwrite(data, 1, size, out.frames);
    fflush(out.frames);
    fprintf(out.log, "frame %lld %zu\n", (long long)fake_now(), size);
    fflush(out.log);
    return (ssize_t)size;
}

/* ---- ioctls ---- */

static int query_capabilities(struct v4l2_capability *has)
{
    memset(has, 0, sizeof(*has));
    snprintf((char *)has->driver, sizeof(has->driver), "%s",
             fake_is("out.other") ? "other" : "v4l2 loopback");
    snprintf((char *)has->card, sizeof(has->card), "Fake Loopback");
    snprintf((char *)has->bus_info, sizeof(has->bus_info), "platform:fake-1");
    has->device_caps = V4L2_CAP_STREAMING | V4L2_CAP_READWRITE |
                       (fake_is("out.taken") || fake_is("out.captures") ? V4L2_CAP_VIDEO_CAPTURE
                                                                        : V4L2_CAP_VIDEO_OUTPUT) |
                       (fake_is("out.both") ? V4L2_CAP_VIDEO_CAPTURE : 0);
    has->capabilities = has->device_caps | V4L2_CAP_DEVICE_CAPS;
    return 0;
}

static int has_code(const char *list, uint32_t code)
{
    for (const char *at = list; strlen(at) >= 4; at += at[4] == ',' ? 5 : 4) {
        if (v4l2_fourcc((uint32_t)at[0], (uint32_t)at[1], (uint32_t)at[2], (uint32_t)at[3]) == code)
            return 1;
        if (at[4] != ',')
            break;
    }
    return 0;
}

/* Refuses formats that the device does not take. The word out.size replaces the size. */
static int set_format(struct v4l2_format *format)
{
    struct v4l2_pix_format *pix = &format->fmt.pix;
    const char *takes = fake_after("out.takes="), *size = fake_after("out.size=");
    if (fake_is("out.busy"))
        return fake_fail(EBUSY);
    if (format->type != V4L2_BUF_TYPE_VIDEO_OUTPUT || !raw_row(pix->pixelformat, pix->width) ||
        (takes && !has_code(takes, pix->pixelformat)))
        return fake_fail(EINVAL);
    if (size)
        sscanf(size, "%ux%u", &pix->width, &pix->height);
    pix->bytesperline = raw_row(pix->pixelformat, pix->width);
    pix->sizeimage = (uint32_t)raw_size(pix->pixelformat, pix->height, pix->bytesperline);
    out.set = *pix;
    if (log_file()) {
        fprintf(out.log, "format %.4s %ux%u colours %u\n", (const char *)&pix->pixelformat,
                pix->width, pix->height, pix->colorspace);
        fflush(out.log);
    }
    return 0;
}

static int set_rate(const struct v4l2_streamparm *parm)
{
    const struct v4l2_fract *t = &parm->parm.output.timeperframe;
    if (parm->type != V4L2_BUF_TYPE_VIDEO_OUTPUT || fake_is("out.norate"))
        return fake_fail(ENOTTY);
    if (log_file()) {
        fprintf(out.log, "rate %u/%u\n", t->denominator, t->numerator);
        fflush(out.log);
    }
    return 0;
}

int fake_output_answer(unsigned long ask, void *argument)
{
    switch ((uint32_t)ask) {
    case (uint32_t)VIDIOC_QUERYCAP: return query_capabilities(argument);
    case (uint32_t)VIDIOC_S_FMT: return set_format(argument);
    case (uint32_t)VIDIOC_S_PARM: return set_rate(argument);
    default: return fake_fail(ENOTTY);
    }
}
