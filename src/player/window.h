/* An SDL window with an OpenGL 3.3 core context. */
#ifndef LUMEQ_PLAYER_WINDOW_H
#define LUMEQ_PLAYER_WINDOW_H

#include <stdbool.h>
#include <stddef.h>

#include "media/error.h"

/* Call all functions on the thread that opened the window (SDL requires the main thread), unless
 * marked thread-safe. The window's OpenGL context is current there. */
typedef struct Window Window;

/* Silences messages that ALSA and Wayland print themselves. Call it before SDL starts.
 * SDL_GetError() still returns their errors. */
void window_silence_libraries(void);

/* Opens a hidden, resizable window and starts SDL's video subsystem without its signal handlers.
 * Swaps wait for vsync if the driver can. Returns a negative value with an error if there is no
 * display, or OpenGL is older than 3.3. */
int window_open(Window **window, MediaError *error);

/* `lost` is called when the display is lost, at any time and possibly on another thread. It must
 * end the program without calling SDL or OpenGL. */
void window_set_lost(Window *window, void (*lost)(void *opaque), void *opaque);

void window_show(Window *window);

/* Ends SDL's wait for events. Thread-safe. `unused` makes it a callback. */
void window_wake(void *unused);

/* Call it before quitting. `by_itself`: SDL_QUIT came without SDL_WINDOWEVENT_CLOSE. On
 * Wayland, this means that the display is lost, so `lost` is called. */
void window_quit(const Window *window, int by_itself);

/* The maximum size of a new window: 90 % of the usable desktop; unlimited if that is unknown. */
void window_max_size(const Window *window, int *width, int *height);

/* Resizes and centres the window. No effect in fullscreen. */
void window_resize(Window *window, int width, int height);

/* The window's size in desktop units; 0 x 0 if fullscreen or maximized. */
void window_own_size(const Window *window, int *width, int *height);

/* The drawable size in pixels, the unit of all drawing. */
void window_size(const Window *window, int *width, int *height);
/* Pixels per unit of SDL's events and window sizes, at least 1. */
double window_density(const Window *window);

/* Shows the drawn frame; waits for vsync. */
void window_swap(Window *window);

/* `title`: UTF-8. */
void window_set_title(Window *window, const char *title);

/* Returns 0, or a negative value with an error. */
int window_set_fullscreen(Window *window, bool fullscreen, MediaError *error);
bool window_is_fullscreen(const Window *window);
void window_show_cursor(Window *window, bool shown);

/* Nonzero: blocks the screensaver and standby while the window is open. */
void window_keep_awake(Window *window, int awake);

void window_close(Window **window);

/* ---- desktop check ---- */

typedef enum DesktopState {
    DESKTOP_FINE,
    DESKTOP_NO_DISPLAY,
    DESKTOP_NO_OPENGL, /* OpenGL is missing, older than 3.3, or incomplete */
} DesktopState;

typedef struct DesktopDisplay {
    DesktopState state;
    char why[512];   /* one sentence; "" if DESKTOP_FINE */
    char driver[32]; /* SDL's name, such as "x11" or "wayland"; "" if no window opens */
    char vendor[128], renderer[128], version[128]; /* from OpenGL; "" without it */
    int software;                                  /* nonzero: OpenGL runs on the CPU */
} DesktopDisplay;

void desktop_check_display(DesktopDisplay *display);

#define DESKTOP_SOUNDS 16

typedef struct DesktopSound {
    char driver[32]; /* SDL's name, such as "pulseaudio"; "" on failure */
    char why[256];   /* on failure: SDL's error */
    int count;       /* number of devices, may exceed DESKTOP_SOUNDS */
    char names[DESKTOP_SOUNDS][128];
} DesktopSound;

void desktop_check_sound(DesktopSound *sound);

/* The version of SDL in use, such as "2.26.5". */
void desktop_sdl_version(char version[32]);

#endif
