/* The window before a video is chosen: it waits for a dropped file or one of the file dialog.
 *
 * All functions must be called on the thread that SDL allows windows on. */
#ifndef LUMEQ_PLAYER_START_WINDOW_H
#define LUMEQ_PLAYER_START_WINDOW_H

#include "player/player_options.h"
#include "player/screen.h"

typedef struct StartWindow StartWindow;

/* Opens the window. Uses the look, size and host's note, detail and lost of the options, which are
 * copied. Returns 0, MEDIA_USAGE (no display) or MEDIA_INPUT; *window is then NULL. */
int start_window_open(StartWindow **window, const PlayerOptions *options, MediaError *error);

/* Shows this line until the next one; "": no line. */
void start_window_say(StartWindow *window, const char *line);

/* Runs one turn of its loop; waits for at most 0.1 s. Returns 0, 1 when the user closed it, or
 * MEDIA_USAGE. */
int start_window_turn(StartWindow *window, MediaError *error);

/* Moves the files chosen since the last call to the list. Returns their number. */
int start_window_take(StartWindow *window, FileList *files);

/* Its window. A player takes it and leaves NULL; then only closing the StartWindow is allowed. */
Screen **start_window_screen(StartWindow *window);

/* *window may be NULL. */
void start_window_close(StartWindow **window);

#endif
