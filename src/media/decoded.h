/* A decoded frame, the copied packets before it, and all that is known about it. */
#ifndef LUMEQ_MEDIA_DECODED_H
#define LUMEQ_MEDIA_DECODED_H

#include <libavcodec/packet.h>
#include <libavutil/error.h>
#include <libavutil/frame.h>

/* A limit, since many small packets take more memory than their bytes. */
#define DECODED_PACKETS 64

/* {0} is empty. It owns the packets and the frame. */
typedef struct Decoded {
    AVPacket *packets[DECODED_PACKETS]; /* to be written before the frame */
    int packet_count;
    AVFrame *frame;             /* NULL: packets only */
    int64_t position, duration; /* AV_TIME_BASE units from the start of the source */
    int64_t decoded_at;         /* av_gettime_relative() */
    int64_t captured_at;        /* the same, of a camera; AV_NOPTS_VALUE of anything else */
    double decode_us;           /* spent on decoding it */
    int64_t damage;             /* how often the input was found damaged up to this frame */
    int returned; /* true for the first frame after the camera or URL was gone for a while */
    int preview;  /* true for a frame before the requested position */
    int skipped;  /* number of frames before it that the input left out: in a hurry, or as a live
                     input has a newer one */
} Decoded;

/* Frees the packets and the frame, and makes it empty. */
void decoded_clear(Decoded *decoded);

/* Bytes of a frame's buffers, except those that it shares with `without`, which may be NULL. */
int64_t decoded_frame_bytes(const AVFrame *frame, const AVFrame *without);

#endif
