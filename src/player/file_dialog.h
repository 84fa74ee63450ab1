/* The desktop's own dialog to choose a file, as a program beside the player. All functions are for
 * one thread. */
#ifndef LUMEQ_PLAYER_FILE_DIALOG_H
#define LUMEQ_PLAYER_FILE_DIALOG_H

#include <stddef.h>

typedef struct FileDialog FileDialog;

/* `wake`: there is something for file_dialog_take(); from a thread. NULL: no memory. */
FileDialog *file_dialog_create(void (*wake)(void *opaque), void *opaque);

/* Shows it, once at a time. 0, or -1: there is no program for it, or no thread. */
int file_dialog_show(FileDialog *dialog);

/* 1: a file was chosen, which is called so; at most once for each dialog. */
int file_dialog_take(FileDialog *dialog, char *path, size_t size);

/* A dialog that is still open is closed. NULL is allowed inside. */
void file_dialog_free(FileDialog **dialog);

#endif
