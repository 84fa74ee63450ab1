#include "app/camera_list.h"

#include <string.h>

#include "app/headless.h"
#include "app/terminal.h"
#include "media/camera/camera.h"

static int failed(const MediaError *error)
{
    say(SAY_ERRORS, "%s", error->text);
    return -error->fault;
}

int camera_list_print(void)
{
    MediaError error = {0};
    CameraDevice *devices = NULL;
    const int count = camera_list_devices(&devices, &error);
    if (count < 0)
        return failed(&error);
    for (int i = 0; i < count; i++) {
        const CameraDevice *d = &devices[i];
        say_answer("%s: %s%s%s", d->path, *d->name ? d->name : "?", *d->bus ? ", " : "", d->bus);
        if (*d->problem)
            say_answer("   %s", d->problem);
    }
    camera_free(&devices);
    if (!count)
        say(SAY_NORMAL, "no camera was found");
    return EXIT_DONE;
}

static void print_mode(const CameraMode *mode, const CameraMode *before)
{
    char code[5], text[256];
    if (!before || before->fourcc != mode->fourcc) {
        camera_fourcc_text(mode->fourcc, code);
        if (mode->format)
            say_answer("%s (%s, %s)", mode->format, code, mode->description);
        else
            say_answer("%s (%s): cannot be read", code, mode->description);
    }
    camera_mode_text(mode, text, sizeof(text));
    say_answer("   %s", text);
}

int camera_list_print_formats(const char *camera)
{
    MediaError error = {0};
    CameraDevice device, *devices = NULL;
    CameraMode *modes = NULL;
    if (!*camera && camera_list_devices(&devices, &error) <= 0)
        return camera_list_print(); /* nothing, and says so */
    camera_free(&devices);
    const int count = camera_list_modes(*camera ? camera : NULL, &device, &modes, &error);
    if (count < 0)
        return failed(&error);
    say_answer("%s%s%s", device.path, *device.name ? ", " : "", device.name);
    for (int i = 0; i < count; i++)
        print_mode(&modes[i], i ? &modes[i - 1] : NULL);
    camera_free(&modes);
    return EXIT_DONE;
}
