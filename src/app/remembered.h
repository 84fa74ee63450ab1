/* --remember: stores the window's size and volume, changed settings, and the position in each file,
 * for the next run. Not thread-safe; several processes may use the file at once. */
#ifndef LUMEQ_APP_REMEMBERED_H
#define LUMEQ_APP_REMEMBERED_H

#include <sys/stat.h>

#include "app/window_settings.h"

typedef struct Remembered Remembered;

/* Reads the state; ignores a damaged or foreign file. If out of memory or without a home folder,
 * warns and returns NULL. */
Remembered *remembered_open(void);

/* Restores settings that the command line does not set. Does nothing with --reference. */
void remembered_apply(const Remembered *remembered, WindowSettings *settings);

/* The window's volume (-1: not stored) and size (0 x 0: not stored). The caller may change both. */
typedef struct RememberedWindow {
    int volume, width, height;
} RememberedWindow;

RememberedWindow *remembered_window(Remembered *remembered);

/* The stored position of a file in microseconds; -1: unknown, or the file has changed. */
int64_t remembered_position(const Remembered *remembered, const char *path,
                            const struct stat *file);

/* Stores the position of a file; -1: the next run starts at the beginning. */
void remembered_leave(Remembered *remembered, const char *path, const struct stat *file,
                      int64_t position);

/* Writes the state, merged with positions that other processes stored. Warns on failure. */
void remembered_save(Remembered *remembered, const WindowSettings *settings);

/* *remembered may be NULL. */
void remembered_close(Remembered **remembered);

#endif
