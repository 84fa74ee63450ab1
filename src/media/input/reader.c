#include "media/input/reader.h"

#include <string.h>

#include <libavutil/fifo.h>
#include <libavutil/time.h>

#include "media/compat.h"
#include "media/gpu_frame.h"
#include "media/input/damage.h"
#include "media/input/decoder.h"
#include "media/input/demuxer.h"
#include "media/packet_bytes.h"

/* Packets kept back until the frame they belong before has been decoded. */
#define MAX_PENDING_PACKETS 1024
#define MAX_PENDING_BYTES (4 << 20)

/* Video packets read ahead of the decoder to see where the part begins. */
#define MAX_AHEAD_BYTES (64 << 20)
#define FIRST_AHEAD 64 /* room that is made for them at first */

/* Samples before the first that is shown, for the decoder to start on. */
#define MAX_PRIMING_US 10000

/* By stream. Times are absolute, AV_TIME_BASE units; AV_NOPTS_VALUE: unknown. */
typedef struct Track {
    const AVStream *stream;
    int64_t start; /* see source_track_start() */
    int64_t begin; /* the first time read in the part */
    int is_held;   /* within move_packets(): a video packet stays in `pending` */
} Track;

struct Reader {
    Source *source;
    Demuxer *demuxer;
    int started;
    Decoder *decoder;
    ReaderOptions options;
    ReaderSpan span;
    int64_t from, to; /* absolute, AV_TIME_BASE units; AV_NOPTS_VALUE = not asked for */
    int64_t zero;     /* what becomes 0; AV_NOPTS_VALUE before the first reader_next() */

    AVPacket *packet; /* read, not yet taken by the decoder, when not blank */
    AVFifo *ahead;    /* packets of the video, to be decoded before more are read */
    Track *tracks;
    unsigned track_count;
    int is_alone;  /* there are no other tracks */
    Damage damage; /* of the packets of the part so far */
    AVPacket *pending[MAX_PENDING_PACKETS];
    int pending_count;
    size_t pending_bytes;
    AVFrame *ready; /* decoded, and not given out yet */
    int returned;   /* the source was reconnected just before `ready` */

    int input_ended;      /* no packet is left */
    int frames_ended;     /* no frame is left */
    int tail_ended;       /* nothing that belongs before the part's end can follow */
    int64_t end;          /* of the part, absolute, once known */
    int64_t begin_pts;    /* of the span, until that frame has come; else INT64_MAX */
    int64_t frames;       /* given out, including `ready` */
    int began;            /* not 0: there was a frame in the part */
    int64_t shown_last;   /* pts of the video packet shown last, ... */
    int64_t decoded_last; /* ... and of the one decoded last, once it is known to be the last */
    int64_t video_end;    /* end of the last frame decoded, absolute */
    double busy_us;
};

/* Where decoding begins. */
static int64_t begin_position(const Reader *r)
{
    return FFMAX3(r->options.from_us, r->span.seek_us, 0);
}

int reader_open(Reader **reader, Source *source, const ReaderOptions *options, MediaError *error)
{
    *reader = NULL;
    Reader *r = av_mallocz(sizeof(*r));
    if (!r)
        return media_no_memory(error, MEDIA_INPUT);
    r->source = source;
    r->options = *options;
    const int64_t start = source_start(source);
    r->from = options->from_us >= 0 ? start + options->from_us : AV_NOPTS_VALUE;
    r->to = options->to_us >= 0 ? start + options->to_us : AV_NOPTS_VALUE;
    r->end = r->to;
    r->zero = AV_NOPTS_VALUE;
    r->span = (ReaderSpan){.seek_us = -1, .begin_pts = INT64_MIN, .end_pts = INT64_MAX};
    r->begin_pts = INT64_MAX;
    if (options->packets_only)
        r->options.frames = 1;
    r->video_end = r->shown_last = r->decoded_last = AV_NOPTS_VALUE;
    r->packet = av_packet_alloc();
    r->ahead = av_fifo_alloc2(FIRST_AHEAD, sizeof(AVPacket *), AV_FIFO_FLAG_AUTO_GROW);
    r->tracks = av_calloc(source->stream_count, sizeof(*r->tracks));
    const AVFormatContext *format = source->format;
    r->is_alone = format->nb_streams == 1 && !(format->ctx_flags & AVFMTCTX_NOHEADER);
    int ret = r->packet && r->ahead && r->tracks ? 0 : media_no_memory(error, MEDIA_INPUT);
    DecoderOptions decoder = options->decoder;
    decoder.full_rgb = options->full_rgb;
    decoder.attach_rgb = options->attach_rgb;
    decoder.bars = 1;
    decoder.marks_bars = !options->count_bars;
    decoder.shape = options->shape;
    if (ret >= 0)
        ret = decoder_open(&r->decoder, source, &decoder, error);
    if (ret >= 0)
        decoder_deinterlace(r->decoder, options->deinterlace);
    if (ret >= 0 && options->span) {
        r->span = *options->span;
        r->begin_pts = r->span.begin_pts == INT64_MIN ? INT64_MAX : r->span.begin_pts;
        r->zero = r->span.zero;
    }
    if (ret >= 0)
        ret = demuxer_create(&r->demuxer, source, DEMUX_IN_ORDER, error);
    if (ret < 0)
        reader_close(&r);
    else if (begin_position(r) > 0 && source_seek(source, begin_position(r)) &&
             r->span.seek_us > options->from_us)
        decoder_join(r->decoder);
    for (; r && r->track_count < source->stream_count; r->track_count++) {
        const AVStream *stream = format->streams[r->track_count];
        r->tracks[r->track_count] =
            (Track){stream, source_track_start(source, stream), AV_NOPTS_VALUE, 0};
    }
    *reader = r;
    return ret;
}

