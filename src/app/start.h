/* The window that waits for a video, before one plays. */
#ifndef LUMEQ_APP_START_H
#define LUMEQ_APP_START_H

#include <stdatomic.h>

#include "app/options/options.h"
#include "media/error.h"
#include "player/start_window.h"

/* True if this machine shows windows. */
int start_has_desktop(void);

/* Opens the window if *window is NULL. Shows this message ("": none) until the user chooses a file
 * that can be opened, or several files. Returns 1 with the files, 0 if the window was closed or the
 * run stopped, MEDIA_USAGE (no display) or MEDIA_INPUT. */
int start_choose(StartWindow **window, const Options *options, atomic_int *stop,
                 const char *message, FileList *files, MediaError *error);

#endif
