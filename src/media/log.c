#include "media/log.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/log.h>
#include <libswscale/swscale.h>

#include "media/url.h"

static struct {
    pthread_mutex_t lock;
    int level;
    void (*print)(const char *line);
    char line[1024]; /* pieces of a line until its newline */
    int line_level;
    char error[256];
    char secrets[2][1024]; /* with what is around them, so that a short one is no common word */
} log_state = {.lock = PTHREAD_MUTEX_INITIALIZER};

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
    char rest[sizeof(log_state.line)];
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

static void take_line(void)
{
    clean(log_state.line);
    for (int i = 0; i < 2; i++)
        hide(log_state.line, sizeof(log_state.line), log_state.secrets[i]);
    if (log_state.line_level <= AV_LOG_ERROR && !log_state.error[0])
        snprintf(log_state.error, sizeof(log_state.error), "%.255s", log_state.line);
    if (log_state.line_level <= log_state.level && log_state.print && log_state.line[0])
        log_state.print(log_state.line);
    log_state.line[0] = '\0';
}

static void callback(void *context, int level, const char *format, va_list args)
{
    level &= 0xff; /* the rest is a colour */
    if (level > AV_LOG_ERROR && level > log_state.level)
        return;
    char text[1024];
    int prefix = 0;
    va_list copy;
    va_copy(copy, args);
    vsnprintf(text, sizeof(text), format, copy);
    va_end(copy);

    pthread_mutex_lock(&log_state.lock);
    size_t used = strlen(log_state.line);
    if (used == 0) {
        log_state.line_level = level;
        prefix = context != NULL;
    }
    if (prefix) {
        const AVClass *class = *(AVClass *const *)context;
        const char *name = class ? class->item_name(context) : "";
        if (strcmp(name, "NULL") == 0) /* a context without a codec */
            name = class->class_name;
        used = (size_t)snprintf(log_state.line, 64, "%s%s", name, name[0] ? ": " : "");
        if (used > 63)
            used = 63;
    }
    char *newline = strchr(text, '\n');
    if (newline)
        *newline = '\0';
    snprintf(log_state.line + used, sizeof(log_state.line) - used, "%s", text);
    if (newline)
        take_line();
    pthread_mutex_unlock(&log_state.lock);
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
    pthread_mutex_lock(&log_state.lock);
    log_state.error[0] = '\0';
    pthread_mutex_unlock(&log_state.lock);
}

const char *media_log_error(void)
{
    static _Thread_local char text[sizeof(log_state.error)];
    pthread_mutex_lock(&log_state.lock);
    memcpy(text, log_state.error, sizeof(text));
    pthread_mutex_unlock(&log_state.lock);
    return text;
}

static size_t add_version(char *text, size_t size, const char *name, unsigned version)
{
    const int n = snprintf(text, size, "%s %u.%u.%u", name, AV_VERSION_MAJOR(version),
                           AV_VERSION_MINOR(version), AV_VERSION_MICRO(version));
    return n < 0 || (size_t)n >= size ? 0 : (size_t)n;
}

void media_versions(char *text, size_t size)
{
    size_t n = add_version(text, size, "FFmpeg: libavformat", avformat_version());
    n += add_version(text + n, size - n, ", libavcodec", avcodec_version());
    n += add_version(text + n, size - n, ", libavutil", avutil_version());
    add_version(text + n, size - n, ", libswscale", swscale_version());
}
