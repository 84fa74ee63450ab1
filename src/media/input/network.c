#include "media/input/network.h"

#include <errno.h>
#include <string.h>

#include <libavutil/avstring.h>
#include <libavutil/time.h>

#include "media/input/url.h"
#include "media/log.h"

/* For HTTP and HTTPS: redirects may change between them, and a proxy may be in use. */
#define WEB "http,https,tls,tcp,httpproxy"

/* Maximum duration of FFmpeg's stream analysis, with a margin. */
#define ANALYSIS_US (7 * INT64_C(1000000))

/* Longest usual segment of HLS and DASH, with a margin. */
#define SEGMENT_US (30 * INT64_C(1000000))

static const NetworkScheme schemes[] = {
    {"http", WEB, NULL, 0, 0},
    {"https", WEB, NULL, 0, 0},
    {"rtsp", "rtsp,rtp,udp,tcp", "rtsp", 0, 1},
    {"rtmp", "rtmp,tcp", NULL, 0, 1},
    {"srt", "srt", NULL, 0, 1},
    {"udp", "udp", NULL, 1, 1},
    {"rtp", "rtp,udp", "rtp", 1, 1},
    {"tcp", "tcp", NULL, 0, 0},
    {"tls", "tls,tcp", NULL, 0, 0},
};

static bool is_supported(const NetworkScheme *scheme)
{
    if (scheme->session)
        return av_find_input_format(scheme->session) != NULL;
    void *state = NULL;
    for (const char *name; (name = avio_enum_protocols(&state, 0));)
        if (strcmp(name, scheme->name) == 0)
            return true;
    return false;
}

const NetworkScheme *network_scheme(const char *name)
{
    const size_t n = url_scheme_length(name);
    for (size_t i = 0; i < FF_ARRAY_ELEMS(schemes); i++)
        if (strlen(schemes[i].name) == n && av_strncasecmp(schemes[i].name, name, n) == 0)
            return is_supported(&schemes[i]) ? &schemes[i] : NULL;
    return NULL;
}

bool network_is_local(const char *url)
{
    static const char ending[] = ".local";
    char host[256];
    int port;
    av_url_split(NULL, 0, NULL, 0, host, sizeof(host), &port, NULL, 0, url);
    size_t n = strlen(host);
    n -= n && host[n - 1] == '.';
    return n >= strlen(ending) &&
           av_strncasecmp(host + n - strlen(ending), ending, strlen(ending)) == 0;
}

void network_list_schemes(char *text, size_t size)
{
    text[0] = '\0';
    for (size_t i = 0; i < FF_ARRAY_ELEMS(schemes); i++)
        if (is_supported(&schemes[i]))
            av_strlcatf(text, size, "%s%s://", text[0] ? ", " : "", schemes[i].name);
}

bool network_is_silent(const Network *n)
{
    const double silence_us = (double)(av_gettime_relative() - n->heard);
    const double limit_us = n->options.silence_s * AV_TIME_BASE;
    return !n->patient && silence_us > limit_us + (n->has_segments ? SEGMENT_US : 0);
}

int network_is_interrupted(void *network)
{
    const Network *n = network;
    return n->options.is_stopped(n->options.opaque) || network_is_silent(n);
}

void network_begin_wait(Network *n)
{
    n->heard = av_gettime_relative();
}

void network_begin_analysis(Network *n)
{
    network_begin_wait(n);
    if (n->scheme->session)
        n->heard += ANALYSIS_US;
}

int network_end_wait(Network *n, int ret)
{
    if (ret >= 0 || (ret == AVERROR(EAGAIN) && !network_is_silent(n)))
        return ret;
    if (n->options.is_stopped(n->options.opaque))
        return AVERROR_EXIT;
    if (ret == AVERROR_EOF)
        return ret;
    if (network_is_silent(n))
        ret = n->scheme->has_no_end ? AVERROR_EOF : AVERROR(ETIMEDOUT);
    return n->lost = ret;
}