void reader_deepen(Reader *r, int depth)
{
    decoder_deepen(r->decoder, depth);
}

static int64_t packet_time(const Reader *r, const AVPacket *packet)
{
    const int64_t time = packet->pts != AV_NOPTS_VALUE ? packet->pts : packet->dts;
    if (time == AV_NOPTS_VALUE)
        return AV_NOPTS_VALUE;
    return av_rescale_q(time, r->tracks[packet->stream_index].stream->time_base, AV_TIME_BASE_Q);
}

static int64_t frame_time(const Reader *r, const AVFrame *frame, int64_t plus)
{
    return av_rescale_q(frame->pts + plus, r->source->video->time_base, AV_TIME_BASE_Q);
}

static void note_end(int64_t *end, int64_t time)
{
    if (time != AV_NOPTS_VALUE && (*end == AV_NOPTS_VALUE || time > *end))
        *end = time;
}

static int is_of_video(const Reader *r)
{
    return r->packet->stream_index == r->source->video->index;
}

static int has_room(const Reader *r)
{
    return r->pending_count < MAX_PENDING_PACKETS && r->pending_bytes < MAX_PENDING_BYTES;
}

/* End of the current packet, which begins at `time`. */
static int64_t packet_end(const Reader *r, int64_t time)
{
    const AVStream *stream = r->tracks[r->packet->stream_index].stream;
    return time == AV_NOPTS_VALUE
               ? time
               : time + av_rescale_q(r->packet->duration, stream->time_base, AV_TIME_BASE_Q);
}

/* Sound and subtitles that an edit list hides, apart from what the decoder needs just before the
 * start. */
static int is_hidden(const Reader *r, int64_t time)
{
    const AVStream *stream = r->tracks[r->packet->stream_index].stream;
    return (r->packet->flags & AV_PKT_FLAG_DISCARD) && time != AV_NOPTS_VALUE &&
           stream->codecpar->codec_type != AVMEDIA_TYPE_VIDEO &&
           (packet_end(r, time) < -MAX_PRIMING_US || time > 0);
}

/* A subtitle is before the part when nothing of it is shown there. */
static int is_before_part(const Reader *r, int64_t time)
{
    const AVStream *stream = r->tracks[r->packet->stream_index].stream;
    if (r->from == AV_NOPTS_VALUE || time == AV_NOPTS_VALUE || time >= r->from)
        return 0;
    return stream->codecpar->codec_type != AVMEDIA_TYPE_SUBTITLE || packet_end(r, time) <= r->from;
}

/* Keeps the packet if it is in the part. advance() has made room. */
static int keep_packet(Reader *r)
{
    const int64_t time = packet_time(r, r->packet);
    const int is_in = !is_before_part(r, time) && !is_hidden(r, time);
    int64_t *begin = &r->tracks[r->packet->stream_index].begin;
    if (is_in && (*begin == AV_NOPTS_VALUE || time < *begin))
        *begin = time;
    if (!is_in || !r->options.copy) {
        av_packet_unref(r->packet);
        return 0;
    }
    AVPacket *kept = av_packet_alloc();
    if (!kept)
        return AVERROR(ENOMEM);
    av_packet_move_ref(kept, r->packet);
    r->pending[r->pending_count++] = kept;
    r->pending_bytes += packet_bytes(kept);
    return 0;
}

