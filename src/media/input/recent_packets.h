/* The last packets from a key frame on, and which of their frames have come. If a decoder fails,
 * another one can decode the frames that are missing. One thread at a time. */
#ifndef LUMEQ_MEDIA_RECENT_PACKETS_H
#define LUMEQ_MEDIA_RECENT_PACKETS_H

#include <stddef.h>
#include <stdint.h>

#include <libavcodec/packet.h>

typedef struct RecentPacket {
    AVPacket *packet; /* NULL after recent_packets_drop() */
    int64_t pts;
    uint8_t came;    /* true if its frame has come */
    uint8_t counted; /* true if its errors were counted */
    uint8_t hurried; /* true if the decoder may have skipped its frame in a hurry */
} RecentPacket;

/* {0} is empty. Packets are numbered from 1 on. */
typedef struct RecentPackets {
    RecentPacket *packets; /* the oldest first */
    int count, room;
    int64_t before; /* number of packets before the first one kept */
    int64_t begun;  /* the same when it was last cleared */
    size_t bytes;
    AVPacket
        *headers; /* the last dropped packet with headers (AV_PKT_DATA_NEW_EXTRADATA), or NULL */
} RecentPackets;

/* Keeps a reference and returns it; its number is before + count. A key frame drops the packets
 * before an earlier key frame, which is far enough back for all frames that may be in flight. If a
 * group exceeds the limit, its last packets are kept. NULL: out of memory. */
AVPacket *recent_packets_add(RecentPackets *recent, const AVPacket *packet, int hurried);

/* True if the first kept packet refers to dropped ones. */
int recent_packets_lack_key(const RecentPackets *recent);

/* Removes the packet that was added last. */
void recent_packets_take_back(RecentPackets *recent);

/* Returns the number of the packet that shows a frame with this pts. `number` is from the decoder;
 * some decoders return the number of the packet that the frame was decoded from. 0: unknown.
 * Numbers of packets not added yet are returned unchanged. */
int64_t recent_packets_number(const RecentPackets *recent, int64_t pts, int64_t number);

/* The packet with this number, or NULL if it is not kept. */
RecentPacket *recent_packets_find(const RecentPackets *recent, int64_t number);

/* Frees the packets, but keeps their pts and flags. */
void recent_packets_drop(RecentPackets *recent);

/* Forgets all packets except the headers. */
void recent_packets_clear(RecentPackets *recent);

void recent_packets_free(RecentPackets *recent);

#endif
