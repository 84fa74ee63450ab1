/* How a source is opened: its bytes, its container, its video track. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include <libavutil/avstring.h>

#include "media/codec_name.h"
#include "media/log.h"
#include "media/side_data.h"
#include "media/source.h"

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

static int read_bytes(void *opaque, uint8_t *buffer, int size)
{
    Source *s = opaque;
    if (s->network)
        return network_read(s->network, buffer, size);
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
        if (errno != EINTR && errno != EAGAIN)
            return AVERROR(errno);
    }
}

static int64_t seek_bytes(void *opaque, int64_t offset, int whence)
{
    Source *s = opaque;
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

static int is_stopped(const void *source)
{
    return source_is_stopped(source);
}

static int open_file(Source *s, const char *path, MediaError *error)
{
    if (strcmp(path, "-") == 0)
        s->fd = dup(STDIN_FILENO);
    else
        s->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (s->fd < 0 || fstat(s->fd, &s->file) < 0)
        return media_fail(error, MEDIA_INPUT, "cannot open %s: %s", media_quote(path),
                          strerror(errno));
    if (S_ISDIR(s->file.st_mode))
        return media_fail(error, MEDIA_INPUT, "%s is a directory, not a video file",
                          media_quote(path));
    if (S_ISREG(s->file.st_mode) && s->file.st_size == 0)
        return media_fail(error, MEDIA_INPUT, "%s is empty", media_quote(path));
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

static int check_format(const AVInputFormat *input, const SourceOptions *options, MediaError *error)
{
    const char *path = options->path;
    int playlist = is_one_of(input, playlist_formats, FF_ARRAY_ELEMS(playlist_formats));
    int refused = is_one_of(input, refused_formats, FF_ARRAY_ELEMS(refused_formats));
    if (options->network) { /* what a stranger's playlist names is never opened */
        refused |= playlist;
        playlist = 0;
    }
    if (strcmp(input->name, "tty") == 0)
        return media_fail(error, MEDIA_INPUT, "%s is a text file, not a video", media_quote(path));
    if (refused)
        return media_fail(error, MEDIA_INPUT,
                          "%s is a playlist (%s) that refers to other files; only single files are "
                          "read",
                          media_quote(path), input->name);
    if (playlist && !options->allow_playlists)
        return media_fail(error, MEDIA_INPUT,
                          "%s is a playlist (%s) that refers to other files; --allow-playlists "
                          "allows it to read local ones",
                          media_quote(path), input->name);
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

static int fail_to_open(const Source *s, const char *path, int ret, MediaError *error)
{
    const char *detail = codec_error(media_log_error());
    if (source_is_stopped(s))
        return media_fail(error, MEDIA_INPUT, "interrupted while opening %s", media_quote(path));
    if (s->network && network_is_silent(s->network))
        return media_fail(error, MEDIA_INPUT, "%s sends nothing: no data for %g s",
                          media_quote(path), s->network->options.silence_s);
    return media_fail(error, MEDIA_INPUT, "%s is not a video that can be read: %s%s%s",
                      media_quote(path), media_av_text(ret), detail[0] ? "; " : "", detail);
}

static int find_streams(Source *s, const char *path, MediaError *error)
{
    if (s->network)
        network_begin_analysis(s->network);
    const int ret = avformat_find_stream_info(s->format, NULL);
    if (ret < 0 && s->network)
        return fail_to_open(s, path, ret, error);
    if (ret < 0)
        return media_fail(error, MEDIA_INPUT, "cannot read the streams of %s: %s",
                          media_quote(path), media_av_text(ret));
    return 0;
}

static int open_format(Source *s, const SourceOptions *options, MediaError *error)
{
    const char *path = options->path;
    char name[32], *url = NULL;
    name_for_probe(path, name, sizeof(name));
    const AVInputFormat *input = NULL;
    media_log_clear();
    int ret = av_probe_input_buffer2(s->io, &input, name, NULL, 0, 0);
    /* By the name of a picture, its reader of numbered files offers itself: by content, another. */
    if (ret >= 0 && strcmp(input->name, "image2") == 0) {
        input = NULL;
        ret = av_probe_input_buffer2(s->io, &input, "input", NULL, 0, 0);
    }
    if (ret >= 0 && check_format(input, options, error) < 0)
        return error->fault;
    if (ret >= 0 && options->allow_playlists && !options->network && strcmp(path, "-") != 0)
        ret = allow_files(s, &url, path);
    if (ret >= 0)
        ret = avformat_open_input(&s->format, url ? url : name, input, NULL);
    av_free(url);
    return ret < 0 ? fail_to_open(s, path, ret, error) : find_streams(s, path, error);
}

/* What its demuxer opens by itself, as RTSP, which is no stream of bytes. */
static int open_session(Source *s, const char *url, MediaError *error)
{
    const AVInputFormat *input = av_find_input_format(s->network->scheme->session);
    AVDictionary *settings = NULL;
    media_log_clear();
    network_begin_wait(s->network);
    int ret = av_dict_set(&settings, "rtsp_flags", "prefer_tcp", 0);
    if (ret >= 0)
        ret = avformat_open_input(&s->format, url, input, &settings);
    av_dict_free(&settings);
    return ret < 0 ? fail_to_open(s, url, ret, error) : find_streams(s, url, error);
}

