#include "media/log.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
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

/* How libavutil begins to refuse a picture. The two numbers are said nowhere else. */
#define REFUSED_SIZE "Picture size %ux%u "

/* What its decoder of H.264 says of a slice that it had to give up. */
#define BROKEN_PICTURE "error while decoding MB "

/* How its demuxer of Matroska begins, and what it says of a file that ends within an element. All
 * else that it calls an error is of bytes that it passes over, which it tells in no other way. */
#define MATROSKA "matroska,webm: "
static const char *const cut_off[] = {"File ended prematurely", "Read error"};

static struct {
    int level;
    void (*print)(const char *line);
    pthread_mutex_t lock; /* all below, and the notes of codecs */
    char secrets[2]
                [LINE_SIZE]; /* with what is around them, so that a short one is no common word */
    CodecLog *codecs;
} log_state = {.lock = PTHREAD_MUTEX_INITIALIZER};

static _Thread_local struct {
    char line[LINE_SIZE]; /* pieces of a line until its newline */
    int level;
    const void *owner; /* of the codec that speaks, or NULL */
    LogNote note;
} here;

static void clean(char *text)
{
    for (unsigned char *c = (unsigned char *)text; *c; c++)
        if (*c < 0x20 || *c == 0x7f)
            *c = ' ';
}

/* Puts dots in its place, wherever it is in the line. */
static void hide(char *line, size_t size, const char *secret)
{
    const size_t n = strlen(secret);
    const int user = n && secret[n - 1] == '@';
    char rest[LINE_SIZE];
    for (char *at = line; n && (at = strstr(at, secret)); at += 4) {
        snprintf(rest, sizeof(rest), "%s", at + n);
        const size_t room = size - (size_t)(at - line);
        const int used = user ? snprintf(at, room, "...@%s", rest)
                              : snprintf(at, room, "%c...%s", *secret, rest);
        if (used < 4 || (size_t)used >= room)
            return;
    }
}

void media_log_hide(const char *url)
{
    size_t at = 0, n, from = 0;
    pthread_mutex_lock(&log_state.lock);
    for (int i = 0; i < 2; i++) {
        n = url_secret(url, from, &at);
        const size_t before = n && (i || strchr("?# ", url[at - 1])), after = n && !before;
        snprintf(log_state.secrets[i], sizeof(log_state.secrets[i]), "%.*s",
                 (int)(n + before + after), url + (n ? at - before : 0));
        from = at + n;
    }
    pthread_mutex_unlock(&log_state.lock);
}

/* Where an error is remembered: with the codec that it is about, or else with the thread. */
static LogNote *find_note(const void *owner)
{
    for (CodecLog *codec = log_state.codecs; owner && codec; codec = codec->next)
        if (codec->owner == owner)
            return &codec->note;
    return &here.note;
}

/* An error for a person: one about a picture of 0x0 in words. */
static const char *in_words(const char *error)
{
    static const char no_size[] = "0x0";
    const char *at = strstr(error, no_size);
    const int is_size =
        at && (at == error || !av_isdigit(at[-1])) && !av_isxdigit(at[sizeof(no_size) - 1]);
    return is_size ? "the size of the picture is missing" : error;
}

/* Of a decoder of H.264. */
static void count_broken(void)
{
    CodecLog *codec = log_state.codecs;
    while (here.owner && codec && codec->owner != here.owner)
        codec = codec->next;
    if (here.owner && codec && strstr(here.line, BROKEN_PICTURE))
        codec->broken++;
}

static int is_skipped(void)
{
    int skipped =
        here.level <= AV_LOG_ERROR && strncmp(here.line, MATROSKA, sizeof(MATROSKA) - 1) == 0;
    for (size_t i = 0; i < sizeof(cut_off) / sizeof(cut_off[0]); i++)
        skipped = skipped && !strstr(here.line, cut_off[i]);
    return skipped;
}

static void take_line(void)
{
    clean(here.line);
    pthread_mutex_lock(&log_state.lock);
    for (int i = 0; i < 2; i++)
        hide(here.line, sizeof(here.line), log_state.secrets[i]);
    LogNote *note = find_note(here.owner);
    if (here.level <= AV_LOG_ERROR && !note->error[0])
        snprintf(note->error, sizeof(note->error), "%.255s", in_words(here.line));
    note->skipped |= is_skipped();
    count_broken();
    if (here.level <= log_state.level && log_state.print && here.line[0])
        log_state.print(here.line);
    pthread_mutex_unlock(&log_state.lock);
    here.line[0] = '\0';
}

