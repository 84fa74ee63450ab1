#include "media/log.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libavcodec/avcodec.h>
#include <libavfilter/avfilter.h>
#include <libavformat/avformat.h>
#include <libavutil/avstring.h>
#include <libavutil/log.h>
#include <libswresample/swresample.h>
#include <libswscale/swscale.h>

#include "media/input/url.h"

#define LINE_SIZE 1024

/* Start of libavutil's message about a picture that is too large. No other message has the size. */
#define REFUSED_SIZE "Picture size "

/* libavformat's I/O layer logs this message without a context. */
#define CUT_PACKET "Truncating packet of size "

/*
 * Signs of damage, what each counts as, and the files that count it.
 *
 * | what                                                     | counted as | in                  |
 * |----------------------------------------------------------|------------|---------------------|
 * | av_read_frame() fails before the end                     | packets    | source_packets      |
 * | AV_PKT_FLAG_CORRUPT                                      | packets    | source_packets      |
 * | the file is shorter than it declares                     | cut_off    | source_packets, log |
 * | avcodec_send_packet() or avcodec_receive_frame() fails   | packets    | decoder             |
 * | decode_error_flags, AV_FRAME_FLAG_CORRUPT                | frames     | decoder             |
 * | the video ends before its declared end                   | nothing    | damage              |
 * | the demuxer or its I/O logs an error of the list below   | packets    | log                 |
 * | the decoder logs an error of that list                   | frames     | log                 |
 *
 * Other errors in the log do not count, because FFmpeg logs them for valid files, too.
 */
static const char *const means_damage[] = {
    "invalid as first byte of an EBML number", /* Matroska */
    "exceeds max length",
    "exceeds containing master element",
    "Invalid track number",
    "Error parsing frame sizes",
    "Packet mismatch",           /* FLV */
    "max_distance",              /* NUT */
    "CRC mismatch",              /* Ogg, FFV1 */
    "decode_slice_header error", /* H.264; pictures up to the next key frame may be missing */
    "error while decoding MB",   /* H.264 and other codecs with macroblocks */
    "reference picture missing during reorder",
    "Missing reference picture",
    "co located POCs unavailable", /* H.264 */
    "Could not find ref with POC", /* HEVC */
    "Error at MB",                 /* H.261 and others */
    "unsupported coding type",     /* JPEG */
    "error dc",
    "error count",
    "overread",
    "overflow at",    /* WMV and others */
    "index overflow", /* Theora */
    "illegal ac vlc",
    "decode failed", /* GIF, Cinepak */
};

/* Only these messages of Matroska's demuxer and the I/O layer show that a file was cut off. */
static const char *const means_cut[] = {"File ended prematurely", CUT_PACKET};

static int contains_any(const char *line, const char *const *texts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strstr(line, texts[i]))
            return 1;
    return 0;
}

static struct {
    int level;
    void (*print)(const char *line);
    void (*print_fatal)(const char *line);
    pthread_mutex_t lock; /* protects `codecs` and their notes */
    CodecLog *codecs;     /* of open codecs */
} log_state = {.lock = PTHREAD_MUTEX_INITIALIZER};

static _Thread_local struct {
    char line[LINE_SIZE]; /* the line so far, until its newline */
    int level;
    const void *owner; /* owner of the logging codec, or NULL */
    bool is_demuxer;   /* a demuxer is logging */
    LogNote note;
} current;

/* Hides the secrets of all URLs in the line. */
static void hide_urls(char *line, size_t size)
{
    char rest[LINE_SIZE];
    for (char *url = line; (url = strstr(url, "://")); url += 3) {
        char *begin = url;
        while (begin > line && (av_isdigit(begin[-1]) || strchr("+.-", begin[-1]) ||
                                (av_tolower(begin[-1]) >= 'a' && av_tolower(begin[-1]) <= 'z')))
            begin--;
        for (size_t from = 0, at, n;; from = at + 3) {
            char *end = begin + strcspn(begin, " ");
            const char after = *end;
            *end = '\0';
            n = url_secret(begin, from, &at);
            *end = after;
            if (!n)
                break;
            snprintf(rest, sizeof(rest), "%s", begin + at + n);
            snprintf(begin + at, size - (size_t)(begin + at - line), "...%s", rest);
        }
    }
}

/* Returns the note of the codec with this owner, or the thread's note if there is no such codec. */
static LogNote *find_note(const void *owner)
{
    for (CodecLog *codec = log_state.codecs; owner && codec; codec = codec->next)
        if (codec->owner == owner)
            return &codec->note;
    return &current.note;
}

static void note_refused_size(LogNote *note, const char *line)
{
    const char *size = strstr(line, REFUSED_SIZE);
    unsigned width, height;
    if (size && sscanf(size, REFUSED_SIZE "%ux%u", &width, &height) == 2 && width && height &&
        width <= INT_MAX && height <= INT_MAX) {
        note->refused_width = width;
        note->refused_height = height;
    }
}

