#include "media/output/segments.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <libavutil/avstring.h>
#include <libavutil/fifo.h>
#include <libavutil/mem.h>

#include "media/checksum.h"
#include "media/error.h"
#include "media/file_name.h"
#include "media/log.h"
#include "media/output/output_file.h"
#include "media/packet_set.h"
#include "media/regular_file.h"
#include "media/side_data.h"

/* ---- kept segments ---- */

/* An entry of the list: size in bytes, modification time in ns, a slash, the name, and a NUL. */
#define LINE "%" PRId64 " %" PRId64 "/"
#define LINE_SCAN "%" SCNd64 " %" SCNd64 "/%n"

typedef struct KeptSegment {
    char *path;
    int64_t bytes, written_ns;
} KeptSegment;

typedef struct KeptSegments {
    char *folder, *list;   /* `folder` is "" or ends in a slash; `list`: path of the list on disk */
    KeptSegment *segments; /* oldest first */
    int count;
    int64_t limit, deleted;
    void (*note)(const char *line); /* or NULL */
    bool has_complained;
} KeptSegments;

static int64_t time_of(const struct stat *file)
{
    return (int64_t)file->st_mtim.tv_sec * 1000000000 + file->st_mtim.tv_nsec;
}

static bool is_unchanged(const KeptSegment *segment)
{
    struct stat file;
    return lstat(segment->path, &file) == 0 && S_ISREG(file.st_mode) &&
           file.st_size == segment->bytes && time_of(&file) == segment->written_ns;
}

/* Returns 0 or an errno. */
static int append(KeptSegments *k, const char *name, int64_t bytes, int64_t written_ns)
{
    char *path = av_asprintf("%s%s", k->folder, name);
    KeptSegment *more =
        path ? av_realloc_array(k->segments, (size_t)k->count + 1, sizeof(*more)) : NULL;
    if (!more) {
        av_free(path);
        return ENOMEM;
    }
    k->segments = more;
    more[k->count++] = (KeptSegment){path, bytes, written_ns};
    return 0;
}

static void forget(KeptSegments *k, int at)
{
    av_free(k->segments[at].path);
    k->count--;
    memmove(k->segments + at, k->segments + at + 1, (size_t)(k->count - at) * sizeof(*k->segments));
}

/* Reads the list, which may be missing. Returns 0 or an errno. */
static int read_list(KeptSegments *k)
{
    FILE *list = regular_file_stream(k->list, O_NOFOLLOW);
    int ret = 0;
    if (!list && errno != ENOENT)
        ret = errno ? errno : EINVAL; /* not a regular file */
    char *line = NULL;
    size_t room = 0;
    while (list && !ret && getdelim(&line, &room, '\0', list) > 0) {
        int64_t bytes, written_ns;
        int length = 0;
        if (sscanf(line, LINE_SCAN, &bytes, &written_ns, &length) < 2 || !length ||
            strchr(line + length, '/'))
            continue;
        ret = append(k, line + length, bytes, written_ns);
        if (!ret && !is_unchanged(&k->segments[k->count - 1]))
            forget(k, k->count - 1);
    }
    free(line);
    if (list)
        (void)fclose(list);
    return ret;
}

/* Reads the hidden list of segments that earlier recordings with the same pattern have written. */
static int kept_segments_open(KeptSegments *k, const SegmentOptions *o, MediaError *error)
{
    const char *pattern = o->path, *base = file_name_base(pattern);
    k->limit = o->keep;
    k->note = o->note;
    k->folder = av_strndup(pattern, (size_t)(base - pattern));
    if (k->folder)
        k->list = av_asprintf("%s.lumeq-pieces-%08x", k->folder, checksum(0, base, strlen(base)));
    const int ret = k->list ? read_list(k) : ENOMEM;
    return !ret ? 0
                : media_fail(error, MEDIA_OUTPUT,
                             "--keep cannot read %s, the list of earlier segments: %s",
                             media_quote(k->list ? k->list : pattern), strerror(ret));
}

/* Deletes the oldest segments beyond the limit, but never the newest one. Appends their names to
 * `names`. */
