/*
 * The encoded video of a part of a film, as the encoder gave it out, to be joined with the other
 * parts later. It is there whole or not at all; src/job/README.md has its bytes.
 */
#ifndef LUMEQ_MEDIA_PART_FILE_H
#define LUMEQ_MEDIA_PART_FILE_H

#include <stdint.h>

#include <libavcodec/packet.h>

#include "media/error.h"

/* A file in the same folder that comes with a part. name "": none. */
typedef struct PartCompanion {
    char name[64];
    uint64_t size;
    uint32_t sum; /* checksum */
} PartCompanion;

/* What a part is of, and what comes with it. */
typedef struct PartLabel {
    uint32_t plan;              /* the plan's mark */
    int32_t part;               /* its number */
    int64_t frames;             /* that it was made of */
    PartCompanion rows, report; /* its statistics, and what a report needs of it */
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

/* A packet in a part, in the order of decoding. */
typedef struct PartPacket {
    int64_t pts, dts, duration;
    uint64_t position;
    uint32_t size, side_size, flags, sum;
} PartPacket;

typedef struct PartFile {
    int fd;
    char *path;
    PartLabel label;
    int64_t count;
    PartPacket *packets;
    uint8_t *extradata;
    int extradata_size;
} PartFile;

/* Reads what a part says of itself. AVERROR(ENOENT): it is not there; MEDIA_INPUT: it cannot be
 * read, or is not whole. */
int part_file_open(PartFile *file, const char *path, MediaError *error);

/* Packet number `index`, with its times. MEDIA_INPUT (not what was written), MEDIA_OUTPUT. */
int part_file_read(const PartFile *file, int64_t index, AVPacket *packet, MediaError *error);

/* Accepts a half-open one, and {.fd = -1}. */
void part_file_close(PartFile *file);

#endif
