/* Which cameras this machine has, finding one among the device files, and the sentences for one
 * that cannot be used. */
#ifndef LUMEQ_MEDIA_CAMERA_FIND_H
#define LUMEQ_MEDIA_CAMERA_FIND_H

#include "media/error.h"

typedef struct CameraDevice {
    char path[256];    /* "/dev/video0" */
    char name[64];     /* as the driver calls it; "" where it could not be asked */
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

#endif
