/* Screenshots, compressed and written on a thread. */
#ifndef LUMEQ_PLAYER_SCREENSHOT_H
#define LUMEQ_PLAYER_SCREENSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One screenshot at a time; for one thread. */
typedef struct Screenshot Screenshot;

/* NULL if out of memory. */
Screenshot *screenshot_create(void);

/* True while one is being written. */
bool screenshot_is_busy(Screenshot *screenshot);

/* Writes RGBA pixels as a PNG into `folder`; takes ownership of them and frees them. NULL: beside
 * the video `path` or, if that fails, into the current folder. The name contains the video's name
 * and `position` (microseconds). Returns 0, or -1 if no thread could be started. */
int screenshot_start(Screenshot *screenshot, const char *folder, const char *path, int64_t position,
                     uint8_t *pixels, int width, int height);

/* Call it once a turn; the thread ends the wait of one. Reports the last screenshot once: 1
 * (written) or -1 (failed), with a line in `text`; else 0. */
int screenshot_result(Screenshot *screenshot, char *text, size_t size);

/* Waits for the thread. */
void screenshot_free(Screenshot **screenshot);

#endif
