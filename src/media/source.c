#include "media/source.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include <libavutil/avstring.h>
#include <libavutil/opt.h>

#include "media/log.h"

#define IO_BUFFER_SIZE (64 * 1024)

/* A read error may be passing (a bad sector, a damaged packet); this many in a row are the end. */
#define MAX_READ_FAILURES 64

/* How far a seek is repeated ahead of where the one before it found no keyframe, doubled each time,
 * and how many packets are looked at for one. */
#define SEEK_STEP_US 2000000
#define MAX_PACKETS_TO_KEY 20000

/* A time this far from what is due is a jump. */
#define JUMP_AHEAD_US 10000000
#define JUMP_BACK_US 100000

/* Time between two looks at the stop flag while a pipe has no data. */
#define POLL_MS 100

/* Readers that open files by themselves, and one that takes any text for a picture. */
static const char *const refused_formats[] = {
    "hls", "dash", "concat",   "concatf",     "imf", "image2",
    "sdp", "rtsp", "avisynth", "vapoursynth", "tty",
};

static int read_bytes(void *opaque, uint8_t *buffer, int size)
{
    Source *s = opaque;
    for (;;) {
        if (!S_ISREG(s->file.st_mode)) {
            struct pollfd wait = {.fd = s->fd, .events = POLLIN};
            const int ready = poll(&wait, 1, POLL_MS);
            if (atomic_load(s->stop))
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
    return atomic_load(((const Source *)opaque)->stop) != 0;
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

static int open_io(Source *s, MediaError *error)
{
    uint8_t *buffer = av_malloc(IO_BUFFER_SIZE);
    s->format = avformat_alloc_context();
    if (buffer && s->format)
        s->io = avio_alloc_context(buffer, IO_BUFFER_SIZE, 0, s, read_bytes, NULL,
                                   S_ISREG(s->file.st_mode) ? seek_bytes : NULL);
    if (!s->io) {
        av_free(buffer);
        return media_fail(error, MEDIA_INPUT, "out of memory");
    }
    s->format->pb = s->io;
    s->format->flags |= AVFMT_FLAG_CUSTOM_IO;
    s->format->io_open = refuse_open;
    s->format->interrupt_callback = (AVIOInterruptCB){stopped, s};
    s->format->protocol_whitelist = av_strdup("none");
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

static int open_format(Source *s, const char *path, MediaError *error)
{
    char name[32];
    name_for_probe(path, name, sizeof(name));
    const AVInputFormat *input = NULL;
    media_log_clear();
    int ret = av_probe_input_buffer2(s->io, &input, name, NULL, 0, 0);
    if (ret >= 0)
        for (size_t i = 0; i < sizeof(refused_formats) / sizeof(refused_formats[0]); i++)
            if (av_match_name(refused_formats[i], input->name)) {
                if (strcmp(refused_formats[i], "tty") == 0)
                    return media_fail(error, MEDIA_INPUT, "%s is a text file, not a video",
                                      media_quote(path));
                return media_fail(error, MEDIA_INPUT,
                                  "%s is a playlist (%s) that refers to other files; only single "
                                  "files are read",
                                  media_quote(path), input->name);
            }
    if (ret >= 0)
        ret = avformat_open_input(&s->format, name, input, NULL);
    if (ret == AVERROR_EXIT)
        return media_fail(error, MEDIA_INPUT, "interrupted while opening %s", media_quote(path));
    if (ret < 0) {
        const char *detail = media_log_error();
        return media_fail(error, MEDIA_INPUT, "%s is not a video that can be read: %s%s%s",
                          media_quote(path), media_av_text(ret), detail[0] ? "; " : "", detail);
    }
    ret = avformat_find_stream_info(s->format, NULL);
    if (ret < 0)
        return media_fail(error, MEDIA_INPUT, "cannot read the streams of %s: %s",
                          media_quote(path), media_av_text(ret));
    return 0;
}

static int is_picture(const AVStream *stream)
{
    return stream->disposition & (AV_DISPOSITION_ATTACHED_PIC | AV_DISPOSITION_TIMED_THUMBNAILS);
}

static int64_t track_rank(const AVStream *stream)
{
    const int64_t area = (int64_t)stream->codecpar->width * stream->codecpar->height;
    return area + ((stream->disposition & AV_DISPOSITION_DEFAULT) ? INT64_C(1) << 40 : 0);
}

static int pick_video(Source *s, const char *path, MediaError *error)
{
    int pictures = 0;
    for (unsigned i = 0; i < s->format->nb_streams; i++) {
        AVStream *stream = s->format->streams[i];
        if (stream->codecpar->codec_type != AVMEDIA_TYPE_VIDEO)
            continue;
        if (is_picture(stream))
            pictures++;
        else if (!s->video || track_rank(stream) > track_rank(s->video))
            s->video = stream;
    }
    if (!s->video)
        return media_fail(error, MEDIA_INPUT, "%s has no video%s", media_quote(path),
                          pictures ? " (a cover picture is not a video)" : "");
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

static void forget_times(Source *s)
{
    for (unsigned i = 0; i < s->stream_count; i++)
        s->next_times[i] = AV_NOPTS_VALUE;
    s->jump = 0;
}

static int note_streams(Source *s, MediaError *error)
{
    s->stream_count = s->format->nb_streams;
    s->next_times = av_calloc(s->stream_count, sizeof(*s->next_times));
    if (!s->next_times)
        return media_fail(error, MEDIA_INPUT, "out of memory");
    forget_times(s);
    return 0;
}

int source_open(Source **source, const SourceOptions *options, MediaError *error)
{
    *source = NULL;
    Source *s = av_mallocz(sizeof(*s));
    if (!s)
        return media_fail(error, MEDIA_INPUT, "out of memory");
    s->fd = -1;
    s->stop = options->stop;
    s->max_pixels = options->max_pixels;
    int ret = open_file(s, options->path, error);
    if (ret >= 0)
        ret = open_io(s, error);
    if (ret >= 0)
        ret = open_format(s, options->path, error);
    if (ret >= 0)
        ret = pick_video(s, options->path, error);
    if (ret >= 0)
        ret = check_size(s, options, error);
    if (ret >= 0)
        ret = note_streams(s, error);
    if (ret < 0)
        source_close(&s);
    *source = s;
    return ret;
}

int64_t source_start(const Source *s)
{
    return s->format->start_time == AV_NOPTS_VALUE ? 0 : s->format->start_time;
}

static int64_t packet_time(const Source *s, int64_t time, int stream)
{
    if (time == AV_NOPTS_VALUE)
        return AV_NOPTS_VALUE;
    return av_rescale_q(time, s->format->streams[stream]->time_base, AV_TIME_BASE_Q);
}

/* Whether the next keyframe of the video from here on is one to decode `target` from. */
static int keyframe_fits(Source *s, int64_t target)
{
    int fits = 0;
    AVPacket *packet = av_packet_alloc();
    for (int i = 0; packet && i < MAX_PACKETS_TO_KEY && av_read_frame(s->format, packet) >= 0;
         i++) {
        const int key =
            packet->stream_index == s->video->index && (packet->flags & AV_PKT_FLAG_KEY);
        const int64_t time = key ? packet_time(s, packet->pts, packet->stream_index) : 0;
        av_packet_unref(packet);
        if (!key)
            continue;
        fits = time != AV_NOPTS_VALUE && time <= target;
        break;
    }
    av_packet_free(&packet);
    return fits;
}

static int seek_before(Source *s, int64_t target)
{
    return avformat_seek_file(s->format, -1, INT64_MIN, target, target, 0);
}

void source_seek(Source *s, int64_t position)
{
    const int64_t target = source_start(s) + position;
    forget_times(s);
    if (!(s->io->seekable & AVIO_SEEKABLE_NORMAL) ||
        (s->format->iformat->flags & AVFMT_NOTIMESTAMPS))
        return;
    /* Where there is no index, a seek lands anywhere near. */
    for (int64_t back = 0; back < position; back = back ? 2 * back : SEEK_STEP_US) {
        if (seek_before(s, target - back) < 0 || atomic_load(s->stop))
            break;
        if (keyframe_fits(s, target)) {
            s->wants_key = seek_before(s, target - back) >= 0;
            return;
        }
    }
    if (av_seek_frame(s->format, -1, source_start(s), AVSEEK_FLAG_BACKWARD) < 0)
        (void)av_seek_frame(s->format, -1, 0, AVSEEK_FLAG_BYTE);
}

static void note_damage(Source *s, int ret)
{
    const char *text = media_log_error();
    if (!s->damage.first[0])
        av_strlcpy(s->damage.first, text[0] ? text : media_av_text(ret), sizeof(s->damage.first));
}

/*
 * Files joined end to end, and broadcasts, begin to count anew: from there on all times are moved
 * so that they go on. A time is taken for such a jump when it is far from when the track's next
 * packet is due.
 */
static void smooth_times(Source *s, AVPacket *packet)
{
    const AVStream *stream = s->format->streams[packet->stream_index];
    const enum AVMediaType type = stream->codecpar->codec_type;
    int64_t *next = &s->next_times[packet->stream_index];
    int64_t time = packet_time(s, packet->dts, packet->stream_index);
    if (!(s->format->iformat->flags & AVFMT_TS_DISCONT) || time == AV_NOPTS_VALUE ||
        (type != AVMEDIA_TYPE_VIDEO && type != AVMEDIA_TYPE_AUDIO))
        return;
    time += s->jump;
    if (*next != AV_NOPTS_VALUE && (time - *next > JUMP_AHEAD_US || *next - time > JUMP_BACK_US)) {
        s->jump += *next - time;
        time = *next;
    }
    *next = time + av_rescale_q(packet->duration, stream->time_base, AV_TIME_BASE_Q);
    const int64_t jump = av_rescale_q(s->jump, AV_TIME_BASE_Q, stream->time_base);
    packet->dts += jump;
    if (packet->pts != AV_NOPTS_VALUE)
        packet->pts += jump;
}

/* Some packets were queued before it was known what is wanted of the file. */
static int is_wanted(Source *s, const AVPacket *packet)
{
    if ((unsigned)packet->stream_index >= s->stream_count ||
        s->format->streams[packet->stream_index]->discard == AVDISCARD_ALL)
        return 0;
    if (s->wants_key && packet->stream_index == s->video->index) {
        if (!(packet->flags & AV_PKT_FLAG_KEY))
            return 0;
        s->wants_key = 0;
    }
    return 1;
}

/* 0: the packet is to be handed out; 1: go on reading. */
static int take_packet(Source *s, AVPacket *packet)
{
    s->failures = 0;
    if (!is_wanted(s, packet)) {
        av_packet_unref(packet);
        return 1;
    }
    smooth_times(s, packet);
    if ((packet->flags & AV_PKT_FLAG_CORRUPT) && !(packet->flags & AV_PKT_FLAG_DISCARD)) {
        s->damage.corrupt_packets++;
        note_damage(s, AVERROR_INVALIDDATA);
    }
    return 0;
}

int source_read(Source *s, AVPacket *packet)
{
    for (;;) {
        media_log_clear();
        const int ret = av_read_frame(s->format, packet);
        if (ret == 0 && take_packet(s, packet) == 0)
            return 0;
        if (atomic_load(s->stop)) {
            av_packet_unref(packet);
            return AVERROR_EXIT;
        }
        if (ret == 0 || ret == AVERROR(EAGAIN))
            continue;
        if (ret == AVERROR_EOF)
            return ret;
        s->damage.read_errors++;
        note_damage(s, ret);
        if (++s->failures >= MAX_READ_FAILURES || avio_feof(s->io))
            return AVERROR_EOF;
    }
}

static int format_is(const Source *s, const char *name)
{
    return av_match_name(name, s->format->iformat->name);
}

int64_t source_frame_count(const Source *s)
{
    if (!format_is(s, "mov"))
        return 0;
    const int entries = avformat_index_get_entries_count(s->video);
    int64_t shown = 0;
    for (int i = 0; i < entries; i++) {
        const AVIndexEntry *entry = avformat_index_get_entry(s->video, i);
        shown += !(entry->flags & AVINDEX_DISCARD_FRAME);
    }
    return shown;
}

int source_declares_duration(const Source *s)
{
    return format_is(s, "mov") || format_is(s, "matroska") || format_is(s, "flv");
}

int source_duration_is_end(const Source *s)
{
    return format_is(s, "matroska") || format_is(s, "flv");
}

void source_close(Source **source)
{
    Source *s = *source;
    if (!s)
        return;
    avformat_close_input(&s->format);
    if (s->io)
        av_freep(&s->io->buffer);
    avio_context_free(&s->io);
    av_freep(&s->next_times);
    if (s->fd >= 0)
        close(s->fd);
    av_freep(source);
}