static int open_network(Source *s, const SourceOptions *options, MediaError *error)
{
    const NetworkOptions network = {is_stopped, s, options->silence_s};
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

int source_is_picture(const AVStream *stream)
{
    return (stream->disposition &
            (AV_DISPOSITION_ATTACHED_PIC | AV_DISPOSITION_TIMED_THUMBNAILS)) != 0;
}

static int is_video(const AVStream *stream)
{
    return stream->codecpar->codec_type == AVMEDIA_TYPE_VIDEO && !source_is_picture(stream);
}

int source_track_number(const Source *s, const AVStream *stream)
{
    int number = 0;
    for (int i = 0; i < stream->index; i++) {
        const AVStream *other = s->format->streams[i];
        number += other->codecpar->codec_type == stream->codecpar->codec_type &&
                  source_is_picture(other) == source_is_picture(stream);
    }
    return number;
}

static int64_t track_rank(const AVStream *stream)
{
    const int64_t area = (int64_t)stream->codecpar->width * stream->codecpar->height;
    return area + ((stream->disposition & AV_DISPOSITION_DEFAULT) ? INT64_C(1) << 40 : 0);
}

/* The one that was asked for, or the best. `*count`: how many there are. */
static AVStream *find_video(const Source *s, int wanted, int *count, int *pictures)
{
    AVStream *best = NULL;
    *count = *pictures = 0;
    for (unsigned i = 0; i < s->format->nb_streams; i++) {
        AVStream *stream = s->format->streams[i];
        *pictures += source_is_picture(stream);
        if (!is_video(stream))
            continue;
        ++*count;
        if (wanted ? *count == wanted : !best || track_rank(stream) > track_rank(best))
            best = stream;
    }
    return best;
}

static int pick_video(Source *s, const SourceOptions *options, MediaError *error)
{
    int count, pictures;
    s->video = find_video(s, options->video_track, &count, &pictures);
    if (!count)
        return media_fail(error, MEDIA_INPUT, "%s has no video%s", media_quote(options->path),
                          pictures ? " (a cover picture is not a video)" : "");
    if (!s->video)
        return media_fail(error, MEDIA_USAGE,
                          "--video-track %d: %s has %d video tracks, counted from 0",
                          options->video_track - 1, media_quote(options->path), count);
    if (count > 1 && !options->video_track && options->note) {
        const AVCodecParameters *par = s->video->codecpar;
        char line[160], size[32] = ""; /* which is not always known yet */
        if (par->width > 0 && par->height > 0)
            snprintf(size, sizeof(size), ", %dx%d", par->width, par->height);
        snprintf(line, sizeof(line),
                 "of %d video tracks, number %d (%s%s) is equalized; --video-track takes "
                 "another",
                 count, source_track_number(s, s->video), codec_name(par), size);
        options->note(line);
    }
    return 0;
}

/* Profile 5 is in colours of its own (IPT): a curve over its first plane would not be one of luma.
 */
static int check_dolby_vision(const Source *s, const SourceOptions *options, MediaError *error)
{
    const int profile = side_data_dolby_vision_profile(s->video);
    if (profile == 5 && !options->force_dolby_vision)
        return media_fail(
            error, MEDIA_INPUT,
            "%s is Dolby Vision of profile 5: its first plane is not luma, and "
            "equalizing it spoils the colours; --force-dolby-vision does it all the same",
            media_quote(options->path));
    if (profile && options->note)
        options->note("the Dolby Vision layer is left out: it describes the picture as it was");
    return 0;
}

static int check_size(const Source *s, const SourceOptions *options, MediaError *error)
{
    const AVCodecParameters *par = s->video->codecpar;
    if ((int64_t)par->width * par->height > options->max_pixels)
        return media_fail(error, MEDIA_USAGE,
                          "%s has frames of %dx%d pixels; --max-pixels allows %" PRId64,
                          media_quote(options->path), par->width, par->height, options->max_pixels);
    return 0;
}

static int note_streams(Source *s, MediaError *error)
{
    s->stream_count = s->format->nb_streams;
    s->clocks = av_calloc(s->stream_count, sizeof(*s->clocks));
    if (!s->clocks)
        return media_fail(error, MEDIA_INPUT, "out of memory");
    for (unsigned i = 0; i < s->stream_count; i++)
        s->clocks[i].last = AV_NOPTS_VALUE;
    s->clock = s->latest = AV_NOPTS_VALUE;
    return 0;
}

static int open_camera(Source *s, const CameraOptions *options, MediaError *error)
{
    const int ret = camera_open(&s->camera, options, is_stopped, s, error);
    if (ret < 0)
        return ret;
    s->format = camera_format(s->camera);
    if (stat(camera_setting(s->camera)->path, &s->file) < 0)
        s->file = (struct stat){0}; /* it is gone already */
    return 0;
}

static int open_input(Source *s, const SourceOptions *options, MediaError *error)
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

int source_open(Source **source, const SourceOptions *wanted, MediaError *error)
{
    SourceOptions opened = *wanted, *options = &opened;
    *source = NULL;
    Source *s = av_mallocz(sizeof(*s));
    if (!s)
        return media_fail(error, MEDIA_INPUT, "out of memory");
    s->fd = -1;
    s->stop = options->stop;
    s->max_pixels = options->max_pixels;
    s->live = options->camera || options->low_latency;
    int ret =
        options->camera ? open_camera(s, options->camera, error) : open_input(s, options, error);
    if (ret >= 0 && s->camera)
        options->path = camera_setting(s->camera)->path;
    if (ret >= 0)
        ret = pick_video(s, options, error);
    if (ret >= 0)
        ret = check_size(s, options, error);
    if (ret >= 0)
        ret = check_dolby_vision(s, options, error);
    if (ret >= 0)
        ret = note_streams(s, error);
    if (ret < 0)
        source_close(&s);
    *source = s;
    return ret;
}
