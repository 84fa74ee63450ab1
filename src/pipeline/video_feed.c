#include "pipeline/video_feed.h"

#include <pthread.h>

#include <libavutil/time.h>

#include "media/compat.h"
#include "media/message.h"
#include "media/side_data.h"
#include "pipeline/queue.h"

/* Decoded frames that wait: enough to ride out an uneven decoder, few enough to keep memory small
 * (a 4K frame has 12 MB). A decoder with many threads has the next frames at hand itself, and what
 * waits here would only be older when it is seen. */
#define QUEUE_LENGTH 6
#define SHORT_QUEUE_LENGTH 1
#define QUEUE_BYTES (256 << 20)
#define MANY_THREADS 4

/* After a hurry, holes may be its work for as many frames: those a decoder was at work on. */
#define AFTER_HURRY 64

struct VideoFeed {
    VideoFeedOptions options;
    int live;       /* the one frame that waits gives way to a newer one */
    Camera *camera; /* NULL: it is none */
    Demuxer *demuxer;
    Decoder *decoder;
    const AVStream *stream;
    int64_t source_start;
    Queue *queue;     /* of FeedFrame */
    int room;         /* frames that may wait in it */
    AVPacket *packet; /* read, not yet taken by the decoder, when not blank */
    pthread_t thread;
    int running;
    atomic_int hurry;

    /* Of the thread while it runs. */
    FeedStart start;
    FeedFrame held; /* the last frame before the first that is wanted */
    int64_t given;  /* frames sent that are no previews */
    int part;       /* it has ended before the input */
    int previewed;
    int hurried;     /* frames that may have a hole before them */
    int64_t end;     /* of the frame before, AV_NOPTS_VALUE: there is none */
    int64_t returns; /* of the camera */
    int64_t dropped; /* packets, by demuxer_dropped() at the frame before */
    double busy_us;
    MediaError error;
};

static void free_frame(void *message)
{
    av_frame_free(&((FeedFrame *)message)->frame);
}

/* The newest one wins. */
static void drop_frame(const void *oldest, void *next)
{
    const FeedFrame *old = oldest;
    ((FeedFrame *)next)->skipped += old->skipped + 1;
    ((FeedFrame *)next)->returned |= old->returned;
}

static int open_queue(VideoFeed *f)
{
    f->room = f->live || decoder_frame_threads(f->decoder) >= MANY_THREADS ? SHORT_QUEUE_LENGTH
                                                                           : QUEUE_LENGTH;
    const QueueOptions options = {
        .item = sizeof(FeedFrame),
        .count = f->room,
        .bytes = QUEUE_BYTES,
        .free = free_frame,
        .drop = f->live ? drop_frame : NULL,
    };
    return f->packet ? queue_open(&f->queue, &options) : AVERROR(ENOMEM);
}

int video_feed_open(VideoFeed **feed, const Source *source, Demuxer *demuxer,
                    const VideoFeedOptions *options, MediaError *error)
{
    VideoFeed *f = av_mallocz(sizeof(*f));
    *feed = f;
    if (!f)
        return media_fail(error, MEDIA_INPUT, "out of memory");
    f->options = *options;
    f->live = source->live;
    f->camera = source->camera;
    f->demuxer = demuxer;
    f->stream = source->video;
    f->source_start = source_start(source);
    f->packet = av_packet_alloc();
    int ret = decoder_open(&f->decoder, source, options->memory, options->threads, error);
    if (ret >= 0)
        decoder_deinterlace(f->decoder, options->deinterlace);
    if (ret >= 0 && open_queue(f) < 0)
        ret = media_fail(error, MEDIA_INPUT, "out of memory");
    if (ret < 0)
        video_feed_close(feed);
    return ret;
}

static int send(VideoFeed *f, FeedFrame *frame)
{
    const int64_t bytes = message_frame_bytes(frame->frame, NULL);
    const int ret = queue_put(f->queue, frame, bytes, QUEUE_WAIT);
    if (ret < 0)
        av_frame_free(&frame->frame);
    else if (f->options.wake)
        f->options.wake(f->options.opaque);
    return ret;
}

static int send_preview(VideoFeed *f, const FeedFrame *frame)
{
    FeedFrame preview = *frame;
    f->previewed = 1;
    preview.preview = 1;
    preview.frame = av_frame_clone(frame->frame);
    return preview.frame ? send(f, &preview) : 0;
}

/* Whether it comes before the first frame that is wanted. */
static int is_early(const VideoFeed *f, const FeedFrame *frame)
{
    if (f->start.position == AV_NOPTS_VALUE)
        return 0;
    return f->start.before ? frame->position < f->start.position
                           : frame->position + frame->duration <= f->start.position;
}

/* The frame is taken over. */
static int hold(VideoFeed *f, FeedFrame *frame)
{
    av_frame_free(&f->held.frame);
    f->held = *frame;
    return f->start.preview && !f->previewed ? send_preview(f, frame) : 0;
}

static int send_held(VideoFeed *f)
{
    FeedFrame held = f->held;
    f->held.frame = NULL;
    f->given++;
    return send(f, &held);
}

