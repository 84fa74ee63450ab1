#include "run/input.h"

#include <pthread.h>
#include <stdlib.h>

#include <libavutil/time.h>

#include "media/compat.h"
#include "media/gpu_frame.h"
#include "media/packet_set.h"
#include "media/side_data.h"

/* Limits of the queue: frames, and bytes of frames and copied packets. The queue evens out the
 * decoder's speed. A 4K frame (12.4 MB) fills a file's queue. A window's queue holds only one frame
 * if the input is live or if a GPU decodes, since a GPU has few surfaces. */
#define FILE_FRAMES 4
#define FILE_BYTES 12000000
#define WINDOW_FRAMES 2
#define WINDOW_BYTES (256 << 20)

/* Maximum number and bytes of packets that wait until the frame after them has been decoded. */
#define MAX_PENDING_PACKETS 1024
#define MAX_PENDING_BYTES (4 << 20)

/* Maximum priming: sound that a decoder needs before the first audible sample. */
#define MAX_PRIMING_US 10000

/* After decoding in a hurry, missing frames still count as skipped for this many frames. */
#define AFTER_HURRY 64

/* A stream. Times are absolute, in AV_TIME_BASE units; AV_NOPTS_VALUE: unknown. */
typedef struct Track {
    const AVStream *stream;
    int64_t start; /* see source_track_start() */
    int64_t begin; /* time of its earliest packet read in the part */
    bool is_held;  /* within move_packets(): a video packet stays in `pending` */
} Track;

struct Input {
    Source *source;
    Demuxer *demuxer;
    Decoder *decoder;
    InputOptions options;
    InputSpan span;
    int64_t origin;   /* source_start() */
    int64_t from, to; /* absolute, AV_TIME_BASE units; AV_NOPTS_VALUE: not given */
    Track *tracks;
    unsigned track_count;
    bool is_alone; /* there are no other tracks */
    Queue *queue;  /* of Frame * */
    pthread_t thread;
    bool running;
    MediaError error; /* belongs to the thread until the queue has ended */
    atomic_int hurry;
    atomic_int range; /* as in the options */

    /* Used by the thread while it runs. */
    AVPacket *packet; /* a packet that waits because the decoder was full; or blank */
    AVPacket *pending[MAX_PENDING_PACKETS];
    int pending_count;
    size_t pending_bytes;
    Damage damage; /* of the packets of a file's part so far */
    Decoded ready; /* decoded but not queued yet */
    bool returned; /* the source was reconnected just before the next frame */
    double busy_us;

    bool input_ended;     /* no packet is left */
    bool frames_ended;    /* no frame is left */
    bool tail_ended;      /* no packet from before the part's end can follow */
    bool is_part;         /* see input_is_part() */
    int64_t zero;         /* time that becomes 0; AV_NOPTS_VALUE: unknown yet */
    int64_t end;          /* of the part, absolute, once known */
    int64_t begin_pts;    /* of the span; INT64_MAX: none, or its first frame has come */
    int64_t frames;       /* in the part, including `ready`; not previews */
    int64_t shown_last;   /* highest pts of the video packets sent so far */
    int64_t decoded_last; /* pts of the last video packet in decode order, once it is read */
    int64_t video_end;    /* end of the last frame decoded, absolute */

    /* In a window. */
    InputStart start;
    Decoded held;      /* the last frame before the requested position */
    Decoded following; /* the frame after it */
    bool previewed;
    int hurried;     /* for how many more frames missing frames count as skipped */
    int64_t dropped; /* demuxer_dropped() at the previous frame */
};

/* ---- opening ---- */

static int64_t begin_position(const Input *in)
{
    return FFMAX3(in->options.from_us, in->span.seek_us, 0);
}

static void drop_queued(const void *oldest, void *next)
{
    frame_note_skipped(*(Frame **)next, *(Frame *const *)oldest);
}

