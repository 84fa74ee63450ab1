/* Reads packets of a file or one connection: makes times continuous, seeks, and finds damage. */
#include "media/input/source.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include <libavutil/avstring.h>
#include <libavutil/parseutils.h>

#include "media/input/cut_off.h"
#include "media/packet_set.h"

/* Reading goes on after an error (a bad sector, a damaged packet) but ends after this many errors
 * in a row. */
#define MAX_READ_FAILURES 64

/* If a seek finds no key frame at or before the target within MAX_PACKETS_TO_KEY packets, it is
 * repeated SEEK_STEP_US before the target, then at twice this distance, and so on. */
#define SEEK_STEP_US 2000000
#define MAX_PACKETS_TO_KEY 20000

/* A time that is later or earlier than expected by this much is a jump. */
#define JUMP_AHEAD_US 10000000
#define JUMP_BACK_US 100000

/* Containers without an index, and bare streams: their start may be missing. */
#define CUT_ANYWHERE "mpegts,mpeg,h264,hevc,mpegvideo,m4v,vc1"

/* In these formats, only a file that was cut off has bytes after the last complete packet. */
#define WHOLE_PACKETS "dv,yuv4mpegpipe"

/* Limit for the video packets that are kept in case no key frame follows. */
#define MAX_HELD_BYTES (64 << 20)

/* Its address in AVPacket.opaque marks packets for source_is_joined(). */
static char join_mark;

/* FFmpeg may mark a packet as corrupt because a transport stream restarts. If so, the restart
 * shows in one of this many packets after the marked one. */
#define PACKETS_TO_RESTART 2

static void drop_held(Source *s)
{
    packets_drop(s->reading.held);
    s->reading.held_bytes = 0;
}

int64_t source_start(const Source *s)
{
    return s->format->start_time == AV_NOPTS_VALUE ? 0 : s->format->start_time;
}

/* A hundred years, enough for clocks that count from 1970. Larger times are errors, and sums of
 * them might overflow. */
#define MAX_TIME_US (INT64_C(36600) * 86400 * AV_TIME_BASE)

int64_t source_sane_time(int64_t time, AVRational base)
{
    const int64_t us = av_rescale_q(time, base, AV_TIME_BASE_Q);
    const bool is_sane = us >= -MAX_TIME_US && us <= MAX_TIME_US && time > -(INT64_C(1) << 60) &&
                         time < INT64_C(1) << 60;
    return is_sane ? time : AV_NOPTS_VALUE;
}

int64_t source_tagged_length(const AVStream *stream)
{
    const AVDictionaryEntry *tag = av_dict_get(stream->metadata, "DURATION", NULL, 0);
    int64_t length = 0;
    if (!tag || av_parse_time(&length, tag->value, 1) < 0)
        return 0;
    return FFMAX(source_sane_time(length, AV_TIME_BASE_Q), 0);
}

static int64_t packet_time(const Source *s, int64_t time, int stream)
{
    if (time == AV_NOPTS_VALUE)
        return AV_NOPTS_VALUE;
    return av_rescale_q(time, s->format->streams[stream]->time_base, AV_TIME_BASE_Q);
}

/* Timestamps of few bits wrap around (after 26.5 hours in transport streams), and libavformat
 * handles at most one wrap. Adds whole periods so that `time` is nearest to the last time read. */
static int64_t unwrap(const Source *s, int64_t time, const AVStream *stream)
{
    if (time == AV_NOPTS_VALUE || s->reading.clock == AV_NOPTS_VALUE || stream->pts_wrap_bits >= 63)
        return time;
    const int64_t period = INT64_C(1) << stream->pts_wrap_bits;
    const int64_t behind = av_rescale_q(s->reading.clock, AV_TIME_BASE_Q, stream->time_base) - time;
    return time + (behind + (behind < 0 ? -period : period) / 2) / period * period;
}

