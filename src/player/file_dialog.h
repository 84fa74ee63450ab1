/* The desktop's file dialog, run as a separate program. All functions are for one thread. */
#ifndef LUMEQ_PLAYER_FILE_DIALOG_H
#define LUMEQ_PLAYER_FILE_DIALOG_H

#include <limits.h>

#include "media/process.h"

/* Starts as {0}. */
typedef struct FileDialog {
    Process process; /* pid 0: the dialog is closed */
    char path[PATH_MAX];
    size_t length; /* bytes of `path` received so far */
} FileDialog;

/* Shows the dialog unless it is open. Returns 0, or -1 if no dialog program can be started. */
int file_dialog_show(FileDialog *dialog);

/* Call once in each turn of the loop. After the user has chosen a file, returns its path once; else
 * NULL. The path is valid until the next file_dialog_show(). */
const char *file_dialog_take(FileDialog *dialog);

void file_dialog_close(FileDialog *dialog);

#endif
