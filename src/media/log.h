/* FFmpeg's messages, taken in one place. All functions may be called by any thread. */
#ifndef LUMEQ_MEDIA_LOG_H
#define LUMEQ_MEDIA_LOG_H

#include <stddef.h>

/* Takes over av_log: with `verbose`, lines up to "info" go to `print` (without a newline, fit for a
 * terminal); the rest is dropped. Errors are remembered in any case. Call once, at start. */
void media_log_install(int verbose, void (*print)(const char *line));

/* From now on no line has in it what url_secret() finds in this one. Call before other threads run.
 */
void media_log_hide(const char *url);

/* Forgets the remembered error, to know afterwards what the next calls said. */
void media_log_clear(void);

/* The first error line since then, in memory of the calling thread; "" if there was none. */
const char *media_log_error(void);

/* "FFmpeg: libavcodec 59.37.100, ...": the libraries that are running. */
void media_versions(char *text, size_t size);

#endif
