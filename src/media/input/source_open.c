/* How a source is opened: its bytes and its container. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include <libavutil/avstring.h>

#include "media/input/source_parts.h"
#include "media/log.h"

#define IO_BUFFER_SIZE (64 * 1024)

/* Time between two looks at the stop flag while a pipe has no data. */
#define POLL_MS 100

/* Of a live input, how long it is looked at before it is shown. */
#define LIVE_ANALYSIS_US 500000

/* Readers that open files by themselves. Those of the second row are never allowed to; the last one
 * takes any text for a picture. */
static const char *const playlist_formats[] = {"hls", "dash", "concat", "concatf", "imf"};
static const char *const refused_formats[] = {"image2",   "sdp",         "rtsp",
                                              "avisynth", "vapoursynth", "tty"};

static int read_file(Source *s, uint8_t *buffer, int size)
{
    for (;;) {
        if (!S_ISREG(s->file.st_mode)) {
            struct pollfd wait = {.fd = s->fd, .events = POLLIN};
            const int ready = poll(&wait, 1, POLL_MS);
            if (source_is_stopped(s))
                return AVERROR_EXIT;
            if (ready == 0 || (ready < 0 && errno == EINTR))
                continue;
        }
        const ssize_t got = read(s->fd, buffer, (size_t)size);
        if (got > 0)
            return (int)got;
        if (got == 0)
            return AVERROR_EOF;
        if (errno != EINTR && errno != EAGAIN) {
            s->read_error = errno;
            return AVERROR(errno);
        }
    }
}

static int read_bytes(void *opaque, uint8_t *buffer, int size)
{
    Source *s = opaque;
    source_keep_errno(s);
    const int got =
        s->network ? network_read(s->network, buffer, size) : read_file(s, buffer, size);
    if (got > 0)
        s->bytes_read += (size_t)got;
    return got;
}

static int64_t seek_bytes(void *opaque, int64_t offset, int whence)
{
    Source *s = opaque;
    source_keep_errno(s);
    if (s->network)
        return network_seek(s->network, offset, whence);
    if (whence == AVSEEK_SIZE)
        return s->file.st_size;
    const off_t at = lseek(s->fd, offset, whence & ~AVSEEK_FORCE);
    return at < 0 ? AVERROR(errno) : at;
}

static int refuse_open(AVFormatContext *format, AVIOContext **io, const char *url, int flags,
                       AVDictionary **options)
{
    (void)flags;
    (void)options;
    *io = NULL;
    av_log(format, AV_LOG_ERROR, "reference to another file refused: %s\n", url);
    return AVERROR(EPERM);
}

static int stopped(void *opaque)
{
    return source_is_stopped(opaque);
}

/* A pipe without a writer is not waited for here but where its bytes are. */
static int open_file(Source *s, const char *path, MediaError *error)
{
    if (strcmp(path, "-") == 0)
        s->fd = dup(STDIN_FILENO);
    else
        s->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (s->fd < 0 || fstat(s->fd, &s->file) < 0)
        return media_fail(error, MEDIA_INPUT, "cannot open %s: %s", s->name, strerror(errno));
    atomic_store(&s->patient, !S_ISREG(s->file.st_mode) && !S_ISBLK(s->file.st_mode));
    if (S_ISDIR(s->file.st_mode))
        return media_fail(error, MEDIA_INPUT, "%s is a directory, not a video file", s->name);
    if (S_ISREG(s->file.st_mode) && s->file.st_size == 0)
        return media_fail(error, MEDIA_INPUT, "%s is empty", s->name);
    return 0;
}

static int open_context(Source *s, const char *protocols, MediaError *error)
{
    s->format = avformat_alloc_context();
    if (s->format)
        s->format->protocol_whitelist = av_strdup(protocols);
    if (!s->format || !s->format->protocol_whitelist)
        return media_fail(error, MEDIA_INPUT, "out of memory");
    s->open_other = s->format->io_open;
    s->format->io_open = refuse_open;
    s->format->interrupt_callback = (AVIOInterruptCB){stopped, s};
    if (s->network)
        s->format->interrupt_callback = (AVIOInterruptCB){network_is_interrupted, s->network};
    if (s->live)
        s->format->max_analyze_duration = LIVE_ANALYSIS_US;
    return 0;
}