static int open_queue(Input *in)
{
    const bool is_live = in->options.shown && in->source->live;
    const bool has_few = is_live || decoder_is_on_gpu(in->decoder);
    const int count = has_few ? 1 : WINDOW_FRAMES;
    const QueueOptions queue = {.item = sizeof(Frame *),
                                .count = in->options.shown ? count : FILE_FRAMES,
                                .bytes = in->options.shown ? WINDOW_BYTES : FILE_BYTES,
                                .free = frame_free_queued,
                                .drop = is_live ? drop_queued : NULL};
    return queue_open(&in->queue, &queue);
}

static void begin_part(Input *in)
{
    const AVFormatContext *format = in->source->format;
    in->from = in->options.from_us >= 0 ? in->origin + in->options.from_us : AV_NOPTS_VALUE;
    in->zero = AV_NOPTS_VALUE;
    if (in->options.packets_only)
        in->options.frames = 1;
    if (in->options.span) {
        in->span = *in->options.span;
        in->begin_pts = in->span.begin_pts == INT64_MIN ? INT64_MAX : in->span.begin_pts;
        in->zero = in->span.zero;
    }
    if (begin_position(in) > 0 && source_seek(in->source, begin_position(in)) &&
        in->span.seek_us > in->options.from_us)
        decoder_join(in->decoder);
    in->is_alone = format->nb_streams == 1 && !(format->ctx_flags & AVFMTCTX_NOHEADER);
}

int input_open(Input **input, Source *source, const InputOptions *options, MediaError *error)
{
    Input *in = *input = av_mallocz(sizeof(*in));
    if (!in)
        return media_no_memory(error, MEDIA_INPUT);
    const DemuxOrder order = options->shown ? DEMUX_BY_KIND : DEMUX_IN_ORDER;
    in->source = source;
    in->options = *options;
    in->options.decoder.hides_broken |= options->shown;
    in->origin = source_start(source);
    in->from = in->video_end = in->shown_last = in->decoded_last = AV_NOPTS_VALUE;
    in->to = in->end = options->to_us >= 0 ? in->origin + options->to_us : AV_NOPTS_VALUE;
    in->span = (InputSpan){.seek_us = -1, .begin_pts = INT64_MIN, .end_pts = INT64_MAX};
    in->begin_pts = INT64_MAX;
    atomic_init(&in->range, options->range);
    in->packet = av_packet_alloc();
    in->tracks = av_calloc(source->stream_count, sizeof(*in->tracks));
    int ret = in->packet && in->tracks ? 0 : media_no_memory(error, MEDIA_INPUT);
    if (ret >= 0)
        ret = decoder_open(&in->decoder, source, &in->options.decoder, error);
    if (ret >= 0)
        ret = demuxer_create(&in->demuxer, source, order, error);
    if (ret >= 0 && open_queue(in) < 0)
        ret = media_no_memory(error, MEDIA_INPUT);
    if (ret < 0) {
        input_close(input);
        return ret;
    }
    decoder_deinterlace(in->decoder, options->deinterlace);
    if (options->shown)
        demuxer_select(in->demuxer, DEMUX_VIDEO, source->video);
    else
        begin_part(in);
    for (; in->track_count < source->stream_count; in->track_count++) {
        const AVStream *stream = source->format->streams[in->track_count];
        in->tracks[in->track_count] =
            (Track){stream, source_track_start(source, stream), AV_NOPTS_VALUE, 0};
    }
    return 0;
}

/* ---- packets, in the thread ---- */

static int64_t packet_time(const Input *in, const AVPacket *packet)
{
    const int64_t time = packet->pts != AV_NOPTS_VALUE ? packet->pts : packet->dts;
    if (time == AV_NOPTS_VALUE)
        return AV_NOPTS_VALUE;
    return av_rescale_q(time, in->tracks[packet->stream_index].stream->time_base, AV_TIME_BASE_Q);
}

static int64_t frame_time(const Input *in, const AVFrame *frame, int64_t plus)
{
    return av_rescale_q(frame->pts + plus, in->source->video->time_base, AV_TIME_BASE_Q);
}