static void finish_line(void)
{
    for (char *c = current.line; *c; c++)
        *c = (unsigned char)*c < 0x20 || *c == 0x7f ? ' ' : *c;
    pthread_mutex_lock(&log_state.lock);
    hide_urls(current.line, sizeof(current.line));
    LogNote *note = find_note(current.owner);
    if (current.level <= AV_LOG_ERROR && !note->error[0])
        snprintf(note->error, sizeof(note->error), "%.255s", current.line);
    note_refused_size(note, current.line);
    const bool is_error = current.level <= AV_LOG_ERROR;
    if (is_error && (current.is_demuxer || note != &current.note))
        note->damage |= contains_any(current.line, means_damage, FF_ARRAY_ELEMS(means_damage));
    note->cut_off |= is_error && contains_any(current.line, means_cut, FF_ARRAY_ELEMS(means_cut));
    void (*print)(const char *) =
        current.level <= AV_LOG_PANIC ? log_state.print_fatal : log_state.print;
    if (current.level <= log_state.level && print && current.line[0])
        print(current.line);
    pthread_mutex_unlock(&log_state.lock);
    current.line[0] = '\0';
}

/* Finds the codec or demuxer that a message is about: the context itself or one of its parents.
 * The contexts of a codec's threads share its `opaque`. */
static void find_context(const void *context)
{
    current.owner = NULL;
    current.is_demuxer = false;
    while (context) {
        const AVClass *class = *(AVClass *const *)context;
        if (class == avcodec_get_class()) {
            current.owner = ((const AVCodecContext *)context)->opaque;
            return;
        }
        current.is_demuxer =
            class == avformat_get_class() && ((const AVFormatContext *)context)->iformat;
        if (current.is_demuxer || !class || !class->parent_log_context_offset)
            return;
        context = *(void *const *)((const char *)context + class->parent_log_context_offset);
    }
}

static size_t begin_line(void *context, int level)
{
    current.level = level;
    find_context(context);
    if (!context)
        return 0;
    const AVClass *class = *(AVClass *const *)context;
    const char *name = class ? class->item_name(context) : "";
    if (strcmp(name, "NULL") == 0) /* the name of a context whose codec is not set */
        name = class->class_name;
    const int used = snprintf(current.line, 64, "%s%s", name, name[0] ? ": " : "");
    return used > 63 ? 63 : (size_t)used;
}

static void add_text(void *context, int level, const char *format, va_list args)
{
    char text[LINE_SIZE];
    const int length = vsnprintf(text, sizeof(text), format, args);
    size_t used = strlen(current.line);
    if (used == 0)
        used = begin_line(context, level);
    char *newline = strchr(text, '\n');
    if (newline)
        *newline = '\0';
    snprintf(current.line + used, sizeof(current.line) - used, "%s", text);
    if (newline || length >= (int)sizeof(text)) /* a long line is truncated without its newline */
        finish_line();
}

/* Preserves errno for the library that logs. */
static void callback(void *context, int level, const char *format, va_list args)
{
    const int code = errno;
    level &= 0xff; /* the other bits select a colour */
    if (level <= AV_LOG_ERROR || level <= log_state.level)
        add_text(context, level, format, args);
    errno = code;
}

void media_log_install(int verbose, void (*print)(const char *line),
                       void (*print_fatal)(const char *line))
{
    const int level = verbose ? AV_LOG_INFO : AV_LOG_PANIC;
    log_state.level = level;
    log_state.print = print;
    log_state.print_fatal = print_fatal;
    av_log_set_level(level > AV_LOG_ERROR ? level : AV_LOG_ERROR);
    av_log_set_callback(callback);
}

void media_log_clear(void)
{
    current.note = (LogNote){0};
}

const LogNote *media_log_note(void)
{
    return &current.note;
}

const char *media_log_error(void)
{
    return current.note.error;
}

void codec_log_open(CodecLog *log, AVCodecContext *codec)
{
    if (!codec->opaque)
        codec->opaque = log;
    pthread_mutex_lock(&log_state.lock);
    *log = (CodecLog){.owner = codec->opaque, .next = log_state.codecs};
    log_state.codecs = log;
    pthread_mutex_unlock(&log_state.lock);
}

LogNote codec_log_take(CodecLog *log)
{
    pthread_mutex_lock(&log_state.lock);
    LogNote note = log->note;
    log->note = (LogNote){0};
    pthread_mutex_unlock(&log_state.lock);
    return note.error[0] ? note : current.note;
}

bool codec_log_has_damage(const CodecLog *log)
{
    pthread_mutex_lock(&log_state.lock);
    const int damage = log->note.damage;
    pthread_mutex_unlock(&log_state.lock);
    return damage;
}

void codec_log_close(CodecLog *log)
{
    pthread_mutex_lock(&log_state.lock);
    for (CodecLog **at = &log_state.codecs; *at; at = &(*at)->next)
        if (*at == log) {
            *at = log->next;
            break;
        }
    pthread_mutex_unlock(&log_state.lock);
}

const char *media_ffmpeg_version(void)
{
    return av_version_info();
}

void media_versions(char *text, size_t size)
{
    const struct {
        const char *name;
        unsigned version;
    } libraries[] = {
        {"libavformat", avformat_version()},     {"libavcodec", avcodec_version()},
        {"libavutil", avutil_version()},         {"libswscale", swscale_version()},
        {"libswresample", swresample_version()}, {"libavfilter", avfilter_version()},
    };
    size_t n = (size_t)snprintf(text, size, "FFmpeg:");
    for (size_t i = 0; i < FF_ARRAY_ELEMS(libraries) && n < size; i++) {
        const unsigned v = libraries[i].version;
        n += (size_t)snprintf(text + n, size - n, "%s %s %u.%u.%u", i ? "," : "", libraries[i].name,
                              AV_VERSION_MAJOR(v), AV_VERSION_MINOR(v), AV_VERSION_MICRO(v));
    }
}
