/*
 * The records of a part's frames: which frame each is, and its packed curve or measure. A block is
 * read without other blocks. README.md has the format.
 */
#ifndef LUMEQ_JOB_FRAME_BLOCK_H
#define LUMEQ_JOB_FRAME_BLOCK_H

#include "job/sealed_file.h"
#include "run/measure_file.h"

typedef struct FrameRecord {
    uint32_t *words; /* a frame and its bytes, in the machine's byte order */
    uint32_t *last;  /* the words of the record before */
    uint8_t *planes; /* the differences as they are compressed, and the result */
    size_t count;    /* number of words */
} FrameRecord;

/* {.file = FILE} is a block that begins where the file ends. */
typedef struct BlockWriter {
    AtomicFile *file;
    FrameRecord record;
    uint32_t size; /* of the bytes */
    uint32_t sum;  /* checksum of the block so far */
} BlockWriter;

/* Room for the bytes of the next frame; NULL: out of memory. */
void *block_writer_reserve(BlockWriter *writer, size_t size);

/* Writes the frame with the bytes that were put there. MEDIA_OUTPUT. */
int block_writer_add(BlockWriter *writer, const MeasuredFrame *frame, MediaError *error);

void block_writer_close(BlockWriter *writer);

/* {0} is a closed one. */
typedef struct BlockReader {
    const SealedFile *file;
    int64_t position, end;
    FrameRecord record;
} BlockReader;

/* Opens the block of `size` bytes at `position` after its checksum was verified. The file has to
 * outlive the reader. MEDIA_INPUT. */
int block_reader_open(BlockReader *reader, const SealedFile *file, int64_t position, int64_t size,
                      uint32_t sum, MediaError *error);

/* Returns 1 and the next record, whose bytes the reader owns until the next call; 0 at the end;
 * MEDIA_INPUT. */
int block_reader_next(BlockReader *reader, MeasuredFrame *frame, const void **bytes, size_t *size,
                      MediaError *error);

void block_reader_close(BlockReader *reader);

#endif
