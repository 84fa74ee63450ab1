/* The packets that were decoded last, from a key frame on, and which of their frames have come: by
 * them, what a decoder has not given yet can be decoded by another one. One thread at a time. */
#ifndef LUMEQ_MEDIA_RECENT_PACKETS_H
#define LUMEQ_MEDIA_RECENT_PACKETS_H

#include <stddef.h>
#include <stdint.h>

#include <libavcodec/packet.h>

typedef struct RecentPacket {
    AVPacket *packet; /* NULL: it was dropped */
    int64_t pts;
    uint8_t came;    /* not 0: its frame has */
    uint8_t counted; /* not 0: its errors were counted */
    uint8_t hurried; /* not 0: it was decoded in a hurry, which may have left its frame out */
} RecentPacket;

/* {0} is an empty one. Packets are numbered from 1 on. */
typedef struct RecentPackets {
    RecentPacket *packets; /* the oldest first */
    int count, room;
    int64_t before; /* packets before the first one that is here */
    int64_t begun;  /* those before it was cleared */
    size_t bytes;
    AVPacket *headers; /* the last one that is not here any more with headers of its own, or NULL */
} RecentPackets;

/* Keeps a reference, and answers it: the packet numbered before + count. Before a key frame, what
 * lies before the key frame before it is forgotten: frames between the two may refer to both. So
 * are no fewer kept than frames may wait that were decoded. Of a group that is larger than what is
 * kept, the last ones are. NULL: out of memory. */
AVPacket *recent_packets_add(RecentPackets *recent, const AVPacket *packet, int hurried);

/* Not 0: the first packet that is here builds on others that were forgotten. */
int recent_packets_lack_key(const RecentPackets *recent);

/* The one that was added last was none. */
void recent_packets_take_back(RecentPackets *recent);

/* The number of the packet that shows a frame with this pts, which a decoder has numbered so: some
 * number frames that were decoded before they are shown by the packet that they were decoded from.
 * 0: none does, or it has no number. The numbers of later packets than these are returned
 * unchanged. */
int64_t recent_packets_number(const RecentPackets *recent, int64_t pts, int64_t number);

/* The frame of this packet has come, or has not. Numbers that are not here are no matter. */
void recent_packets_mark(RecentPackets *recent, int64_t number, int came);
int recent_packets_came(const RecentPackets *recent, int64_t number);

/* Records that this packet's errors were counted, and tells whether they were. */
void recent_packets_count(RecentPackets *recent, int64_t number);
int recent_packets_counted(const RecentPackets *recent, int64_t number);

/* The headers (extradata) that hold for the first packet that is here; NULL: those of the stream.
 */
const uint8_t *recent_packets_headers(const RecentPackets *recent, size_t *size);

/* Frees the packets; what has come, and when it is shown, is still known. */
void recent_packets_drop(RecentPackets *recent);

/* Forgets them all; what follows is a new beginning, but for the headers. */
void recent_packets_clear(RecentPackets *recent);

void recent_packets_free(RecentPackets *recent);

#endif
