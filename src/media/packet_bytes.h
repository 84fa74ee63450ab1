/* The memory that a packet takes, which bounds of packets that are kept have to count. */
#ifndef LUMEQ_MEDIA_PACKET_BYTES_H
#define LUMEQ_MEDIA_PACKET_BYTES_H

#include <libavcodec/packet.h>

/* The structs of a packet and of its data's buffer, with the padding: 317 bytes were measured for
 * one byte of data. */
#define PACKET_OVERHEAD 320

static inline size_t packet_bytes(const AVPacket *packet)
{
    size_t bytes = PACKET_OVERHEAD + (size_t)packet->size;
    for (int i = 0; i < packet->side_data_elems; i++)
        bytes += sizeof(*packet->side_data) + packet->side_data[i].size;
    return bytes;
}

#endif
