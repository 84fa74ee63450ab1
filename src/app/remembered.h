/* What --remember keeps from one window to the next: settings that were changed by hand, its size
 * and volume, and where each file was left. For one thread; several programs may each have one. */
#ifndef LUMEQ_APP_REMEMBERED_H
#define LUMEQ_APP_REMEMBERED_H

#include <sys/stat.h>

#include "app/window_settings.h"

typedef struct Remembered Remembered;

/* Reads what there is; what is not its own, or damaged, is as if it were not there, and said to
 * those who ask for details. NULL: no memory, or no place to keep it, which is said. */
Remembered *remembered_open(void);

/* What the command line does not say is as it was left. */
void remembered_apply(const Remembered *remembered, WindowSettings *settings);

/* Or -1, or 0 and 0. */
int remembered_volume(const Remembered *remembered);
void remembered_size(const Remembered *remembered, int *width, int *height);

/* Where this file was left, in microseconds, or -1: it is not known, or is another one by now. */
int64_t remembered_position(const Remembered *remembered, const char *path,
                            const struct stat *file);

/* It is left there; -1: at its end, or it is not worth remembering. */
void remembered_leave(Remembered *remembered, const char *path, const struct stat *file,
                      int64_t position);

/* Changes the volume or the size, where they are not negative or 0. */
void remembered_set(Remembered *remembered, int volume, int width, int height);

/* Writes all of it: over what others have written meanwhile, but for files that were not played
 * here. Says what is wrong. */
void remembered_save(Remembered *remembered, const WindowSettings *settings);

/* NULL is allowed inside. */
void remembered_close(Remembered **remembered);

#endif
