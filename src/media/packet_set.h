/* Which packets of subtitles have come: after a seek they come again. Known by what is in them. */
#ifndef LUMEQ_MEDIA_PACKET_SET_H
#define LUMEQ_MEDIA_PACKET_SET_H

#include <libavcodec/packet.h>

/* {0} is an empty one. Used by one thread. */
typedef struct PacketSet {
    uint64_t *slots; /* hashes, each at its place or after it; 0: free */
    size_t count, room;
} PacketSet;

/* Answers whether it is there already; it is now. Without memory it is not. */
int packet_set_add(PacketSet *set, const AVPacket *packet);

void packet_set_clear(PacketSet *set);

#endif