static int pass_on(VideoFeed *f, FeedFrame *frame)
{
    const int late = f->options.end != AV_NOPTS_VALUE && frame->position >= f->options.end;
    if (late || (f->options.frames >= 0 && f->given >= f->options.frames)) {
        av_frame_free(&frame->frame);
        f->part = 1;
        return AVERROR_EOF;
    }
    if (!f->given && is_early(f, frame))
        return hold(f, frame);
    /* Stepping back, the frame before this one is what is wanted. */
    if (!f->given && f->start.before && f->held.frame) {
        const int ret = send_held(f);
        if (ret < 0) {
            av_frame_free(&frame->frame);
            return ret;
        }
    }
    av_frame_free(&f->held.frame);
    f->given++;
    return send(f, frame);
}

static int64_t to_us(const VideoFeed *f, int64_t time)
{
    return av_rescale_q(time, f->stream->time_base, AV_TIME_BASE_Q);
}

/* Packets that were dropped since the frame before. */
static int count_dropped(VideoFeed *f)
{
    const int64_t before = f->dropped;
    f->dropped = demuxer_dropped(f->demuxer);
    return (int)(f->dropped - before);
}

static int has_returned(VideoFeed *f)
{
    const int64_t before = f->returns;
    if (f->camera)
        f->returns = camera_status(f->camera).returns;
    return f->returns != before;
}

static int count_skipped(VideoFeed *f, const FeedFrame *frame)
{
    int64_t count = 0;
    if (atomic_load(&f->hurry))
        f->hurried = AFTER_HURRY;
    if (f->live)
        count = count_dropped(f);
    else if (f->hurried && f->end != AV_NOPTS_VALUE && frame->duration > 0)
        count = (frame->position - f->end + frame->duration / 2) / frame->duration;
    f->hurried -= f->hurried > 0;
    f->end = frame->position + frame->duration;
    return (int)FFMAX(count, 0);
}

static int decode_one(VideoFeed *f)
{
    FeedFrame frame = {.frame = av_frame_alloc()};
    if (!frame.frame)
        return media_fail(&f->error, MEDIA_INPUT, "out of memory");
    const int64_t begin = av_gettime_relative();
    int ret = decoder_receive(f->decoder, frame.frame, &f->error);
    if (ret >= 0 && side_data_to_frame(frame.frame, f->stream) < 0)
        ret = media_fail(&f->error, MEDIA_INPUT, "out of memory");
    f->busy_us += (double)(av_gettime_relative() - begin);
    if (ret < 0) {
        av_frame_free(&frame.frame);
        return ret;
    }
    if (f->options.range != AVCOL_RANGE_UNSPECIFIED)
        frame.frame->color_range = f->options.range;
    frame.position = to_us(f, frame.frame->pts) - f->source_start;
    frame.duration = to_us(f, FRAME_DURATION(frame.frame));
    frame.decode_us = f->busy_us;
    frame.decoded_at = av_gettime_relative();
    frame.captured_at =
        f->camera ? camera_captured_at(f->camera, frame.frame->pts) : AV_NOPTS_VALUE;
    f->busy_us = 0;
    frame.skipped = count_skipped(f, &frame);
    frame.returned = has_returned(f);
    return pass_on(f, &frame);
}

/* Hands the decoder a packet, or the end. */
static int feed_one(VideoFeed *f)
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
        return media_fail(&f->error, MEDIA_INPUT, "out of memory");
    return ret == AVERROR(EAGAIN) ? 0 : ret;
}

static void *feed_main(void *arg)
{
    VideoFeed *f = arg;
    int ret;
    do {
        ret = queue_wait_for_room(f->queue); /* else it would only be older when it is seen */
        if (ret >= 0)
            ret = decode_one(f);
        if (ret == AVERROR(EAGAIN))
            ret = feed_one(f);
    } while (ret >= 0);
    /* Of a position after the last frame, that one is shown. */
    if (ret == AVERROR_EOF && !f->given && f->held.frame)
        (void)send_held(f);
    queue_end(f->queue, ret);
    if (f->options.wake)
        f->options.wake(f->options.opaque);
    return NULL;
}

int video_feed_start(VideoFeed *f, const FeedStart *start, MediaError *error)
{
    f->start = *start;
    f->given = 0;
    f->part = f->previewed = f->hurried = 0;
    f->end = AV_NOPTS_VALUE;
    f->busy_us = 0;
    atomic_store(&f->hurry, 0);
    queue_restart(f->queue);
    if (pthread_create(&f->thread, NULL, feed_main, f) != 0)
        return media_fail(error, MEDIA_INPUT, "no thread can be started to decode the video");
    f->running = 1;
    return 0;
}

static int answer(const VideoFeed *f, int ret, MediaError *error)
{
    if (ret >= 0 || ret == AVERROR(EAGAIN) || ret == AVERROR_EOF || ret == AVERROR_EXIT)
        return ret == AVERROR_EXIT ? AVERROR_EOF : ret;
    return media_fail(error, MEDIA_INPUT, "%s", f->error.text);
}

int video_feed_receive(VideoFeed *f, FeedFrame *frame, MediaError *error)
{
    return answer(f, queue_take(f->queue, frame, QUEUE_TRY), error);
}

int video_feed_look(VideoFeed *f, MediaError *error)
{
    return answer(f, queue_look(f->queue), error);
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
    return queue_count(f->queue);
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
    if (!f->running)
        return;
    queue_stop(f->queue);
    pthread_join(f->thread, NULL);
    f->running = 0;
    av_frame_free(&f->held.frame);
    av_packet_unref(f->packet);
    decoder_flush(f->decoder);
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
    video_feed_stop(f);
    decoder_close(&f->decoder);
    queue_close(&f->queue);
    av_packet_free(&f->packet);
    av_freep(feed);
}