static int64_t packet_end(const Input *in, const AVPacket *packet)
{
    const int64_t time = packet_time(in, packet);
    const AVRational base = in->tracks[packet->stream_index].stream->time_base;
    return time == AV_NOPTS_VALUE ? time
                                  : time + av_rescale_q(packet->duration, base, AV_TIME_BASE_Q);
}

static enum AVMediaType type_of(const Input *in, const AVPacket *packet)
{
    return in->tracks[packet->stream_index].stream->codecpar->codec_type;
}

static const PacketNote *note_of(const AVPacket *packet)
{
    return packet->opaque_ref ? (const PacketNote *)(const void *)packet->opaque_ref->data : NULL;
}

/* Notes where the packet's track begins. Returns false if the packet is not in the part. */
static bool note_track(Input *in, const AVPacket *packet)
{
    Track *track = &in->tracks[packet->stream_index];
    const PacketNote *note = note_of(packet);
    const int64_t time = packet_time(in, packet);
    if (note && note->start != AV_NOPTS_VALUE)
        track->start = note->start;
    const bool is_known = time != AV_NOPTS_VALUE;
    /* A subtitle is in the part if it is shown there for some time. */
    if (is_known && in->from != AV_NOPTS_VALUE && time < in->from &&
        (type_of(in, packet) != AVMEDIA_TYPE_SUBTITLE || packet_end(in, packet) <= in->from))
        return 0;
    /* An edit list may hide sound and subtitles. The decoder still needs hidden packets just before
     * the start. */
    if (is_known && (packet->flags & AV_PKT_FLAG_DISCARD) &&
        type_of(in, packet) != AVMEDIA_TYPE_VIDEO &&
        (packet_end(in, packet) < -MAX_PRIMING_US || time > 0))
        return false;
    if (track->begin == AV_NOPTS_VALUE || time < track->begin)
        track->begin = time;
    return 1;
}

/* With `copy`, keeps the packet if it is in the part. advance() has checked the limits. */
static int keep_packet(Input *in)
{
    if (!note_track(in, in->packet) || !in->options.copy) {
        av_packet_unref(in->packet);
        return 0;
    }
    AVPacket *kept = av_packet_alloc();
    if (!kept)
        return AVERROR(ENOMEM);
    av_packet_move_ref(kept, in->packet);
    in->pending[in->pending_count++] = kept;
    in->pending_bytes += packet_bytes(kept);
    return 0;
}

static int send(Input *in, const AVPacket *packet)
{
    const int64_t begin = av_gettime_relative();
    decoder_hurry(in->decoder, atomic_load(&in->hurry));
    const int ret = decoder_send(in->decoder, packet);
    in->busy_us += (double)(av_gettime_relative() - begin);
    return ret;
}

/* If the decoder is full, the packet stays in `in->packet` and is sent again later. */
static int send_packet(Input *in)
{
    in->shown_last = FFMAX(in->shown_last, in->packet->pts); /* AV_NOPTS_VALUE is the lowest */
    const PacketNote *note = note_of(in->packet);
    if (note && note->is_last)
        in->decoded_last = in->packet->pts;
    const int ret = send(in, in->packet);
    if (ret == AVERROR(EAGAIN))
        return 0;
    av_packet_unref(in->packet);
    return ret;
}

/* True if the connection was lost after the last frame; then nothing more is awaited. */
static bool ends_tail(const Input *in)
{
    return in->frames_ended && source_is_discontinuity(in->packet);
}

