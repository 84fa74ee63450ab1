/*
 * Cameras: which there are, what they offer, and one of them as a live source of packets.
 *
 * A camera is opened as a Source: source_open() with SourceOptions.camera set. Its packets have
 * capture times from 0 on, in microseconds; they go through Demuxer and VideoFeed or through a
 * Reader like those of any input, which see by Source.live that the newest is what counts.
 * What is special about it is asked here, of Source.camera, by any thread.
 *
 * A build without camera support has all these functions; those that would need a camera fail with
 * MEDIA_USAGE and "this build has no camera support".
 */
#ifndef LUMEQ_MEDIA_CAMERA_H
#define LUMEQ_MEDIA_CAMERA_H

#include <stdatomic.h>
#include <stdint.h>

#include <libavcodec/packet.h>
#include <libavformat/avformat.h>

#include "media/camera/camera_find.h"
#include "media/camera/camera_modes.h"
#include "media/error.h"

/* Not 0: this build reads cameras. */
int camera_is_supported(void);

/* "V4L2", or "none (built without V4L2)": for --version. */
const char *camera_support(void);

/* ---- an open camera ---- */

typedef struct Camera Camera;

/* What was really set, as the driver answered. */
typedef struct CameraSetting {
    char path[256], name[64];
    const char *format; /* FFmpeg's name */
    int width, height;
    AVRational rate;   /* {0}: the driver does not say */
    AVRational wanted; /* the rate it was asked for; differs where the driver changed it */
} CameraSetting;

/* Constant while it is open. */
const CameraSetting *camera_setting(const Camera *camera);

/* "HD Webcam (/dev/video0): mjpeg 1280x720 at 30 fps", with "; 60 fps was asked for" where the
 * driver set another rate, or size. */
void camera_setting_text(const Camera *camera, char *text, size_t size);

typedef enum CameraState {
    CAMERA_RUNNING,
    CAMERA_GONE, /* unplugged, or no frame came for a while; with CameraOptions.wait it is opened
                    again, with the same settings, as soon as it can be */
} CameraState;

typedef struct CameraStatus {
    CameraState state;
    int unusable;  /* not 0: it is gone, but there again, and cannot be used */
    char why[160]; /* it is gone: "unplugged (No such device)", "no frame for 2 s"; it is unusable:
                      "in use by another program"; else "" */
    int64_t returns; /* times that it has come back */
    int64_t frames;  /* packets that came from it */
    int64_t corrupt; /* ... and were damaged by what the driver says, and left out */
    int64_t missed;  /* that it had, by the driver's count, and could not give: none was there to
                        take them in time, or its bus lost them */
} CameraStatus;

CameraStatus camera_status(Camera *camera);

/* When a frame was captured, by its pts (in microseconds) in the clock of av_gettime_relative(),
 * which is the monotonic one. */
int64_t camera_captured_at(const Camera *camera, int64_t pts);

/* The rest is for source.c. */

/* Opens it and waits for its first frame, for some seconds. `stop`: not 0: give up, as any time
 * later. MEDIA_USAGE (format, size or rate that it does not offer, in a sentence that says what it
 * does), MEDIA_INPUT (missing, busy, no permission, not a camera, no frames: each in its own). */
int camera_open(Camera **camera, const CameraOptions *options,
                int (*is_stopped)(const void *opaque), const void *opaque, MediaError *error);

/* A demuxer that is open for it: its one stream says what the packets are. It outlives every return
 * of the camera, and lives as long as the camera. */
AVFormatContext *camera_format(Camera *camera);

/* The next packet, which stays valid also when the camera is gone or closed: 0; AVERROR_EXIT
 * (stopped); AVERROR_EOF (gone, and not to be waited for). Waits. */
int camera_read(Camera *camera, AVPacket *packet);

void camera_close(Camera **camera);

#endif
