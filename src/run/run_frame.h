/* A frame on its way from the decoder to the sinks, with all data about it. */
#ifndef LUMEQ_RUN_RUN_FRAME_H
#define LUMEQ_RUN_RUN_FRAME_H

#include <stdbool.h>

#include <libavutil/error.h>

#include "run/equalizer_frame.h"

/* Maximum number of packets with a frame. */
#define DECODED_PACKETS 64

/* {0} is empty. It owns the packets and the frame. */
typedef struct Decoded {
    AVPacket *packets[DECODED_PACKETS]; /* to be written before the frame */
    int packet_count;
    AVFrame *frame;             /* NULL: packets only */
    int64_t position, duration; /* AV_TIME_BASE units from the start of the source */
    int64_t decoded_at;         /* av_gettime_relative() */
    int64_t captured_at;        /* the same clock; AV_NOPTS_VALUE if not from a camera */
    double decode_us;           /* time spent on decoding it */
    int64_t damage;             /* how often the input was found damaged up to this frame */
    int returned; /* true for the first frame after the camera or URL was gone for a while */
    int preview;  /* true for a frame before the requested position */
    int skipped;  /* number of frames dropped just before it */
} Decoded;

/* Maximum number of earlier frames that lumeq_apply() may use. */
#define FRAME_PREVIOUS 3

/* The thread that took the frame from a queue owns it and everything in it. */
typedef struct Frame {
    Decoded decoded; /* as it came from the decoder; without a frame: copied packets only */

    /* For the equalizer. */
    AVFrame *previous[FRAME_PREVIOUS]; /* the frames before it, the nearest first, or NULL */
    int first;                         /* true if it does not continue the frames before it */
    int64_t sequence;                  /* LumeqMoment.number; 0: the library counts */
    LumeqCurve *curve;                 /* or NULL */
    int on_device;                     /* true if `out` is in GPU memory */

    /* From the equalizer. */
    AVFrame *out;
    LumeqFrameStats stats;
    StatsArrays *arrays; /* arrays of `stats`, or NULL */
    double equalize_us;  /* time in the equalizer, including the measuring */
    int result;          /* in a pipeline: what frame_apply() returned, once is_done */
    bool is_done;        /* in a pipeline: frame_apply() has ended */

    /* In the window. */
    int generation; /* increases when an input is attached */
    int revision;   /* increases with each change of the settings */
    int end;        /* not 0: no frame, but the end of the input: an AVERROR or a fault */

    /* For the sinks. */
    int64_t number;    /* in the output, see RunLoop; in the window, of the decoded frame, from 1 */
    bool is_first;     /* true for the first frame of the loop */
    int64_t time_us;   /* in the output */
    int64_t zero_us;   /* time of the input that is 0 in the output */
    double begin_us;   /* when the first sink got it, by run_now_us() */
    const char *words; /* what the equalizer decided; NULL: unknown */
    MediaError *error; /* where a failing sink stores its error */
} Frame;

/* Returns an empty frame. NULL: out of memory. */
Frame *frame_alloc(void);

/* *frame may be NULL. */
void frame_free(Frame **frame);

/* frame_free() as QueueOptions.free of a queue of Frame *. */
void frame_free_queued(void *frame);

/* Frees all pictures and keeps the packets. */
void frame_drop_pictures(Frame *frame);

/* Prepares `stats` for the library to fill, with arrays if `arrays`. 0 or AVERROR(ENOMEM). */
int frame_init_stats(Frame *frame, int arrays);

/* Equalizes a frame into its `out` by its `curve` and `previous`, and fills its statistics. Without
 * `writes`, only fills the statistics. Returns 0, MEDIA_LOST, or MEDIA_INPUT. Any thread. */
int frame_apply(LumeqContext *context, Frame *frame, bool writes, MediaError *error);

/* Records in `next` that `skipped`, the frame before it, was dropped. */
void frame_note_skipped(Frame *next, const Frame *skipped);

/* Monotonic clock, in microseconds. */
double run_now_us(void);

/* Returns the approximate number of bytes that the frame holds in memory. */
int64_t frame_bytes(const Frame *frame);

#endif