/* Reads one packet, and sends it to the decoder or keeps it. */
static int read_one(Input *in)
{
    if (in->packet->buf && !in->frames_ended) /* the decoder was full */
        return send_packet(in);
    in->tail_ended |= ends_tail(in);
    av_packet_unref(in->packet);
    if (in->tail_ended)
        return 0;
    const int ret = demuxer_read(in->demuxer, DEMUX_VIDEO, in->packet, 1);
    const int64_t time = ret < 0 ? AV_NOPTS_VALUE : packet_time(in, in->packet);
    const bool is_late = time == AV_NOPTS_VALUE ? in->frames_ended : time >= in->end;
    const PacketNote *note = ret >= 0 ? note_of(in->packet) : NULL;
    if (in->end == AV_NOPTS_VALUE || !is_late) { /* damage after the part does not count */
        if (note)
            damage_sum(&in->damage, &note->damage);
        if (ret == AVERROR_EOF && !in->input_ended)
            damage_sum(&in->damage, &in->source->damage);
    }
    if (ret == AVERROR(ENOMEM))
        return ret;
    if (ret < 0) {
        in->input_ended = true;
        return ret == AVERROR_EXIT ? ret : 0;
    }
    if (in->frames_ended && in->end != AV_NOPTS_VALUE && time != AV_NOPTS_VALUE &&
        time > in->end + SOURCE_INTERLEAVE_US)
        in->tail_ended = true;
    in->tail_ended |= ends_tail(in);
    if (in->packet->stream_index != in->source->video->index)
        return keep_packet(in);
    if (!in->frames_ended)
        return send_packet(in);
    av_packet_unref(in->packet);
    return 0;
}

/* True if a track with a known start has not reached the part yet. */
static bool awaits_track(const Input *in)
{
    for (unsigned i = 0; i < in->track_count; i++) {
        const Track *track = &in->tracks[i];
        if (track->stream != in->source->video && track->begin == AV_NOPTS_VALUE &&
            track->start != AV_NOPTS_VALUE)
            return 1;
    }
    return 0;
}

/* At the first frame of a part, peeks at packets until every track has reached the part. Tracks
 * that do not reach it within SOURCE_INTERLEAVE_US are over, or begin later. */
static void look_ahead(Input *in)
{
    const int64_t enough = frame_time(in, in->ready.frame, 0) + SOURCE_INTERLEAVE_US;
    const AVPacket *packet;
    int64_t time = AV_NOPTS_VALUE;
    for (int i = 0; awaits_track(in) && time <= enough; i++) { /* AV_NOPTS_VALUE is the lowest */
        const int ret = demuxer_peek(in->demuxer, i, &packet);
        if (ret == AVERROR(EAGAIN))
            return;
        if (ret < 0)
            break;
        time = packet_time(in, packet);
        (void)note_track(in, packet);
    }
    for (unsigned i = 0; i < in->track_count; i++)
        if (in->tracks[i].begin == AV_NOPTS_VALUE)
            in->tracks[i].begin = INT64_MAX;
}

/* The first written packet or frame gets time 0. */
static void find_zero(Input *in)
{
    for (unsigned i = 0; i < in->track_count; i++) {
        const Track *track = &in->tracks[i];
        int64_t time = track->start;
        if (track->stream == in->source->video && in->ready.frame)
            time = frame_time(in, in->ready.frame, 0);
        else if (time != AV_NOPTS_VALUE && in->from != AV_NOPTS_VALUE)
            time = track->begin != AV_NOPTS_VALUE ? track->begin : FFMAX(time, in->from);
        if (time != AV_NOPTS_VALUE)
            in->zero = in->zero == AV_NOPTS_VALUE ? time : FFMIN(in->zero, time);
    }
    if (in->zero == AV_NOPTS_VALUE)
        in->zero = in->origin;
}

/* Moves pending packets that are due before `limit` (AV_NOPTS_VALUE: all) to `decoded`. Drops
 * packets that begin at the part's end or later. If a video packet is not due, later packets of its
 * track wait too, so video stays in decode order. */
