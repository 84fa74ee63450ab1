#include "player/camera_watch.h"

#include <stdio.h>
#include <string.h>

/* If this many packets but no picture arrive in this time, the packets are damaged. */
#define DAMAGED_US 2000000
#define DAMAGED_PACKETS 3

static void follow_pictures(CameraWatch *w, const CameraStatus *status, int came, int64_t now,
                            void (*note)(const char *line))
{
    if (came || !w->since || status->state == CAMERA_GONE) {
        w->since = now;
        w->packets = status->frames;
        w->damaged = 0;
    }
    const int damaged =
        now - w->since > DAMAGED_US && status->frames - w->packets >= DAMAGED_PACKETS;
    if (damaged && !w->damaged)
        note("the camera's pictures are damaged: none can be shown");
    w->damaged = damaged;
}

static void follow_going(CameraWatch *w, const CameraStatus *status, void (*note)(const char *line))
{
    char line[256];
    const int gone = status->state == CAMERA_GONE;
    if (gone == w->gone)
        return;
    w->gone = gone;
    snprintf(line, sizeof(line),
             gone ? "the camera is gone: %s; waiting for it" : "the camera is back", status->why);
    note(line);
}

/* Returns nonzero if the notice changed. */
static int set_notice(CameraWatch *w, const char *line)
{
    if (strcmp(line, w->notice) == 0)
        return 0;
    snprintf(w->notice, sizeof(w->notice), "%s", line);
    return 1;
}

void camera_watch(CameraWatch *w, Camera *camera, int came, int64_t now,
                  void (*note)(const char *line))
{
    char line[256];
    if (!camera) { /* a new input replaced the camera */
        *w = (CameraWatch){0};
        return;
    }
    const CameraStatus status = camera_status(camera);
    w->lost = status.missed;
    follow_pictures(w, &status, came, now, note);
    follow_going(w, &status, note);
    snprintf(line, sizeof(line), "camera: %s, waiting", status.why);
    if (status.unusable && set_notice(w, line))
        note(line);
    else if (!status.unusable)
        set_notice(w, w->gone      ? "camera gone, waiting"
                      : w->damaged ? "the camera's pictures are damaged"
                                   : "");
}
