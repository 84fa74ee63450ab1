/* Replaces the camera code in builds without V4L2. */
#include <stdio.h>

#include "media/camera/camera.h"
#include "media/camera/camera_output.h"

static int unsupported(MediaError *error)
{
    return media_fail(error, MEDIA_USAGE, "this build has no camera support");
}

int camera_is_supported(void)
{
    return 0;
}

const char *camera_support(void)
{
    return "none (built without V4L2)";
}

int camera_list_devices(CameraDevice **devices, MediaError *error)
{
    *devices = NULL;
    return unsupported(error);
}

int camera_list_modes(const char *camera, CameraDevice *device, CameraMode **modes,
                      MediaError *error)
{
    (void)camera;
    *device = (CameraDevice){.name = ""};
    *modes = NULL;
    return unsupported(error);
}

void camera_mode_text(const CameraMode *mode, char *text, size_t size)
{
    (void)mode;
    snprintf(text, size, "none");
}

void camera_fourcc_text(uint32_t fourcc, char text[5])
{
    (void)fourcc;
    text[0] = '\0';
}

void camera_free(void *list)
{
    (void)list;
}

/* The functions below are never called with an open camera. */

int camera_open(Camera **camera, const CameraOptions *options,
                int (*is_stopped)(const void *opaque), const void *opaque, MediaError *error)
{
    (void)options;
    (void)is_stopped;
    (void)opaque;
    *camera = NULL;
    return unsupported(error);
}

const CameraSetting *camera_setting(const Camera *camera)
{
    (void)camera;
    return NULL;
}

void camera_setting_text(const Camera *camera, char *text, size_t size)
{
    (void)camera;
    snprintf(text, size, "none");
}

CameraStatus camera_status(Camera *camera)
{
    (void)camera;
    return (CameraStatus){.state = CAMERA_GONE};
}

int64_t camera_captured_at(const Camera *camera, int64_t pts)
{
    (void)camera;
    return pts;
}

AVFormatContext *camera_format(Camera *camera)
{
    (void)camera;
    return NULL;
}

int camera_read(Camera *camera, AVPacket *packet)
{
    (void)camera;
    (void)packet;
    return AVERROR_EOF;
}

void camera_close(Camera **camera)
{
    *camera = NULL;
}

int camera_output_open(CameraOutput **output, const char *device, MediaError *error)
{
    (void)device;
    *output = NULL;
    return unsupported(error);
}

const char *camera_output_path(const CameraOutput *output)
{
    (void)output;
    return "";
}

int camera_output_set(CameraOutput *output, const AVFrame *first, AVRational rate,
                      MediaError *error)
{
    (void)output;
    (void)first;
    (void)rate;
    return unsupported(error);
}

void camera_output_text(const CameraOutput *output, char *text, size_t size)
{
    (void)output;
    snprintf(text, size, "none");
}

int camera_output_write(CameraOutput *output, const AVFrame *frame, MediaError *error)
{
    (void)output;
    (void)frame;
    return unsupported(error);
}

int camera_output_repeat(CameraOutput *output, MediaError *error)
{
    (void)output;
    return unsupported(error);
}

void camera_output_close(CameraOutput **output)
{
    *output = NULL;
}
