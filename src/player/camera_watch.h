/* Watches whether the camera is connected and its pictures can be decoded. */
#ifndef LUMEQ_PLAYER_CAMERA_WATCH_H
#define LUMEQ_PLAYER_CAMERA_WATCH_H

#include "media/camera/camera.h"

/* Starts as {0}; changed only by camera_watch(). */
typedef struct CameraWatch {
    int gone;         /* the camera is disconnected */
    int damaged;      /* its pictures cannot be decoded, and this was reported */
    int64_t lost;     /* frames lost in the camera */
    char notice[256]; /* notice that stays in the window; "": none */

    int64_t since;   /* when the wait for the next picture began */
    int64_t packets; /* number of camera packets that arrived before `since` */
} CameraWatch;

/* Call once in each turn of the player's loop. `camera` may be NULL. `came`: a new picture arrived.
 * `note` prints a line for the user. */
void camera_watch(CameraWatch *watch, Camera *camera, int came, int64_t now,
                  void (*note)(const char *line));

#endif
