/* A frame on its way from the decoder to the sinks, with all data about it. */
#ifndef LUMEQ_RUN_RUN_FRAME_H
#define LUMEQ_RUN_RUN_FRAME_H

#include <stdbool.h>

#include <libavutil/error.h>

#include "run/equalizer_frame.h"

/* Maximum number of packets that come with a frame. */
#define DECODED_PACKETS 64

/* Owns the packets and the frame. {0} is empty. */
typedef struct Decoded {
    AVPacket *packets[DECODED_PACKETS]; /* to be written before the frame */
    int packet_count;
    AVFrame *frame;             /* NULL: packets only */
    int64_t position, duration; /* AV_TIME_BASE units from the start of the source */
    int64_t decoded_at;         /* av_gettime_relative() */
    int64_t captured_at;        /* av_gettime_relative(); AV_NOPTS_VALUE if not from a camera */
    double decode_us;           /* time spent on decoding this frame */
    int64_t damage;             /* number of damaged and lost packets and frames so far */
    int returned; /* true for the first frame after the camera or URL was gone for a while */
    int preview;  /* true for a frame before the requested position */
    int skipped;  /* number of frames dropped just before this one */
} Decoded;

/* Maximum number of earlier frames that lumeq_apply() may use. */
#define FRAME_PREVIOUS 3

/* The thread that took the frame from a queue owns it and everything in it. */
typedef struct Frame {
    Decoded decoded; /* as it came from the decoder; without a frame: copied packets only */

    /* For the equalizer. */
    AVFrame *previous[FRAME_PREVIOUS]; /* the frames before this one, nearest first; or NULL */
    int first;                         /* true if this frame does not continue earlier frames */
    int64_t sequence;                  /* LumeqMoment.number; 0: the library counts */
    LumeqCurve *curve;                 /* or NULL */
    int on_device;                     /* true if `out` is in GPU memory */

    /* From the equalizer. */
    AVFrame *out;
    LumeqFrameStats stats;
    StatsArrays *arrays; /* arrays of `stats`, or NULL */
    double equalize_us;  /* time spent in the equalizer, including measuring */
    int result;          /* in a pipeline, what frame_apply() returned */
    bool is_done;        /* in a pipeline, true once `result` is set */

    /* In the window. */
    int generation; /* increases when an input is attached */
    int revision;   /* increases with each change of the settings */
    int end;        /* 0: this is a frame; AVERROR_EOF or MEDIA_*: this marks the input's end */

    /* For the sinks. */
    int64_t number;    /* see RunLoop.number; in a window: number of the decoded frame, from 1 */
    bool is_first;     /* true for the first frame of the loop */
    int64_t time_us;   /* in the output */
    int64_t zero_us;   /* time of the input that is 0 in the output */
    double begin_us;   /* run_now_us() when the first sink got the frame */
    const char *words; /* what the equalizer decided about the frame; NULL: unknown */
    MediaError *error; /* where a failing sink stores its error */
} Frame;

/* Returns an empty frame. NULL: out of memory. */
Frame *frame_alloc(void);

/* *frame may be NULL. */
void frame_free(Frame **frame);

/* QueueOptions.free for a queue of Frame *. */
void frame_free_queued(void *frame);

/* Frees all pictures and keeps the packets. */
void frame_drop_pictures(Frame *frame);

/* Prepares `stats` for the library to fill, with arrays if `arrays`. Error: AVERROR(ENOMEM). */
int frame_init_stats(Frame *frame, int arrays);

/* Fills a frame's statistics and, if `writes`, equalizes the frame from its `curve` and `previous`
 * into its `out`. Returns 0, MEDIA_LOST, or MEDIA_INPUT. Any thread. */
int frame_apply(LumeqContext *context, Frame *frame, bool writes, MediaError *error);

/* Records in `next` that the frame before it, `skipped`, was dropped. */
void frame_note_skipped(Frame *next, const Frame *skipped);

/* Monotonic clock, in microseconds. */
double run_now_us(void);

/* Returns the approximate number of bytes that the frame holds in memory. */
int64_t frame_bytes(const Frame *frame);

#endif
