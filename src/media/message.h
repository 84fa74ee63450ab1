/* What travels through the stages, in one ordered stream: a frame, and the copied packets before
 * it. */
#ifndef LUMEQ_MEDIA_MESSAGE_H
#define LUMEQ_MEDIA_MESSAGE_H

#include <libavcodec/packet.h>
#include <libavutil/error.h>
#include <libavutil/frame.h>

/* A message bounds its packets: many small ones take more than their bytes. */
#define MESSAGE_PACKETS 64

/* {0} is an empty one. It owns everything in it. */
typedef struct Message {
    AVPacket *packets[MESSAGE_PACKETS]; /* to be written before the frame */
    int packet_count;
    AVFrame *frame;   /* as decoded; NULL: packets only */
    int64_t number;   /* of the frame, from 0 on */
    int returned;     /* not 0: the first frame since its source was away */
    AVFrame *output;  /* as equalized; NULL until it is */
    double decode_us; /* time spent on the frame by reading and decoding */
    int64_t damage;   /* how often the input was seen to be damaged until then */
} Message;

/* Frees what is in it and makes it empty. */
void message_clear(Message *message);

/* Bytes of memory that it keeps, about. */
int64_t message_bytes(const Message *message);

/* The same of a frame; `but` has some of its buffers, too, which do not count, or is NULL. */
int64_t message_frame_bytes(const AVFrame *frame, const AVFrame *but);

#endif
