/* Writes and reads the files of a part: its measures (`measured-K`), its curves (`curves-K`) and
 * its encoded video (`part-K`). */
#ifndef LUMEQ_JOB_PART_FILES_H
#define LUMEQ_JOB_PART_FILES_H

#include <stdio.h>

#include "job/job_plan.h"
#include "media/error.h"
#include "media/input/damage.h"
#include "media/output/output_file.h"
#include "run/curve_maker.h"

typedef enum RecordKind {
    RECORDS_MEASURES,
    RECORDS_CURVES,
    RECORDS_PACKETS,
    RECORD_KINDS
} RecordKind;

/* NAME in the file names "FOLDER/NAME-00001". */
extern const char *const record_names[RECORD_KINDS];

typedef struct PacketTimes {
    int64_t pts, dts, duration;
    uint32_t flags; /* AVPacket.flags */
} PacketTimes;

/* An entry of the index, as stored in the file. */
typedef struct Record {
    union {
        MeasuredFrame frame; /* in files of measures and curves */
        PacketTimes packet;
    };
    uint32_t size, sum; /* size and checksum of the record's bytes */
    uint32_t first;     /* frame: size before compression; packet: bytes before the side data */
    uint32_t unused;
    int64_t position; /* position of the bytes in the file; set by the reader */
} Record;

/* Describes the file; stored at its end. */
typedef struct RecordEnd {
    char magic[8];
    uint32_t version, kind;
    uint32_t plan, part; /* the plan's mark (0 for curves), and the part's number */
    int64_t count;       /* number of records, including the last one */
    uint32_t index, sum; /* checksums of the index, and of the members before `sum` */
} RecordEnd;

/* {0} is closed. */
typedef struct RecordWriter {
    OutputFile file;
    RecordEnd end;
    Record *records;
    int64_t room;
} RecordWriter;

/* Opens a file of a part under a temporary name. MEDIA_OUTPUT. */
int record_writer_open(RecordWriter *writer, const JobPlan *plan, RecordKind kind, int part,
                       MediaError *error);

/* Adds a record. Copies `frame` or `packet`, and `first`, from `head` to the record's entry in the
 * index. MEDIA_OUTPUT. */
int record_writer_add(RecordWriter *writer, const Record *head, const void *bytes, size_t size,
                      MediaError *error);

/* Adds a last record, which is about the whole part, and gives the file its name. MEDIA_OUTPUT. */
int record_writer_commit(RecordWriter *writer, const void *last, size_t size, MediaError *error);

/* Frees the records, and removes a file that was not committed. */
void record_writer_close(RecordWriter *writer);

/* {0} is closed. */
typedef struct RecordFile {
    FILE *file;
    char *path;
    RecordEnd end;
    Record *records;
    int64_t count; /* number of records without the last one */
    uint8_t *last; /* bytes of the last record */
    size_t last_size;
} RecordFile;

/* Opens a file of this plan, and reads its index and its last record. If the file does not exist,
 * returns -ENOENT and leaves `error` alone. MEDIA_INPUT, MEDIA_OUTPUT. Always close the file. */
int record_file_open(RecordFile *file, const JobPlan *plan, RecordKind kind, int part,
                     MediaError *error);

/* Reports that the file is damaged. MEDIA_INPUT. */
int record_file_fail(const RecordFile *file, const char *why, MediaError *error);

/* Closes only the stream, to limit the number of open files. The next read opens it again. */
void record_file_release(RecordFile *file);

void record_file_close(RecordFile *file);

/* A frame's packed measure or curve. Files store its differences from the previous frame's bytes,
 * compressed. {0} is empty. */
typedef struct FrameBytes {
    /* The frame's bytes, the previous frame's, the differences, and the compressed differences. */
    uint8_t *bytes, *last, *changes, *packed;
    size_t size, room; /* size of `bytes`; `size` rounded up to a multiple of 4 */
} FrameBytes;

/* Set .out with record_writer_open(). */
typedef struct FrameWriter {
    RecordWriter out;
    FrameBytes frame;
} FrameWriter;

/* Returns the writer's memory for the bytes of the next frame. NULL: MEDIA_OUTPUT. */
void *frame_writer_reserve(FrameWriter *writer, size_t size, MediaError *error);

/* Adds the frame with the bytes in the memory of frame_writer_reserve(). MEDIA_OUTPUT. */
int frame_writer_add(FrameWriter *writer, const MeasuredFrame *frame, MediaError *error);

/* Adds a frame, the mark of its measure, and the packed measure. MEDIA_INPUT, MEDIA_OUTPUT. */
int frame_writer_add_measure(FrameWriter *writer, const MeasuredFrame *frame,
                             const LumeqMeasure *measure, MediaError *error);

/* Adds a frame with its packed curve. `bare`: without histograms. MEDIA_INPUT, MEDIA_OUTPUT. */
int frame_writer_add_curve(FrameWriter *writer, const MeasuredFrame *frame, const LumeqCurve *curve,
                           int bare, MediaError *error);

void frame_writer_close(FrameWriter *writer);

/* Set .file with record_file_open(). {0} is closed. */
typedef struct FrameReader {
    RecordFile file;
    int64_t next; /* the number of the next record */
    FrameBytes frame;
} FrameReader;

/* Returns 1 and the next frame, with its bytes in reader->frame; 0 at the end; or a fault. */
int frame_reader_next(FrameReader *reader, MeasuredFrame *frame, MediaError *error);

void frame_reader_close(FrameReader *reader);

/* The last record of a file of measures. */
typedef struct PartMeasures {
    uint32_t before[2];  /* marks of the last two frames before the part, newest first; 0: none */
    DamageReport damage; /* damage of the part's frames alone */
    int64_t seek_us;     /* where decoding began; see InputSpan.seek_us */
} PartMeasures;

/* Opens the measures of a part. MEDIA_INPUT, for example if the part is not measured; MEDIA_OUTPUT.
 * Always close the reader. */
int part_measures_open(FrameReader *reader, PartMeasures *measures, const JobPlan *plan, int part,
                       MediaError *error);

/* The measures of a film, from the files of its listed parts. */
typedef struct FilmMeasures {
    const JobPlan *plan;
    int parts;      /* number of listed parts */
    int64_t frames; /* maximum number of frames left to read */
    /* Zeroed by the caller. */
    int part; /* the next part to open */
    FrameReader reader;
    LumeqMeasure *measure;
} FilmMeasures;

/* Returns 1, the next frame, and its measure in film->measure; 0 at the end; MEDIA_INPUT. */
int film_measures_next(FilmMeasures *film, MeasuredFrame *frame, MediaError *error);

void film_measures_close(FilmMeasures *film);

/* For PlannedCurves.next: `reader` is a FrameReader of curves. */
int part_curves_next(void *reader, MeasuredFrame *frame, LumeqCurve **curve, MediaError *error);

/* Adds an encoded packet; the caller keeps it. MEDIA_OUTPUT. */
int packet_write(RecordWriter *writer, const AVPacket *packet, MediaError *error);

/* Adds the encoder's extradata and gives the file its name. MEDIA_OUTPUT; MEDIA_USAGE: the part
 * does not begin with a closed group of pictures. */
int packets_commit(RecordWriter *writer, const uint8_t *extradata, int size, MediaError *error);

/* Reads packet number `index`. MEDIA_INPUT: it cannot be read; MEDIA_OUTPUT: out of memory. */
int packet_read(RecordFile *file, int64_t index, AVPacket *packet, MediaError *error);

#endif
