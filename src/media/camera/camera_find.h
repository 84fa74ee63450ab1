/* Which cameras this machine has, finding one among the device files, and the sentences for one
 * that cannot be used. Virtual cameras, which are written to, are found by the same means. */
#ifndef LUMEQ_MEDIA_CAMERA_FIND_H
#define LUMEQ_MEDIA_CAMERA_FIND_H

#include <stdint.h>

#include "media/error.h"

typedef struct CameraDevice {
    char path[256];    /* "/dev/video0" */
    char name[64];     /* as the driver calls it; "" where it could not be asked */
    char driver[16];   /* its name: "uvcvideo" */
    char bus[64];      /* where it is plugged in: "usb-0000:00:14.0-1" */
    char problem[256]; /* why it cannot be used now, in a sentence, or "" */
} CameraDevice;

/* The capture devices, by number, *devices to be freed with camera_free(). Answers how many; 0 is
 * no error. MEDIA_USAGE (no support), MEDIA_INPUT. */
int camera_list_devices(CameraDevice **devices, MediaError *error);

/* Frees a list and makes it NULL. */
void camera_free(void *list);

/* ---- inside ---- */

/* The device file that "2", a path or NULL (the first one) stands for, open for questions, and
 * described. Answers its descriptor, or MEDIA_INPUT with the sentence that fits. */
int camera_find(const char *wanted, CameraDevice *device, MediaError *error);

/* 1: it is there again, and `*now` says where: a camera of its name at its old path, or, looked for
 * `everywhere`, at another one where it is plugged in as it was, as there may be two of a kind. 0:
 * it is not; AVERROR: what is at its old path cannot be opened. */
int camera_find_again(const CameraDevice *before, int everywhere, CameraDevice *now);

/* The sentence for a system's error on it. `name` may be "". MEDIA_INPUT. */
int camera_fail(MediaError *error, const char *path, const char *name, int system_error);

/* The same of a device that is called `what`, whoever's `fault` it is. */
int camera_device_fail(MediaError *error, int fault, const char *path, const char *what,
                       int system_error);

/* The path that "2" or a path stands for. Not 0: it was a number. */
int camera_device_path(const char *wanted, char path[256]);

/* The next device file that is there, from number *next on: 1 and its path, or 0. */
int camera_next_device(int *next, char path[32]);

/* Fills in all but path and problem. What the device itself, and not only its driver, can do, as
 * V4L2_CAP_*; 0: it does not answer. */
uint32_t camera_ask_device(int fd, CameraDevice *device);

#endif
