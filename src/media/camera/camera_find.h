/* Finds cameras and virtual cameras among the device files, and reports unusable ones. */
#ifndef LUMEQ_MEDIA_CAMERA_FIND_H
#define LUMEQ_MEDIA_CAMERA_FIND_H

#include <stdint.h>

#include "media/error.h"

typedef struct CameraDevice {
    char path[256];    /* "/dev/video0" */
    char name[64];     /* the driver's name for the camera; "" if unknown */
    char driver[16];   /* driver name: "uvcvideo" */
    char bus[64];      /* connection: "usb-0000:00:14.0-1" */
    char problem[256]; /* a sentence that says why it cannot be used now, or "" */
} CameraDevice;

/* Lists capture devices in the order of their numbers; free *devices with camera_free(). Returns
 * the count, which may be 0, or MEDIA_INPUT (out of memory). */
int camera_list_devices(CameraDevice **devices, MediaError *error);

/* Frees a list and sets it to NULL. */
void camera_free(void *list);

/* ---- for this folder ---- */

/* Opens and describes the camera with this number ("2") or path; NULL: the first camera. Returns a
 * file descriptor, or MEDIA_INPUT. */
int camera_find(const char *wanted, CameraDevice *device, MediaError *error);

/* Looks for a camera that was unplugged. Returns 1 and fills *now if a camera of the same name is
 * at the old path or, with `everywhere`, at another path on the same `bus`. Returns 0 if no such
 * camera is found; AVERROR if the old path cannot be opened. */
int camera_find_again(const CameraDevice *before, int everywhere, CameraDevice *now);

/* Reports a system error (an errno) of a camera. `name` may be "". Returns MEDIA_INPUT. */
int camera_fail(MediaError *error, const char *path, const char *name, int system_error);

/* Like camera_fail(), for a device that the message calls `what`. Returns `fault`. */
int camera_device_fail(MediaError *error, int fault, const char *path, const char *what,
                       int system_error);

/* "'/dev/video0' (HD Webcam)"; `name` may be "". Returns `text`. */
const char *camera_device_text(const char *path, const char *name, char text[400]);

/* Converts "2" to its device path, or copies a path. Returns 1 for a number. */
int camera_device_path(const char *wanted, char path[256]);

/* Finds the next device file that exists, from number *next on. Returns 1 and its path, or 0. */
int camera_next_device(int *next, char path[32]);

/* Fills in name, driver and bus. Returns the V4L2_CAP_* flags of this device file; 0 if the device
 * does not answer. */
uint32_t camera_ask_device(int fd, CameraDevice *device);

#endif