/* See PacketNote. NULL: none. */
static const PacketNote *note_of(const AVPacket *packet)
{
    return packet->opaque_ref ? (const PacketNote *)(const void *)packet->opaque_ref->data : NULL;
}

static void count_damage(Reader *r, const PacketNote *note)
{
    if (note)
        damage_sum(&r->damage, &note->damage);
}

/* Keeps the packet where the decoder is full. */
static int send_packet(Reader *r)
{
    note_end(&r->shown_last, r->packet->pts);
    const PacketNote *note = note_of(r->packet);
    if (note && note->is_last)
        r->decoded_last = r->packet->pts;
    const int ret = decoder_send(r->decoder, r->packet);
    if (ret == AVERROR(EAGAIN))
        return 0;
    av_packet_unref(r->packet);
    return ret;
}

/* Reads the next packet into r->packet, after those that were read ahead. */
static int read_packet(Reader *r)
{
    const int ret = demuxer_read(r->demuxer, DEMUX_VIDEO, r->packet, 1);
    const PacketNote *note = ret >= 0 ? note_of(r->packet) : NULL;
    if (note && note->start != AV_NOPTS_VALUE)
        r->tracks[r->packet->stream_index].start = note->start;
    return ret;
}

/* After the last frame, does not wait for a lost connection. */
static int ends_tail(const Reader *r)
{
    return r->frames_ended && source_is_discontinuity(r->packet);
}

/* Reads one packet and hands it on. */
static int read_one(Reader *r)
{
    if (r->packet->buf && !r->frames_ended) /* the decoder was full */
        return send_packet(r);
    r->tail_ended |= ends_tail(r);
    av_packet_unref(r->packet);
    if (r->tail_ended)
        return 0;
    const int ret = packets_take(r->ahead, r->packet) < 0 ? read_packet(r) : 0;
    const int64_t time = ret < 0 ? AV_NOPTS_VALUE : packet_time(r, r->packet);
    const int is_late = time == AV_NOPTS_VALUE ? r->frames_ended : time >= r->end;
    const PacketNote *note = ret >= 0 ? note_of(r->packet) : NULL;
    if (r->end == AV_NOPTS_VALUE || !is_late) { /* what follows the part is not lost */
        count_damage(r, note);
        if (ret == AVERROR_EOF && !r->input_ended)
            damage_sum(&r->damage, &r->source->damage);
    }
    if (ret == AVERROR(ENOMEM))
        return ret;
    if (ret < 0) {
        r->input_ended = 1;
        return ret == AVERROR_EXIT ? ret : 0;
    }
    if (r->frames_ended && r->end != AV_NOPTS_VALUE && time != AV_NOPTS_VALUE &&
        time > r->end + SOURCE_INTERLEAVE_US)
        r->tail_ended = 1;
    r->tail_ended |= ends_tail(r);
    if (!is_of_video(r))
        return keep_packet(r);
    if (!r->frames_ended)
        return send_packet(r);
    av_packet_unref(r->packet);
    return 0;
}

/* True if no packet of some track has been read in the part, so its start is unknown. */
static int awaits_track(const Reader *r)
{
    for (unsigned i = 0; i < r->track_count; i++) {
        const Track *track = &r->tracks[i];
        if (track->stream != r->source->video && track->begin == AV_NOPTS_VALUE &&
            track->start != AV_NOPTS_VALUE)
            return 1;
    }
    return 0;
}

static int put_ahead(Reader *r)
{
    AVPacket *packet = av_packet_clone(r->packet);
    av_packet_unref(r->packet);
    if (!packet || av_fifo_write(r->ahead, &packet, 1) < 0) {
        av_packet_free(&packet);
        return AVERROR(ENOMEM);
    }
    return 0;
}

/* From the first frame of a part on: reads until every track has come to the part. Those that have
 * not by then are over, or begin later. */
