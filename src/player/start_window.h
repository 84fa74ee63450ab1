/* The window before a video is chosen. The user drops files or chooses them in a file dialog. All
 * functions must be called on the main thread. */
#ifndef LUMEQ_PLAYER_START_WINDOW_H
#define LUMEQ_PLAYER_START_WINDOW_H

#include "player/player_options.h"
#include "player/screen.h"

typedef struct StartWindow StartWindow;

/* Opens the window. Copies the options, but uses only the look, the size, host.detail() and
 * host.lost(). Returns 0, MEDIA_USAGE (no display) or MEDIA_INPUT; on error *window is NULL. */
int start_window_open(StartWindow **window, const PlayerOptions *options, MediaError *error);

/* Shows this line until the next call; "": no line. */
void start_window_say(StartWindow *window, const char *line);

/* Runs one turn of the window's loop; waits for at most 0.1 s. Returns 0, 1 when the user closed
 * the window, or MEDIA_USAGE. */
int start_window_turn(StartWindow *window, MediaError *error);

/* Replaces the list with the files chosen since the last call and returns their number. Returns 0
 * and leaves the list unchanged if no file was chosen, or while files are still being dropped. */
int start_window_take(StartWindow *window, FileList *files);

/* The address of the window's screen. A player takes the screen and stores NULL there. After that,
 * call only start_window_close(). */
Screen **start_window_screen(StartWindow *window);

/* *window may be NULL. */
void start_window_close(StartWindow **window);

#endif
