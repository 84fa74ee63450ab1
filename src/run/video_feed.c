#include "run/video_feed.h"

#include <libavutil/time.h>

#include "media/compat.h"
#include "media/gpu_frame.h"
#include "media/side_data.h"
#include "run/decode_stage.h"

/* Number of waiting frames: enough to ride out an uneven decoder, few enough to keep memory small
 * (a 4K frame has 12 MB). A decoder with many threads holds the next frames itself, and a GPU has
 * few surfaces: then one frame waits. */
#define QUEUE_LENGTH 6
#define SHORT_QUEUE_LENGTH 1
#define MANY_THREADS 4
#define QUEUE_BYTES (256 << 20)

/* Number of frames after a hurry that may still be missing because of it. */
#define AFTER_HURRY 64

struct VideoFeed {
    VideoFeedOptions options;
    int live;       /* true: a newer frame replaces the waiting one */
    Camera *camera; /* or NULL */
    Demuxer *demuxer;
    Decoder *decoder;
    const AVStream *stream;
    int64_t source_start;
    DecodeStage *stage;
    int room;         /* number of frames that may wait in it */
    AVPacket *packet; /* not blank: was read, and the decoder has not taken it */
    atomic_int hurry;
    atomic_int range; /* as in the options */

    /* Used by the thread while it runs. */
    FeedStart start;
    Decoded held;      /* the last frame before the requested position */
    Decoded following; /* the frame after it */
    int64_t given;     /* number of frames except previews */
    int part;          /* see video_feed_is_part() */
    int previewed;
    int hurried;     /* number of next frames that may follow a skipped one */
    int64_t end;     /* end of the frame before, or AV_NOPTS_VALUE */
    int64_t dropped; /* demuxer_dropped() at the frame before */
    double busy_us;
};

/* True if it comes before the requested frame. */
static int is_early(const VideoFeed *f, const Decoded *frame)
{
    if (f->start.position == AV_NOPTS_VALUE)
        return 0;
    return f->start.before ? frame->position < f->start.position
                           : frame->position + frame->duration <= f->start.position;
}

/* Takes ownership of the frame. Returns 1 if it is a preview. */
static int hold(VideoFeed *f, Decoded *frame)
{
    gpu_frame_free(&f->held.frame);
    f->held = *frame;
    frame->frame = NULL;
    if (!f->start.preview || f->previewed)
        return 0;
    f->previewed = frame->preview = 1;
    frame->frame = av_frame_clone(f->held.frame);
    return frame->frame != NULL;
}

static Decoded take(Decoded *from)
{
    const Decoded frame = *from;
    from->frame = NULL;
    return frame;
}

/* 1: the frame is the next; 0: it is left out, or comes later. */
static int choose(VideoFeed *f, Decoded *frame)
{
    const int late = f->options.end != AV_NOPTS_VALUE && frame->position >= f->options.end;
    if (late || (f->options.frames >= 0 && f->given >= f->options.frames)) {
        gpu_frame_free(&frame->frame);
        f->part = 1;
        return AVERROR_EOF;
    }
    if (!f->given && is_early(f, frame))
        return hold(f, frame);
    /* After a step back, the requested frame is the one before this one. */
    if (!f->given && f->start.before && f->held.frame) {
        f->following = *frame;
        *frame = take(&f->held);
        f->given = 2;
        return 1;
    }
    gpu_frame_free(&f->held.frame);
    f->given++;
    return 1;
}

static int64_t to_us(const VideoFeed *f, int64_t time)
{
    return av_rescale_q(time, f->stream->time_base, AV_TIME_BASE_Q);
}

static int count_skipped(VideoFeed *f, const Decoded *frame)
{
    int64_t count = 0;
    if (atomic_load(&f->hurry))
        f->hurried = AFTER_HURRY;
    if (f->live) {
        count = demuxer_dropped(f->demuxer) - f->dropped;
        f->dropped += count;
    } else if (f->hurried && f->end != AV_NOPTS_VALUE && frame->duration > 0)
        count = (frame->position - f->end + frame->duration / 2) / frame->duration;
    f->hurried -= f->hurried > 0;
    f->end = frame->position + frame->duration;
    return (int)FFMAX(count, 0);
}

/* As choose(), or AVERROR(EAGAIN): the decoder wants more. */
static int decode_one(VideoFeed *f, Decoded *decoded, MediaError *error)
{
    Decoded frame = {.frame = av_frame_alloc()};
    if (!frame.frame)
        return media_no_memory(error, MEDIA_INPUT);
    const int64_t begin = av_gettime_relative();
    int ret = decoder_receive(f->decoder, frame.frame, error);
    if (ret >= 0 && side_data_to_frame(frame.frame, f->stream) < 0)
        ret = media_no_memory(error, MEDIA_INPUT);
    f->busy_us += (double)(av_gettime_relative() - begin);
    if (ret < 0) {
        gpu_frame_free(&frame.frame);
        return ret;
    }
    const int range = atomic_load(&f->range);
    if (range != AVCOL_RANGE_UNSPECIFIED)
        frame.frame->color_range = range;
    frame.position = to_us(f, frame.frame->pts) - f->source_start;
    frame.duration = to_us(f, FRAME_DURATION(frame.frame));
    frame.decode_us = f->busy_us;
    frame.decoded_at = av_gettime_relative();
    frame.captured_at =
        f->camera ? camera_captured_at(f->camera, frame.frame->pts) : AV_NOPTS_VALUE;
    f->busy_us = 0;
    frame.skipped = count_skipped(f, &frame);
    frame.returned = decoder_take_return(f->decoder);
    *decoded = frame;
    return choose(f, decoded);
}

