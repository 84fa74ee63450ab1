/* A FIFO of packets that wait for the first frame: sound may begin minutes before the pictures.
 * Beyond a limit, packets go to a temporary file. For one thread. */
#ifndef LUMEQ_MEDIA_PACKET_SPOOL_H
#define LUMEQ_MEDIA_PACKET_SPOOL_H

#include <libavcodec/packet.h>
#include <libavutil/fifo.h>

#include "media/error.h"
#include "media/output/unnamed_file.h"

/* Limit of bytes in memory, see packet_bytes(). */
#define PACKET_SPOOL_BYTES ((size_t)16 << 20)

/* {.beside, .limit} is an empty spool. */
typedef struct PacketSpool {
    const char *beside; /* the output path, whose folder is preferred for the file */
    size_t limit;       /* PACKET_SPOOL_BYTES */
    AVFifo *packets;    /* AVPacket *, older than those in the file */
    size_t bytes;       /* of the packets in memory */
    UnnamedFile file;
    int has_file; /* all further packets go to the file */
    int64_t written, read;
} PacketSpool;

/* Adds a packet, taking its references. MEDIA_OUTPUT. */
int packet_spool_add(PacketSpool *spool, AVPacket *packet, MediaError *error);

/* Removes the oldest packet, which the caller frees; *packet is NULL when none is left.
 * MEDIA_OUTPUT. */
int packet_spool_take(PacketSpool *spool, AVPacket **packet, MediaError *error);

/* Frees the remaining packets. */
void packet_spool_close(PacketSpool *spool);

#endif
