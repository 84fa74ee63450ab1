/* Opens a file or one connection: its bytes, its container, and the track to equalize. */
#include "media/input/source.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <libavutil/avstring.h>
#include <libavutil/intreadwrite.h>
#include <libavutil/opt.h>
#include <libavutil/time.h>

#include "media/input/shared_pipe.h"
#include "media/log.h"
#include "media/side_data.h"

#define IO_BUFFER_SIZE (64 * 1024)

/* Interval for checking the stop flag while a pipe has no data. */
#define POLL_MS 100

/* Duration of stream analysis for live input. */
#define LIVE_ANALYSIS_US 500000

/* Demuxers that open other files. */
#define PLAYLIST_FORMATS "hls,dash,concat,concatf,imf"
/* Demuxers that are never used; tty accepts any text. */
#define REFUSED_FORMATS "image2,sdp,rtsp,avisynth,vapoursynth,tty"

static int read_file(Source *s, uint8_t *buffer, int size)
{
    for (;;) {
        if (!S_ISREG(s->file.st_mode) && !s->options.pipe) {
            struct pollfd wait = {.fd = s->bytes.fd, .events = POLLIN};
            const int ready = poll(&wait, 1, POLL_MS);
            if (source_is_stopped(s))
                return AVERROR_EXIT;
            if (ready == 0 || (ready < 0 && errno == EINTR))
                continue;
        }
        if (s->options.pipe && source_is_stopped(s))
            return AVERROR_EXIT;
        const ssize_t got =
            s->options.pipe
                ? shared_pipe_read(s->options.pipe, s->options.pipe_side, buffer, (size_t)size)
                : read(s->bytes.fd, buffer, (size_t)size);
        if (got > 0)
            return (int)got;
        if (got == 0)
            return AVERROR_EOF;
        if (errno != EINTR && errno != EAGAIN) {
            s->bytes.read_error = errno;
            return AVERROR(errno);
        }
    }
}

static int read_bytes(void *opaque, uint8_t *buffer, int size)
{
    Source *s = opaque;
    const int got =
        s->network ? network_read(s->network, buffer, size) : read_file(s, buffer, size);
    if (got > 0)
        s->bytes.count += (size_t)got;
    elements_take(&s->bytes.elements, buffer, got);
    return got;
}

