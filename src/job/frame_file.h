/*
 * Files with a record for each frame of a part, compressed: `measured-K` has the measures of a
 * listed part, `curves-K` the curves of a planned part.
 */
#ifndef LUMEQ_JOB_FRAME_FILE_H
#define LUMEQ_JOB_FRAME_FILE_H

#include "job/job_plan.h"
#include "job/record_file.h"
#include "media/input/damage.h"

/* A frame's bytes as words: each is stored as its difference from the record before. {0} is
 * empty. */
typedef struct FrameWords {
    uint32_t *words; /* in the machine's byte order */
    uint32_t *last;  /* the words of the record before */
    uint8_t *planes; /* the differences as they are compressed, and the result */
    size_t count;    /* of words */
} FrameWords;

/* Set .out with record_writer_open(). */
typedef struct FrameWriter {
    RecordWriter out;
    FrameWords words;
    uint32_t size;
} FrameWriter;

/* Returns memory for the bytes of the next frame; NULL: out of memory. */
void *frame_writer_reserve(FrameWriter *writer, size_t size);

/* Adds the frame with the bytes in the memory of frame_writer_reserve(). MEDIA_OUTPUT. */
int frame_writer_add(FrameWriter *writer, const MeasuredFrame *frame, MediaError *error);

/* Packs and adds a measure, whose mark becomes the frame's, or a curve; `bare`: without histograms.
 * MEDIA_INPUT, MEDIA_OUTPUT. */
int frame_writer_add_measure(FrameWriter *writer, const MeasuredFrame *frame,
                             const LumeqMeasure *measure, MediaError *error);
int frame_writer_add_curve(FrameWriter *writer, const MeasuredFrame *frame, const LumeqCurve *curve,
                           int bare, MediaError *error);

void frame_writer_close(FrameWriter *writer);

/* Set .file with record_file_open(). {0} is closed. */
typedef struct FrameReader {
    RecordFile file;
    int64_t next; /* the number of the next record */
    FrameWords words;
} FrameReader;

/* Returns 1 and the next frame, whose bytes the reader owns until the next call; 0 at the end;
 * MEDIA_INPUT. */
int frame_reader_next(FrameReader *reader, MeasuredFrame *frame, const void **bytes, size_t *size,
                      MediaError *error);

void frame_reader_close(FrameReader *reader);

/* ---- the measures of listed parts ---- */

/* The text of a file of measures. */
typedef struct PartMeasures {
    uint32_t before[2];  /* the marks of the two frames before the part, the nearer first; or 0 */
    DamageReport damage; /* of the frames that were measured alone */
} PartMeasures;

/* Finishes the file of a part and gives it its name. MEDIA_OUTPUT. */
int part_measures_commit(FrameWriter *writer, PartMeasures *measures, const JobPlan *plan, int part,
                         MediaError *error);

/* Opens the measures of a part. Returns -ENOENT without a fault if the part is not measured;
 * MEDIA_INPUT. Close the reader in any case. */
int part_measures_open(FrameReader *reader, PartMeasures *measures, const JobPlan *plan, int part,
                       MediaError *error);

/* True if the part is measured and its file is whole. Otherwise the error tells why; it has no
 * fault if the file is missing. */
int part_measures_exist(const JobPlan *plan, int part, MediaError *error);

/* The measures of a film, from the files of its listed parts. */
typedef struct FilmMeasures {
    const JobPlan *plan;
    int parts;      /* that were listed */
    int64_t frames; /* to be read at most */
    /* Zeroed by the caller. */
    int part; /* the next one to open */
    FrameReader reader;
    LumeqMeasure *measure;
} FilmMeasures;

/* Returns 1 and the next frame, whose measure `film` owns; 0 at the end; MEDIA_INPUT. */
int film_measures_next(FilmMeasures *film, MeasuredFrame *frame, MediaError *error);

void film_measures_close(FilmMeasures *film);

/* ---- the curves of a part ---- */

/* Gives the file of a part its name, and stores its checksum in the part. MEDIA_OUTPUT. */
int part_curves_commit(FrameWriter *writer, JobPart *part, MediaError *error);

/* Opens and verifies the curves of a part. MEDIA_INPUT. Close the reader in any case. */
int part_curves_open(FrameReader *reader, const JobPlan *plan, int part, MediaError *error);

/* For PlannedOptions.next: `reader` is a FrameReader. */
int part_curves_next(void *reader, MeasuredFrame *frame, LumeqCurve **curve, MediaError *error);

#endif
