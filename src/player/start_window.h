/* The window before a video is chosen. It waits for a dropped file or a file from the file dialog.
 * All functions must be called on the main thread. */
#ifndef LUMEQ_PLAYER_START_WINDOW_H
#define LUMEQ_PLAYER_START_WINDOW_H

#include "player/player_options.h"
#include "player/screen.h"

typedef struct StartWindow StartWindow;

/* Opens the window. Copies the options and uses only the look, the size, host.detail() and
 * host.lost(). Returns 0, MEDIA_USAGE (no display) or MEDIA_INPUT; on error *window is NULL. */
int start_window_open(StartWindow **window, const PlayerOptions *options, MediaError *error);

/* Shows this line until the next one; "": no line. */
void start_window_say(StartWindow *window, const char *line);

/* Runs one turn of the window's loop; waits for at most 0.1 s. Returns 0, 1 when the user closed
 * the window, or MEDIA_USAGE. */
int start_window_turn(StartWindow *window, MediaError *error);

/* Replaces the list with the files chosen since the last call and returns their number. Without
 * such files or while a drop is incomplete, leaves the list unchanged and returns 0. */
int start_window_take(StartWindow *window, FileList *files);

/* The screen. A player takes it and leaves NULL; after that the StartWindow may only be closed. */
Screen **start_window_screen(StartWindow *window);

/* *window may be NULL. */
void start_window_close(StartWindow **window);

#endif
