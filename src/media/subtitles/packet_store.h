/* Packets that are kept to be decoded later: of tracks of subtitles that may still be chosen. */
#ifndef LUMEQ_MEDIA_PACKET_STORE_H
#define LUMEQ_MEDIA_PACKET_STORE_H

#include "media/packet_set.h"

/* {0} is an empty one. Used by one thread. */
typedef struct PacketStore {
    AVPacket **packets; /* in the order they came */
    int count, room;
    size_t bytes;
    PacketSet known; /* those */
} PacketStore;

/* What a store holds at most; the oldest quarter gives way. */
#define PACKET_STORE_BYTES (32 << 20)

/* Keeps a reference to the packet, unless the same one is there already. Without memory it does
 * not. */
void packet_store_add(PacketStore *store, const AVPacket *packet);

void packet_store_clear(PacketStore *store);

#endif
