/*
 * The file format of a part: records of bytes, an index of them, and a text of keys and values that
 * describes the file. The text has a checksum and holds that of the index, which holds those of the
 * records. A file appears whole or not at all. README.md has the layout.
 */
#ifndef LUMEQ_JOB_RECORD_FILE_H
#define LUMEQ_JOB_RECORD_FILE_H

#include "job/key_text.h"
#include "media/error.h"
#include "media/output/atomic_file.h"
#include "run/curve_maker.h"

typedef struct PacketTimes {
    int64_t pts, dts, duration;
    uint32_t flags; /* AVPacket.flags */
} PacketTimes;

/* An entry of the index, as it is in the file. */
typedef struct Record {
    union {
        MeasuredFrame frame; /* in files of measures and curves */
        PacketTimes packet;  /* in files of encoded video */
    };
    int64_t position; /* of its bytes */
    uint32_t size, sum;
    uint32_t first; /* frame: size before compression; packet: bytes before the side data */
    uint32_t unused;
} Record;

/* {0} is closed. */
typedef struct RecordWriter {
    AtomicFile file;
    Record *records;
    int64_t count, room;
} RecordWriter;

/* Takes ownership of `path`; NULL: out of memory. MEDIA_OUTPUT. */
int record_writer_open(RecordWriter *writer, char *path, MediaError *error);

/* Adds a record: its first member and `first` are those of `head`. MEDIA_OUTPUT. */
int record_writer_add(RecordWriter *writer, const Record *head, const void *bytes, size_t size,
                      MediaError *error);

/* Adds bytes to the last record. MEDIA_OUTPUT. */
int record_writer_append(RecordWriter *writer, const void *bytes, size_t size, MediaError *error);

/* Ends the file with a text that begins with `title`, and gives it its name. Sets *sum, which may
 * be NULL, to the checksum of the index. MEDIA_OUTPUT. */
int record_writer_commit(RecordWriter *writer, const char *title, const KeyField *fields,
                         size_t field_count, uint32_t *sum, MediaError *error);

/* Removes a file that was not committed. */
void record_writer_close(RecordWriter *writer);

/* {0} is closed. */
typedef struct RecordFile {
    int fd;
    char *path;
    Record *records;
    int64_t count;
    uint32_t sum; /* of the index */
} RecordFile;

/* Opens a file with this title, reads its index, and sets the fields. Takes ownership of `path`;
 * NULL: out of memory. Returns -ENOENT without a fault if the file does not exist; MEDIA_INPUT.
 * Close the file in any case. */
int record_file_open(RecordFile *file, char *path, const char *title, const KeyField *fields,
                     size_t field_count, MediaError *error);

/* Reads a record to `bytes`, which has room for its size. MEDIA_INPUT. */
int record_file_read(const RecordFile *file, int64_t index, void *bytes, MediaError *error);

/* Reads all records to check their sums. MEDIA_INPUT. */
int record_file_verify(const RecordFile *file, MediaError *error);

/* Reports that the file is not whole. MEDIA_INPUT. */
int record_file_fail(const RecordFile *file, const char *why, MediaError *error);

/* Closes the descriptor alone: of many files, not all can be open. */
void record_file_release(RecordFile *file);

void record_file_close(RecordFile *file);

#endif