static void delete_oldest(KeptSegments *k, char *names, size_t size)
{
    int64_t bytes = 0;
    for (int i = 0; i < k->count; i++)
        bytes += k->segments[i].bytes;
    for (int i = 0; i < k->count - 1 && bytes > k->limit;) {
        const KeptSegment *old = &k->segments[i];
        const int deletes = is_unchanged(old);
        if (deletes && unlink(old->path) < 0) {
            if (!k->has_complained)
                media_note(k->note, "--keep cannot delete %s: %s", media_quote(old->path),
                           strerror(errno));
            k->has_complained = true;
            i++;
            continue;
        }
        if (deletes)
            av_strlcatf(names, size, "%s%s", *names ? ", " : "", media_quote(old->path));
        k->deleted += deletes;
        bytes -= old->bytes;
        forget(k, i);
    }
}

/* Adds a completed segment to the list, and deletes the oldest segments beyond the limit. Notes
 * only the first deletion, with names, and only the first failure. */
static void kept_segments_add(KeptSegments *k, const char *path)
{
    const char *name = file_name_base(path);
    const bool is_first = !k->deleted;
    char names[1024] = "";
    struct stat file;
    for (int i = k->count - 1; i >= 0; i--)
        if (strcmp(file_name_base(k->segments[i].path), name) == 0)
            forget(k, i); /* the new segment has replaced it */
    int ret = lstat(path, &file) < 0 ? errno : append(k, name, file.st_size, time_of(&file));
    const int flags = O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
    const int list = ret ? -1 : open(k->list, flags, 0666);
    if (!ret && (list < 0 ||
                 dprintf(list, LINE "%s%c", (int64_t)file.st_size, time_of(&file), name, 0) < 0 ||
                 fdatasync(list) < 0))
        ret = errno;
    if (list >= 0)
        (void)close(list);
    if (ret && !k->has_complained)
        media_note(k->note,
                   "--keep cannot add %s to its list, so later runs will not delete it: %s",
                   media_quote(path), strerror(ret));
    k->has_complained |= ret != 0;
    delete_oldest(k, names, sizeof(names));
    if (is_first && *names)
        media_note(k->note, "--keep has begun to delete the oldest segments: %s", names);
}

/* Allowed strftime() conversions; none can produce a slash. */
#define CONVERSIONS "YymdjHIMSpabBs%"

/* When the video is this far into the next segment, sound for the previous one is no longer
 * expected. The sound of a microphone comes up to 2.5 s late. */
#define GRACE_US 3000000

/* Limit for the bytes of packets that wait for the first picture of the next segment. If a camera
 * is unplugged, its microphone may go on for long without a picture. */
#define MOST_HELD_BYTES (32 << 20)

typedef struct Segment {
    OutputFile file;
    AVFormatContext *format; /* NULL if no segment is open */
    bool has_header;
    int64_t start; /* in the video's time base */
} Segment;

/* The start of a segment whose first packet is still in the encoder. */
typedef struct Cut {
    int64_t us;    /* AV_TIME_BASE units */
    int64_t start; /* the same time in the video's time base */
    time_t wall;   /* the wall clock at that time */
} Cut;

struct Segments {
    const SegmentOptions *options;
    AVFormatContext *like;
    const AVStream *video;
    AVDictionary *muxer;
    Segment current, previous; /* `previous` stays open until all its packets arrived */
    unsigned char *has_moved;  /* by stream: 1 once it has packets in `current` */
    int64_t first;             /* start of the first segment, AV_TIME_BASE units */
    int64_t wall;              /* wall clock at that time, in seconds */
    int64_t due;               /* earliest time of the next cut, AV_TIME_BASE units */
    AVFifo *cuts;              /* Cut, oldest first */
    int64_t count, bytes;      /* of completed segments */
    int64_t refused;
    char *name;
    AVPacket **held;
    int held_count;
    size_t held_bytes;
    KeptSegments kept; /* with --keep */
    bool is_full;      /* hold no more packets until the next segment begins */
};

/* ---- names ---- */

typedef struct tm *Calendar(const time_t *at, struct tm *date);

/* Expands the file name for a wall clock time; the folder is not expanded. */
static int name_at(const char *path, time_t at, Calendar *calendar, char name[PATH_MAX])
{
    struct tm date;
    const size_t folder = (size_t)(file_name_base(path) - path);
    if (folder >= PATH_MAX || !calendar(&at, &date))
        return -1;
    memcpy(name, path, folder);
    return strftime(name + folder, PATH_MAX - folder, path + folder, &date) > 0 ? 0 : -1;
}

