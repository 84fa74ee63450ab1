/*
 * The virtual camera of a run, beside the window or without one: every equalized picture is
 * written to it at once, by the thread that brings it. A thread of its own writes the last one
 * again, at the rate, while none comes: the camera is away, the window is paused, nothing plays.
 *
 * What fails ends the run: the stop flag becomes RUN_OVER, and virtual_camera_check() has the
 * error. Functions are for one thread unless they say otherwise. A `camera` that is NULL is none,
 * which is allowed everywhere.
 */
#ifndef LUMEQ_APP_VIRTUAL_CAMERA_H
#define LUMEQ_APP_VIRTUAL_CAMERA_H

#include <stdatomic.h>

#include "app/options/options.h"
#include "media/error.h"
#include "media/input/source.h"
#include "run/sink.h"

typedef struct VirtualCamera VirtualCamera;

/* Finds and opens the device that the options ask for; NULL where they do not. `stop` outlives it.
 * MEDIA_USAGE, MEDIA_OUTPUT. */
int virtual_camera_open(VirtualCamera **camera, const Options *options, atomic_int *stop,
                        MediaError *error);

/* Once the source is open, whose rate it takes. `watch`: not 0: where that is a camera, it is said
 * when that goes and comes back; the source must outlive the virtual camera then. MEDIA_USAGE: the
 * source is the same device. */
int virtual_camera_start(VirtualCamera *camera, const Source *source, int watch, MediaError *error);

/* Writes a picture. The first one sets size and format; another size is scaled. `captured_at`: when
 * a camera took it, in the clock of av_gettime_relative(), or AV_NOPTS_VALUE. Any thread. */
void virtual_camera_frame(VirtualCamera *camera, const AVFrame *frame, int64_t captured_at);

/* Shows the frames of a run once it is started: live ones at once, others in real time, the last
 * one until its end. Fails as virtual_camera_check(). */
Sink virtual_camera_sink(VirtualCamera *camera);

/* Whether the pictures from now on are mirrored. Any thread. */
void virtual_camera_mirror(VirtualCamera *camera, int mirrored);

/* 0, or the first thing that failed: MEDIA_OUTPUT. */
int virtual_camera_check(VirtualCamera *camera, MediaError *error);

/* Tells who asks for details how many pictures there were, and how old. NULL is allowed inside. */
void virtual_camera_close(VirtualCamera **camera);

#endif