static int look_ahead(Reader *r)
{
    const int64_t enough = frame_time(r, r->ready, 0) + SOURCE_INTERLEAVE_US;
    int64_t time = AV_NOPTS_VALUE;
    size_t bytes = 0;
    int ret = r->packet->buf ? put_ahead(r) : 0;
    while (ret >= 0 && awaits_track(r) && (time == AV_NOPTS_VALUE || time <= enough)) {
        if (!has_room(r) || bytes >= MAX_AHEAD_BYTES)
            return 0;
        ret = read_packet(r);
        if (ret < 0)
            break;
        time = packet_time(r, r->packet);
        bytes += packet_bytes(r->packet);
        if (!is_of_video(r))
            count_damage(r, note_of(r->packet));
        ret = is_of_video(r) ? put_ahead(r) : keep_packet(r);
    }
    for (unsigned i = 0; i < r->track_count; i++)
        if (r->tracks[i].begin == AV_NOPTS_VALUE)
            r->tracks[i].begin = INT64_MAX;
    return ret == AVERROR(ENOMEM) ? ret : 0;
}

/* The first written packet or frame gets time 0. */
static void find_zero(Reader *r)
{
    for (unsigned i = 0; i < r->track_count; i++) {
        const Track *track = &r->tracks[i];
        int64_t time = track->start;
        if (track->stream == r->source->video && r->ready)
            time = frame_time(r, r->ready, 0);
        else if (time != AV_NOPTS_VALUE && r->from != AV_NOPTS_VALUE)
            time = track->begin != AV_NOPTS_VALUE ? track->begin : FFMAX(time, r->from);
        if (time != AV_NOPTS_VALUE)
            r->zero = r->zero == AV_NOPTS_VALUE ? time : FFMIN(r->zero, time);
    }
    if (r->zero == AV_NOPTS_VALUE)
        r->zero = source_start(r->source);
}

static void shift_packet(const Reader *r, AVPacket *packet)
{
    const int64_t by =
        av_rescale_q(r->zero, AV_TIME_BASE_Q, r->tracks[packet->stream_index].stream->time_base);
    if (packet->pts != AV_NOPTS_VALUE)
        packet->pts -= by;
    if (packet->dts != AV_NOPTS_VALUE)
        packet->dts -= by;
}

static int is_video(const Reader *r, const AVPacket *packet)
{
    return r->tracks[packet->stream_index].stream->codecpar->codec_type == AVMEDIA_TYPE_VIDEO;
}

/* Moves pending packets that are due before `limit` (AV_NOPTS_VALUE: all) to `decoded`; those
 * due at or after the end of the part are dropped. Video stays in decode order, even if some of its
 * packets have no dts: none overtakes one that is held. */
static void move_packets(Reader *r, Decoded *decoded, int64_t limit)
{
    int left = 0;
    for (unsigned i = 0; i < r->track_count; i++)
        r->tracks[i].is_held = 0;
    for (int i = 0; i < r->pending_count; i++) {
        AVPacket *packet = r->pending[i];
        int *held = &r->tracks[packet->stream_index].is_held;
        int64_t time = packet_time(r, packet);
        if (is_video(r, packet) && packet->dts != AV_NOPTS_VALUE) /* decoded before it is shown */
            time = av_rescale_q(packet->dts, r->tracks[packet->stream_index].stream->time_base,
                                AV_TIME_BASE_Q);
        const int late = r->end != AV_NOPTS_VALUE && time != AV_NOPTS_VALUE && time >= r->end;
        const int due = limit == AV_NOPTS_VALUE || time == AV_NOPTS_VALUE || time < limit;
        if (!late && (!due || *held || decoded->packet_count == DECODED_PACKETS)) {
            *held = is_video(r, packet);
            r->pending[left++] = packet;
            continue;
        }
        r->pending_bytes -= packet_bytes(packet);
        if (late) {
            av_packet_free(&packet);
            continue;
        }
        shift_packet(r, packet);
        decoded->packets[decoded->packet_count++] = packet;
    }
    r->pending_count = left;
}

/* At the end of the input: a subtitle far after everything else is damage and not part of the film.
 */
static void drop_stray(Reader *r)
{
    int64_t at;
    const int64_t end = demuxer_end_before_stray(r->demuxer, &at);
    if (end == AV_NOPTS_VALUE || r->end != AV_NOPTS_VALUE)
        return;
    if (!r->damage.first[0])
        snprintf(r->damage.first, sizeof(r->damage.first), "a subtitle %.1f hours after the end",
                 (double)(at - end) / AV_TIME_BASE / 3600);
    r->damage.corrupt_packets++;
    r->end = end + SOURCE_STRAY_US;
}

