/*
 * A virtual camera, which other programs see as a camera: a node of PipeWire, or a V4L2 output
 * device (v4l2loopback). For one thread at a time.
 */
#ifndef LUMEQ_MEDIA_CAMERA_OUTPUT_H
#define LUMEQ_MEDIA_CAMERA_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <libavutil/frame.h>

#include "media/error.h"

typedef struct CameraOutput CameraOutput;

/* Opens the device that `device` names: "2" or a path. NULL or "": connects to PipeWire or, if that
 * fails, opens the first free v4l2loopback. MEDIA_USAGE (none, or not a virtual camera),
 * MEDIA_OUTPUT (busy, not permitted). */
int camera_output_open(CameraOutput **output, const char *device, MediaError *error);

/* The path of the device; NULL for PipeWire. */
const char *camera_output_path(const CameraOutput *output);

/* Offers pictures of the size of `first` and this rate ({0}: unknown). With v4l2loopback, tries
 * YUYV, NV12 and YU12; first the format that loses least. With PipeWire, programs choose NV12 or
 * YUY2. Odd sizes lose a column or row. With PipeWire, widths lose up to 3 columns, because some
 * programs assume rows of a multiple of 4 bytes. `input` names the camera or file. MEDIA_OUTPUT: no
 * common format, or the device keeps another size or is busy. */
int camera_output_set(CameraOutput *output, const AVFrame *first, AVRational rate,
                      const char *input, MediaError *error);

/* "v4l2 Device (/dev/video9): yuyv422 640x360 at 30 fps". Call after camera_output_set(). */
void camera_output_text(const CameraOutput *output, char *text, size_t size);

/* Keeps a reference to the picture. If a program watches, converts the picture to limited range and
 * the offered size, and sends it. `time` is the capture time on the clock of av_gettime_relative().
 * Returns 1 if it was sent, 0 if no program watches, or MEDIA_OUTPUT. */
int camera_output_write(CameraOutput *output, const AVFrame *frame, int64_t time,
                        MediaError *error);

/* Sends the last picture again if a program watches. Returns like camera_output_write(). */
int camera_output_repeat(CameraOutput *output, int64_t time, MediaError *error);

/* False if no program watches. True for v4l2loopback, which does not report watchers. */
bool camera_output_is_watched(CameraOutput *output);

/* Reconnects to PipeWire after PipeWire has ended. `note` receives a line when PipeWire ends and
 * when it is back. Call several times a second. */
void camera_output_tend(CameraOutput *output, int64_t now, void (*note)(const char *line));

/* *output may be NULL. */
void camera_output_close(CameraOutput **output);

#endif
