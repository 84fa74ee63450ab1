/* A set of subtitle packets, compared by content, to recognize packets that a seek repeats. */
#ifndef LUMEQ_MEDIA_PACKET_SET_H
#define LUMEQ_MEDIA_PACKET_SET_H

#include <libavcodec/packet.h>
#include <libavutil/error.h>
#include <libavutil/fifo.h>

/* {0} is empty. For one thread. */
typedef struct PacketSet {
    struct AVTreeNode *root; /* a tree of the packets' hashes */
} PacketSet;

/* Adds a packet. Returns 1 if it was already in the set; 0 if not, or if out of memory. */
int packet_set_add(PacketSet *set, const AVPacket *packet);

void packet_set_clear(PacketSet *set);

/* Bytes that a packet takes besides its data, for structs, buffer and padding. */
#define PACKET_OVERHEAD 320

static inline size_t packet_bytes(const AVPacket *packet)
{
    size_t bytes = PACKET_OVERHEAD + (size_t)packet->size;
    for (int i = 0; i < packet->side_data_elems; i++)
        bytes += sizeof(*packet->side_data) + packet->side_data[i].size;
    return bytes;
}

/* Moves the first queued packet into a blank one. AVERROR_EOF: the queue is empty or NULL. */
static inline int packets_take(AVFifo *packets, AVPacket *packet)
{
    AVPacket *first;
    if (!packets || av_fifo_read(packets, &first, 1) < 0)
        return AVERROR_EOF;
    av_packet_move_ref(packet, first);
    av_packet_free(&first);
    return 0;
}

static inline void packets_drop(AVFifo *packets)
{
    AVPacket *packet;
    while (packets && av_fifo_read(packets, &packet, 1) >= 0)
        av_packet_free(&packet);
}

#endif
