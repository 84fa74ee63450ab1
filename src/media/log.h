/* FFmpeg's messages, taken in one place. All functions may be called by any thread. */
#ifndef LUMEQ_MEDIA_LOG_H
#define LUMEQ_MEDIA_LOG_H

#include <stddef.h>
#include <stdint.h>

#include <libavcodec/avcodec.h>

/* Takes over av_log: with `verbose`, lines up to "info" go to `print` (without a newline, fit for a
 * terminal); the rest is dropped. Errors are remembered in any case. Call once, at start. */
void media_log_install(int verbose, void (*print)(const char *line));

/* From now on no line has in it what url_secret() finds in this one. Call before other threads run.
 */
void media_log_hide(const char *url);

/* What FFmpeg said of a failure. {0}: nothing. */
typedef struct LogNote {
    char error[256];                        /* the first line of an error, or "" */
    unsigned refused_width, refused_height; /* of a picture that is too large for it, or 0 */
    int most_streams;                       /* that a file may have, if it has more; else 0 */
    int damage; /* errors of demuxers that tell of damage, see damage_kinds.c */
} LogNote;

/* Each thread remembers what it was told. Forgets that, to know afterwards what the next calls of
 * this thread said. */
void media_log_clear(void);

/* What was said to this thread since then; it changes with the next error. */
const LogNote *media_log_note(void);

/* The error line of that note. */
const char *media_log_error(void);

/* Packets that a codec may have had errors with before their frames come. */
#define CODEC_LOG_PACKETS 64

/* A codec works in threads of its own, too: what is said about it, in whichever thread, is
 * remembered here until it is taken. */
typedef struct CodecLog {
    LogNote note;
    int64_t broken[CODEC_LOG_PACKETS]; /* numbers of packets with errors, the oldest first */
    int broken_count;
    const void *owner; /* the codec's opaque */
    struct CodecLog *next;
} CodecLog;

/* Before avcodec_open2(); the log outlives the codec. An `opaque` that is set is the codec's own
 * and stays; others are taken. */
void codec_log_open(CodecLog *log, AVCodecContext *codec);

/* Takes what was said about the codec, or else to this thread. */
LogNote codec_log_take(CodecLog *log);

/* Returns 1 if the codec has logged an error about the packet with this number (compat.h), or about
 * one whose number is not known, and forgets it. Errors about packets with negative numbers are not
 * kept. */
int codec_log_take_broken(CodecLog *log, int64_t number);

/* The same, but keeps errors about packets whose numbers are not known. */
int codec_log_forget_broken(CodecLog *log, int64_t number);

/* Forgets the oldest packet with an error, and returns its number; -1 if there is none. */
int64_t codec_log_drop_broken(CodecLog *log);

/* After the codec is closed. One that was never opened may be closed, too. */
void codec_log_close(CodecLog *log);

/* FFmpeg's libraries that are running, from number 0 on: their names and versions; NULL behind the
 * last one. */
const char *media_library(int number, char version[32]);

/* "5.1.6" */
const char *media_ffmpeg_version(void);

/* "FFmpeg: libavcodec 59.37.100, ...": the libraries that are running. */
void media_versions(char *text, size_t size);

#endif
