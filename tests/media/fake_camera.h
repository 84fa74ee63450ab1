/* Control of the fake camera, which must be preloaded; see tests/camera/fake_camera.c. */
#ifndef LUMEQ_TESTS_FAKE_CAMERA_H
#define LUMEQ_TESTS_FAKE_CAMERA_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "media/input/source.h"

static atomic_int fake_stop;

/* Sets the camera's state. */
static inline void fake_camera_is(const char *words)
{
    const char *path = getenv("FAKE_CAMERA_CONTROL");
    char next[4096];
    snprintf(next, sizeof(next), "%s.next", path);
    FILE *file = fopen(next, "w");
    if (!file || fputs(words, file) < 0 || fclose(file) != 0 || rename(next, path) != 0)
        CHECK(0, "cannot write %s", next);
}

static inline void fake_camera_clean_up(void)
{
    unlink(getenv("FAKE_CAMERA_CONTROL"));
}

/* Clears the camera's state and sets its modes; NULL: the default modes. */
static inline void fake_camera_has(const char *modes)
{
    if (modes)
        setenv("FAKE_CAMERA_MODES", modes, 1);
    else
        unsetenv("FAKE_CAMERA_MODES");
    fake_camera_is("");
}

/* Returns 0 and skips the test if the fake camera is not preloaded. */
static inline int fake_camera_ready(void)
{
    static char control[64];
    CameraDevice *devices;
    MediaError error = {0};
    if (!control[0]) {
        snprintf(control, sizeof(control), "/tmp/fake-camera-%d", (int)getpid());
        setenv("FAKE_CAMERA_CONTROL", control, 1);
        atexit(fake_camera_clean_up);
    }
    fake_camera_has(NULL);
    const int count = camera_list_devices(&devices, &error);
    const int ready = count > 0 && strcmp(devices[0].name, "Fake Webcam") == 0;
    camera_free(&devices);
    if (!ready)
        check_skip("the fake camera is not preloaded");
    return ready;
}

static inline int fake_camera_open(Source **source, const CameraOptions *wanted, MediaError *error)
{
    const SourceOptions options = {
        .camera = wanted,
        .max_pixels = 8192 * 8192,
        .stop = &fake_stop,
    };
    *error = (MediaError){0};
    return source_open(source, &options, error);
}

#endif
