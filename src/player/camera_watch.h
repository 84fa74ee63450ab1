/* How a camera that is shown is doing: whether it is there, and whether its pictures can be
 * decoded. */
#ifndef LUMEQ_PLAYER_CAMERA_WATCH_H
#define LUMEQ_PLAYER_CAMERA_WATCH_H

#include "media/camera/camera.h"

/* {0} is at the start. Changed by camera_watch() alone. */
typedef struct CameraWatch {
    int gone;         /* the camera is, and it was said */
    int damaged;      /* its pictures cannot be decoded, and it was said */
    int64_t lost;     /* frames, in the camera */
    char notice[256]; /* what stays in the window; "": nothing */

    int64_t since;   /* when the last picture came, or it was first looked for */
    int64_t packets; /* of the camera, up to then */
} CameraWatch;

/* Once a turn. `camera` NULL: the input is none. `came`: a picture has. `note` takes a line that
 * everybody should see. */
void camera_watch(CameraWatch *watch, Camera *camera, int came, int64_t now,
                  void (*note)(const char *line));

#endif
