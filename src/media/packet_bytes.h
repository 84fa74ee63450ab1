/* The memory use of a packet, for limits on queued packets. */
#ifndef LUMEQ_MEDIA_PACKET_BYTES_H
#define LUMEQ_MEDIA_PACKET_BYTES_H

#include <libavcodec/packet.h>

/* Structs, buffer and padding of a packet: 317 bytes measured for one byte of data. */
#define PACKET_OVERHEAD 320

static inline size_t packet_bytes(const AVPacket *packet)
{
    size_t bytes = PACKET_OVERHEAD + (size_t)packet->size;
    for (int i = 0; i < packet->side_data_elems; i++)
        bytes += sizeof(*packet->side_data) + packet->side_data[i].size;
    return bytes;
}

#endif
