/* A window of SDL with an OpenGL 3.3 core context. */
#ifndef LUMEQ_PLAYER_WINDOW_H
#define LUMEQ_PLAYER_WINDOW_H

#include <stddef.h>

/* All functions are for the thread that opened it, which SDL wants to be the main thread; its
 * context is current there. */
typedef struct Window Window;

typedef struct WindowOptions {
    const char *title;
    int width, height; /* wanted size of what is inside its frame; 0: a usual one */
    int fullscreen;    /* not 0: covers the screen from the start */

    /* The display is gone: called in the middle of any function but window_open(), and while events
     * are taken. It has to end the program, without another call to SDL or OpenGL. */
    void (*lost)(void *opaque);
    void *opaque;
} WindowOptions;

/*
 * Opens a window that is not shown yet. It is made smaller, in proportion, where the wanted size
 * exceeds 90 % of the desktop's usable part. It can be resized, and swaps with the screen's refresh
 * where the driver can. SDL's video part is started for it, without signal handlers of its own.
 * 0, or -1 with a sentence in `why`: no display, or an OpenGL that is older than 3.3.
 */
int window_open(Window **window, const WindowOptions *options, char *why, size_t size);

void window_show(Window *window);

/* SDL_QUIT has come, by itself (not 0) or after SDL_WINDOWEVENT_CLOSE: with the display gone it
 * calls options.lost. */
void window_quit(const Window *window, int by_itself);

/* The size that a new window has at most. */
void window_most(const Window *window, int *width, int *height);

/* Another size for a window that the user has not had a hand in yet, fitted and centred as a new
 * one is. Fullscreen stays. */
void window_resize(Window *window, int width, int height);

/* Another size for one that is in use: its upper left corner stays where it is, as far as the
 * desktop has room. Answers 0 where the window fills the screen or is maximized, or the desktop
 * has no room for it: it then stays as it is. */
int window_change(Window *window, int width, int height);

/* Its size in the units of the desktop; 0 and 0 where it fills the screen or is maximized. */
void window_own_size(const Window *window, int *width, int *height);

/* In pixels of the screen, which all drawing is in. */
void window_size(const Window *window, int *width, int *height);

/* Pixels for each of the units that SDL's events and window sizes are in, 1 or more. */
double window_density(const Window *window);

/* A position from a mouse event, in pixels. */
void window_to_pixels(const Window *window, int x, int y, int *pixel_x, int *pixel_y);

/* Shows what was drawn; waits for the screen's refresh. */
void window_swap(Window *window);

/* UTF-8. */
void window_set_title(Window *window, const char *title);

/* 0, or -1 with SDL's text in `why`; the window is then as it was. */
int window_set_fullscreen(Window *window, int fullscreen, char *why, size_t size);
int window_is_fullscreen(const Window *window);

void window_show_cursor(Window *window, int shown);

/* Not 0: neither screensaver nor standby, for as long as the window is open. */
void window_keep_awake(Window *window, int awake);

void window_close(Window **window);

#endif