static int64_t seek_bytes(void *opaque, int64_t offset, int whence)
{
    Source *s = opaque;
    if (s->network)
        return network_seek(s->network, offset, whence);
    if (whence == AVSEEK_SIZE)
        return s->file.st_size;
    const off_t at = lseek(s->bytes.fd, offset, whence & ~AVSEEK_FORCE);
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

/* Opens without waiting for the writer of a pipe; reading waits. */
static int open_file(Source *s, const char *path, MediaError *error)
{
    if (s->options.pipe)
        s->bytes.fd = dup(shared_pipe_fd(s->options.pipe));
    else if (strcmp(path, "-") == 0)
        s->bytes.fd = dup(STDIN_FILENO);
    else
        s->bytes.fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (s->bytes.fd < 0 || fstat(s->bytes.fd, &s->file) < 0)
        return media_fail(error, MEDIA_INPUT, "cannot open %s: %s", s->name, strerror(errno));
    atomic_store(&s->bytes.may_be_slow, !S_ISREG(s->file.st_mode) && !S_ISBLK(s->file.st_mode));
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
        return media_no_memory(error, MEDIA_INPUT);
    s->bytes.open_other = s->format->io_open;
    s->format->io_open = refuse_open;
    s->format->interrupt_callback = (AVIOInterruptCB){source_stop_callback, s};
    if (s->network)
        s->format->interrupt_callback = (AVIOInterruptCB){network_is_interrupted, s->network};
    if (s->live)
        s->format->max_analyze_duration = LIVE_ANALYSIS_US;
    return 0;
}

static int open_io(Source *s, MediaError *error)
{
    const bool can_seek =
        s->network ? s->network->io->seekable & AVIO_SEEKABLE_NORMAL : S_ISREG(s->file.st_mode);
    uint8_t *buffer = av_malloc(IO_BUFFER_SIZE);
    if (buffer)
        s->bytes.io = avio_alloc_context(buffer, IO_BUFFER_SIZE, 0, s, read_bytes, NULL,
                                         can_seek ? seek_bytes : NULL);
    if (!s->bytes.io) {
        av_free(buffer);
        return media_no_memory(error, MEDIA_INPUT);
    }
    s->format->pb = s->bytes.io;
    s->format->flags |= AVFMT_FLAG_CUSTOM_IO;
    return 0;
}

/* Makes a name with the extension of `path`. Demuxers see only this name, because they would take
 * parts of the path for a pattern, protocol or number. */
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

static int check_format(Source *s, const AVInputFormat *input, MediaError *error)
{
    int playlist = av_match_name(input->name, PLAYLIST_FORMATS);
    int refused = av_match_name(input->name, REFUSED_FORMATS);
    if (s->options.network) { /* see follow_playlist() */
        refused |= playlist && !av_match_name(input->name, "hls,dash");
        playlist = 0;
    }
    s->no_video = refused || (playlist && !s->options.allow_playlists);
    if (strcmp(input->name, "tty") == 0)
        return media_fail(error, MEDIA_INPUT, "%s is a text file, not a video", s->name);
    if (refused)
        return media_fail(
            error, MEDIA_INPUT,
            s->options.network
                ? "%s is a playlist (%s); only HLS and DASH playlists are read from the network"
                : "%s is a playlist (%s) that refers to other files, which are not read",
            s->name, input->name);
    if (playlist && !s->options.allow_playlists)
        return media_fail(error, MEDIA_INPUT,
                          "%s is a playlist (%s) that refers to other files; --allow-playlists "
                          "allows it to read local ones",
                          s->name, input->name);
    return 0;
}

static int fail_to_open(const Source *s, int ret, MediaError *error)
{
    const int no_memory = ret == AVERROR(ENOMEM) || source_lacks_memory(s);
    const LogNote *note = media_log_note();
    if (source_is_stopped(s))
        return media_fail(error, MEDIA_INPUT, "interrupted while opening %s", s->name);
    if (s->network && network_is_silent(s->network))
        return media_fail(error, MEDIA_INPUT, "%s sent no data for %g s (--network-timeout)",
                          s->name, s->network->options.silence_s);
    if (s->bytes.read_error)
        return source_fail_to_read(s, error);
    if (no_memory)
        return media_fail(error, MEDIA_INPUT, "out of memory while opening %s", s->name);
    if (s->network && s->network->scheme->session)
        return network_fail(s->options.path, ret, error);
    if (note->refused_width)
        return source_refuse_size(s, note->refused_width, note->refused_height, error);
    return media_fail(error, MEDIA_INPUT, "%s cannot be read as a video: %s%s%s", s->name,
                      media_av_text(ret), note->error[0] ? "; " : "", note->error);
}

int source_fail_to_read(const Source *s, MediaError *error)
{
    return media_fail(error, MEDIA_INPUT, "cannot read %s: %s", s->name,
                      strerror(s->bytes.read_error));
}

/* Refuses an mp4 from a pipe if its index comes after the pictures, which are gone by then. Call
 * before packets are read. */
static int check_order(const Source *s, MediaError *error)
{
    const int64_t kept = s->bytes.io->pos - (s->bytes.io->buf_end - s->bytes.io->buffer);
    if (!av_match_name("mov", s->format->iformat->name) ||
        (s->bytes.io->seekable & AVIO_SEEKABLE_NORMAL))
        return 0;
    for (unsigned i = 0; i < s->format->nb_streams; i++) {
        const AVIndexEntry *first = avformat_index_get_entry(s->format->streams[i], 0);
        if (first && first->pos < kept)
            return media_fail(
                error, MEDIA_INPUT,
                "%s is an mp4 with its index at the end, which cannot be read from a pipe or a "
                "stream: give the file's name, or write it with ffmpeg's -movflags +faststart",
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
    source_note_logged(s);
    s->format->start_time = source_sane_time(s->format->start_time, AV_TIME_BASE_Q);
    s->format->duration = source_sane_time(s->format->duration, AV_TIME_BASE_Q);
    for (unsigned i = 0; i < s->format->nb_streams; i++) {
        AVStream *stream = s->format->streams[i];
        stream->start_time = source_sane_time(stream->start_time, stream->time_base);
        stream->duration = source_sane_time(stream->duration, stream->time_base);
    }
    return 0;
}

/* Lets the demuxer of HLS or DASH open the playlist's files with the protocols of the URL, and with
 * crypto for encrypted segments. Sets *url to the address after redirects. */
static int follow_playlist(Source *s, char **url)
{
    uint8_t *location = NULL;
    s->format->io_open = s->bytes.open_other;
    av_freep(&s->format->protocol_whitelist);
    s->format->protocol_whitelist = av_asprintf("%s,crypto", s->network->scheme->protocols);
    if (av_opt_get(s->network->io, "location", AV_OPT_SEARCH_CHILDREN, &location) >= 0)
        *url = (char *)location;
    else
        *url = av_strdup(s->options.path);
    s->network->has_segments = true;
    return *url && s->format->protocol_whitelist ? 0 : AVERROR(ENOMEM);
}

/* `path`: the file, the URL, or the first of many pictures. */
static int open_format(Source *s, const char *path, MediaError *error)
{
    const bool is_file = !s->network && !s->pictures.count && strcmp(path, "-") != 0;
    char name[32], *url = NULL;
    name_for_probe(path, name, sizeof(name));
    const AVInputFormat *input = NULL;
    media_log_clear();
    source_watch_memory(s);
    int ret = av_probe_input_buffer2(s->bytes.io, &input, name, NULL, 0, 0);
    /* image2 matches by the file name; probe again by content only. */
    if (ret >= 0 && strcmp(input->name, "image2") == 0) {
        input = NULL;
        ret = av_probe_input_buffer2(s->bytes.io, &input, "input", NULL, 0, 0);
    }
    if (ret >= 0 && check_format(s, input, error) < 0)
        return error->fault;
    if (ret >= 0 && !s->network && !S_ISREG(s->file.st_mode)) { /* take what the probe has read */
        elements_start(&s->bytes.elements, input->name);
        elements_take(&s->bytes.elements, s->bytes.io->buf_ptr,
                      s->bytes.io->buf_end - s->bytes.io->buf_ptr);
    }
    if (ret >= 0 && s->options.allow_playlists && is_file) {
        /* Lets the demuxer open local files, relative to the playlist. */
        s->format->io_open = s->bytes.open_other;
        av_freep(&s->format->protocol_whitelist);
        s->format->protocol_whitelist = av_strdup("file");
        url = av_asprintf("file:%s", path);
        ret = url && s->format->protocol_whitelist ? 0 : AVERROR(ENOMEM);
    }
    if (ret >= 0 && s->options.network && av_match_name(input->name, "hls,dash"))
        ret = follow_playlist(s, &url);
    if (ret >= 0)
        ret = avformat_open_input(&s->format, url ? url : name, input, NULL);
    av_free(url);
    /* After a read error, the index of an mp4 without fragments may be incomplete. */
    if (ret < 0 || (s->bytes.read_error && av_match_name("mov", s->format->iformat->name) &&
                    !source_has_fragments(s)))
        return fail_to_open(s, ret, error);
    ret = check_order(s, error);
    return ret < 0 ? ret : find_streams(s, error);
}

static int open_network(Source *s, MediaError *error)
{
    const NetworkOptions network = {source_stop_callback, s, s->options.silence_s};
    int ret = network_open(&s->network, s->options.path, &network, error);
    if (ret < 0)
        return ret;
    const bool session = s->network->scheme->session != NULL;
    ret = open_context(s, session ? s->network->scheme->protocols : "none", error);
    if (ret >= 0 && session) { /* a protocol such as RTSP, whose demuxer opens the connection */
        AVDictionary *settings = NULL;
        media_log_clear();
        source_watch_memory(s);
        network_begin_wait(s->network);
        ret = av_dict_set(&settings, "rtsp_flags", "prefer_tcp", 0);
        if (ret >= 0)
            ret = avformat_open_input(&s->format, s->options.path,
                                      av_find_input_format(s->network->scheme->session), &settings);
        av_dict_free(&settings);
        ret = ret < 0 ? fail_to_open(s, ret, error) : find_streams(s, error);
    } else if (ret >= 0 && (ret = open_io(s, error)) >= 0)
        ret = open_format(s, s->options.path, error);
    s->network->patient = s->live && (s->options.reconnect_s <= 0 || s->options.reconnect_live);
    return ret;
}

static int open_one_file(Source *s, const char *path, MediaError *error)
{
    return open_file(s, path, error) < 0 || open_context(s, "none", error) < 0 ||
                   open_io(s, error) < 0 || open_format(s, path, error) < 0
               ? error->fault
               : 0;
}

/* Largest numerator or denominator, enough for rates such as 30000/1001. */
#define MOST_RATE_PARTS 1001000

/* The first picture determines the format of all. */
static int open_pictures(Source *s, MediaError *error)
{
    const AVRational rate = av_d2q(s->options.picture_rate, MOST_RATE_PARTS);
    int ret = picture_list_make(&s->pictures, s->options.path, error);
    if (ret < 0)
        return ret;
    ret = open_one_file(s, s->pictures.paths[0], error);
    if (ret < 0)
        return ret;
    if (!source_is_one_picture(s))
        return media_fail(error, MEDIA_INPUT, "%s is not a picture but a video (%s)",
                          media_quote(s->pictures.paths[0]), s->format->iformat->name);
    for (unsigned i = 0; i < s->format->nb_streams; i++) {
        AVStream *stream = s->format->streams[i];
        stream->time_base = av_inv_q(rate);
        stream->avg_frame_rate = stream->r_frame_rate = rate;
        stream->start_time = 0;
        stream->duration = stream->nb_frames = s->pictures.count;
    }
    s->format->start_time = 0;
    s->format->duration = av_rescale_q(s->pictures.count, av_inv_q(rate), AV_TIME_BASE_Q);
    return 0;
}

/* ---- the video track ---- */

/* A track counts as stills if another track has more than this many times its number of frames. */
#define STILLS_FACTOR 10

static bool is_video(const AVStream *stream)
{
    return stream->codecpar->codec_type == AVMEDIA_TYPE_VIDEO && !source_is_picture(stream);
}

/* Seconds; 0: unknown. */
static double track_length(const Source *s, const AVStream *stream)
{
    if (source_duration_is_end(s))
        return (double)source_tagged_length(stream) / AV_TIME_BASE;
    return stream->duration > 0 ? (double)stream->duration * av_q2d(stream->time_base) : 0;
}

/* 0: unknown. */
static double declared_frames(const Source *s, const AVStream *stream)
{
    const AVDictionaryEntry *tag =
        av_dict_get(stream->metadata, "NUMBER_OF_FRAMES", NULL, AV_DICT_IGNORE_SUFFIX);
    const AVRational rate = stream->avg_frame_rate;
    if (stream->nb_frames > 0)
        return (double)stream->nb_frames;
    if (tag)
        return strtod(tag->value, NULL);
    return rate.num > 0 && rate.den > 0 ? track_length(s, stream) * av_q2d(rate) : 0;
}

/* Assumes one second of frames if no number is declared. A track without a rate has one frame,
 * because libavformat finds a rate if there are more. */
static double frames_of(const Source *s, const AVStream *stream)
{
    const double frames = declared_frames(s, stream);
    const AVRational rate = stream->avg_frame_rate;
    if (frames > 0)
        return frames;
    return rate.num > 0 && rate.den > 0 ? av_q2d(rate) : 1;
}

/* True for a moving video, not stills. `most_frames`: the highest frames_of() of all tracks. */
static int moves(const Source *s, const AVStream *stream, double most_frames)
{
    const double frames = frames_of(s, stream);
    return !(stream->disposition & (AV_DISPOSITION_STILL_IMAGE | AV_DISPOSITION_DEPENDENT)) &&
           frames * STILLS_FACTOR >= most_frames && (frames >= 1.5 || most_frames < 1.5);
}

typedef struct VideoChoice {
    AVStream *video; /* or NULL */
    int count;       /* number of video tracks */
    int pictures;    /* number of covers, which are not video tracks */
} VideoChoice;

/* Chooses the video track with this number, from 0; -1: the best one. Tracks that move rank above
 * stills, then the default track above others, then larger pictures above smaller ones. */
static VideoChoice choose_video(const Source *s, int number)
{
    AVStream *const *streams = s->format->streams;
    const unsigned count = s->format->nb_streams;
    VideoChoice choice = {0};
    double most_frames = 0, best = -1;
    for (unsigned i = 0; i < count; i++)
        if (is_video(streams[i]))
            most_frames = FFMAX(most_frames, frames_of(s, streams[i]));
    for (unsigned i = 0; i < count; i++) {
        choice.pictures += source_is_picture(streams[i]);
        if (!is_video(streams[i]))
            continue;
        const AVCodecParameters *par = streams[i]->codecpar;
        const bool is_default = streams[i]->disposition & AV_DISPOSITION_DEFAULT;
        const double rank = (double)par->width * par->height + (is_default ? 1e12 : 0) +
                            (moves(s, streams[i], most_frames) ? 1e13 : 0);
        if (number < 0 ? rank > best : choice.count == number) {
            choice.video = streams[i];
            best = rank;
        }
        choice.count++;
    }
    return choice;
}

bool source_is_foreign(const Source *s, const AVStream *stream)
{
    if (!s->video || !av_find_program_from_stream(s->format, NULL, s->video->index))
        return 0;
    AVProgram *program = NULL;
    bool is_in_one = false;
    while ((program = av_find_program_from_stream(s->format, program, stream->index))) {
        is_in_one = true;
        for (unsigned i = 0; i < program->nb_stream_indexes; i++)
            if (program->stream_index[i] == (unsigned)s->video->index)
                return 0;
    }
    return is_in_one;
}

/* Discards the tracks of other programs than the video's, and returns their number. The source's
 * start and length become those of the remaining tracks. */
static int keep_program(Source *s)
{
    const bool is_end = source_duration_is_end(s);
    int dropped = 0;
    for (unsigned i = 0; i < s->format->nb_streams; i++) {
        if (!source_is_foreign(s, s->format->streams[i]))
            continue;
        s->format->streams[i]->discard = AVDISCARD_ALL;
        dropped++;
    }
    int64_t start = INT64_MAX, end = 0;
    for (unsigned i = 0; i < s->format->nb_streams; i++) {
        const AVStream *stream = s->format->streams[i];
        const int64_t time = source_track_start(s, stream);
        const int64_t length = (int64_t)(track_length(s, stream) * AV_TIME_BASE);
        if (time == AV_NOPTS_VALUE)
            continue;
        start = FFMIN(start, time);
        end = FFMAX(end, length + (is_end ? 0 : time));
    }
    const int64_t length = end - (is_end ? 0 : start);
    if (dropped && start != INT64_MAX)
        s->format->start_time = start;
    if (dropped && start != INT64_MAX && length > 0)
        s->format->duration = length;
    return dropped;
}

int source_track_number(const Source *s, const AVStream *stream)
{
    int number = 0;
    for (int i = 0; i < stream->index; i++) {
        const AVStream *other = s->format->streams[i];
        const enum AVMediaType type = other->codecpar->codec_type;
        number += type == stream->codecpar->codec_type &&
                  source_is_picture(other) == source_is_picture(stream) &&
                  (type == AVMEDIA_TYPE_VIDEO || !source_is_foreign(s, other));
    }
    return number;
}

static int pick_video(Source *s, MediaError *error)
{
    const VideoChoice choice = choose_video(s, s->options.video_track - 1);
    const int count = choice.count;
    s->video = choice.video;
    if (!count && s->bytes.read_error)
        return source_fail_to_read(s, error);
    s->no_video = !count;
    if (!count)
        return media_fail(error, MEDIA_INPUT, "%s has no video%s", s->name,
                          choice.pictures ? " (a cover picture is not a video)" : "");
    if (!s->video)
        return media_fail(error, MEDIA_USAGE,
                          "--video-track %d: the video tracks of %s are 0 to %d",
                          s->options.video_track - 1, s->name, count - 1);
    if (count > 1 && !s->options.video_track) {
        const AVCodecParameters *par = s->video->codecpar;
        char size[32] = "";
        if (par->width > 0 && par->height > 0)
            snprintf(size, sizeof(size), ", %dx%d", par->width, par->height);
        media_note(s->options.note,
                   "the input has %d video tracks: equalizing number %d (%s%s); --video-track "
                   "selects another",
                   count, source_track_number(s, s->video), codec_name(par), size);
    }
    return 0;
}

int source_refuse_size(const Source *s, unsigned width, unsigned height, MediaError *error)
{
    const int64_t pixels = (int64_t)width * height;
    if (pixels > s->options.max_pixels)
        return media_fail(error, MEDIA_INPUT,
                          "%s has frames of %ux%u pixels; --max-pixels allows %" PRId64, s->name,
                          width, height, s->options.max_pixels);
    return media_fail(
        error, MEDIA_INPUT,
        "%s has frames of %ux%u pixels, more than FFmpeg supports; --max-pixels does not help",
        s->name, width, height);
}

int source_note_streams(Source *s, MediaError *error)
{
    s->stream_count = s->format->nb_streams;
    s->reading.clocks = av_calloc(s->stream_count, sizeof(*s->reading.clocks));
    if (!s->reading.clocks)
        return media_no_memory(error, MEDIA_INPUT);
    for (unsigned i = 0; i < s->stream_count; i++)
        s->reading.clocks[i] = (TrackClock){.last = AV_NOPTS_VALUE};
    s->reading.clock = s->reading.latest = AV_NOPTS_VALUE;
    if (!s->camera && !s->reconnect)
        source_expect_key(s);
    if (keep_program(s))
        media_note(s->options.note, "tracks of other programs are left out");
    return 0;
}

int source_take_video(Source *s, MediaError *error)
{
    const int ret = pick_video(s, error);
    if (ret < 0)
        return ret;
    const AVCodecParameters *par = s->video->codecpar;
    const int64_t pixels = (int64_t)par->width * par->height;
    if (pixels > s->options.max_pixels)
        return source_refuse_size(s, (unsigned)par->width, (unsigned)par->height, error);
    if (pixels == 0 && s->refused_width) /* a track whose size FFmpeg refused has size 0 */
        return source_refuse_size(s, s->refused_width, s->refused_height, error);
    const int profile = side_data_dolby_vision_profile(s->video);
    if (profile == 5 && !s->options.force_dolby_vision)
        return media_fail(error, MEDIA_INPUT,
                          "%s is Dolby Vision of profile 5: its first plane is not luma, and "
                          "equalizing it spoils the colours; --force-dolby-vision does it anyway",
                          s->name);
    if (profile)
        media_note(s->options.note,
                   "the Dolby Vision layer is left out: it describes the original picture");
    return source_note_streams(s, error);
}

/* ---- opening in a thread ---- */

/*
 * A source is opened in its own thread, because demuxers may run for minutes without checking their
 * interrupt callback. A cancelled thread frees its data when it is done.
 */

/* How long to wait for a cancelled thread. */
#define GRACE_MS 200

/* Interval for checking the stop flag. */
#define LOOK_MS 20

struct SourceOpening {
    int64_t begin;
    Source *source; /* the thread owns this and `error` until it is done */
    MediaError error;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool done, abandoned; /* protected by the lock */
};

static atomic_int abandoned_count;

bool source_opening_is_abandoned(void)
{
    return atomic_load(&abandoned_count) > 0;
}

static void free_opening(SourceOpening *o)
{
    source_free(&o->source);
    pthread_cond_destroy(&o->changed);
    pthread_mutex_destroy(&o->lock);
    av_free(o);
}

static void *opening_main(void *arg)
{
    SourceOpening *o = arg;
    Source *s = o->source;
    if (s->options.network)
        (void)open_network(s, &o->error);
    else if (s->options.picture_rate > 0)
        (void)open_pictures(s, &o->error);
    else
        (void)open_one_file(s, s->options.path, &o->error);
    pthread_mutex_lock(&o->lock);
    const bool abandoned = o->abandoned;
    o->done = true;
    pthread_cond_signal(&o->changed);
    pthread_mutex_unlock(&o->lock);
    if (abandoned) {
        free_opening(o);
        atomic_fetch_sub(&abandoned_count, 1);
    }
    return NULL;
}

int source_set_name(Source *s, const char *path)
{
    s->name = av_strdup(media_quote_input(path));
    return s->name ? 0 : AVERROR(ENOMEM);
}

Source *source_create(const SourceOptions *options)
{
    Source *s = av_mallocz(sizeof(*s));
    if (!s)
        return NULL;
    s->options = *options;
    s->live = options->camera || options->low_latency;
    s->bytes.fd = -1;
    s->reading.last_packet = s->reading.last_packet_end = -1;
    s->options.path = options->camera ? NULL : av_strdup(options->path);
    if (!options->camera && (!s->options.path || source_set_name(s, options->path) < 0))
        source_free(&s);
    return s;
}

int source_opening_start(SourceOpening **opening, const SourceOptions *options, MediaError *error)
{
    SourceOpening *o = *opening = av_mallocz(sizeof(*o));
    if (!o)
        return media_no_memory(error, MEDIA_INPUT);
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&o->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    pthread_mutex_init(&o->lock, NULL);
    o->source = source_create(options);
    o->begin = av_gettime_relative();
    const int ret = o->source ? 0 : media_no_memory(error, MEDIA_INPUT);
    if (ret >= 0 && pthread_create(&o->thread, NULL, opening_main, o) == 0)
        return 0;
    free_opening(o);
    *opening = NULL;
    return media_fail(error, MEDIA_INPUT, "cannot start a thread to open the input");
}

/* The caller holds the lock. */
static void wait_until_done(SourceOpening *o, int ms)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += ms * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000L;
    until.tv_nsec %= 1000000000L;
    while (!o->done && pthread_cond_timedwait(&o->changed, &o->lock, &until) == 0)
        ;
}

void source_opening_cancel(SourceOpening **opening, bool wait)
{
    SourceOpening *o = *opening;
    if (!o)
        return;
    *opening = NULL;
    source_halt(o->source, true);
    pthread_mutex_lock(&o->lock);
    wait_until_done(o, wait ? GRACE_MS : 0);
    const bool done = o->done;
    o->abandoned = !done;
    if (!done)
        atomic_fetch_add(&abandoned_count, 1);
    const pthread_t thread = o->thread;
    pthread_mutex_unlock(&o->lock); /* if abandoned, the thread owns `o` from here on */
    if (!done) {
        pthread_detach(thread);
        return;
    }
    pthread_join(thread, NULL);
    free_opening(o);
}

/* Cancels opening after a stop or timeout; else returns AVERROR(EAGAIN). */
static int check_cancelled(SourceOpening **opening, bool wait, MediaError *error)
{
    const SourceOpening *o = *opening;
    const SourceOptions *options = &o->source->options;
    int ret = AVERROR(EAGAIN);
    const double limit = options->network ? 0 : options->open_timeout_s;
    const double taken = (double)(av_gettime_relative() - o->begin) / AV_TIME_BASE;
    if (source_is_stopped(o->source))
        ret = media_fail(error, MEDIA_INPUT, "interrupted while opening %s", o->source->name);
    else if (limit > 0 && taken > limit && !atomic_load(&o->source->bytes.may_be_slow))
        ret = media_fail(error, MEDIA_INPUT,
                         "%s took longer to open than the %g s that --open-timeout allows",
                         o->source->name, options->open_timeout_s);
    if (ret != AVERROR(EAGAIN))
        source_opening_cancel(opening, wait);
    return ret;
}

static int take_result(SourceOpening **opening, Source **source, MediaError *error)
{
    SourceOpening *o = *opening;
    *opening = NULL;
    pthread_join(o->thread, NULL);
    int ret = o->error.fault;
    if (ret < 0 && !error->fault)
        *error = o->error;
    else if (ret >= 0)
        ret = source_take_video(o->source, error);
    const SourceOptions *options = &o->source->options;
    if (options->answered)
        *options->answered = o->error.fault >= 0 || o->source->no_video;
    if (ret >= 0) {
        *source = o->source;
        o->source = NULL;
    }
    free_opening(o);
    return ret;
}

int source_opening_take(SourceOpening **opening, int wait_ms, Source **source, MediaError *error)
{
    SourceOpening *o = *opening;
    *source = NULL;
    pthread_mutex_lock(&o->lock);
    wait_until_done(o, wait_ms);
    const bool done = o->done;
    pthread_mutex_unlock(&o->lock);
    return done ? take_result(opening, source, error)
                : check_cancelled(opening, wait_ms > 0, error);
}

int source_open_connection(Source **source, const SourceOptions *options, MediaError *error)
{
    SourceOpening *opening;
    int ret = source_opening_start(&opening, options, error);
    if (ret < 0)
        return ret;
    do
        ret = source_opening_take(&opening, LOOK_MS, source, error);
    while (ret == AVERROR(EAGAIN));
    return ret;
}

/* ---- the largest picture ---- */

/* Maximum number of bytes to read, so that a long file opens quickly. */
#define LOOK_BYTES (INT64_C(512) << 20)

/* Reads bits from a packet and advances `at`. Bits beyond the end are 0. */
static unsigned take_bits(const AVPacket *packet, int *at, int count)
{
    unsigned bits = 0;
    for (; count > 0; count--, ++*at)
        bits =
            bits << 1 | (*at / 8 < packet->size ? packet->data[*at / 8] >> (7 - *at % 8) & 1u : 0);
    return bits;
}

/* Reads a key frame's uncompressed header: VP9 specification, 6.2. */
static void take_vp9_size(const AVPacket *packet, int *width, int *height)
{
    enum { SYNC = 0x498342, RGB = 7 };
    int at = 2;
    const unsigned low = take_bits(packet, &at, 1), profile = low | take_bits(packet, &at, 1) << 1;
    at += profile == 3;
    const unsigned is_other =
        take_bits(packet, &at, 2); /* not 0: shows an existing frame, or is no key frame */
    at += 2;
    if (is_other || take_bits(packet, &at, 24) != SYNC)
        return;
    at += profile >= 2;
    const int rgb = take_bits(packet, &at, 3) == RGB;
    at += !rgb + (profile & 1 ? (rgb ? 1 : 3) : 0);
    *width = (int)take_bits(packet, &at, 16) + 1;
    *height = (int)take_bits(packet, &at, 16) + 1;
}

/* Updates the largest size from a key frame. */
static void take_size(Source *s, const AVPacket *packet)
{
    int width = 0, height = 0;
    const uint8_t *data = packet->data;
    if (s->video->codecpar->codec_id == AV_CODEC_ID_VP9) {
        take_vp9_size(packet, &width, &height);
    } else if (packet->size >= 10 && !(data[0] & 1) && AV_RB24(data + 3) == 0x9d012a) {
        width = AV_RL16(data + 6) & 0x3fff; /* RFC 6386, 9.1 */
        height = AV_RL16(data + 8) & 0x3fff;
    }
    const int64_t pixels = (int64_t)width * height;
    if (pixels > (int64_t)s->largest_width * s->largest_height && pixels <= s->options.max_pixels) {
        s->largest_width = width;
        s->largest_height = height;
    }
}

/* Opens the file again and reads the headers of its key frames. Ignores errors, which decoding will
 * report. */
void source_find_largest(Source *s)
{
    MediaError none = {0};
    const enum AVCodecID id = s->video->codecpar->codec_id;
    /* VP8 and VP9 can change size at any key frame. Standard input is excluded, because a second
     * reader would move its position. */
    if (s->options.find_largest_us <= 0 || (id != AV_CODEC_ID_VP8 && id != AV_CODEC_ID_VP9) ||
        !S_ISREG(s->file.st_mode) || strcmp(s->options.path, "-") == 0)
        return;
    Source *again = source_create(&s->options);
    AVPacket *packet = av_packet_alloc();
    const AVRational base = s->video->time_base;
    int ret = again && packet ? open_one_file(again, s->options.path, &none) : AVERROR(ENOMEM);
    while (ret >= 0 && again->bytes.count < LOOK_BYTES) {
        ret = av_read_frame(again->format, packet);
        const int ours = ret >= 0 && packet->stream_index == s->video->index;
        if (ours && packet->pts != AV_NOPTS_VALUE &&
            av_rescale_q(packet->pts, base, AV_TIME_BASE_Q) - source_start(s) >=
                s->options.find_largest_us)
            ret = AVERROR_EOF;
        else if (ours)
            take_size(s, packet);
        av_packet_unref(packet);
    }
    av_packet_free(&packet);
    source_free(&again);
}
