/*
 * The virtual camera of a run. The calling thread writes each equalized picture at once. Another
 * thread repeats the last picture at the frame rate if no new picture comes, as in a paused window.
 *
 * A failure ends the run: the stop flag becomes RUN_OVER, and virtual_camera_check() returns the
 * error. Not thread-safe unless noted. A virtual camera may be NULL, except in its sink and in
 * virtual_camera_is_unwatched().
 */
#ifndef LUMEQ_APP_VIRTUAL_CAMERA_H
#define LUMEQ_APP_VIRTUAL_CAMERA_H

#include <stdatomic.h>

#include "app/options/options.h"
#include "media/error.h"
#include "media/input/source.h"
#include "run/run.h"

/* Delays frames of a file to real time. Initialize with {0}. */
typedef struct Pace {
    int64_t begin; /* clock_now() at time 0 of the video */
    int begun;     /* true: `begin` is set */
} Pace;

/* Waits until the time of a frame, or until `stop` is no longer RUN_ON. Late frames do not wait. */
void pace_wait(Pace *pace, int64_t time_us, const atomic_int *stop);

typedef struct VirtualCamera VirtualCamera;

/* Opens the device of --virtual-camera, or sets NULL without that option. `stop` must outlive it.
 * MEDIA_USAGE, MEDIA_OUTPUT. */
int virtual_camera_open(VirtualCamera **camera, const Options *options, atomic_int *stop,
                        MediaError *error);

/* Starts to repeat pictures at the source's frame rate. `watch`: if the source is a camera, also
 * reports when it disappears or returns. With `watch` or virtual_camera_sink(), the source must
 * outlive the virtual camera. MEDIA_USAGE: the source is the same device; MEDIA_INPUT. */
int virtual_camera_start(VirtualCamera *camera, const Source *source, int watch, MediaError *error);

/* Writes a picture. The first picture sets size and format; later pictures are scaled to this size.
 * `captured_at`: by the clock of av_gettime_relative(), or AV_NOPTS_VALUE. Thread-safe. */
void virtual_camera_frame(VirtualCamera *camera, const AVFrame *frame, int64_t captured_at);

/* A sink that shows the frames of a run: live frames at once, frames of a file in real time. Fails
 * like virtual_camera_check(). */
Sink virtual_camera_sink(VirtualCamera *camera);

/* True if nobody watches and the last new picture is less than a second old. Thread-safe. */
int virtual_camera_is_unwatched(void *camera);

/* Sets whether later pictures are mirrored. Thread-safe. */
void virtual_camera_mirror(VirtualCamera *camera, int mirrored);

/* Returns 0 or the first failure: MEDIA_OUTPUT. */
int virtual_camera_check(VirtualCamera *camera, MediaError *error);

/* Closes the device; logs counts and latency with -v. */
void virtual_camera_close(VirtualCamera **camera);

#endif
