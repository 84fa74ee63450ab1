/* The functions that each kind of virtual camera implements for camera_output.c. */
#ifndef LUMEQ_MEDIA_CAMERA_OUTPUT_KIND_H
#define LUMEQ_MEDIA_CAMERA_OUTPUT_KIND_H

#include <stddef.h>
#include <stdint.h>

#include <libavutil/frame.h>

#include "media/error.h"

/* Pictures without a matrix tag are BT.709 from this height on, else BT.601. */
#define CAMERA_OUTPUT_HD_LINES 720

typedef struct CameraOutputKind {
    /* *self must be closed even after a failure. MEDIA_USAGE: no such virtual camera. */
    int (*open)(void **self, const char *device, MediaError *error);
    /* The device's path, or NULL. */
    const char *(*path)(const void *self);
    /* Offers pictures of this size and rate ({0}: unknown); `input` names their origin. */
    int (*set)(void *self, const AVFrame *first, AVRational rate, const char *input,
               MediaError *error);
    void (*text)(const void *self, char *text, size_t size);
    /* The format and size to send now. AV_PIX_FMT_NONE: no program watches. */
    enum AVPixelFormat (*wanted)(void *self, int *width, int *height);
    /* Sends a picture in the wanted format, at least of the wanted size. `time`: monotonic, us. */
    int (*send)(void *self, const AVFrame *picture, int64_t time, MediaError *error);
    /* See camera_output_tend(); may be NULL. */
    void (*tend)(void *self, int64_t now, void (*note)(const char *line));
    void (*close)(void **self);
} CameraOutputKind;

extern const CameraOutputKind camera_loopback, camera_pipewire;

#endif
