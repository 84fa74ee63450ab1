/* Checks display and sound for --doctor: opens a hidden window and closes it. Broken drivers may
 * hang or crash in it, so call it in a separate process. */
#ifndef LUMEQ_PLAYER_DESKTOP_CHECK_H
#define LUMEQ_PLAYER_DESKTOP_CHECK_H

#include <stddef.h>

typedef enum DesktopState {
    DESKTOP_FINE,
    DESKTOP_NO_DISPLAY,
    DESKTOP_NO_OPENGL, /* none, older than 3.3, or incomplete */
} DesktopState;

typedef struct DesktopDisplay {
    DesktopState state;
    char why[512];   /* one sentence if the state is not DESKTOP_FINE */
    char driver[32]; /* SDL's name: "x11", "wayland"; "" without a display */
    char vendor[128], renderer[128], version[128]; /* from OpenGL; "" without it */
    int software;                                  /* nonzero: OpenGL runs on the CPU */
} DesktopDisplay;

void desktop_check_display(DesktopDisplay *display);

#define DESKTOP_SOUNDS 16

typedef struct DesktopSound {
    char driver[32]; /* SDL's name: "pulseaudio"; "" on failure, see `why` */
    char why[256];
    int count; /* number of devices; only the first DESKTOP_SOUNDS have names here */
    char names[DESKTOP_SOUNDS][128];
} DesktopSound;

void desktop_check_sound(DesktopSound *sound);

/* The version of SDL in use: "2.26.5". */
void desktop_sdl_version(char version[32]);

#endif