static void move_packets(Input *in, Decoded *decoded, int64_t limit)
{
    int left = 0;
    for (unsigned i = 0; i < in->track_count; i++)
        in->tracks[i].is_held = false;
    for (int i = 0; i < in->pending_count; i++) {
        AVPacket *packet = in->pending[i];
        const bool is_video = type_of(in, packet) == AVMEDIA_TYPE_VIDEO;
        bool *held = &in->tracks[packet->stream_index].is_held;
        int64_t time = packet_time(in, packet);
        if (is_video && packet->dts != AV_NOPTS_VALUE) /* video is due when it is decoded */
            time = av_rescale_q(packet->dts, in->tracks[packet->stream_index].stream->time_base,
                                AV_TIME_BASE_Q);
        const bool late = in->end != AV_NOPTS_VALUE && time != AV_NOPTS_VALUE && time >= in->end;
        const bool due = limit == AV_NOPTS_VALUE || time == AV_NOPTS_VALUE || time < limit;
        if (!late && (!due || *held || decoded->packet_count == DECODED_PACKETS)) {
            *held = is_video;
            in->pending[left++] = packet;
            continue;
        }
        in->pending_bytes -= packet_bytes(packet);
        if (late) {
            av_packet_free(&packet);
            continue;
        }
        const AVRational base = in->tracks[packet->stream_index].stream->time_base;
        const int64_t shift = av_rescale_q(in->zero, AV_TIME_BASE_Q, base);
        if (packet->pts != AV_NOPTS_VALUE)
            packet->pts -= shift;
        if (packet->dts != AV_NOPTS_VALUE)
            packet->dts -= shift;
        decoded->packets[decoded->packet_count++] = packet;
    }
    in->pending_count = left;
}

/* Call when no frame of the part follows. `complete`: the part is complete, even if the file is cut
 * off after it. */
static void end_frames(Input *in, bool complete)
{
    in->frames_ended = true;
    in->is_part = complete;
    if (complete)
        in->damage.cut_off = false;
    if (in->end == AV_NOPTS_VALUE && in->options.packets_only)
        in->end = in->options.film_end;
    else if (in->end == AV_NOPTS_VALUE && in->options.frames >= 0 &&
             in->frames == in->options.frames)
        in->end = in->video_end;
    const bool is_span = in->span.end_pts != INT64_MAX;
    if (in->end == AV_NOPTS_VALUE && !is_span)
        return;                            /* the part ends with the input */
    if (!in->options.copy || in->is_alone) /* no packets to copy follow */
        in->tail_ended = true;
}

/* ---- frames, in the thread ---- */

/* Makes a frame the next one to queue. Takes ownership of it. */
static void give(Input *in, Decoded *d)
{
    in->ready = *d;
    in->ready.returned = in->returned;
    in->returned = false;
    in->frames++;
    d->frame = NULL;
}

/* For a window: holds a frame before the requested position, and may send it as a preview. Passes
 * other frames to give(). Takes ownership of the frame. */
static void show(Input *in, Decoded *d)
{
    const int64_t end = d->position + (in->start.before ? 0 : d->duration);
    const bool is_early = in->start.position != AV_NOPTS_VALUE &&
                          (in->start.before ? end < in->start.position : end <= in->start.position);
    if (!in->frames && is_early) {
        gpu_frame_free(&in->held.frame);
        in->held = *d;
        d->frame = NULL;
        if (!in->start.preview || in->previewed)
            return;
        in->ready = in->held;
        in->ready.frame = av_frame_clone(in->held.frame);
        in->ready.preview = 1;
        in->previewed = true;
    } else if (!in->frames && in->start.before && in->held.frame) {
        /* A step back requests the frame before in->following. */
        in->following = *d;
        d->frame = NULL;
        give(in, &in->held);
        in->frames++;
    } else {
        gpu_frame_free(&in->held.frame);
        give(in, d);
    }
}

static int count_skipped(Input *in, const Decoded *d)
{
    int64_t count = 0;
    if (atomic_load(&in->hurry))
        in->hurried = AFTER_HURRY;
    if (in->source->live) {
        count = demuxer_dropped(in->demuxer) - in->dropped;
        in->dropped += count;
    } else if (in->hurried && in->video_end != AV_NOPTS_VALUE && d->duration > 0)
        count = (d->position + in->origin - in->video_end + d->duration / 2) / d->duration;
    in->hurried -= in->hurried > 0;
    return (int)FFMAX(count, 0);
}

