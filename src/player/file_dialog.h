/* The desktop's file dialog, run as a separate program. All functions are for one thread. */
#ifndef LUMEQ_PLAYER_FILE_DIALOG_H
#define LUMEQ_PLAYER_FILE_DIALOG_H

#include <stddef.h>

typedef struct FileDialog FileDialog;

/* `wake` is called from a thread when file_dialog_take() has a result. NULL if out of memory. */
FileDialog *file_dialog_create(void (*wake)(void *opaque), void *opaque);

/* Shows the dialog unless it is already open. Returns 0, or -1 if no dialog program or thread can
 * be started. */
int file_dialog_show(FileDialog *dialog);

/* Returns 1 with the chosen file's path, once per dialog. */
int file_dialog_take(FileDialog *dialog, char *path, size_t size);

/* Closes an open dialog. *dialog may be NULL. */
void file_dialog_free(FileDialog **dialog);

#endif
