/* Packets that wait for the first frame, in order: sound may begin minutes before the pictures.
 * What is too much for memory waits in a file without a name. For one thread. */
#ifndef LUMEQ_MEDIA_PACKET_SPOOL_H
#define LUMEQ_MEDIA_PACKET_SPOOL_H

#include <libavcodec/packet.h>
#include <libavutil/fifo.h>

#include "media/error.h"
#include "media/output/unnamed_file.h"

/* Bytes that are kept in memory, see packet_bytes(). */
#define PACKET_SPOOL_BYTES ((size_t)16 << 20)

/* {.beside, .limit} is an empty one. */
typedef struct PacketSpool {
    const char *beside; /* the output: the file lies in its folder where that can be */
    size_t limit;       /* PACKET_SPOOL_BYTES */
    AVFifo *packets;    /* AVPacket *, the oldest ones; those in the file came after them */
    size_t bytes;       /* of these */
    UnnamedFile file;
    int has_file; /* from then on all are put there, whole: none of them takes any memory */
    int64_t written, read;
} PacketSpool;

/* Takes the packet's content over. MEDIA_OUTPUT. */
int packet_spool_add(PacketSpool *spool, AVPacket *packet, MediaError *error);

/* The oldest one, which the caller frees; *packet is NULL when none is left. MEDIA_OUTPUT. */
int packet_spool_take(PacketSpool *spool, AVPacket **packet, MediaError *error);

/* Frees what is left. */
void packet_spool_close(PacketSpool *spool);

#endif
