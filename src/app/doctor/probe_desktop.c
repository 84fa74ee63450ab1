/* The display and the sound of the window. */
#include <stdlib.h>
#include <string.h>

#include "app/doctor/doctor_section.h"
#include "player/desktop_check.h"

static void say_no_display(Section *s)
{
    const char *x11 = getenv("DISPLAY"), *wayland = getenv("WAYLAND_DISPLAY");
    if ((x11 && *x11) || (wayland && *wayland)) {
        section_set(s, SECTION_MEND, "no-display", "%s: %s cannot be opened",
                    wayland && *wayland ? "WAYLAND_DISPLAY" : "DISPLAY",
                    wayland && *wayland ? wayland : x11);
        section_mend(s, "is it running, and may you use it (xhost, XAUTHORITY)?");
        return;
    }
    section_set(s, SECTION_NONE, "no-display",
                "there is no display; files are written without one");
    section_mend(s, "start it in a desktop session, or by ssh -X");
}

void probe_display(Section *s)
{
    DesktopDisplay display;
    desktop_check_display(&display);
    section_text(s, "driver", display.driver);
    section_text(s, "vendor", display.vendor);
    section_text(s, "renderer", display.renderer);
    section_text(s, "version", display.version);
    section_flag(s, "software", display.software);
    if (display.state == DESKTOP_NO_DISPLAY) {
        say_no_display(s);
    } else if (display.state == DESKTOP_NO_OPENGL) {
        section_set(s, SECTION_MEND, "no-opengl", "%s", display.why);
        section_mend(s, "sudo apt install libgl1-mesa-dri, or the driver of the GPU's maker");
    } else {
        section_set(s, SECTION_FINE, "ok", "OpenGL %s on %s", display.version, display.driver);
        section_line(s, "%s, %s", display.renderer, display.vendor);
        if (display.software)
            section_mend(s, "the CPU draws, which is enough for 1080p: install the GPU's driver "
                            "for more");
    }
}

void probe_sound(Section *s)
{
    DesktopSound sound;
    desktop_check_sound(&sound);
    const int made_up = strcmp(sound.driver, "dummy") == 0 || strcmp(sound.driver, "disk") == 0;
    section_text(s, "driver", sound.driver);
    section_begin(s, "devices", '[');
    for (int i = 0; i < sound.count && i < DESKTOP_SOUNDS && !made_up; i++)
        section_text(s, NULL, sound.names[i]);
    section_end(s, ']');
    if (!made_up && sound.count > 0) {
        section_set(s, SECTION_FINE, "ok", "%s, by %s", sound.names[0], sound.driver);
        for (int i = 1; i < sound.count && i < DESKTOP_SOUNDS; i++)
            section_line(s, "%s", sound.names[i]);
        return;
    }
    section_set(s, SECTION_NONE, "none", "no sound device is here; the window plays without");
    section_mend(s, "start PipeWire or PulseAudio, or plug in a sound device; a container is given "
                    "it with --device /dev/snd");
}
