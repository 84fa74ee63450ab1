/* What is seen in the window as a file: written by a process of its own, beside the playing, as the
 * command line would. For one thread. */
#ifndef LUMEQ_APP_WINDOW_WRITING_H
#define LUMEQ_APP_WINDOW_WRITING_H

#include "app/options/options.h"
#include "media/process.h"
#include "player/player_options.h"

/* {0} is none. */
typedef struct WindowWriting {
    Process process;
    char *output;                            /* owned; NULL: nothing is written */
    char progress[64];                       /* how far it is; "" */
    char last[sizeof(((Process *)0)->line)]; /* its last message */
} WindowWriting;

/* Begins to write the file at `path` with these options beside it, or in the current folder; what
 * is there already keeps its name. `text` says why not; "": it is being written. */
void window_writing_start(WindowWriting *writing, const Options *options, const char *path,
                          const Source *source, char *text, size_t size);

/* Once a turn. */
void window_writing_follow(WindowWriting *writing, PlayerWriting *to);

/* The command line that does the same, as it can be typed; to be freed with free(). NULL, and
 * `text` says why not. */
char *window_writing_command(const Options *options, const char *path, const Source *source,
                             char *text, size_t size);

/* Ends it, and removes what is not finished. */
void window_writing_cancel(WindowWriting *writing);

#endif
