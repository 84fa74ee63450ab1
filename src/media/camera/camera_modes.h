/* What a camera offers, and which of its modes is the one to take. */
#ifndef LUMEQ_MEDIA_CAMERA_MODES_H
#define LUMEQ_MEDIA_CAMERA_MODES_H

#include <stddef.h>
#include <stdint.h>

#include <libavutil/rational.h>

#include "media/camera/camera_find.h"
#include "media/error.h"

/* What is wanted of a camera; {0} is its best. */
typedef struct CameraOptions {
    const char *device; /* "/dev/video2", a link to one, or "2"; NULL: the first one */
    const char *format; /* of its pictures: "mjpeg", "yuyv422", or a code such as "MJPG"; NULL: the
                           one that reaches the size at the highest rate */
    int width, height;  /* 0: the largest that still gives the rate, or 30 where none is wanted */
    AVRational rate;    /* frames a second; {0}: the highest */
    int wait;           /* not 0: when the camera goes, reading waits until it is back;
                           0: that is the end of the input */
    int newest;         /* not 0: of packets that wait, the newest is read, and the others are left
                           out, but for codecs whose packets need those before */
} CameraOptions;

#define CAMERA_RATES 16 /* kept of a mode, the highest first */

/* A format in one size, or in a range of them up to max_width x max_height. */
typedef struct CameraMode {
    uint32_t fourcc;
    const char *format;   /* FFmpeg's name: "mjpeg", "yuyv422"; NULL: FFmpeg cannot read it */
    char description[40]; /* the driver's: "Motion-JPEG" */
    int width, height;    /* 0: the driver does not say */
    int max_width, max_height, step_width, step_height; /* 0 but for a range */
    AVRational rates[CAMERA_RATES];                     /* frames a second */
    int rate_count;                                     /* 0: the driver does not say */
    int rate_range; /* not 0: anything from rates[1] to rates[0] */
} CameraMode;

/* What the camera (as in CameraOptions) offers, in its order; *modes to be freed with
 * camera_free(), *device filled. Answers how many. MEDIA_USAGE, MEDIA_INPUT. */
int camera_list_modes(const char *camera, CameraDevice *device, CameraMode **modes,
                      MediaError *error);

/* "1920x1080 at 30, 25, 15 fps", "16x16 to 1920x1080 at any rate up to 60 fps". */
void camera_mode_text(const CameraMode *mode, char *text, size_t size);

/* "MJPG" of a mode's code. */
void camera_fourcc_text(uint32_t fourcc, char text[5]);

/* ---- inside ---- */

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
