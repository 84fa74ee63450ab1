/*
 * A streaming V4L2 device with mapped buffers. Packets are copies, so that the driver gets its
 * buffers back at once. For one thread. Opening and reading return 0 or AVERROR.
 */
#ifndef LUMEQ_MEDIA_V4L2_DEVICE_H
#define LUMEQ_MEDIA_V4L2_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include <libavcodec/avcodec.h>

/* Like ioctl(), but repeats the call after EINTR. */
int v4l2_device_ioctl(int fd, unsigned long request, void *argument);

/* True for a camera, except one that has only the multi-planar interface. */
bool v4l2_device_captures(int fd);

typedef struct V4l2Device V4l2Device;

typedef struct V4l2Setting {
    uint32_t fourcc;
    const char *format; /* FFmpeg's name of a pixel format or codec */
    int width, height;  /* 0: keep the driver's */
    AVRational rate;    /* frames per second; {0}: keep the driver's */
} V4l2Setting;

/* Opens and starts the device. AVERROR(EINVAL): the device refuses the format. Other errors are
 * from the system, such as EBUSY, or ENOSPC if the bus has no room. */
int v4l2_device_open(V4l2Device **device, const char *path, const V4l2Setting *wanted);

/* The actual settings: codec, size, and for uncompressed pictures pixel format and colours. Packets
 * have no padding between rows. */
const AVCodecParameters *v4l2_device_parameters(const V4l2Device *device);

/* {0}: unknown. */
AVRational v4l2_device_rate(const V4l2Device *device);

typedef struct V4l2Stamp {
    int64_t time;      /* capture time in microseconds, on a clock of the driver's choice */
    uint32_t sequence; /* frame number; also counts frames that found no free buffer */
} V4l2Stamp;

/* Reads the next frame and its stamp; does not set the packet's timestamps. Never waits.
 * AVERROR(EAGAIN): no frame is ready. AVERROR_INVALIDDATA: a damaged frame was dropped; its stamp
 * is filled. */
int v4l2_device_read(V4l2Device *device, AVPacket *packet, V4l2Stamp *stamp);

/* Waits up to `ms` milliseconds for a frame, an error or a signal. */
void v4l2_device_wait(const V4l2Device *device, int ms);

/* *device may be NULL. */
void v4l2_device_close(V4l2Device **device);

#endif