/* `complete`: nothing of the part is missing, even if the file is cut off after it. */
static void end_frames(Reader *r, int complete)
{
    r->frames_ended = 1;
    if (complete)
        r->damage.cut_off = 0;
    if (r->end == AV_NOPTS_VALUE && r->options.packets_only)
        r->end = r->options.film_end;
    else if (r->end == AV_NOPTS_VALUE && r->options.frames >= 0 && r->frames == r->options.frames)
        r->end = r->video_end;
    const int is_span = r->span.end_pts != INT64_MAX; /* what follows is another's */
    if (r->end == AV_NOPTS_VALUE && !is_span)
        return;                          /* the end of the input is the end */
    if (!r->options.copy || r->is_alone) /* no packets of other tracks follow */
        r->tail_ended = 1;
}

/* Takes a decoded frame, or answers 0 without one in r->ready when it is not in the part. */
static int take_frame(Reader *r, AVFrame *frame)
{
    if (r->decoded_last != AV_NOPTS_VALUE && frame->pts >= r->shown_last) {
        /* Decoders report too short a last frame if others are decoded after it. */
        const int64_t last_end = source_video_end(r->source, r->shown_last - r->decoded_last);
        if (last_end != AV_NOPTS_VALUE)
            FRAME_DURATION(frame) = FFMAX(FRAME_DURATION(frame), last_end - frame->pts);
    }
    const int64_t time = frame_time(r, frame, 0);
    const int64_t end = frame_time(r, frame, FRAME_DURATION(frame));
    if ((r->to != AV_NOPTS_VALUE && time >= r->to) || frame->pts >= r->span.end_pts) {
        end_frames(r, 1);
        return 0;
    }
    note_end(&r->video_end, end);
    if (r->from != AV_NOPTS_VALUE &&
        av_compare_ts(frame->pts, r->source->video->time_base, r->from, AV_TIME_BASE_Q) < 0 &&
        time < r->from)
        return 0;
    if (r->options.range != READER_RANGE_AUTO)
        frame->color_range =
            r->options.range == READER_RANGE_FULL ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG;
    const int is_first = r->from != AV_NOPTS_VALUE && !r->began;
    if (is_first || frame->pts >= r->begin_pts) { /* earlier damage does not count */
        r->damage = (Damage){0};
        decoder_forget_damage(r->decoder);
        r->begin_pts = INT64_MAX;
    }
    r->began = 1;
    r->frames++;
    return 1;
}

int reader_is_lossless(const Reader *r)
{
    return r->options.decoder.lossless;
}

static int decode_one(Reader *r, MediaError *error)
{
    AVFrame *frame = av_frame_alloc();
    if (!frame)
        return media_no_memory(error, MEDIA_INPUT);
    int ret = decoder_receive(r->decoder, frame, error);
    if (ret >= 0)
        r->returned |= decoder_take_return(r->decoder);
    if (ret == AVERROR_EOF)
        end_frames(r, 0);
    if (ret == 0 && take_frame(r, frame)) {
        r->ready = frame;
        return 0;
    }
    gpu_frame_free(&frame);
    return ret == AVERROR_EOF ? 0 : ret;
}

/* Reads and decodes until a frame is ready, packets have piled up, or nothing follows. */
static int advance(Reader *r, MediaError *error)
{
    while (!r->ready && !(r->frames_ended && (r->input_ended || r->tail_ended)) && has_room(r)) {
        int ret = AVERROR(EAGAIN);
        if (atomic_load(r->source->stop))
            return AVERROR_EOF;
        if (!r->frames_ended && r->options.frames >= 0 && r->frames >= r->options.frames)
            end_frames(r, 1);
        if (!r->frames_ended)
            ret = decode_one(r, error);
        if (ret == AVERROR(EAGAIN))
            ret = r->input_ended ? decoder_send(r->decoder, NULL) : read_one(r);
        if (ret == AVERROR_EXIT)
            return AVERROR_EOF;
        if (ret == AVERROR(ENOMEM))
            return media_no_memory(error, MEDIA_INPUT);
        if (ret < 0 && ret != AVERROR(EAGAIN))
            return ret;
    }
    return 0;
}