static int open_io(Source *s, MediaError *error)
{
    const int can_seek = s->network ? network_can_seek(s->network) : S_ISREG(s->file.st_mode);
    uint8_t *buffer = av_malloc(IO_BUFFER_SIZE);
    if (buffer)
        s->io = avio_alloc_context(buffer, IO_BUFFER_SIZE, 0, s, read_bytes, NULL,
                                   can_seek ? seek_bytes : NULL);
    if (!s->io) {
        av_free(buffer);
        return media_fail(error, MEDIA_INPUT, "out of memory");
    }
    s->format->pb = s->io;
    s->format->flags |= AVFMT_FLAG_CUSTOM_IO;
    return 0;
}

/* What a demuxer may know of the name: only its extension, so that no part of it is taken for a
 * pattern, a protocol or a number. */
static void name_for_probe(const char *path, char *name, size_t size)
{
    const char *dot = strrchr(path, '.');
    av_strlcpy(name, "input", size);
    if (!dot || strlen(dot) > 8)
        return;
    for (const char *c = dot + 1; *c; c++)
        if (!av_isgraph(*c) || strchr("%*?[]{}:/\\", *c))
            return;
    av_strlcat(name, dot, size);
}

static int is_one_of(const AVInputFormat *input, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (av_match_name(list[i], input->name))
            return 1;
    return 0;
}

static int check_format(const Source *s, const AVInputFormat *input, const SourceOptions *options,
                        MediaError *error)
{
    int playlist = is_one_of(input, playlist_formats, FF_ARRAY_ELEMS(playlist_formats));
    int refused = is_one_of(input, refused_formats, FF_ARRAY_ELEMS(refused_formats));
    if (options->network) { /* what a stranger's playlist names is never opened */
        refused |= playlist;
        playlist = 0;
    }
    if (strcmp(input->name, "tty") == 0)
        return media_fail(error, MEDIA_INPUT, "%s is a text file, not a video", s->name);
    if (refused)
        return media_fail(error, MEDIA_INPUT,
                          "%s is a playlist (%s) that refers to other files; only single files are "
                          "read",
                          s->name, input->name);
    if (playlist && !options->allow_playlists)
        return media_fail(error, MEDIA_INPUT,
                          "%s is a playlist (%s) that refers to other files; --allow-playlists "
                          "allows it to read local ones",
                          s->name, input->name);
    return 0;
}

/* Lets the demuxer open local files, found from where the playlist is. */
static int allow_files(Source *s, char **url, const char *path)
{
    s->format->io_open = s->open_other;
    av_freep(&s->format->protocol_whitelist);
    s->format->protocol_whitelist = av_strdup("file");
    *url = av_asprintf("file:%s", path);
    return *url && s->format->protocol_whitelist ? 0 : AVERROR(ENOMEM);
}

static int fail_to_open(const Source *s, int ret, MediaError *error)
{
    const int no_memory = ret == AVERROR(ENOMEM) || source_lacks_memory(s);
    const LogNote *note = media_log_note();
    if (source_is_stopped(s))
        return media_fail(error, MEDIA_INPUT, "interrupted while opening %s", s->name);
    if (s->network && network_is_silent(s->network))
        return media_fail(error, MEDIA_INPUT, "%s sends nothing: no data for %g s", s->name,
                          s->network->options.silence_s);
    if (s->read_error)
        return source_fail_to_read(s, error);
    if (no_memory)
        return media_fail(error, MEDIA_INPUT, "out of memory while opening %s", s->name);
    if (note->refused_width)
        return source_refuse_size(s, note->refused_width, note->refused_height, error);
    return media_fail(error, MEDIA_INPUT, "%s is not a video that can be read: %s%s%s", s->name,
                      media_av_text(ret), note->error[0] ? "; " : "", note->error);
}

int source_fail_to_read(const Source *s, MediaError *error)
{
    return media_fail(error, MEDIA_INPUT, "cannot read %s: %s", s->name, strerror(s->read_error));
}

