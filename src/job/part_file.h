/* The encoded video of a part, as the encoder produced it, to be joined with the other parts:
 * `part-K`. */
#ifndef LUMEQ_JOB_PART_FILE_H
#define LUMEQ_JOB_PART_FILE_H

#include "job/record_file.h"

/* Which part a file holds. */
typedef struct PartLabel {
    uint32_t plan;  /* the plan's mark */
    int part;       /* its number */
    int64_t frames; /* that were encoded */
} PartLabel;

/* Adds a packet, which stays the caller's, to a file opened with record_writer_open().
 * MEDIA_OUTPUT. */
int part_writer_add(RecordWriter *writer, const AVPacket *packet, MediaError *error);

/* Adds the encoder's extradata and names the file. MEDIA_OUTPUT; MEDIA_USAGE: the part does not
 * begin with a closed group of pictures. */
int part_writer_commit(RecordWriter *writer, const PartLabel *label, const uint8_t *extradata,
                       int extradata_size, MediaError *error);

typedef struct PartFile {
    RecordFile file;
    PartLabel label;
    int64_t count; /* packets; file.records has them in the order of decoding */
    uint8_t *extradata;
    int extradata_size;
} PartFile;

/* Reads all but the packets. Takes ownership of `path`. Returns -ENOENT without a fault if the file
 * does not exist; MEDIA_INPUT. Close the file in any case. */
int part_file_open(PartFile *file, char *path, MediaError *error);

/* Reads packet number `index`. MEDIA_INPUT: it is damaged; MEDIA_OUTPUT: out of memory. */
int part_file_read(const PartFile *file, int64_t index, AVPacket *packet, MediaError *error);

void part_file_close(PartFile *file);

#endif
