/* The video track of a demuxer, decoded by a thread of its own into a short queue, for a player. */
#ifndef LUMEQ_RUN_VIDEO_FEED_H
#define LUMEQ_RUN_VIDEO_FEED_H

#include "media/input/decoder.h"
#include "media/input/demuxer.h"
#include "run/run_frame.h"

/* Which frame is the first to come; positions are AV_TIME_BASE units from the start of the source.
 */
typedef struct FeedStart {
    int64_t position; /* the one shown at this position; AV_NOPTS_VALUE: the first there is */
    int before;       /* not 0: the last one that begins before it instead */
    int preview;      /* not 0: ahead of that, the first one decoded, marked as a preview */
} FeedStart;

/* A frame after a start. */
typedef struct FeedPlace {
    int64_t position;
    int64_t number; /* from 1 on; previews do not count */
} FeedPlace;

typedef struct VideoFeedOptions {
    DecoderOptions decoder;
    int range; /* AVCOL_RANGE_* to override the stream's, or AVCOL_RANGE_UNSPECIFIED */
    DeinterlaceMode deinterlace;
    int64_t end;    /* frames from this position on are left out; AV_NOPTS_VALUE: none */
    int64_t frames; /* at most, after each start; -1 = all */
    void (*wake)(void *opaque); /* there is something to receive; from the feed's thread */
    void *opaque;
} VideoFeedOptions;

typedef struct VideoFeed VideoFeed;

/* Opens the decoder; no thread runs. The demuxer, whose video stream is the source's, must outlive
 * it. MEDIA_INPUT. */
int video_feed_open(VideoFeed **feed, const Source *source, Demuxer *demuxer,
                    const VideoFeedOptions *options, MediaError *error);

/* Starts to decode what the demuxer, which has been started, reads. MEDIA_INPUT. */
int video_feed_start(VideoFeed *feed, const FeedStart *start, MediaError *error);

/* Not 0: video_feed_restart() works. */
int video_feed_can_restart(const VideoFeed *feed);

/* After demuxer_pause(), whose demuxer this restarts, too: decodes the frames from `place` on
 * again, in software. MEDIA_INPUT. */
int video_feed_restart(VideoFeed *feed, const FeedPlace *place, MediaError *error);

/* The next frame, of a live source the newest, which the caller frees: 0, AVERROR(EAGAIN) (none
 * yet), AVERROR_EOF, or MEDIA_INPUT with `error` filled. Never waits. */
int video_feed_receive(VideoFeed *feed, Frame **frame, MediaError *error);

/* The same without taking it. */
int video_feed_look(VideoFeed *feed, MediaError *error);

/* End of the last frame, AV_TIME_BASE units from the start of the source, AV_NOPTS_VALUE: there
 * was none. While stopped. */
int64_t video_feed_end(const VideoFeed *feed);

/* After AVERROR_EOF: true if the requested part has ended before the input. */
int video_feed_is_part(const VideoFeed *feed);

/* Frames waiting, and how many may. */
int video_feed_waiting(const VideoFeed *feed);
int video_feed_room(const VideoFeed *feed);

/* Not 0: leave out frames that no other one refers to. Any thread. */
void video_feed_hurry(VideoFeed *feed, int hurry);

/* For frames that are decoded from now on. Any thread. */
void video_feed_deinterlace(VideoFeed *feed, DeinterlaceMode mode);
void video_feed_set_codes(VideoFeed *feed, CodeRangeMode mode);

void video_feed_set_range(VideoFeed *feed, int range);

/* Ends the thread; frames in the queue are dropped. After demuxer_stop(), which ends its wait. */
void video_feed_stop(VideoFeed *feed);

/* For the conversions and the damage of decoder.h. While stopped. */
const Decoder *video_feed_decoder(const VideoFeed *feed);

void video_feed_close(VideoFeed **feed);

#endif