bool source_is_picture(const AVStream *stream)
{
    return (stream->disposition &
            (AV_DISPOSITION_ATTACHED_PIC | AV_DISPOSITION_TIMED_THUMBNAILS)) != 0;
}

int64_t source_track_start(const Source *s, const AVStream *stream)
{
    const AVCodecParameters *par = stream->codecpar;
    if (stream->discard == AVDISCARD_ALL || source_is_picture(stream) ||
        (par->codec_type != AVMEDIA_TYPE_VIDEO && par->codec_type != AVMEDIA_TYPE_AUDIO))
        return AV_NOPTS_VALUE;
    int64_t time = packet_time(s, unwrap(s, stream->start_time, stream), stream->index);
    if (time == AV_NOPTS_VALUE || time >= 0)
        return time;
    if (par->initial_padding > 0 && par->sample_rate > 0) /* samples that the decoder drops */
        time += av_rescale(par->initial_padding, AV_TIME_BASE, par->sample_rate);
    /* an edit list hides everything before 0 */
    return time < 0 && av_match_name("mov", s->format->iformat->name) ? 0 : time;
}

/* Reads up to the next key frame of the video. Returns true if `target` can be decoded from it. */
static bool read_to_keyframe(Source *s, int64_t target)
{
    bool fits = false;
    AVPacket *packet = av_packet_alloc();
    for (int i = 0; packet && i < MAX_PACKETS_TO_KEY && !source_is_stopped(s) &&
                    av_read_frame(s->format, packet) >= 0;
         i++) {
        const bool key =
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

void source_halt(Source *s, bool halted)
{
    atomic_store(&s->halted, halted);
}

bool source_is_stopped(const Source *s)
{
    return atomic_load(&s->halted) || atomic_load(s->options.stop) ||
           (s->options.within && source_is_stopped(s->options.within));
}

int source_stop_callback(void *source)
{
    return source_is_stopped(source);
}

void source_watch_memory(Source *s)
{
    errno = 0;
    s->bytes.count = 0;
}

bool source_lacks_memory(const Source *s)
{
    return media_lacks_memory(s->bytes.count);
}

bool source_is_one_picture(const Source *s)
{
    const size_t length = strlen(s->format->iformat->name), end = strlen("_pipe");
    return length > end && strcmp(s->format->iformat->name + length - end, "_pipe") == 0;
}

bool source_is_still(const Source *s)
{
    if (s->pictures.count)
        return s->pictures.count == 1;
    return source_is_one_picture(s) || (s->format->nb_streams == 1 && s->video->nb_frames == 1);
}

int64_t source_duration(const Source *s)
{
    int64_t duration = s->format->duration;
    if (duration != AV_NOPTS_VALUE && source_duration_is_end(s))
        duration -= source_start(s);
    return duration == AV_NOPTS_VALUE || duration < 0 ? 0 : duration;
}

void source_expect_key(Source *s)
{
    const bool can_be_cut = av_match_name(s->format->iformat->name, CUT_ANYWHERE);
    s->reading.wants_key = s->network || can_be_cut ? SOURCE_PACKETS_TO_KEY : 0;
}

bool source_is_joined(const AVPacket *packet)
{
    return packet && packet->opaque == &join_mark;
}

bool source_can_seek(const Source *s)
{
    return s->pictures.count || (s->bytes.io && (s->bytes.io->seekable & AVIO_SEEKABLE_NORMAL) &&
                                 !(s->format->iformat->flags & AVFMT_NOTIMESTAMPS));
}

/* Seeks to a time before the track's start, since demuxers may seek by dts, which can be lower than
 * pts. If the demuxer refuses times before the first packet, seeks to the start itself. */
static int seek_track_start(Source *s, const AVStream *stream)
{
    const int64_t start = stream->start_time;
    const int64_t margin = av_rescale_q(SEEK_STEP_US, AV_TIME_BASE_Q, stream->time_base);
    const int ret = av_seek_frame(s->format, stream->index, start - margin, AVSEEK_FLAG_BACKWARD);
    return ret < 0 ? av_seek_frame(s->format, stream->index, start, AVSEEK_FLAG_BACKWARD) : ret;
}

/* Seeks to the start of the track whose first packet is nearest to the file's beginning. A seek in
 * another track would skip packets of the first track. */
static void go_to_start(Source *s)
{
    const AVStream *first = NULL;
    source_expect_key(s);
    int64_t lowest = INT64_MAX, earliest = INT64_MAX;
    for (unsigned i = 0; i < s->stream_count; i++) {
        const AVStream *stream = s->format->streams[i];
        const int64_t start = source_track_start(s, stream);
        if (start == AV_NOPTS_VALUE || seek_track_start(s, stream) < 0)
            continue;
        const int64_t at = avio_tell(s->bytes.io);
        if (at < lowest || (at == lowest && start < earliest)) {
            first = stream;
            lowest = at;
            earliest = start;
        }
    }
    if ((!first || seek_track_start(s, first) < 0) &&
        av_seek_frame(s->format, -1, source_start(s), AVSEEK_FLAG_BACKWARD) < 0)
        (void)av_seek_frame(s->format, -1, 0, AVSEEK_FLAG_BYTE);
}

bool source_seek(Source *s, int64_t position)
{
    const int64_t target = source_start(s) + position;
    for (unsigned i = 0; i < s->stream_count; i++)
        s->reading.clocks[i] = (TrackClock){.last = AV_NOPTS_VALUE};
    s->reading.jump = s->reading.last_jump = 0;
    s->reading.clock = s->reading.latest = AV_NOPTS_VALUE;
    drop_held(s);
    if (s->pictures.count) {
        const int64_t number = av_rescale_q_rnd(position, AV_TIME_BASE_Q, s->video->time_base,
                                                AV_ROUND_DOWN | AV_ROUND_PASS_MINMAX);
        s->reading.next_picture = (int)av_clip64(number, 0, s->pictures.count - 1);
    }
    if (!source_can_seek(s) || s->pictures.count)
        return 0;
    s->reading.clock = target;
    /* Without an index, a seek is inexact and may land after the key frame. */
    for (int64_t back = 0; back < position; back = back ? 2 * back : SEEK_STEP_US) {
        const int64_t at = target - back;
        if (avformat_seek_file(s->format, -1, INT64_MIN, at, at, 0) < 0 || source_is_stopped(s))
            break;
        if (read_to_keyframe(s, target)) {
            const bool is_there = avformat_seek_file(s->format, -1, INT64_MIN, at, at, 0) >= 0;
            s->reading.wants_key = is_there ? INT_MAX : 0;
            return is_there;
        }
    }
    go_to_start(s);
    return 0;
}

bool source_can_begin_again(const Source *s)
{
    return !s->live &&
           (s->pictures.count || (s->bytes.io && (s->bytes.io->seekable & AVIO_SEEKABLE_NORMAL)));
}

void damage_note(Damage *damage, const LogNote *note, int averror)
{
    if (!damage->first[0])
        av_strlcpy(damage->first, note->error[0] ? note->error : media_av_text(averror),
                   sizeof(damage->first));
}

static void note_damaged_packet(Source *s, int ret)
{
    s->damage.packets++;
    damage_note(&s->damage, media_log_note(), ret);
}

void source_note_logged(Source *s)
{
    const LogNote *note = media_log_note();
    if (note->cut_off)
        damage_note(&s->damage, note, 0);
    s->damage.cut_off |= note->cut_off;
    if (note->damage)
        note_damaged_packet(s, AVERROR_INVALIDDATA);
}

/* Returns true if the input was cut off. Call at its end. Skips network inputs, because network.c
 * detects lost connections. */
static bool find_cut_off(Source *s)
{
    const char *name = s->format->iformat->name;
    if (s->network)
        return 0;
    if (s->reading.last_packet_end > 0 && av_match_name(name, WHOLE_PACKETS))
        return s->reading.last_packet_end != avio_tell(s->bytes.io);
    if (S_ISREG(s->file.st_mode)) {
        elements_start(&s->bytes.elements, name);
        elements_take_file(&s->bytes.elements, s->bytes.fd, s->file.st_size,
                           s->reading.last_packet);
    }
    return elements_are_cut(&s->bytes.elements);
}

static void move(AVPacket *packet, int64_t by_us, const AVStream *stream)
{
    const int64_t by = av_rescale_q(by_us, AV_TIME_BASE_Q, stream->time_base);
    if (packet->dts != AV_NOPTS_VALUE)
        packet->dts += by;
    if (packet->pts != AV_NOPTS_VALUE)
        packet->pts += by;
}

/* Returns the offset to add to the times of a packet with this time. */
static int64_t find_jump(Source *s, const TrackClock *clock, int64_t time)
{
    const int64_t due = clock->last + clock->interval;
    if (clock->last == AV_NOPTS_VALUE)
        return s->reading.jump;
    /* Until this track reaches a jump that another track has passed, use the previous offset. */
    if (FFABS(time + s->reading.last_jump - due) < JUMP_BACK_US &&
        FFABS(time + s->reading.jump - due) > JUMP_BACK_US)
        return s->reading.last_jump;
    /* If another track has reached this time, this track has a gap, not a jump. */
    const int64_t moved = time + s->reading.jump;
    const int ahead = clock->interval && moved - FFMAX(due, s->reading.latest) > JUMP_AHEAD_US;
    if (ahead || clock->last + clock->duration - moved > JUMP_BACK_US) {
        s->reading.last_jump = s->reading.jump;
        s->reading.jump = due - time;
    }
    return s->reading.jump;
}

/*
 * Decides whether a corrupt packet counts as damage. If two transport streams were joined, the
 * packet counter restarts at the joint. So the demuxer marks a packet near the joint as corrupt,
 * although nothing is missing. The packet does not count if times restart as well, or if a key
 * frame follows on time.
 */
static void judge_corrupt(Source *s, const AVPacket *next, TrackClock *clock, int64_t moved,
                          int64_t by)
{
    const bool is_key = next->stream_index == s->video->index && (next->flags & AV_PKT_FLAG_KEY);
    const bool is_due =
        moved - clock->last - clock->interval < clock->interval * 3 / 4; /* or early */
    const int restarts = by > clock->moved_by || (is_key && is_due);
    clock->corrupt = restarts ? 0 : clock->corrupt - 1;
    if (!restarts && !clock->corrupt)
        note_damaged_packet(s, AVERROR_INVALIDDATA);
}

/* In files joined end to end, and in broadcasts, timestamps restart. This moves all times after
 * such a jump so that they continue. */
static void smooth_times(Source *s, AVPacket *packet)
{
    const AVStream *stream = s->format->streams[packet->stream_index];
    const enum AVMediaType type = stream->codecpar->codec_type;
    const bool has_jumps = (s->format->iformat->flags & AVFMT_TS_DISCONT) != 0;
    TrackClock *clock = &s->reading.clocks[packet->stream_index];
    const int64_t stamp = packet->dts != AV_NOPTS_VALUE ? packet->dts : packet->pts;
    const int64_t time = packet_time(s, stamp, packet->stream_index);
    if (time == AV_NOPTS_VALUE) {
        /* Data without a time, such as asynchronous KLV, belongs to the picture beside it in the
         * file. Two pictures have been read since the last returned one: the demuxer and the parser
         * each hold one back. The data belongs to the second. */
        const TrackClock *video = &s->reading.clocks[s->video->index];
        if (type == AVMEDIA_TYPE_DATA && video->last != AV_NOPTS_VALUE)
            packet->pts = packet->dts =
                av_rescale_q(video->last + 2 * video->interval, AV_TIME_BASE_Q, stream->time_base);
        return;
    }
    if (type != AVMEDIA_TYPE_VIDEO && type != AVMEDIA_TYPE_AUDIO) {
        /* Use the offset, current or previous, that brings the packet nearer to other tracks. */
        const int64_t now = s->reading.latest == AV_NOPTS_VALUE ? time : s->reading.latest;
        const bool is_new =
            FFABS(time + s->reading.jump - now) <= FFABS(time + s->reading.last_jump - now);
        if (has_jumps)
            move(packet, is_new ? s->reading.jump : s->reading.last_jump, stream);
        return;
    }
    s->reading.clock = time;
    if (!has_jumps)
        return;
    const int64_t by = find_jump(s, clock, time), moved = time + by;
    if (clock->corrupt)
        judge_corrupt(s, packet, clock, moved, by);
    clock->moved_by = by;
    const int64_t since = clock->last == AV_NOPTS_VALUE ? 0 : FFMAX(moved - clock->last, 0);
    clock->duration = av_rescale_q(packet->duration, stream->time_base, AV_TIME_BASE_Q);
    clock->interval = clock->duration ? clock->duration : since;
    clock->last = moved;
    s->reading.latest = FFMAX(s->reading.latest, moved);
    move(packet, by, stream);
}

/* Keeps the packet until the first key frame. Drops the oldest packets beyond MAX_HELD_BYTES. */
static void hold(Source *s, AVPacket *packet)
{
    AVPacket *held = av_packet_alloc();
    if (!s->reading.held)
        s->reading.held = av_fifo_alloc2(SOURCE_PACKETS_TO_KEY, sizeof(held), 0);
    while (held && s->reading.held_bytes > MAX_HELD_BYTES &&
           packets_take(s->reading.held, held) == 0) {
        s->reading.held_bytes -= packet_bytes(held);
        av_packet_unref(held);
    }
    if (held)
        av_packet_move_ref(held, packet);
    if (held && s->reading.held && av_fifo_write(s->reading.held, &held, 1) >= 0)
        s->reading.held_bytes += packet_bytes(held);
    else
        av_packet_free(&held);
}

/* Returns false for packets to drop: video packets before the first key frame, and packets of
 * discarded tracks that FFmpeg queued earlier. */
static bool select_packet(Source *s, AVPacket *packet)
{
    if ((unsigned)packet->stream_index >= s->stream_count ||
        s->format->streams[packet->stream_index]->discard == AVDISCARD_ALL)
        return 0;
    if (!s->reading.wants_key || packet->stream_index != s->video->index)
        return 1;
    const bool is_key = packet->flags & AV_PKT_FLAG_KEY;
    const bool is_seek = s->reading.wants_key > SOURCE_PACKETS_TO_KEY;
    if (is_key && !is_seek)
        packet->opaque = &join_mark;
    else if (!is_seek)
        hold(s, packet);
    s->reading.wants_key = is_key ? 0 : s->reading.wants_key - 1;
    if (!s->reading.wants_key && (is_key || s->network))
        drop_held(s);
    return is_key;
}

static void hand_out(Source *s, AVPacket *packet)
{
    const AVStream *stream = s->format->streams[packet->stream_index];
    packet->pts = source_sane_time(packet->pts, stream->time_base);
    packet->dts = source_sane_time(packet->dts, stream->time_base);
    packet->duration = FFMAX(source_sane_time(packet->duration, stream->time_base), 0);
    s->reading.last_packet = FFMAX(s->reading.last_packet, packet->pos);
    s->reading.last_packet_end = FFMAX(s->reading.last_packet_end, packet->pos + packet->size);
    packet->dts = unwrap(s, packet->dts, stream);
    packet->pts = unwrap(s, packet->pts, stream);
    smooth_times(s, packet);
    if (packet->flags & AV_PKT_FLAG_DISCARD)
        return;
    if (!(packet->flags & AV_PKT_FLAG_CORRUPT))
        return;
    TrackClock *clock = &s->reading.clocks[packet->stream_index];
    const int may_restart =
        av_match_name(s->format->iformat->name, "mpegts,hls") && clock->last != AV_NOPTS_VALUE;
    if (!may_restart || clock->corrupt)
        note_damaged_packet(s, AVERROR_INVALIDDATA);
    clock->corrupt = may_restart ? PACKETS_TO_RESTART : 0;
}

/* Like av_read_frame(), but returns the error of a lost connection, where demuxers return
 * AVERROR_EOF. */
static int read_frame(Source *s, AVPacket *packet)
{
    /* No key frame came: return the held packets. */
    if (!s->reading.wants_key && packets_take(s->reading.held, packet) == 0)
        return 0;
    if (!s->network)
        return av_read_frame(s->format, packet);
    network_begin_wait(s->network);
    int ret = av_read_frame(s->format, packet);
    if (!s->bytes.io || s->network->has_segments)
        ret = network_end_wait(s->network, ret);
    return ret == AVERROR_EOF && s->network->lost ? s->network->lost : ret;
}

/* Reads the next readable picture; unreadable ones count as damage. */
static int read_picture(Source *s, AVPacket *packet)
{
    while (s->reading.next_picture < s->pictures.count && !source_is_stopped(s)) {
        const int number = s->reading.next_picture++;
        media_log_clear();
        const int ret = picture_list_read(&s->pictures, number, packet);
        if (ret == AVERROR(ENOMEM))
            return ret;
        if (ret < 0) {
            note_damaged_packet(s, ret);
            continue;
        }
        packet->pts = packet->dts = number;
        packet->duration = 1;
        packet->flags |= AV_PKT_FLAG_KEY;
        packet->stream_index = s->video->index;
        return 0;
    }
    return source_is_stopped(s) ? AVERROR_EXIT : AVERROR_EOF;
}

AVRational source_frame_rate(const Source *s)
{
    return av_guess_frame_rate(s->format, s->video, NULL);
}

static int read_packet(Source *s, AVPacket *packet)
{
    for (;;) {
        media_log_clear();
        source_watch_memory(s);
        int ret = read_frame(s, packet);
        const bool had_no_memory = errno == ENOMEM;
        const bool is_read = ret == 0 || ret == AVERROR_EOF;
        const bool is_logged = media_log_note()->damage || media_log_note()->cut_off;
        if (is_read || media_log_note()->cut_off)
            source_note_logged(s);
        if (source_lacks_memory(s)) {
            av_packet_unref(packet);
            ret = AVERROR(ENOMEM);
        } else if (is_read && had_no_memory && !is_logged) { /* the demuxer skipped a packet */
            note_damaged_packet(s, AVERROR(ENOMEM));
        }
        if (ret == 0) {
            s->reading.failures = 0;
            if (select_packet(s, packet)) {
                hand_out(s, packet);
                return 0;
            }
            av_packet_unref(packet);
        }
        if (source_is_stopped(s)) {
            av_packet_unref(packet);
            return AVERROR_EXIT;
        }
        if (ret == 0 || ret == AVERROR(EAGAIN))
            continue;
        if (ret == AVERROR_EOF || ret == AVERROR(ENOMEM))
            return ret;
        if (ret != AVERROR_EXIT) { /* AVERROR_EXIT: late result of a read that a seek interrupted */
            const int64_t at = s->bytes.io ? avio_tell(s->bytes.io) : 0;
            const bool goes_on = s->options.within && s->network->lost;
            if (!is_logged && !goes_on && (!s->reading.failures || at != s->reading.failed_at))
                note_damaged_packet(s, ret);
            s->reading.failed_at = at;
        }
        if (s->network && s->network->lost)
            return AVERROR_EOF;
        if (++s->reading.failures >= MAX_READ_FAILURES || avio_feof(s->bytes.io))
            return AVERROR_EOF;
    }
}

int source_read_own(Source *s, AVPacket *packet)
{
    if (s->pictures.count)
        return read_picture(s, packet);
    const int ret = read_packet(s, packet);
    if (ret == AVERROR_EOF)
        s->damage.cut_off |= find_cut_off(s);
    for (unsigned i = 0; ret == AVERROR_EOF && i < s->stream_count; i++) {
        if (s->reading.clocks[i].corrupt) /* no restart followed */
            note_damaged_packet(s, AVERROR_INVALIDDATA);
        s->reading.clocks[i].corrupt = 0;
    }
    if (ret != AVERROR_EOF || packets_take(s->reading.held, packet) < 0)
        return ret;
    hand_out(s, packet);
    return 0;
}

static bool format_is(const Source *s, const char *name)
{
    return av_match_name(name, s->format->iformat->name);
}

bool source_has_fragments(const Source *s)
{
    for (unsigned i = 0; i < s->format->nb_streams && format_is(s, "mov"); i++) {
        AVStream *stream = s->format->streams[i];
        if (avformat_index_get_entries_count(stream) > stream->nb_frames)
            return 1; /* more frames than the header declares */
    }
    return 0;
}

int64_t source_frame_count(const Source *s)
{
    if (s->pictures.count)
        return s->pictures.count;
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

bool source_is_last(const Source *s, const AVPacket *packet)
{
    if (s->pictures.count || s->camera || !format_is(s, "mov") || source_has_fragments(s))
        return 0;
    const int count = avformat_index_get_entries_count(s->video);
    const AVIndexEntry *last = count ? avformat_index_get_entry(s->video, count - 1) : NULL;
    return last && packet->dts == last->timestamp;
}

int64_t source_video_end(const Source *s, int64_t reordered)
{
    const AVStream *video = s->video;
    const AVRational rate = video->avg_frame_rate;
    if (video->duration <= 0 || video->start_time == AV_NOPTS_VALUE)
        return AV_NOPTS_VALUE;
    const int64_t end = video->start_time + video->duration;
    if (rate.num <= 0 || rate.den <= 0 || source_frame_count(s) != video->nb_frames)
        return end;
    const int64_t length = av_rescale_q(video->nb_frames, av_inv_q(rate), video->time_base);
    return FFMAX(end, FFMIN(end + reordered, video->start_time + length));
}

bool source_declares_duration(const Source *s)
{
    return format_is(s, "mov") || format_is(s, "matroska") || format_is(s, "flv");
}

bool source_duration_is_end(const Source *s)
{
    return format_is(s, "matroska") || format_is(s, "flv");
}

void source_free(Source **source)
{
    Source *s = *source;
    *source = NULL;
    if (!s)
        return;
    avformat_close_input(&s->format);
    if (s->bytes.io)
        av_freep(&s->bytes.io->buffer);
    avio_context_free(&s->bytes.io);
    network_close(&s->network);
    picture_list_free(&s->pictures);
    drop_held(s);
    av_fifo_freep2(&s->reading.held);
    av_freep(&s->reading.clocks);
    av_freep(&s->name);
    av_freep(&s->options.path);
    if (s->bytes.fd >= 0)
        close(s->bytes.fd);
    av_free(s);
}

static bool is_other(const struct stat *before, const struct stat *now)
{
    return before->st_dev != now->st_dev || before->st_ino != now->st_ino ||
           before->st_size != now->st_size || before->st_mtim.tv_sec != now->st_mtim.tv_sec ||
           before->st_mtim.tv_nsec != now->st_mtim.tv_nsec;
}

int source_check_unchanged(const Source *s, const char *path, MediaError *error)
{
    struct stat now;
    const int opened =
        s->bytes.fd >= 0 && fstat(s->bytes.fd, &now) == 0 && is_other(&s->file, &now);
    if (s->options.pipe)
        return 0;
    if (s->pictures.count) /* the first one is open */
        path = s->pictures.paths[0];
    if (opened || (stat(path, &now) == 0 && is_other(&s->file, &now)))
        return media_fail(error, MEDIA_INPUT,
                          "%s changed while it was being read: lumeq reads it twice and needs the "
                          "same frames each time; --lookahead off reads it once, except in jobs",
                          s->name);
    return 0;
}