/* Takes ownership of the frame, unless it is outside the part. */
static void take_frame(Input *in, Decoded *d)
{
    AVFrame *frame = d->frame;
    if (in->decoded_last != AV_NOPTS_VALUE && frame->pts >= in->shown_last) {
        /* Decoders report too short a duration for the last shown frame if other frames are decoded
         * after it. */
        const int64_t end = source_video_end(in->source, in->shown_last - in->decoded_last);
        if (end != AV_NOPTS_VALUE)
            FRAME_DURATION(frame) = FFMAX(FRAME_DURATION(frame), end - frame->pts);
    }
    const int64_t time = frame_time(in, frame, 0);
    const int range = atomic_load(&in->range);
    d->position = time - in->origin;
    d->duration = av_rescale_q(FRAME_DURATION(frame), in->source->video->time_base, AV_TIME_BASE_Q);
    d->decoded_at = av_gettime_relative();
    d->captured_at =
        in->source->camera ? camera_captured_at(in->source->camera, frame->pts) : AV_NOPTS_VALUE;
    d->skipped = count_skipped(in, d);
    d->decode_us = in->busy_us;
    in->busy_us = 0;
    if ((in->to != AV_NOPTS_VALUE && time >= in->to) || frame->pts >= in->span.end_pts) {
        end_frames(in, true);
        return;
    }
    in->video_end = FFMAX(in->video_end, frame_time(in, frame, FRAME_DURATION(frame)));
    if (range != AVCOL_RANGE_UNSPECIFIED)
        frame->color_range = range;
    if (in->options.shown) {
        show(in, d);
        return;
    }
    if (in->from != AV_NOPTS_VALUE && time < in->from &&
        av_compare_ts(frame->pts, in->source->video->time_base, in->from, AV_TIME_BASE_Q) < 0)
        return;
    const bool is_first = in->from != AV_NOPTS_VALUE && !in->frames;
    if (is_first || frame->pts >= in->begin_pts) { /* earlier damage does not count */
        in->damage = (Damage){0};
        decoder_forget_damage(in->decoder);
        in->begin_pts = INT64_MAX;
    }
    give(in, d);
}

static int decode_one(Input *in)
{
    Decoded d = {.frame = av_frame_alloc()};
    if (!d.frame)
        return media_no_memory(&in->error, MEDIA_INPUT);
    const int64_t begin = av_gettime_relative();
    int ret = decoder_receive(in->decoder, d.frame, &in->error);
    if (ret >= 0 && in->options.shown && side_data_to_frame(d.frame, in->source->video) < 0)
        ret = media_no_memory(&in->error, MEDIA_INPUT);
    in->busy_us += (double)(av_gettime_relative() - begin);
    if (ret >= 0) {
        in->returned |= decoder_take_return(in->decoder);
        take_frame(in, &d);
    } else if (ret == AVERROR_EOF) {
        end_frames(in, false);
        ret = 0;
    }
    gpu_frame_free(&d.frame);
    return ret;
}

/* Reads and decodes until a frame is ready, too many packets wait, or nothing follows. */
static int advance(Input *in)
{
    while (!in->ready.frame && !(in->frames_ended && (in->input_ended || in->tail_ended)) &&
           in->pending_count < MAX_PENDING_PACKETS && in->pending_bytes < MAX_PENDING_BYTES) {
        int ret = AVERROR(EAGAIN);
        if (atomic_load(in->source->options.stop))
            return AVERROR_EOF;
        if (!in->frames_ended && in->options.frames >= 0 && in->frames >= in->options.frames)
            end_frames(in, true);
        if (!in->frames_ended)
            ret = decode_one(in);
        if (ret == AVERROR(EAGAIN))
            ret = in->input_ended ? send(in, NULL) : read_one(in);
        if (ret == AVERROR(ENOMEM))
            return media_no_memory(&in->error, MEDIA_INPUT);
        if (ret < 0 && ret != AVERROR(EAGAIN))
            return ret == AVERROR_EXIT ? AVERROR_EOF : ret;
    }
    return 0;
}

