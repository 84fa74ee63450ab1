/*
 * The file format of a part's measures, curves and encoded video: the bytes of records, an index of
 * the records, and an End. A file appears whole or not at all. README.md has the layout.
 */
#ifndef LUMEQ_JOB_RECORD_FILE_H
#define LUMEQ_JOB_RECORD_FILE_H

#include "job/job_plan.h"
#include "media/error.h"
#include "media/output/atomic_file.h"
#include "run/curve_maker.h"

typedef enum RecordKind {
    RECORDS_MEASURES,
    RECORDS_CURVES,
    RECORDS_PACKETS,
    RECORD_KINDS
} RecordKind;

/* The beginnings of file names: "FOLDER/NAME-00001". */
extern const char *const record_names[RECORD_KINDS];

typedef struct PacketTimes {
    int64_t pts, dts, duration;
    uint32_t flags; /* AVPacket.flags */
} PacketTimes;

/* An entry of the index, as it is in the file. */
typedef struct Record {
    union {
        MeasuredFrame frame; /* of measures and curves */
        PacketTimes packet;
    };
    uint32_t size, sum; /* of its bytes */
    uint32_t first;     /* frame: size before compression; packet: bytes before the side data */
    uint32_t unused;
    int64_t position; /* of its bytes; set by the reader */
} Record;

/* The end of a file, as it is in the file. */
typedef struct RecordEnd {
    char magic[8];
    uint32_t version, kind;
    uint32_t plan, part; /* the plan's mark, 0 for curves; the part's number */
    int64_t count;       /* of records, with the last one */
    uint32_t index, sum; /* checksums of the index, and of the members before this one */
} RecordEnd;

/* {0} is closed. */
typedef struct RecordWriter {
    AtomicFile file;
    RecordEnd end;
    Record *records;
    int64_t room;
} RecordWriter;

/* MEDIA_OUTPUT. */
int record_writer_open(RecordWriter *writer, const JobPlan *plan, RecordKind kind, int part,
                       MediaError *error);

/* Adds a record: its first member and `first` are those of `head`. MEDIA_OUTPUT. */
int record_writer_add(RecordWriter *writer, const Record *head, const void *bytes, size_t size,
                      MediaError *error);

/* Adds bytes to the last record. MEDIA_OUTPUT. */
int record_writer_append(RecordWriter *writer, const void *bytes, size_t size, MediaError *error);

/* Adds a last record, which is about the whole part, and gives the file its name. MEDIA_OUTPUT. */
int record_writer_commit(RecordWriter *writer, const void *last, size_t size, MediaError *error);

/* Removes a file that was not committed. */
void record_writer_close(RecordWriter *writer);

/* {0} is closed. */
typedef struct RecordFile {
    int fd;
    char *path;
    RecordEnd end;
    Record *records;
    int64_t count; /* without the last one */
    uint8_t *last; /* bytes of the last one */
    size_t last_size;
} RecordFile;

/* Opens a file of this plan, and reads its index and its last record. Returns -ENOENT without a
 * fault if the file does not exist; MEDIA_INPUT. Close the file in any case. */
int record_file_open(RecordFile *file, const JobPlan *plan, RecordKind kind, int part,
                     MediaError *error);

/* Reads a record to `bytes`, which has room for its size. MEDIA_INPUT. */
int record_file_read(RecordFile *file, int64_t index, void *bytes, MediaError *error);

/* Reports that the file is not whole. MEDIA_INPUT. */
int record_file_fail(const RecordFile *file, const char *why, MediaError *error);

/* Closes the descriptor alone until the next read: of many files, not all can be open. */
void record_file_release(RecordFile *file);

void record_file_close(RecordFile *file);

#endif
