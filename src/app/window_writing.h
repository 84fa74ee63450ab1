/* Key w: another process equalizes the played file with the current settings, and writes a copy.
 * Not thread-safe. */
#ifndef LUMEQ_APP_WINDOW_WRITING_H
#define LUMEQ_APP_WINDOW_WRITING_H

#include "app/options/options.h"
#include "media/process.h"
#include "player/player_options.h"

/* {0} is idle. */
typedef struct WindowWriting {
    Process process;
    char *output;                            /* owned; NULL: nothing is written */
    char progress[64];                       /* ": 12 %, 0:05 left", or "" */
    char last[sizeof(((Process *)0)->line)]; /* last message of the process */
} WindowWriting;

/* Starts to write a processed copy of the file at `path`, under an unused name beside it or in the
 * current folder. `text` gets the reason of a failure, or "". */
void window_writing_start(WindowWriting *writing, const Options *options, const char *path,
                          const Source *source, char *text, size_t size);

/* Reads the process's output and sets *to. Call it once per iteration of the window's loop. */
void window_writing_follow(WindowWriting *writing, PlayerWriting *to);

/* Returns the equivalent command line, quoted for a shell; free it with free(). On failure, returns
 * NULL and sets `text`. */
char *window_writing_command(const Options *options, const char *path, const Source *source,
                             char *text, size_t size);

/* Stops the process and removes its unfinished file. */
void window_writing_cancel(WindowWriting *writing);

#endif