int network_read(Network *n, uint8_t *buffer, int size)
{
    if (n->lost)
        return n->lost;
    n->io->eof_reached = n->io->error = 0; /* left by an interrupted read */
    network_begin_wait(n);
    return network_end_wait(n, avio_read_partial(n->io, buffer, size));
}

int64_t network_seek(Network *n, int64_t offset, int whence)
{
    if (whence == AVSEEK_SIZE)
        return avio_size(n->io);
    network_begin_wait(n);
    const int64_t at = avio_seek(n->io, offset, whence);
    if (at >= 0)
        n->lost = 0; /* seeking opens a new connection */
    return at;
}

int network_fail(const char *url, int averror, MediaError *error)
{
    size_t at = 0;
    const size_t n = url_has_user(url) ? url_secret(url, 0, &at) : 0;
    if (averror == AVERROR(EINVAL) && strcspn(url + at, "/?#") < n)
        return media_fail(error, MEDIA_INPUT,
                          "cannot open %s: write / ? and # in a password as %%2F, %%3F and %%23, "
                          "or use --password-file",
                          media_quote(url));
    /* RTMP reports a refused login only by this text. */
    if (averror == AVERROR_HTTP_UNAUTHORIZED || strstr(media_log_error(), "Incorrect username")) {
        error->is_final = true;
        return media_fail(error, MEDIA_INPUT, "cannot open %s: %s", media_quote(url),
                          url_has_user(url)
                              ? "user name or password refused"
                              : "it needs a user name and a password: put USER:PASSWORD@ before "
                                "the host, or USER@ with --password-file");
    }
    /* FFmpeg reports a bad certificate, for example, only as EIO, but logs the reason. */
    const char *detail = averror == AVERROR(EIO) ? media_log_error() : "";
    return media_fail(error, MEDIA_INPUT, "cannot open %s: %s%s%s", media_quote(url),
                      media_av_text(averror), detail[0] ? "; " : "", detail);
}

static int connect_once(Network *n, const char *url)
{
    const AVIOInterruptCB interrupt = {network_is_interrupted, n};
    const int64_t silence_ms = (int64_t)(n->options.silence_s * 1000);
    AVDictionary *settings = NULL;
    int ret = av_dict_set(&settings, "protocol_whitelist", n->scheme->protocols, 0);
    if (ret >= 0)
        ret = av_dict_set(&settings, "tls_verify", "1", 0);
    if (ret >= 0) /* for SRT, whose default may be shorter than the silence limit */
        ret = av_dict_set_int(&settings, "connect_timeout", silence_ms + 1000, 0);
    media_log_clear();
    if (ret >= 0)
        ret = avio_open2(&n->io, url, AVIO_FLAG_READ, &interrupt, &settings);
    av_dict_free(&settings);
    return ret;
}

int network_open(Network **network, const char *url, const NetworkOptions *options,
                 MediaError *error)
{
    Network *n = *network = av_mallocz(sizeof(*n));
    if (!n)
        return media_no_memory(error, MEDIA_INPUT);
    n->scheme = network_scheme(url);
    n->options = *options;
    int ret = 0;
    network_begin_wait(n);
    if (!n->scheme->session) {
        do /* FFmpeg limits TCP connects to five seconds; retry until the silence limit */
            ret = connect_once(n, url);
        while (ret == AVERROR(ETIMEDOUT) && !network_is_interrupted(n));
        ret = network_end_wait(n, ret);
    }
    if (ret >= 0)
        return 0;
    network_close(network);
    if (ret == AVERROR_EXIT)
        return media_fail(error, MEDIA_INPUT, "interrupted while opening %s", media_quote(url));
    if (ret == AVERROR(ETIMEDOUT))
        return media_fail(error, MEDIA_INPUT, "%s did not answer within %g s (--network-timeout)",
                          media_quote(url), options->silence_s);
    return network_fail(url, ret, error);
}

void network_close(Network **network)
{
    if (*network)
        avio_closep(&(*network)->io);
    av_freep(network);
}