int segments_create(Segments **segments, const SegmentOptions *options, MediaError *error)
{
    Segments *s = *segments = av_mallocz(sizeof(*s));
    if (!s)
        return media_no_memory(error, MEDIA_OUTPUT);
    s->options = options;
    int times = 0;
    for (const char *c = strchr(file_name_base(options->path), '%'); c; c = strchr(c + 2, '%')) {
        if (!c[1] || !strchr(CONVERSIONS, c[1]))
            return media_fail(
                error, MEDIA_USAGE,
                "--segment-time: %s contains %%%.1s, which is not a time; use %%Y %%m "
                "%%d %%H %%M %%S for year to second, %%%% for a percent sign",
                media_quote(options->path), c + 1);
        times += c[1] != '%';
    }
    if (!times)
        return media_fail(error, MEDIA_USAGE,
                          "--segment-time: %s has no time in its name, so all segments would have "
                          "the same name; use for example %%Y%%m%%d-%%H%%M%%S",
                          media_quote(options->path));
    /* A year, a month, a day, an hour and a minute begin at time 0. So if a segment is shorter than
     * the smallest unit in the name, the names at time 0 and one segment later are equal. */
    char first[PATH_MAX], second[PATH_MAX];
    if (name_at(options->path, 0, gmtime_r, first) < 0 ||
        name_at(options->path, (time_t)options->seconds, gmtime_r, second) < 0 ||
        strcmp(first, second) == 0)
        return media_fail(error, MEDIA_USAGE,
                          "--segment-time %g: consecutive segments of %s would have the same name; "
                          "add %%H%%M%%S (hour, minute, second) to the name",
                          options->seconds, media_quote(options->path));
    return 0;
}

/* ---- one segment ---- */

/* The temporary name is made from the pattern, so that the next run finds leftovers of any
 * segment. */
static int open_file(const Segments *s, Segment *segment, time_t at, MediaError *error)
{
    char name[PATH_MAX];
    const SegmentOptions *o = s->options;
    if (name_at(o->path, at, localtime_r, name) < 0)
        return media_fail(error, MEDIA_OUTPUT, "cannot write %s: its name is too long",
                          media_quote(o->path));
    const int ret = o->overwrite ? output_file_check(&segment->file, name, 1, NULL, error)
                                 : output_file_check_free(&segment->file, name, error);
    segment->file.temp_like = o->path;
    return ret < 0 ? ret : output_file_open(&segment->file, error);
}

static Cut cut_at(const Segments *s, int64_t pts, AVRational base)
{
    const int64_t us = av_rescale_q(pts, base, AV_TIME_BASE_Q);
    const int64_t wall = s->options->live ? time(NULL) : s->wall + (us - s->first) / AV_TIME_BASE;
    return (Cut){us, av_rescale_q(pts, base, s->video->time_base), (time_t)wall};
}

static int begin(const Segments *s, Segment *segment, const Cut *cut, MediaError *error)
{
    AVDictionary *muxer = NULL;
    int ret = open_file(s, segment, cut->wall, error);
    if (ret < 0)
        return ret;
    segment->start = cut->start;
    const AVFormatContext *like = s->like;
    if (avformat_alloc_output_context2(&segment->format, like->oformat, NULL, like->url) < 0 ||
        av_dict_copy(&segment->format->metadata, like->metadata, 0) < 0 ||
        av_dict_copy(&muxer, s->muxer, 0) < 0)
        return media_no_memory(error, MEDIA_OUTPUT);
    segment->format->strict_std_compliance = like->strict_std_compliance;
    segment->format->flags = like->flags;
    segment->format->avoid_negative_ts = like->avoid_negative_ts;
    segment->format->max_interleave_delta = like->max_interleave_delta;
    /* Chapters are not copied, because their times refer to the whole output. */
    for (unsigned i = 0; i < like->nb_streams; i++)
        if (!side_data_copy_stream(segment->format, like->streams[i]))
            return media_no_memory(error, MEDIA_OUTPUT);
    segment->format->pb = segment->file.io;
    media_log_clear();
    ret = avformat_write_header(segment->format, &muxer);
    av_dict_free(&muxer);
    segment->has_header = ret >= 0;
    return ret < 0 ? output_file_fail(&segment->file, ret, error) : 0;
}

static void close_segment(Segment *segment)
{
    if (segment->format)
        segment->format->pb = NULL;
    avformat_free_context(segment->format);
    output_file_close(&segment->file);
    *segment = (Segment){0};
}

