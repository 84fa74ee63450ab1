/*
 * A V4L2 device that streams: set to one format, its buffers mapped and polled.
 *
 * Packets borrow the driver's buffers as long as enough of them remain for it to fill, and are
 * copies otherwise. What is lent may be released by any thread, also after the device is closed;
 * all else is for one thread. Functions answer 0 or AVERROR.
 */
#ifndef LUMEQ_MEDIA_V4L2_DEVICE_H
#define LUMEQ_MEDIA_V4L2_DEVICE_H

#include <stdint.h>

#include <libavcodec/avcodec.h>

/* ioctl() that is repeated when a signal interrupts it. */
int v4l2_device_ioctl(int fd, unsigned long request, void *argument);

typedef struct V4l2Device V4l2Device;

typedef struct V4l2Setting {
    uint32_t fourcc;
    const char *format; /* FFmpeg's name of it, of a pixel format or a codec */
    int width, height;  /* 0: what the driver has */
    AVRational rate;    /* frames a second; {0}: what the driver has */
} V4l2Setting;

/* Opens the device and starts it. AVERROR(EINVAL): it refuses the format; others are the system's,
 * such as EBUSY, or ENOSPC where its bus has no room. */
int v4l2_device_open(V4l2Device **device, const char *path, const V4l2Setting *wanted);

/* What was really set: the codec, the size, and of pictures that are not compressed the pixel
 * format and the colours. Rows of those are packed, whatever the driver pads them to. */
const AVCodecParameters *v4l2_device_parameters(const V4l2Device *device);

/* {0}: the driver does not say. */
AVRational v4l2_device_rate(const V4l2Device *device);

typedef struct V4l2Stamp {
    int64_t time;      /* of the capture, in microseconds of a clock of the driver's choice */
    int is_monotonic;  /* not 0: it says that it is the monotonic clock */
    uint32_t sequence; /* counts the frames, also those that it had no buffer for */
} V4l2Stamp;

/*
 * The next frame, without timestamps, and its stamp. AVERROR(EAGAIN): none is there;
 * AVERROR_INVALIDDATA: one that is damaged, which is left out, and whose stamp is filled. Never
 * waits.
 */
int v4l2_device_read(V4l2Device *device, AVPacket *packet, V4l2Stamp *stamp);

/* Waits for a frame, an error or a signal, `ms` at most. */
void v4l2_device_wait(const V4l2Device *device, int ms);

/* The device is free for others then, whatever is still lent. NULL is allowed inside. */
void v4l2_device_close(V4l2Device **device);

#endif
