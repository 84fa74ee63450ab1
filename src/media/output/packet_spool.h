/* Packets that wait for the first frame, in order: sound may begin minutes before the pictures.
 * What is too much for memory waits in a file without a name. For one thread. */
#ifndef LUMEQ_MEDIA_PACKET_SPOOL_H
#define LUMEQ_MEDIA_PACKET_SPOOL_H

#include <libavcodec/packet.h>

#include "media/error.h"
#include "media/output/unnamed_file.h"

/* Bytes that are kept in memory. */
#define PACKET_SPOOL_BYTES ((size_t)16 << 20)

typedef struct SpooledPacket {
    AVPacket *packet; /* without data where that is in the file */
    int64_t position; /* there; -1: it is not */
    int size;
} SpooledPacket;

typedef struct PacketSpool {
    const char *beside; /* the output: the file lies in its folder where that can be */
    size_t limit;       /* PACKET_SPOOL_BYTES */
    SpooledPacket *packets;
    int count, room, next; /* `next` is taken next */
    size_t bytes;          /* in memory */
    UnnamedFile file;
    int has_file;
    int64_t written;
} PacketSpool;

/* Takes the packet's content over. MEDIA_OUTPUT. */
int packet_spool_add(PacketSpool *spool, AVPacket *packet, MediaError *error);

/* The oldest one, which the caller frees; *packet is NULL when none is left. MEDIA_OUTPUT. */
int packet_spool_take(PacketSpool *spool, AVPacket **packet, MediaError *error);

/* Frees what is left. */
void packet_spool_close(PacketSpool *spool);

#endif
