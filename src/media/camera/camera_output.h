/*
 * A virtual camera: a V4L2 output device (v4l2loopback) that other programs see as a camera.
 * Uses write(), which every v4l2loopback version accepts: it copies at once, never blocks, and
 * stamps pictures with the monotonic clock. Streaming from mapped buffers has changed between
 * versions. For one thread at a time.
 */
#ifndef LUMEQ_MEDIA_CAMERA_OUTPUT_H
#define LUMEQ_MEDIA_CAMERA_OUTPUT_H

#include <stddef.h>

#include <libavutil/frame.h>

#include "media/error.h"

typedef struct CameraOutput CameraOutput;

/* Opens the device that "2" or a path names; NULL or "": the first free v4l2loopback. MEDIA_USAGE
 * (none, or not a virtual camera), MEDIA_OUTPUT (busy, not permitted). */
int camera_output_open(CameraOutput **output, const char *device, MediaError *error);

const char *camera_output_path(const CameraOutput *output);

/*
 * Sets the size of this picture, the rate ({0}: unknown), and the format of YUYV, NV12 and YU12
 * that the device accepts and that loses least. Odd sizes lose a column or row. MEDIA_OUTPUT: no
 * common format, another fixed size, or busy.
 */
int camera_output_set(CameraOutput *output, const AVFrame *first, AVRational rate,
                      MediaError *error);

/* "v4l2 Device (/dev/video9): yuyv422 640x360 at 30 fps". Call after camera_output_set(). */
void camera_output_text(const CameraOutput *output, char *text, size_t size);

/* Converts the picture to limited range, scales it if its size differs, and writes it.
 * MEDIA_OUTPUT. */
int camera_output_write(CameraOutput *output, const AVFrame *frame, MediaError *error);

/* Writes the last picture again. MEDIA_OUTPUT. */
int camera_output_repeat(CameraOutput *output, MediaError *error);

/* *output may be NULL. */
void camera_output_close(CameraOutput **output);

#endif
