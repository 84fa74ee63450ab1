/* Lists the modes of a camera and chooses one. */
#ifndef LUMEQ_MEDIA_CAMERA_MODES_H
#define LUMEQ_MEDIA_CAMERA_MODES_H

#include <stddef.h>
#include <stdint.h>

#include <libavutil/rational.h>

#include "media/camera/camera_find.h"
#include "media/error.h"

/* Requested settings of a camera; {0}: the best. */
typedef struct CameraOptions {
    const char *device; /* "/dev/video2", a link to it, or "2"; NULL: the first camera */
    /* picture format: "mjpeg", "gray12le", or a code such as "MJPG", "Y12"; NULL: the format with
     * the highest rate at the chosen size */
    const char *format;
    int width, height; /* 0: the largest size with `rate`, or with 30 fps if no rate is requested */
    AVRational rate;   /* frames per second; {0}: the highest */
    int wait;          /* not 0: wait for an unplugged camera; 0: end the input */
    /* not 0: the input ends (CAMERA_CHANGED) if the camera returns with another size, format or
     * rate; 0: wait until the camera has its old size and format again */
    int ends_changed;
    int awaits; /* not 0: also wait for the camera when opening it */
    /* not 0: read only the newest packet, unless the codec depends on earlier packets */
    int newest;
    void (*note)(const char *line); /* called when the camera is lost or returns, from any thread */
} CameraOptions;

#define CAMERA_RATES 16 /* maximum number of rates kept per mode, highest first */

/* A format in one size, or in a range of sizes up to max_width x max_height. */
typedef struct CameraMode {
    uint32_t fourcc;
    const char *format;   /* FFmpeg's name: "mjpeg", "yuyv422"; NULL: not supported */
    char description[40]; /* the driver's text: "Motion-JPEG" */
    int width, height;    /* 0: unknown */
    int max_width, max_height, step_width, step_height; /* 0: one size */
    AVRational rates[CAMERA_RATES];                     /* frames per second */
    int rate_count;                                     /* 0: unknown */
    int rate_range; /* not 0: any rate from rates[1] to rates[0] */
} CameraMode;

/* Lists the modes of a camera (named as in CameraOptions) in the driver's order and fills *device;
 * free *modes with camera_free(). Returns the count or MEDIA_INPUT. */
int camera_list_modes(const char *camera, CameraDevice *device, CameraMode **modes,
                      MediaError *error);

/* "1920x1080 at 30, 25, 15 fps", "16x16 to 1920x1080 at 1 to 60 fps". */
void camera_mode_text(const CameraMode *mode, char *text, size_t size);

/* Converts a mode's code to text such as "MJPG", or "Y16-BE" for big-endian samples. */
void camera_fourcc_text(uint32_t fourcc, char text[8]);

/* Returns advice about an unsupported format, or "". */
const char *camera_mode_advice(const CameraMode *mode);

/* ---- for this folder ---- */

/* Lists the modes of an open device; free *modes with camera_free(). Returns the count or
 * MEDIA_INPUT. */
int camera_ask_modes(int fd, CameraMode **modes, MediaError *error);

typedef struct CameraChoice {
    const CameraMode *mode;
    int width, height; /* 0: keep the driver's */
    AVRational rate;   /* {0}: keep the driver's */
} CameraChoice;

/* Chooses a mode. `camera` names the camera in messages. MEDIA_USAGE: no mode matches the request.
 * MEDIA_INPUT: no format is supported. */
int camera_choose(CameraChoice *choice, const CameraOptions *wanted, const CameraMode *modes,
                  int count, const char *camera, MediaError *error);

#endif