/* Hands the decoder a packet, or the end. */
static int feed_one(VideoFeed *f, MediaError *error)
{
    int ret = 0;
    if (!f->packet->buf)
        ret = demuxer_read(f->demuxer, DEMUX_VIDEO, f->packet, 1);
    if (ret >= 0 || ret == AVERROR_EOF) {
        const int64_t begin = av_gettime_relative();
        decoder_hurry(f->decoder, atomic_load(&f->hurry));
        ret = decoder_send(f->decoder, ret == AVERROR_EOF ? NULL : f->packet);
        if (ret != AVERROR(EAGAIN))
            av_packet_unref(f->packet);
        f->busy_us += (double)(av_gettime_relative() - begin);
    }
    if (ret == AVERROR(ENOMEM))
        return media_no_memory(error, MEDIA_INPUT);
    return ret == AVERROR(EAGAIN) ? 0 : ret;
}

static int find_next(VideoFeed *f, Decoded *frame, MediaError *error)
{
    int ret = 0;
    while (ret == 0) {
        ret = decode_one(f, frame, error);
        if (ret == AVERROR(EAGAIN))
            ret = feed_one(f, error);
    }
    if (ret != AVERROR_EOF || f->given || !f->held.frame)
        return ret;
    *frame = take(&f->held); /* of a position after the last frame, that one is shown */
    f->given++;
    return 0;
}

/* See DecodeStageOptions. */
static int next_frame(void *feed, Decoded *frame, MediaError *error)
{
    VideoFeed *f = feed;
    int ret = 0;
    if (f->following.frame)
        *frame = take(&f->following);
    else
        ret = find_next(f, frame, error);
    return FFMIN(ret, 0);
}

static int open_stage(VideoFeed *f, MediaError *error)
{
    const int few = f->live || decoder_is_on_gpu(f->decoder) ||
                    decoder_frame_threads(f->decoder) >= MANY_THREADS;
    f->room = few ? SHORT_QUEUE_LENGTH : QUEUE_LENGTH;
    const DecodeStageOptions options = {
        .count = f->room,
        .bytes = QUEUE_BYTES,
        .live = f->live,
        .next = next_frame,
        .opaque = f,
        .wake = f->options.wake,
        .wake_opaque = f->options.opaque,
    };
    f->stage = f->packet ? decode_stage_create(&options) : NULL;
    return f->stage ? 0 : media_no_memory(error, MEDIA_INPUT);
}

int video_feed_open(VideoFeed **feed, const Source *source, Demuxer *demuxer,
                    const VideoFeedOptions *options, MediaError *error)
{
    VideoFeed *f = av_mallocz(sizeof(*f));
    *feed = f;
    if (!f)
        return media_no_memory(error, MEDIA_INPUT);
    f->options = *options;
    atomic_init(&f->range, options->range);
    f->live = source->live;
    f->camera = source->camera;
    f->demuxer = demuxer;
    f->stream = source->video;
    f->source_start = source_start(source);
    f->packet = av_packet_alloc();
    f->options.decoder.hides_broken = 1;
    int ret = decoder_open(&f->decoder, source, &f->options.decoder, error);
    if (ret >= 0)
        decoder_deinterlace(f->decoder, options->deinterlace);
    if (ret >= 0)
        ret = open_stage(f, error);
    if (ret < 0)
        video_feed_close(feed);
    return ret;
}

int video_feed_start(VideoFeed *f, const FeedStart *start, MediaError *error)
{
    f->start = *start;
    f->given = 0;
    f->part = f->previewed = f->hurried = 0;
    f->end = AV_NOPTS_VALUE;
    f->busy_us = 0;
    atomic_store(&f->hurry, 0);
    return decode_stage_start(f->stage, error);
}

int video_feed_is_lossless(const VideoFeed *f)
{
    return f->options.decoder.lossless;
}

/* For the caller, a stopped stage is at its end. */
static int answer(int ret)
{
    return ret == AVERROR_EXIT ? AVERROR_EOF : ret;
}

int video_feed_receive(VideoFeed *f, Frame **frame, MediaError *error)
{
    return answer(decode_stage_take(f->stage, frame, QUEUE_TRY, error));
}

int video_feed_look(VideoFeed *f, MediaError *error)
{
    return answer(decode_stage_look(f->stage, error));
}

int64_t video_feed_end(const VideoFeed *f)
{
    return f->end;
}

int video_feed_is_part(const VideoFeed *f)
{
    return f->part;
}

int video_feed_waiting(const VideoFeed *f)
{
    return decode_stage_waiting(f->stage);
}

int video_feed_room(const VideoFeed *f)
{
    return f->room;
}

void video_feed_hurry(VideoFeed *f, int hurry)
{
    atomic_store(&f->hurry, hurry);
}

void video_feed_deinterlace(VideoFeed *f, DeinterlaceMode mode)
{
    decoder_deinterlace(f->decoder, mode);
}

void video_feed_stop(VideoFeed *f)
{
    decode_stage_stop(f->stage);
    gpu_frame_free(&f->held.frame);
    gpu_frame_free(&f->following.frame);
    av_packet_unref(f->packet);
    decoder_flush(f->decoder);
}

void video_feed_set_codes(VideoFeed *f, CodeRangeMode mode)
{
    decoder_set_codes(f->decoder, mode);
}

void video_feed_set_range(VideoFeed *f, int range)
{
    atomic_store(&f->range, range);
}

const Decoder *video_feed_decoder(const VideoFeed *f)
{
    return f->decoder;
}

void video_feed_close(VideoFeed **feed)
{
    VideoFeed *f = *feed;
    if (!f)
        return;
    if (f->stage)
        video_feed_stop(f);
    decode_stage_close(&f->stage);
    decoder_close(&f->decoder);
    av_packet_free(&f->packet);
    av_freep(feed);
}
