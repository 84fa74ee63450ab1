/* A thread that decodes the video of a demuxer into a short queue, for a player. */
#ifndef LUMEQ_RUN_VIDEO_FEED_H
#define LUMEQ_RUN_VIDEO_FEED_H

#include "media/input/decoder.h"
#include "media/input/demuxer.h"
#include "run/run_frame.h"

/* The first frame. Positions are AV_TIME_BASE units from the start of the source. */
typedef struct FeedStart {
    int64_t position; /* the frame at this position; AV_NOPTS_VALUE: the first one of all */
    int before;       /* true: the last frame that begins before the position */
    int preview;      /* true: sends the first decoded frame before it, as a preview */
} FeedStart;

typedef struct VideoFeedOptions {
    DecoderOptions decoder;
    int range; /* AVCOL_RANGE_* to override the stream's, or AVCOL_RANGE_UNSPECIFIED */
    DeinterlaceMode deinterlace;
    int64_t end;                /* drops frames from this position on; AV_NOPTS_VALUE: no limit */
    int64_t frames;             /* limit after each start; -1: no limit */
    void (*wake)(void *opaque); /* the feed's thread calls it when there is something to receive */
    void *opaque;
} VideoFeedOptions;

typedef struct VideoFeed VideoFeed;

/* Opens the decoder; no thread runs. The demuxer, whose video stream is the source's, must outlive
 * it. MEDIA_INPUT. */
int video_feed_open(VideoFeed **feed, const Source *source, Demuxer *demuxer,
                    const VideoFeedOptions *options, MediaError *error);

/* Starts to decode, after demuxer_start(). MEDIA_INPUT. */
int video_feed_start(VideoFeed *feed, const FeedStart *start, MediaError *error);

/* DecoderOptions.lossless. */
int video_feed_is_lossless(const VideoFeed *feed);

/* Takes the next frame, or the newest of a live source; the caller owns it. 0, AVERROR(EAGAIN) (no
 * frame yet), AVERROR_EOF, or MEDIA_INPUT with `error` filled. Never waits. */
int video_feed_receive(VideoFeed *feed, Frame **frame, MediaError *error);

/* Returns what video_feed_receive() would return, without taking the frame. */
int video_feed_look(VideoFeed *feed, MediaError *error);

/* End of the last frame, AV_TIME_BASE units from the start of the source, or AV_NOPTS_VALUE. While
 * stopped. */
int64_t video_feed_end(const VideoFeed *feed);

/* After AVERROR_EOF: true if the requested part has ended before the input. */
int video_feed_is_part(const VideoFeed *feed);

/* Number of waiting frames, and its limit. */
int video_feed_waiting(const VideoFeed *feed);
int video_feed_room(const VideoFeed *feed);

/* True: skips frames that no other frame refers to. Any thread. */
void video_feed_hurry(VideoFeed *feed, int hurry);

/* Affect frames decoded from now on. Any thread. */
void video_feed_deinterlace(VideoFeed *feed, DeinterlaceMode mode);
void video_feed_set_codes(VideoFeed *feed, CodeRangeMode mode);

void video_feed_set_range(VideoFeed *feed, int range);

/* Ends the thread and drops the queued frames. Call demuxer_stop() first, which ends its wait. */
void video_feed_stop(VideoFeed *feed);

/* For the conversions and the damage of decoder.h. While stopped. */
const Decoder *video_feed_decoder(const VideoFeed *feed);

void video_feed_close(VideoFeed **feed);

#endif
