/* A live source, read and decoded as the player does it. */
#ifndef LUMEQ_TESTS_LIVE_VIEW_H
#define LUMEQ_TESTS_LIVE_VIEW_H

#include <libavutil/time.h>

#include "check.h"
#include "run/video_feed.h"

#define LIVENESS_US (CHECK_SLOWER * 10000000)

typedef struct LiveView {
    Source *source;
    Demuxer *demuxer;
    VideoFeed *feed;
    MediaError error;
    int64_t last;    /* position of the last frame */
    int last_number; /* what it shows */
} LiveView;

/* The number that a frame shows: 16 fields along the top, an eighth of the height, of a bit each.
 */
static inline int live_view_number(const AVFrame *frame)
{
    const uint8_t *row = frame->data[0] + (ptrdiff_t)(frame->height / 16) * frame->linesize[0];
    int number = 0;
    for (int i = 0; i < 16; i++)
        number = number << 1 | (row[(2 * i + 1) * frame->width / 32] >= 128);
    return number;
}

static inline int live_view_open(LiveView *v, const SourceOptions *wanted)
{
    const VideoFeedOptions options = {.end = AV_NOPTS_VALUE, .frames = -1};
    const FeedStart start = {.position = AV_NOPTS_VALUE};
    *v = (LiveView){.last = -1};
    return CHECK(source_open(&v->source, wanted, &v->error) == 0 &&
                     demuxer_create(&v->demuxer, v->source, &v->error) == 0 &&
                     (demuxer_select(v->demuxer, DEMUX_VIDEO, v->source->video), 1) &&
                     video_feed_open(&v->feed, v->source, v->demuxer, &options, &v->error) == 0 &&
                     demuxer_start(v->demuxer, AV_NOPTS_VALUE, &v->error) == 0 &&
                     video_feed_start(v->feed, &start, &v->error) == 0,
                 "%s", v->error.text);
}

/* Answers how long it took. */
static inline int64_t live_view_close(LiveView *v)
{
    const int64_t begin = av_gettime_relative();
    if (v->demuxer)
        demuxer_stop(v->demuxer);
    video_feed_close(&v->feed);
    demuxer_free(&v->demuxer);
    source_close(&v->source);
    return av_gettime_relative() - begin;
}

/* The next frame, waited for; 0: none came in so long. */
static inline int live_view_next(LiveView *v, Decoded *frame, int64_t patience)
{
    const int64_t end = av_gettime_relative() + patience;
    Frame *received = NULL;
    int ret;
    while ((ret = video_feed_receive(v->feed, &received, &v->error)) == AVERROR(EAGAIN) &&
           av_gettime_relative() < end)
        av_usleep(500);
    if (ret < 0)
        return 0;
    *frame = received->decoded;
    received->decoded = (Decoded){0};
    frame_free(&received);
    CHECK(frame->position > v->last, "%lld after %lld", (long long)frame->position,
          (long long)v->last);
    v->last = frame->position;
    v->last_number = live_view_number(frame->frame);
    return 1;
}

static inline int live_view_skip(LiveView *v, int count)
{
    for (int i = 0; i < count; i++) {
        Decoded frame;
        if (!CHECK(live_view_next(v, &frame, LIVENESS_US), "no frame comes: %s", v->error.text))
            return 0;
        av_frame_free(&frame.frame);
    }
    return 1;
}

#endif
