/* Screenshots: compressed and written beside the loop. */
#ifndef LUMEQ_PLAYER_SCREENSHOT_H
#define LUMEQ_PLAYER_SCREENSHOT_H

#include <stddef.h>
#include <stdint.h>

/* One screenshot at a time. Used by one thread. */
typedef struct Screenshot Screenshot;

/* NULL: out of memory. `wake` is called, from another thread, when one is done. */
Screenshot *screenshot_create(void (*wake)(void *opaque), void *opaque);

/* Whether one is being written. */
int screenshot_is_busy(Screenshot *screenshot);

/* Writes RGBA pixels, which it takes over and frees, as a PNG into `folder`. NULL: beside the video
 * that `path` names, or where that cannot be written to, into the current folder. Its name is the
 * video's and `position`, in microseconds. 0, or -1 when that cannot be started. */
int screenshot_start(Screenshot *screenshot, const char *folder, const char *path, int64_t position,
                     uint8_t *pixels, int width, int height);

/* What has become of the last one, once: 1 with a line in `text` when it was written, -1 with one
 * when it failed, else 0. */
int screenshot_result(Screenshot *screenshot, char *text, size_t size);

/* Waits for the one that is being written. */
void screenshot_free(Screenshot **screenshot);

#endif
