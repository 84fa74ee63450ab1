/* A set of subtitle packets, compared by content, to recognize packets read again after a seek. */
#ifndef LUMEQ_MEDIA_PACKET_SET_H
#define LUMEQ_MEDIA_PACKET_SET_H

#include <libavcodec/packet.h>

/* {0} is empty. For one thread. */
typedef struct PacketSet {
    struct AVTreeNode *root; /* of their hashes */
} PacketSet;

/* Adds a packet. Returns 1 if it was in the set; 0 if not, or if out of memory. */
int packet_set_add(PacketSet *set, const AVPacket *packet);

void packet_set_clear(PacketSet *set);

#endif
