/*
 * The records of a part's frames: which frame each is, and its packed curve or measure. A block is
 * one zlib stream of the differences between records, and is read without other blocks. README.md
 * has the format.
 */
#ifndef LUMEQ_JOB_FRAME_BLOCK_H
#define LUMEQ_JOB_FRAME_BLOCK_H

#include "job/sealed_file.h"
#include "pipeline/measure_file.h"

typedef struct BlockWriter BlockWriter;

/* Begins a block at the end of the file, which has to outlive the writer. NULL: out of memory. */
BlockWriter *block_writer_open(AtomicFile *file);

/* MEDIA_OUTPUT. */
int block_writer_add(BlockWriter *writer, const MeasuredFrame *frame, const void *bytes,
                     size_t size, MediaError *error);

/* Writes the end of the block. `sum`: the checksum of the block as it is in the file.
 * MEDIA_OUTPUT. */
int block_writer_finish(BlockWriter *writer, uint32_t *sum, MediaError *error);

void block_writer_close(BlockWriter **writer);

typedef struct BlockReader BlockReader;

/* Opens the block of `size` bytes at `position` after its checksum was verified. The file has to
 * outlive the reader. MEDIA_INPUT. */
int block_reader_open(BlockReader **reader, const SealedFile *file, int64_t position, int64_t size,
                      uint32_t sum, MediaError *error);

/* Returns 1 and the next record, whose bytes the reader owns until the next call; 0 at the end;
 * MEDIA_INPUT. */
int block_reader_next(BlockReader *reader, MeasuredFrame *frame, const void **bytes, size_t *size,
                      MediaError *error);

void block_reader_close(BlockReader **reader);

#endif
