/* Collects FFmpeg's log messages. All functions may be called from any thread. */
#ifndef LUMEQ_MEDIA_LOG_H
#define LUMEQ_MEDIA_LOG_H

#include <stdbool.h>
#include <stddef.h>

#include <libavcodec/avcodec.h>

/* Installs the av_log callback: with `verbose`, lines up to "info" go to `print` (without
 * newline, safe for a terminal); others are dropped, except failed assertions, after which FFmpeg
 * aborts: they go to `print_fatal`. Both may be NULL. Errors are always remembered. Call once, at
 * the start. */
void media_log_install(int verbose, void (*print)(const char *line),
                       void (*print_fatal)(const char *line));

/* What FFmpeg logged about a failure. {0}: nothing. */
typedef struct LogNote {
    char error[256]; /* the first line of an error, or "" */
    /* size of a picture that FFmpeg refused as too large, or 0 */
    unsigned refused_width, refused_height;
    int damage;  /* not 0: a demuxer or codec reported damage, see log.c */
    int cut_off; /* not 0: a demuxer reported a cut file */
} LogNote;

/* Clears the calling thread's note, so that the next calls can be examined. */
void media_log_clear(void);

/* Messages in this thread since the last clear; changes with the next error. */
const LogNote *media_log_note(void);

/* The error line of media_log_note(). */
const char *media_log_error(void);

/* Collects messages about a codec from any thread, including the codec's own, until they are
 * taken. */
typedef struct CodecLog {
    LogNote note;
    const void *owner; /* the codec's opaque */
    struct CodecLog *next;
} CodecLog;

/* Call before avcodec_open2(); the log must outlive the codec. Identifies the codec by its
 * `opaque`, and sets it if it is NULL. */
void codec_log_open(CodecLog *log, AVCodecContext *codec);

/* Takes the messages about the codec, or else about this thread. */
LogNote codec_log_take(CodecLog *log);

/* True if the codec has reported damage that was not taken. */
bool codec_log_has_damage(const CodecLog *log);

/* Call after the codec is closed. Accepts a log that was never opened. */
void codec_log_close(CodecLog *log);

/* "5.1.6" */
const char *media_ffmpeg_version(void);

/* "FFmpeg: libavcodec 59.37.100, ...": all loaded libraries. */
void media_versions(char *text, size_t size);

#endif
