/* A camera as a live source of packets. Open it as a Source: source_open() with
 * SourceOptions.camera set. Packets have capture times from 0 on, in microseconds. Any thread may
 * query Source.camera. */
#ifndef LUMEQ_MEDIA_CAMERA_H
#define LUMEQ_MEDIA_CAMERA_H

#include <stdatomic.h>
#include <stdint.h>

#include <libavcodec/packet.h>
#include <libavformat/avformat.h>

#include "media/camera/camera_find.h"
#include "media/camera/camera_modes.h"
#include "media/error.h"

typedef struct Camera Camera;

/* The settings reported by the driver. */
typedef struct CameraSetting {
    char path[256], name[64];
    const char *format; /* FFmpeg's name of the format */
    int width, height;
    AVRational rate;   /* {0}: unknown */
    AVRational wanted; /* the requested rate, which the driver may have changed */
} CameraSetting;

/* Constant while the camera is open. */
const CameraSetting *camera_setting(const Camera *camera);

/* "HD Webcam (/dev/video0): mjpeg 1280x720 at 30 fps", with "; 60 fps was requested" or "; 640x480
 * was requested" if the driver set another rate or size. */
void camera_setting_text(const Camera *camera, char *text, size_t size);

typedef enum CameraState {
    CAMERA_RUNNING,
    /* unplugged or silent; with CameraOptions.wait, the camera is reopened when possible */
    CAMERA_GONE,
    CAMERA_CHANGED, /* see CameraOptions.ends_changed */
} CameraState;

typedef struct CameraStatus {
    CameraState state;
    int unusable; /* not 0: the camera is back but cannot be used */
    /* why it is gone: "unplugged (No such device)", "no picture for 2 s"; or unusable: "in use by
     * another program"; otherwise "" */
    char why[160];
    int64_t returns; /* how often the camera came back */
    int64_t frames;  /* packets received */
    int64_t corrupt; /* packets dropped: marked as damaged by the driver, or incomplete */
    int64_t missed;  /* frames that the driver reports as lost */
} CameraStatus;

CameraStatus camera_status(Camera *camera);

/* Converts a pts (in microseconds) to the capture time on av_gettime_relative()'s clock. */
int64_t camera_captured_at(const Camera *camera, int64_t pts);

/* For source.c only: */

/* Opens the camera and waits some seconds for its first frame. This and later calls give up when
 * is_stopped() returns not 0. MEDIA_USAGE (the camera does not offer this format, size or rate),
 * MEDIA_INPUT (missing, busy, no permission, not a camera, no frames). */
int camera_open(Camera **camera, const CameraOptions *options, int (*is_stopped)(void *opaque),
                void *opaque, MediaError *error);

/* A format context whose only stream describes the packets. Valid until the camera is closed. */
AVFormatContext *camera_format(Camera *camera);

/* Waits for the next packet, which stays valid after the camera is gone or closed. Returns 0,
 * AVERROR_EXIT (stopped), AVERROR(ENOMEM) or AVERROR_EOF (changed, or gone without `wait`). */
int camera_read(Camera *camera, AVPacket *packet);

void camera_close(Camera **camera);

#endif
