/* Collects FFmpeg's log messages. All functions may be called from any thread. */
#ifndef LUMEQ_MEDIA_LOG_H
#define LUMEQ_MEDIA_LOG_H

#include <stdbool.h>
#include <stddef.h>

#include <libavcodec/avcodec.h>

/* Installs the av_log callback. Failed assertions go to `print_fatal`; FFmpeg then aborts.
 * If `verbose`, other lines up to level "info" go to `print`. Lines have no newline and are safe
 * for a terminal. Both functions may be NULL. A LogNote records errors even if no line is printed.
 * Call once, at the start. */
void media_log_install(int verbose, void (*print)(const char *line),
                       void (*print_fatal)(const char *line));

/* What FFmpeg logged about a failure. {0}: nothing. */
typedef struct LogNote {
    char error[256]; /* the first line that reports an error, or "" */
    /* size of a picture that FFmpeg refused as too large, or 0 */
    unsigned refused_width, refused_height;
    int damage;  /* not 0: a demuxer or codec reported damage, see log.c */
    int cut_off; /* not 0: a demuxer reported that the file was cut off */
} LogNote;

/* Clears the calling thread's note, so that the next calls can be examined. */
void media_log_clear(void);

/* The calling thread's note since media_log_clear(). Later messages change it. */
const LogNote *media_log_note(void);

/* The error line of media_log_note(). */
const char *media_log_error(void);

/* Collects messages about a codec from any thread, including the codec's own threads, until
 * codec_log_take(). */
typedef struct CodecLog {
    LogNote note;
    const void *owner; /* the codec's opaque */
    struct CodecLog *next;
} CodecLog;

/* Starts to collect. The codec's `opaque` identifies the codec. If `opaque` is NULL, this function
 * sets it and must be called before avcodec_open2(). The log must outlive the codec. */
void codec_log_open(CodecLog *log, AVCodecContext *codec);

/* Clears the codec's note and returns it. If the note has no error, returns the thread's note. */
LogNote codec_log_take(CodecLog *log);

/* True if the codec has reported damage since codec_log_take(). */
bool codec_log_has_damage(const CodecLog *log);

/* Call after the codec is closed. Accepts a log that was never opened. */
void codec_log_close(CodecLog *log);

/* "5.1.6" */
const char *media_ffmpeg_version(void);

/* "FFmpeg: libavcodec 59.37.100, ...": all loaded libraries. */
void media_versions(char *text, size_t size);

#endif
