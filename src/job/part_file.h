/* The encoded video of a part of a film, as the encoder gave it out, to be joined with the other
 * parts later: a sealed file of packets. README.md has the format. */
#ifndef LUMEQ_JOB_PART_FILE_H
#define LUMEQ_JOB_PART_FILE_H

#include "job/sealed_file.h"
#include "media/message.h"

/* Which part it is. */
typedef struct PartLabel {
    uint32_t plan;  /* the plan's mark */
    int part;       /* its number */
    int64_t frames; /* that it was made of */
} PartLabel;

typedef struct PartWriter PartWriter;

/* MEDIA_OUTPUT. */
int part_writer_open(PartWriter **writer, const char *path, MediaError *error);

/* Takes what is in the packet, which stays the caller's. MEDIA_OUTPUT. */
int part_writer_add(PartWriter *writer, const AVPacket *packet, MediaError *error);

/* Bytes so far. */
int64_t part_writer_bytes(const PartWriter *writer);

/* Writes what comes last, the encoder's extradata with it, and gives the file its name.
 * MEDIA_OUTPUT; MEDIA_USAGE: it does not begin with a closed group of pictures. */
int part_writer_commit(PartWriter *writer, const PartLabel *label, const uint8_t *extradata,
                       int extradata_size, MediaError *error);

/* What was not committed is removed. */
void part_writer_close(PartWriter **writer);

/* A packet in a part, in the order of decoding; the file has these structures as they are. */
typedef struct PartPacket {
    int64_t pts, dts, duration, position;
    uint32_t size, side_size, flags, sum;
} PartPacket;

typedef struct PartFile {
    SealedFile file;
    PartLabel label;
    int64_t count;
    PartPacket *packets;
    uint8_t *extradata;
    int extradata_size;
    uint32_t sum; /* of the packets and the extradata */
} PartFile;

/* Reads the label and the index of packets. `path` is taken over. -ENOENT: it is not there;
 * MEDIA_INPUT: it cannot be read, or is not whole. */
int part_file_open(PartFile *file, char *path, MediaError *error);

/* Packet number `index`, with its times. MEDIA_INPUT (not what was written), MEDIA_OUTPUT. */
int part_file_read(const PartFile *file, int64_t index, AVPacket *packet, MediaError *error);

/* Accepts a half-open one, and {0}. */
void part_file_close(PartFile *file);

#endif