/* Of an mp4 whose index follows what it is about, that has gone by. Before packets are read. */
static int check_order(const Source *s, MediaError *error)
{
    const int64_t kept = s->io->pos - (s->io->buf_end - s->io->buffer);
    if (!av_match_name("mov", s->format->iformat->name) || (s->io->seekable & AVIO_SEEKABLE_NORMAL))
        return 0;
    for (unsigned i = 0; i < s->format->nb_streams; i++) {
        const AVIndexEntry *first = avformat_index_get_entry(s->format->streams[i], 0);
        if (first && first->pos < kept)
            return media_fail(
                error, MEDIA_INPUT,
                "%s is an mp4 with its index at the end, which cannot be read from a pipe or a "
                "stream: "
                "give the file's name, or write it with ffmpeg's -movflags +faststart",
                s->name);
    }
    return 0;
}

static int find_streams(Source *s, MediaError *error)
{
    if (s->network)
        network_begin_analysis(s->network);
    const int ret = avformat_find_stream_info(s->format, NULL);
    if (ret < 0 || source_lacks_memory(s))
        return fail_to_open(s, ret, error);
    s->refused_width = media_log_note()->refused_width;
    s->refused_height = media_log_note()->refused_height;
    return 0;
}

/* An index that was read in part would make a shorter film; but of one in fragments, each has its
 * own. */
static int lacks_index(const Source *s)
{
    return s->read_error && av_match_name("mov", s->format->iformat->name) &&
           !source_has_fragments(s);
}

static int open_format(Source *s, const SourceOptions *options, MediaError *error)
{
    const char *path = options->path;
    char name[32], *url = NULL;
    name_for_probe(path, name, sizeof(name));
    const AVInputFormat *input = NULL;
    media_log_clear();
    source_watch_memory(s);
    int ret = av_probe_input_buffer2(s->io, &input, name, NULL, 0, 0);
    /* By the name of a picture, its reader of numbered files offers itself: by content, another. */
    if (ret >= 0 && strcmp(input->name, "image2") == 0) {
        input = NULL;
        ret = av_probe_input_buffer2(s->io, &input, "input", NULL, 0, 0);
    }
    if (ret >= 0 && check_format(s, input, options, error) < 0)
        return error->fault;
    if (ret >= 0 && options->allow_playlists && !options->network && strcmp(path, "-") != 0)
        ret = allow_files(s, &url, path);
    if (ret >= 0)
        ret = avformat_open_input(&s->format, url ? url : name, input, NULL);
    av_free(url);
    if (ret < 0 || lacks_index(s))
        return fail_to_open(s, ret, error);
    ret = check_order(s, error);
    return ret < 0 ? ret : find_streams(s, error);
}

/* What its demuxer opens by itself, as RTSP, which is no stream of bytes. */
static int open_session(Source *s, const char *url, MediaError *error)
{
    const AVInputFormat *input = av_find_input_format(s->network->scheme->session);
    AVDictionary *settings = NULL;
    media_log_clear();
    source_watch_memory(s);
    network_begin_wait(s->network);
    int ret = av_dict_set(&settings, "rtsp_flags", "prefer_tcp", 0);
    if (ret >= 0)
        ret = avformat_open_input(&s->format, url, input, &settings);
    av_dict_free(&settings);
    return ret < 0 ? fail_to_open(s, ret, error) : find_streams(s, error);
}

static int open_network(Source *s, const SourceOptions *options, MediaError *error)
{
    const NetworkOptions network = {source_stop_callback, s, options->silence_s};
    int ret = network_open(&s->network, options->path, &network, error);
    if (ret < 0)
        return ret;
    const int session = s->network->scheme->session != NULL;
    ret = open_context(s, session ? s->network->scheme->protocols : "none", error);
    if (ret >= 0 && session)
        ret = open_session(s, options->path, error);
    else if (ret >= 0 && (ret = open_io(s, error)) >= 0)
        ret = open_format(s, options, error);
    s->network->patient = s->live;
    return ret;
}

int source_open_format(Source *s, const SourceOptions *options, MediaError *error)
{
    if (options->network)
        return open_network(s, options, error);
    int ret = open_file(s, options->path, error);
    if (ret >= 0)
        ret = open_context(s, "none", error);
    if (ret >= 0)
        ret = open_io(s, error);
    if (ret >= 0)
        ret = open_format(s, options, error);
    return ret;
}