/* A codec's threads speak as contexts of their own, which have its `opaque`; other contexts name
 * the one that they work for. */
static const void *find_owner(const void *context)
{
    while (context) {
        const AVClass *class = *(AVClass *const *)context;
        if (class == avcodec_get_class())
            return ((const AVCodecContext *)context)->opaque;
        if (!class || !class->parent_log_context_offset)
            return NULL;
        context = *(void *const *)((const char *)context + class->parent_log_context_offset);
    }
    return NULL;
}

static void note_refused_size(const char *format, va_list args)
{
    if (strncmp(format, REFUSED_SIZE, strlen(REFUSED_SIZE)) != 0)
        return;
    const unsigned width = va_arg(args, unsigned), height = va_arg(args, unsigned);
    if (!width || width > INT_MAX || !height || height > INT_MAX) /* no size at all */
        return;
    pthread_mutex_lock(&log_state.lock);
    LogNote *note = find_note(here.owner);
    note->refused_width = width;
    note->refused_height = height;
    pthread_mutex_unlock(&log_state.lock);
}

static size_t begin_line(void *context, int level)
{
    here.level = level;
    here.owner = find_owner(context);
    if (!context)
        return 0;
    const AVClass *class = *(AVClass *const *)context;
    const char *name = class ? class->item_name(context) : "";
    if (strcmp(name, "NULL") == 0) /* a context without a codec */
        name = class->class_name;
    const int used = snprintf(here.line, 64, "%s%s", name, name[0] ? ": " : "");
    return used > 63 ? 63 : (size_t)used;
}

static void take_piece(void *context, int level, const char *format, va_list args)
{
    char text[LINE_SIZE];
    va_list copy;
    va_copy(copy, args);
    vsnprintf(text, sizeof(text), format, copy);
    va_end(copy);

    size_t used = strlen(here.line);
    if (used == 0) {
        used = begin_line(context, level);
        va_copy(copy, args);
        note_refused_size(format, copy);
        va_end(copy);
    }
    char *newline = strchr(text, '\n');
    if (newline)
        *newline = '\0';
    snprintf(here.line + used, sizeof(here.line) - used, "%s", text);
    if (newline)
        take_line();
}

/* What a library has in errno is left there. */
static void callback(void *context, int level, const char *format, va_list args)
{
    const int code = errno;
    level &= 0xff; /* the rest is a colour */
    if (level <= AV_LOG_ERROR || level <= log_state.level)
        take_piece(context, level, format, args);
    errno = code;
}

void media_log_install(int verbose, void (*print)(const char *line))
{
    const int level = verbose ? AV_LOG_INFO : AV_LOG_QUIET;
    log_state.level = level;
    log_state.print = print;
    av_log_set_level(level > AV_LOG_ERROR ? level : AV_LOG_ERROR);
    av_log_set_callback(callback);
}

void media_log_clear(void)
{
    here.note = (LogNote){0};
}

const LogNote *media_log_note(void)
{
    return &here.note;
}

const char *media_log_error(void)
{
    return here.note.error;
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
    return note.error[0] ? note : here.note;
}

int64_t codec_log_broken(const CodecLog *log)
{
    pthread_mutex_lock(&log_state.lock);
    const int64_t broken = log->broken;
    pthread_mutex_unlock(&log_state.lock);
    return broken;
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

const char *media_library(int number, char version[32])
{
    const struct {
        const char *name;
        unsigned version;
    } libraries[] = {
        {"libavformat", avformat_version()},     {"libavcodec", avcodec_version()},
        {"libavutil", avutil_version()},         {"libswscale", swscale_version()},
        {"libswresample", swresample_version()}, {"libavfilter", avfilter_version()},
    };
    if (number >= (int)(sizeof(libraries) / sizeof(libraries[0])))
        return NULL;
    const unsigned v = libraries[number].version;
    snprintf(version, 32, "%u.%u.%u", AV_VERSION_MAJOR(v), AV_VERSION_MINOR(v),
             AV_VERSION_MICRO(v));
    return libraries[number].name;
}

const char *media_ffmpeg_version(void)
{
    return av_version_info();
}

void media_versions(char *text, size_t size)
{
    char version[32];
    const char *name;
    size_t n = (size_t)snprintf(text, size, "FFmpeg:");
    for (int i = 0; (name = media_library(i, version)) && n < size; i++)
        n += (size_t)snprintf(text + n, size - n, "%s %s %s", i ? "," : "", name, version);
}
