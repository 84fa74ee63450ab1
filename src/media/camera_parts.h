/* What the files of the camera share. */
#ifndef LUMEQ_MEDIA_CAMERA_PARTS_H
#define LUMEQ_MEDIA_CAMERA_PARTS_H

#include "media/camera.h"

/* ---- devices (camera_device.c) ---- */

/* The device file that "2", a path or NULL (the first one) stands for, open for questions, and
 * described. Answers its descriptor, or MEDIA_INPUT with the sentence that fits. */
int camera_find(const char *wanted, CameraDevice *device, MediaError *error);

/* Not 0: `device` has become where this camera is now, at its old path or at another one. */
int camera_find_again(const char *path, const char *name, CameraDevice *device);

/* The sentence for a system's error on it. `name` may be "". MEDIA_INPUT. */
int camera_fail(MediaError *error, const char *path, const char *name, int system_error);

/* ioctl() that is repeated when a signal interrupts it. */
int camera_ioctl(int fd, unsigned long request, void *argument);

/* ---- what it offers (camera_modes.c) ---- */

/* *modes to be freed with camera_free(); answers how many, or MEDIA_INPUT. */
int camera_ask_modes(int fd, CameraMode **modes, MediaError *error);

/* ---- what is taken of that (camera_choice.c) ---- */

typedef struct CameraChoice {
    const CameraMode *mode;
    int width, height; /* 0: what the driver has */
    AVRational rate;   /* {0}: what the driver has */
} CameraChoice;

/* `camera` is its name, for the error. MEDIA_USAGE: what is wanted is not offered. MEDIA_INPUT:
 * nothing of what is offered can be read. */
int camera_choose(CameraChoice *choice, const CameraOptions *wanted, const CameraMode *modes,
                  int count, const char *camera, MediaError *error);

#endif
