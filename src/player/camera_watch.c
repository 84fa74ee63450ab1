#include "player/camera_watch.h"

#include <stdio.h>

/* The camera's pictures are damaged if no picture has come for DAMAGED_US, although at least
 * DAMAGED_PACKETS packets have arrived. */
#define DAMAGED_US 2000000
#define DAMAGED_PACKETS 3

void camera_watch(CameraWatch *w, Camera *camera, int came, int64_t now,
                  void (*note)(const char *line))
{
    if (!camera) { /* no camera, or a new input replaced it */
        *w = (CameraWatch){0};
        return;
    }
    const CameraStatus status = camera_status(camera);
    const int gone = status.state == CAMERA_GONE;
    if (came || !w->since || gone) {
        w->since = now;
        w->packets = status.frames;
        w->damaged = 0;
    }
    const int damaged =
        now - w->since > DAMAGED_US && status.frames - w->packets >= DAMAGED_PACKETS;
    if (damaged && !w->damaged)
        note("the camera's pictures are damaged and cannot be shown");
    w->lost = status.missed;
    w->damaged = damaged;
    w->gone = gone;
    if (status.unusable)
        snprintf(w->notice, sizeof(w->notice), "camera: %s, waiting", status.why);
    else if (gone)
        snprintf(w->notice, sizeof(w->notice), "camera gone, waiting");
    else
        snprintf(w->notice, sizeof(w->notice), "%s",
                 damaged ? "the camera's pictures are damaged" : "");
}
