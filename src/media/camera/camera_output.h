/*
 * A virtual camera: a V4L2 device that takes pictures, which other programs then see as those of a
 * camera (v4l2loopback).
 *
 * Pictures are written by write(): every version of v4l2loopback takes them that way, copies them
 * at once, never lets the writer wait, and stamps them with the monotonic clock; how it streams
 * from mapped buffers has changed from version to version. For one thread at a time.
 *
 * A build without camera support has these functions, too; opening fails with MEDIA_USAGE.
 */
#ifndef LUMEQ_MEDIA_CAMERA_OUTPUT_H
#define LUMEQ_MEDIA_CAMERA_OUTPUT_H

#include <stddef.h>

#include <libavutil/frame.h>

#include "media/error.h"

typedef struct CameraOutput CameraOutput;

/* Opens the device that "2" or a path stands for; NULL or "": the first one of v4l2loopback that is
 * free. MEDIA_USAGE (there is none, or it takes no pictures), MEDIA_OUTPUT (busy, not permitted).
 */
int camera_output_open(CameraOutput **output, const char *device, MediaError *error);

const char *camera_output_path(const CameraOutput *output);

/*
 * Sets it to the size of this picture, to the rate ({0}: unknown), and to that of YUYV, NV12 and
 * YU12 that loses least of it and that the device takes. Odd sizes lose a column or a row.
 * MEDIA_OUTPUT: it takes none of them, or has another size, or is busy.
 */
int camera_output_set(CameraOutput *output, const AVFrame *first, AVRational rate,
                      MediaError *error);

/* "v4l2 Device (/dev/video9): yuyv422 640x360 at 30 fps". Once it is set. */
void camera_output_text(const CameraOutput *output, char *text, size_t size);

/* Converts the picture, in limited range, and scales it where its size is another one than that
 * which is set; then writes it. MEDIA_OUTPUT. */
int camera_output_write(CameraOutput *output, const AVFrame *frame, MediaError *error);

/* Writes the same once more. MEDIA_OUTPUT. */
int camera_output_repeat(CameraOutput *output, MediaError *error);

/* NULL is allowed inside. */
void camera_output_close(CameraOutput **output);

#endif