/* Fills `d` with in->ready and the packets that are due. Shifts times: in->zero becomes 0. */
static int give_part(Input *in, Decoded *d)
{
    Decoded *ready = &in->ready;
    int64_t limit = AV_NOPTS_VALUE;
    if (in->zero == AV_NOPTS_VALUE) {
        if (in->from != AV_NOPTS_VALUE && ready->frame)
            look_ahead(in);
        find_zero(in);
    }
    if (ready->frame)
        limit = frame_time(in, ready->frame, FRAME_DURATION(ready->frame));
    move_packets(in, ready, limit);
    *d = *ready;
    if (!d->frame || d->packet_count == DECODED_PACKETS) { /* the frame comes with the next call */
        d->frame = NULL;
        ready->packet_count = 0;
        return d->packet_count ? 0 : AVERROR_EOF;
    }
    const Damage *decoded = decoder_damage(in->decoder);
    d->frame->pts -= av_rescale_q(in->zero, AV_TIME_BASE_Q, in->source->video->time_base);
    d->damage = decoded->packets + decoded->frames + decoded->lost_frames + in->damage.packets;
    *ready = (Decoded){0};
    return 0;
}

/* Stores the next frame or packets in `d`. Returns 0, AVERROR_EOF, or a fault with in->error. */
static int next(Input *in, Decoded *d)
{
    if (in->following.frame)
        in->ready = in->following;
    in->following.frame = NULL;
    const int ret = advance(in);
    if (ret < 0)
        return ret;
    if (!in->options.shown)
        return give_part(in, d);
    if (!in->ready.frame && !in->frames && in->held.frame)
        give(in, &in->held); /* if the position is after the last frame, the last frame is shown */
    *d = in->ready;
    in->ready.frame = NULL;
    return d->frame ? 0 : AVERROR_EOF;
}

static void *decode_main(void *arg)
{
    Input *in = arg;
    int ret;
    do {
        Frame *frame = NULL;
        /* A frame decoded before there is room would only grow older before it is shown. */
        ret = queue_wait_for_room(in->queue);
        if (ret >= 0 && !(frame = frame_alloc()))
            ret = media_no_memory(&in->error, MEDIA_INPUT);
        if (ret >= 0)
            ret = next(in, &frame->decoded);
        if (ret >= 0)
            ret = queue_put(in->queue, &frame, frame_bytes(frame), QUEUE_WAIT);
        if (ret < 0) {
            frame_free(&frame);
            queue_end(in->queue, ret);
        }
        if (in->options.wake)
            in->options.wake(in->options.opaque);
    } while (ret >= 0);
    return NULL;
}

/* ---- for the caller ---- */

int input_start(Input *in, const InputStart *start, MediaError *error)
{
    int64_t position = AV_NOPTS_VALUE; /* do not seek: the source may be a pipe */
    if (in->running)
        return 0;
    if (start) { /* a window may start several times */
        in->start = *start;
        in->frames = 0;
        in->input_ended = in->frames_ended = in->tail_ended = in->is_part = false;
        in->previewed = in->returned = false;
        in->hurried = 0;
        in->end = in->to;
        in->video_end = AV_NOPTS_VALUE;
        in->busy_us = 0;
        atomic_store(&in->hurry, 0);
        if (start->position != AV_NOPTS_VALUE)
            position = FFMAX(start->position - (start->before ? 1 : 0), 0);
    }
    queue_restart(in->queue);
    in->error = (MediaError){0};
    if (demuxer_start(in->demuxer, position, error) < 0)
        return error->fault;
    in->running = pthread_create(&in->thread, NULL, decode_main, in) == 0;
    if (in->running)
        return 0;
    demuxer_stop(in->demuxer);
    return media_fail(error, MEDIA_INPUT, "cannot start a thread to decode the video");
}

/* For a window, a stopped input counts as ended. */
static int result_of(const Input *in, int ret, MediaError *error)
{
    if (ret == AVERROR_EXIT && in->options.shown)
        return AVERROR_EOF;
    if (ret >= 0 || ret == AVERROR(EAGAIN) || ret == AVERROR_EOF || ret == AVERROR_EXIT)
        return ret;
    return media_fail(error, in->error.fault, "%s", in->error.text);
}