int reader_next(Reader *r, Decoded *decoded, MediaError *error)
{
    const int64_t begin = av_gettime_relative();
    if (!r->started && demuxer_start(r->demuxer, AV_NOPTS_VALUE, error) < 0)
        return error->fault;
    r->started = 1;
    const int ret = advance(r, error);
    r->busy_us += (double)(av_gettime_relative() - begin);
    if (ret < 0)
        return ret;

    if (r->zero == AV_NOPTS_VALUE) {
        if (r->from != AV_NOPTS_VALUE && r->ready && look_ahead(r) < 0)
            return media_no_memory(error, MEDIA_INPUT);
        find_zero(r);
    }
    if (r->input_ended)
        drop_stray(r);
    if (!r->ready) {
        move_packets(r, decoded, AV_NOPTS_VALUE);
        return decoded->packet_count ? 0 : AVERROR_EOF;
    }
    const int64_t end = frame_time(r, r->ready, FRAME_DURATION(r->ready));
    move_packets(r, decoded, end);
    if (decoded->packet_count == DECODED_PACKETS)
        return 0; /* the frame comes next */
    r->ready->pts -= av_rescale_q(r->zero, AV_TIME_BASE_Q, r->source->video->time_base);
    decoded->frame = r->ready;
    decoded->returned = r->returned;
    decoded->decode_us = r->busy_us;
    const Damage *frames = decoder_damage(r->decoder), *packets = &r->damage;
    decoded->damage = frames->decode_errors + frames->corrupt_frames + frames->lost_frames +
                      packets->corrupt_packets + packets->read_errors;
    r->ready = NULL;
    r->returned = 0;
    r->busy_us = 0;
    return 0;
}

double reader_duration(const Reader *r)
{
    const int64_t total = source_duration(r->source);
    const int64_t start = source_start(r->source);
    const int64_t begin = r->from != AV_NOPTS_VALUE ? r->from - start : 0;
    int64_t end = total > 0 ? total : AV_NOPTS_VALUE;
    if (r->to != AV_NOPTS_VALUE && (end == AV_NOPTS_VALUE || r->to - start < end))
        end = r->to - start;
    if (end == AV_NOPTS_VALUE || end <= begin)
        return 0;
    return (double)(end - begin) / AV_TIME_BASE;
}

int64_t reader_frames(const Reader *r)
{
    int64_t known = 0;
    if (r->from == AV_NOPTS_VALUE && r->to == AV_NOPTS_VALUE)
        known = source_frame_count(r->source);
    if (r->options.frames >= 0 && (!known || r->options.frames < known))
        known = r->options.frames;
    return known;
}

int64_t reader_zero(const Reader *r)
{
    return r->zero;
}

FrameMemory *reader_memory(const Reader *r)
{
    return r->options.decoder.memory;
}

const Decoder *reader_decoder(const Reader *r)
{
    return r->decoder;
}

int reader_explain(const Reader *r, MediaError *error)
{
    const Damage *frames = decoder_damage(r->decoder), *packets = &r->damage;
    const Damage *damage = frames->width ? frames : packets;
    if (r->source->read_error)
        return source_fail_to_read(r->source, error);
    if (!damage->width)
        return 0;
    return source_refuse_size(r->source, damage->width, damage->height, error);
}

DamageReport reader_report(Reader *r)
{
    demuxer_stop(r->demuxer);
    const int to_end =
        r->to == AV_NOPTS_VALUE && r->options.frames < 0 && r->span.end_pts == INT64_MAX;
    return (DamageReport){
        .packets = r->damage,
        .frames = *decoder_damage(r->decoder),
        .part = {.frames = r->frames,
                 .video_end = r->video_end,
                 .any_end = demuxer_end(r->demuxer),
                 .to_end = to_end,
                 .whole = to_end && r->from == AV_NOPTS_VALUE && r->span.seek_us < 0},
    };
}

int reader_damage(Reader *r, int64_t lost, char *text, size_t size)
{
    DamageReport report = reader_report(r);
    report.frames.lost_frames += lost;
    return damage_describe(r->source, &report, text, size);
}

void reader_close(Reader **reader)
{
    Reader *r = *reader;
    if (!r)
        return;
    for (int i = 0; i < r->pending_count; i++)
        av_packet_free(&r->pending[i]);
    demuxer_free(&r->demuxer);
    packets_drop(r->ahead);
    av_fifo_freep2(&r->ahead);
    av_freep(&r->tracks);
    gpu_frame_free(&r->ready);
    av_packet_free(&r->packet);
    decoder_close(&r->decoder);
    av_freep(reader);
}