static int finish_segment(Segments *s, Segment *segment, MediaError *error)
{
    if (!segment->has_header) {
        close_segment(segment);
        return 0;
    }
    media_log_clear();
    int ret = av_write_trailer(segment->format);
    ret = ret < 0 ? output_file_fail(&segment->file, ret, error)
                  : output_file_flush(&segment->file, error);
    const int64_t size = ret < 0 ? 0 : output_file_bytes(&segment->file);
    if (ret >= 0)
        ret = output_file_commit(&segment->file,
                                 s->options->overwrite ? OUTPUT_OWN_NAME : OUTPUT_FREE, error);
    if (ret >= 0) {
        s->bytes += size;
        s->count++;
        av_free(s->name);
        s->name = av_strdup(segment->file.name);
        if (s->options->keep > 0 && s->name)
            kept_segments_add(&s->kept, s->name);
    }
    close_segment(segment);
    return ret;
}

/* ---- sequence of segments ---- */

int segments_start(Segments *s, AVFormatContext *like, const AVStream *video,
                   const AVDictionary *muxer, int64_t pts, AVRational base, MediaError *error)
{
    s->like = like;
    s->video = video;
    s->first = av_rescale_q(pts, base, AV_TIME_BASE_Q);
    s->due = s->first + (int64_t)(s->options->seconds * AV_TIME_BASE);
    s->wall = time(NULL);
    s->has_moved = av_mallocz(like->nb_streams);
    s->cuts = av_fifo_alloc2(1, sizeof(Cut), AV_FIFO_FLAG_AUTO_GROW);
    if (!s->has_moved || !s->cuts || av_dict_copy(&s->muxer, muxer, 0) < 0)
        return media_no_memory(error, MEDIA_OUTPUT);
    if (s->options->keep > 0 && kept_segments_open(&s->kept, s->options, error) < 0)
        return error->fault;
    const Cut cut = cut_at(s, pts, base);
    return begin(s, &s->current, &cut, error);
}

bool segments_is_due(const Segments *s, int64_t pts, AVRational base)
{
    return av_rescale_q(pts, base, AV_TIME_BASE_Q) >= s->due;
}

static int64_t start_in(const Segments *s, const Segment *segment, const AVStream *out)
{
    return av_rescale_q(segment->start, s->video->time_base, out->time_base);
}

/* True for copied video, which moves to the next segment with its next key frame. */
static bool is_copied_video(const Segments *s, const AVStream *out)
{
    return out != s->video && out->codecpar->codec_type == AVMEDIA_TYPE_VIDEO &&
           !(out->disposition & AV_DISPOSITION_ATTACHED_PIC);
}

static int64_t packet_time(const AVPacket *packet)
{
    return packet->pts != AV_NOPTS_VALUE ? packet->pts : packet->dts;
}

static int write_to_segment(Segments *s, AVPacket *packet, const AVStream *out, MediaError *error)
{
    const int64_t time = packet_time(packet);
    int is_previous = 0;
    if (s->previous.has_header && time != AV_NOPTS_VALUE) {
        is_previous = time < start_in(s, &s->current, out);
        if (is_copied_video(s, out))
            is_previous =
                !s->has_moved[out->index] && (is_previous || !(packet->flags & AV_PKT_FLAG_KEY));
    }
    const Segment *segment = is_previous ? &s->previous : &s->current;
    const int64_t start = start_in(s, segment, out);
    if (packet->pts != AV_NOPTS_VALUE)
        packet->pts -= start;
    if (packet->dts != AV_NOPTS_VALUE)
        packet->dts -= start;
    av_packet_rescale_ts(packet, out->time_base, segment->format->streams[out->index]->time_base);
    media_log_clear();
    const int ret = av_interleaved_write_frame(segment->format, packet);
    if (output_file_refuses(ret) && out != s->video)
        s->refused++;
    else if (ret < 0)
        return output_file_fail(&segment->file, ret, error);
    if (!s->previous.has_header || is_previous)
        return 0;
    /* Close the previous segment once no stream has packets left for it. */
    const int64_t into =
        out == s->video ? av_rescale_q(time - start, out->time_base, AV_TIME_BASE_Q) : 0;
    s->has_moved[out->index] = 1;
    for (unsigned i = 0; i < s->like->nb_streams; i++) {
        const AVStream *other = s->like->streams[i];
        const bool is_played =
            other == s->video || other->codecpar->codec_type == AVMEDIA_TYPE_AUDIO;
        if (!s->has_moved[i] && (is_copied_video(s, other) || (into <= GRACE_US && is_played)))
            return 0;
    }
    return finish_segment(s, &s->previous, error);
}

