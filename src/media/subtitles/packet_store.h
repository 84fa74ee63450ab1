/* Subtitle packets of tracks that may be selected later. */
#ifndef LUMEQ_MEDIA_PACKET_STORE_H
#define LUMEQ_MEDIA_PACKET_STORE_H

#include "media/packet_set.h"

/* {0} is empty. For one thread. */
typedef struct PacketStore {
    AVPacket **packets; /* in order of arrival */
    int count;
    size_t bytes;
    PacketSet known; /* the stored packets */
} PacketStore;

/* Maximum size; the oldest quarter is dropped when full. */
#define PACKET_STORE_BYTES (32 << 20)

/* Stores a reference unless the packet is already there or memory runs out. */
void packet_store_add(PacketStore *store, const AVPacket *packet);

void packet_store_clear(PacketStore *store);

#endif
