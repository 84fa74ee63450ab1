/* What the window and the sound would get of this machine: a hidden window is opened, and closed
 * again. Broken drivers hang or crash in it: a process of its own is the place for that. */
#ifndef LUMEQ_PLAYER_DESKTOP_CHECK_H
#define LUMEQ_PLAYER_DESKTOP_CHECK_H

#include <stddef.h>

typedef enum DesktopState {
    DESKTOP_FINE,
    DESKTOP_NO_DISPLAY,
    DESKTOP_NO_OPENGL, /* or one older than 3.3, or one that lacks a function */
} DesktopState;

typedef struct DesktopDisplay {
    DesktopState state;
    char why[512];   /* a sentence, where it is not fine */
    char driver[32]; /* SDL's: "x11", "wayland"; "" without a display */
    char vendor[128], renderer[128], version[128]; /* OpenGL's; "" where there is none */
    int software;                                  /* not 0: it draws by the CPU */
} DesktopDisplay;

void desktop_check_display(DesktopDisplay *display);

#define DESKTOP_SOUNDS 16

typedef struct DesktopSound {
    char driver[32]; /* SDL's: "pulseaudio"; "" where there is none, and `why` says so */
    char why[256];
    int count; /* devices; those behind the first ones have no name here */
    char names[DESKTOP_SOUNDS][128];
} DesktopSound;

void desktop_check_sound(DesktopSound *sound);

/* Of SDL, that is running: "2.26.5". */
void desktop_sdl_version(char version[32]);

#endif