/* True if the packet may belong to the next segment, whose first picture was not written yet. */
static int may_belong_to_next(const Segments *s, const AVPacket *packet, const AVStream *out)
{
    const int64_t time = packet_time(packet);
    Cut next = {.us = s->due};
    (void)av_fifo_peek(s->cuts, &next, 1, 0); /* if no cut waits, `next` stays at `due` */
    const bool is_due =
        time != AV_NOPTS_VALUE && av_rescale_q(time, out->time_base, AV_TIME_BASE_Q) >= next.us;
    if (out == s->video || s->is_full)
        return 0;
    if (!is_copied_video(s, out))
        return is_due;
    bool has_held = false; /* packets come in decode order, so hold all after a held one */
    for (int i = 0; i < s->held_count; i++)
        has_held |= s->held[i]->stream_index == out->index;
    return has_held || (is_due && (packet->flags & AV_PKT_FLAG_KEY));
}

/* Writes the held packets whose segment has begun. */
static int release(Segments *s, MediaError *error)
{
    const int count = s->held_count;
    int ret = 0;
    s->held_count = 0;
    s->held_bytes = 0;
    for (int i = 0; i < count; i++) {
        AVPacket *packet = s->held[i];
        const AVStream *out = s->like->streams[packet->stream_index];
        if (ret >= 0 && may_belong_to_next(s, packet, out)) {
            s->held[s->held_count++] = packet;
            s->held_bytes += packet_bytes(packet);
            continue;
        }
        if (ret >= 0)
            ret = write_to_segment(s, packet, out, error);
        av_packet_free(&packet);
    }
    return ret;
}

int segments_write(Segments *s, AVPacket *packet, const AVStream *out, MediaError *error)
{
    Cut cut;
    int ret = 0;
    while (out == s->video && ret >= 0 && av_fifo_peek(s->cuts, &cut, 1, 0) >= 0 &&
           packet_time(packet) >= cut.start) {
        av_fifo_drain2(s->cuts, 1);
        ret = finish_segment(s, &s->previous, error);
        if (ret < 0)
            break;
        s->previous = s->current;
        s->current = (Segment){0};
        s->is_full = false;
        memset(s->has_moved, 0, s->like->nb_streams);
        ret = begin(s, &s->current, &cut, error);
        if (ret >= 0)
            ret = release(s, error);
    }
    if (ret < 0)
        return ret;
    if (!may_belong_to_next(s, packet, out))
        return write_to_segment(s, packet, out, error);
    AVPacket *own = av_packet_alloc();
    if (!own || av_dynarray_add_nofree(&s->held, &s->held_count, own) < 0) {
        av_packet_free(&own);
        return media_no_memory(error, MEDIA_OUTPUT);
    }
    av_packet_move_ref(own, packet);
    s->held_bytes += packet_bytes(own);
    s->is_full = s->held_bytes > MOST_HELD_BYTES;
    return s->is_full ? release(s, error) : 0;
}

int segments_cut(Segments *s, int64_t pts, AVRational base, MediaError *error)
{
    const Cut cut = cut_at(s, pts, base);
    while (s->due <= cut.us)
        s->due += (int64_t)(s->options->seconds * AV_TIME_BASE);
    return av_fifo_write(s->cuts, &cut, 1) < 0 ? media_no_memory(error, MEDIA_OUTPUT) : 0;
}

int segments_finish(Segments *s, MediaError *error)
{
    s->is_full = true; /* hold no packets, because no further segment begins */
    int ret = release(s, error);
    if (ret >= 0)
        ret = finish_segment(s, &s->previous, error);
    return ret < 0 ? ret : finish_segment(s, &s->current, error);
}

SegmentTotals segments_totals(const Segments *s)
{
    const int64_t open = output_file_bytes(&s->previous.file) + output_file_bytes(&s->current.file);
    return (SegmentTotals){s->bytes + open, s->count, s->kept.deleted, s->refused, s->name};
}

void segments_close(Segments **segments)
{
    Segments *s = *segments;
    if (!s)
        return;
    for (int i = 0; i < s->held_count; i++)
        av_packet_free(&s->held[i]);
    av_freep(&s->held);
    close_segment(&s->previous);
    close_segment(&s->current);
    av_dict_free(&s->muxer);
    av_fifo_freep2(&s->cuts);
    av_freep(&s->has_moved);
    av_freep(&s->name);
    while (s->kept.count)
        forget(&s->kept, s->kept.count - 1);
    av_free(s->kept.segments);
    av_free(s->kept.list);
    av_free(s->kept.folder);
    av_freep(segments);
}
