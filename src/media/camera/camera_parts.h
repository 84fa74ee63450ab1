/* What the files of the camera share. */
#ifndef LUMEQ_MEDIA_CAMERA_PARTS_H
#define LUMEQ_MEDIA_CAMERA_PARTS_H

#include <pthread.h>

#include "media/camera/camera.h"

/* ---- devices (camera_device.c) ---- */

/* The device file that "2", a path or NULL (the first one) stands for, open for questions, and
 * described. Answers its descriptor, or MEDIA_INPUT with the sentence that fits. */
int camera_find(const char *wanted, CameraDevice *device, MediaError *error);

/* 1: it is there again, and `*now` says where: a camera of its name at its old path, or, looked for
 * `everywhere`, at another one where it is plugged in as it was, as there may be two of a kind. 0:
 * it is not; AVERROR: what is at its old path cannot be opened. */
int camera_find_again(const CameraDevice *before, int everywhere, CameraDevice *now);

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

/* ---- an open one (camera.c, camera_open.c) ---- */

#define CAMERA_FIRST_FRAME_US 5000000 /* some cameras take seconds to start */

/* What the driver's times are of. */
typedef enum CameraClock {
    CAMERA_CLOCK_UNKNOWN,
    CAMERA_CLOCK_NONE,
    CAMERA_CLOCK_MONOTONIC,
    CAMERA_CLOCK_WALL,
} CameraClock;

struct Camera {
    int (*is_stopped)(const void *opaque);
    const void *opaque;
    int wait;
    CameraSetting setting;
    CameraDevice place;      /* where it was opened first */
    char size[32], rate[32]; /* as libavdevice takes them; "": what the driver has */
    AVFormatContext *format; /* what the packets are, also while it is gone */
    AVFormatContext *device; /* NULL: it is gone */
    AVPacket *read;          /* from the device; its bytes lie in the driver's memory */
    AVPacket *first;         /* read by opening, or blank */
    int64_t interval;        /* between two frames, 0: unknown */
    int64_t expected;        /* of the next frame after the last, 0: unknown */
    int64_t heard;           /* when the last packet came, or it was opened */
    int64_t patience;        /* without a packet until it counts as gone */
    int64_t retry;           /* when to try to open it again */
    int64_t retry_after;     /* between two tries */
    unsigned tries;          /* since it is gone */
    CameraClock clock;       /* of this opening */
    int64_t origin, last;    /* capture times of the first and the last packet */

    pthread_mutex_t lock;
    CameraStatus status;
};

/* Opens the device at `path` with the settings that were chosen: 0 or AVERROR. */
int camera_open_device(Camera *camera, const char *path);

/* The next packet of the device: 0, AVERROR(EAGAIN) (none now), or what went wrong with it. */
int camera_read_device(Camera *camera, AVPacket *packet);

/* Waits until a packet may be there. */
void camera_nap(const Camera *camera);

/* Not 0: its pictures are not compressed. */
int camera_is_raw(const AVCodecParameters *par);

#endif
