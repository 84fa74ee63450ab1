/* What a camera offers, and which of its modes is the one to take. */
#ifndef LUMEQ_MEDIA_CAMERA_MODES_H
#define LUMEQ_MEDIA_CAMERA_MODES_H

#include "media/camera/camera.h"

/* Of an open device: *modes to be freed with camera_free(); answers how many, or MEDIA_INPUT. */
int camera_ask_modes(int fd, CameraMode **modes, MediaError *error);

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
