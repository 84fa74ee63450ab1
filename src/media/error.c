#include "media/error.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <libavcodec/avcodec.h>
#include <libavutil/avstring.h>
#include <libavutil/error.h>
#include <libavutil/macros.h>
#include <libavutil/mem.h>

#include "media/input/url.h"
#include "media/printable.h"

#define MOST_TRIED (INT_MAX / 4) /* bytes; twice this is below av_malloc()'s limit */

int media_fail(MediaError *error, int fault, const char *format, ...)
{
    if (error->fault)
        return fault;
    error->fault = fault;
    va_list args;
    va_start(args, format);
    vsnprintf(error->text, sizeof(error->text), format, args);
    va_end(args);
    return fault;
}

int media_no_memory(MediaError *error, int fault)
{
    return media_fail(error, fault, "out of memory");
}

int media_lacks_memory(size_t size)
{
    if (errno != ENOMEM)
        return 0;
    /* A growing buffer exists twice for a moment. */
    void *memory = av_malloc(FFMAX(FFMIN(size, MOST_TRIED) * 2, 1));
    const int lacking = !memory;
    av_free(memory);
    errno = lacking ? ENOMEM : 0;
    return lacking;
}

void media_add(MediaError *error, const char *format, ...)
{
    const size_t n = strlen(error->text);
    va_list args;
    va_start(args, format);
    vsnprintf(error->text + n, sizeof(error->text) - n, format, args);
    va_end(args);
}

void media_note(void (*note)(const char *line), const char *format, ...)
{
    char line[1100];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    if (note)
        note(line);
}

const char *media_av_text(int averror)
{
    static _Thread_local char text[AV_ERROR_MAX_STRING_SIZE];
    if (averror == AVERROR(ENOMEM))
        return "out of memory";
    if (av_strerror(averror, text, sizeof(text)) < 0)
        snprintf(text, sizeof(text), "error %d", averror);
    return text;
}

void media_quote_to(char text[MEDIA_QUOTED], const char *name)
{
    const size_t room = MEDIA_QUOTED - PRINTABLE_BYTES - 4; /* for the last character and "...'" */
    size_t n = 0, secret = 0, secret_length = url_secret(name, 0, &secret);
    text[n++] = '\'';
    for (const char *c = name; *c;) {
        const int hidden = secret_length && c == name + secret;
        if (hidden || n >= room)
            n += (size_t)snprintf(text + n, MEDIA_QUOTED - n, "...");
        if (n >= room)
            break;
        if (!hidden) {
            c += printable_character(c, text + n);
            n += strlen(text + n);
            continue;
        }
        c += secret_length;
        secret_length = url_secret(name, secret + secret_length, &secret);
    }
    snprintf(text + n, MEDIA_QUOTED - n, "'");
}

#define UNKNOWN_CODEC "unknown codec"

const char *codec_name(const AVCodecParameters *par)
{
    static _Thread_local char text[sizeof(UNKNOWN_CODEC) + 8];
    char tag[5] = "";
    if (par->codec_id != AV_CODEC_ID_NONE)
        return avcodec_get_name(par->codec_id);
    for (int i = 0; i < 4; i++)
        tag[i] = (char)(par->codec_tag >> 8 * i & 0xff);
    const int printable = av_isgraph(tag[0]) && av_isgraph(tag[1]) && av_isgraph(tag[2]) &&
                          (av_isgraph(tag[3]) || tag[3] == ' ');
    snprintf(text, sizeof(text), printable ? UNKNOWN_CODEC " '%s'" : UNKNOWN_CODEC, tag);
    return text;
}