int input_take(Input *in, Frame **frame, QueueWait wait, MediaError *error)
{
    return result_of(in, queue_take(in->queue, frame, wait), error);
}

int input_look(Input *in, MediaError *error)
{
    return result_of(in, queue_look(in->queue), error);
}

Demuxer *input_demuxer(const Input *in)
{
    return in->demuxer;
}

void input_hurry(Input *in, int hurry)
{
    atomic_store(&in->hurry, hurry);
}

void input_set_range(Input *in, int range)
{
    atomic_store(&in->range, range);
}

const DecoderOptions *input_decoding(const Input *in)
{
    return &in->options.decoder;
}

int64_t input_zero(const Input *in)
{
    return in->zero;
}

double input_duration(const Input *in)
{
    const int64_t total = source_duration(in->source);
    const int64_t start = source_start(in->source);
    const int64_t begin = in->from != AV_NOPTS_VALUE ? in->from - start : 0;
    int64_t end = total > 0 ? total : AV_NOPTS_VALUE;
    if (in->to != AV_NOPTS_VALUE && (end == AV_NOPTS_VALUE || in->to - start < end))
        end = in->to - start;
    if (end == AV_NOPTS_VALUE || end <= begin)
        return 0;
    return (double)(end - begin) / AV_TIME_BASE;
}

int64_t input_frames(const Input *in)
{
    int64_t known = 0;
    if (in->from == AV_NOPTS_VALUE && in->to == AV_NOPTS_VALUE)
        known = source_frame_count(in->source);
    if (in->options.frames >= 0 && (!known || in->options.frames < known))
        known = in->options.frames;
    return known;
}

void input_stop(Input *in)
{
    if (!in->running)
        return;
    queue_stop(in->queue);
    demuxer_stop(in->demuxer);
    pthread_join(in->thread, NULL);
    in->running = false;
    if (!in->options.shown)
        return;
    gpu_frame_free(&in->ready.frame);
    gpu_frame_free(&in->held.frame);
    gpu_frame_free(&in->following.frame);
    av_packet_unref(in->packet);
    decoder_flush(in->decoder);
}

Decoder *input_decoder(const Input *in)
{
    return in->decoder;
}

bool input_is_part(const Input *in)
{
    return in->is_part;
}

DamageReport input_report(const Input *in)
{
    const InputOptions *o = &in->options;
    const bool is_all = in->to == AV_NOPTS_VALUE && o->frames < 0 && in->span.end_pts == INT64_MAX;
    DamageReport report = {
        .damage = o->shown ? in->source->damage : in->damage,
        .part = {.frames = in->frames,
                 .video_end = in->video_end,
                 .any_end = demuxer_end(in->demuxer),
                 .to_end = o->shown ? !in->is_part : is_all,
                 .whole =
                     !o->shown && is_all && in->from == AV_NOPTS_VALUE && in->span.seek_us < 0},
    };
    damage_sum(&report.damage, decoder_damage(in->decoder));
    return report;
}

int input_damage(const Input *in, int64_t lost, char *text, size_t size)
{
    DamageReport report = input_report(in);
    report.damage.lost_frames += lost;
    return damage_describe(in->source, &report, text, size);
}

int input_explain(const Input *in, MediaError *error)
{
    return in->source->bytes.read_error ? source_fail_to_read(in->source, error) : 0;
}

void input_close(Input **input)
{
    Input *in = *input;
    if (!in)
        return;
    input_stop(in);
    demuxer_free(&in->demuxer);
    queue_close(&in->queue);
    for (int i = 0; i < in->pending_count; i++)
        av_packet_free(&in->pending[i]);
    av_freep(&in->tracks);
    gpu_frame_free(&in->ready.frame);
    av_packet_free(&in->packet);
    decoder_close(&in->decoder);
    av_freep(input);
}
