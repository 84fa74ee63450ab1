/* Replaces camera_pipewire.c in builds without PipeWire. */
#include "media/camera/camera_output_kind.h"

static int pipewire_open(void **self, const char *device, MediaError *error)
{
    (void)self;
    (void)device;
    return media_fail(error, MEDIA_USAGE, "this build of lumeq lacks PipeWire");
}

static void pipewire_close(void **self)
{
    (void)self;
}

const CameraOutputKind camera_pipewire = {.open = pipewire_open, .close = pipewire_close};
