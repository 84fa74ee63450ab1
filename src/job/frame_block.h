/*
 * What is known of the frames of a part, one after the other: which each is, and bytes about it
 * (a packed curve, or a packed measure), as the difference from those of the frame before. A block
 * begins anew, so that each can be read without the others. README.md has its bytes.
 */
#ifndef LUMEQ_JOB_FRAME_BLOCK_H
#define LUMEQ_JOB_FRAME_BLOCK_H

#include <stdio.h>

#include "media/output/atomic_file.h"
#include "pipeline/measure_file.h"

typedef struct BlockWriter BlockWriter;

/* Appends to the file, which outlives it. NULL: out of memory. */
BlockWriter *block_writer_create(AtomicFile *file);

/* Ends the block before, if there is one. */
void block_writer_begin(BlockWriter *writer);

/* MEDIA_OUTPUT. */
int block_writer_add(BlockWriter *writer, const MeasuredFrame *frame, const void *bytes,
                     size_t size, MediaError *error);

/* The checksum of the block so far. */
uint32_t block_writer_sum(const BlockWriter *writer);

void block_writer_free(BlockWriter **writer);

typedef struct BlockReader BlockReader;

/* Reads a block of so many frames from the file, which becomes its own and is at `position`, after
 * it has seen that its checksum is right. `name`: of the file, outlives it. MEDIA_INPUT. */
int block_reader_open(BlockReader **reader, FILE *file, const char *name, int64_t position,
                      int64_t size, uint32_t sum, MediaError *error);

/* 1, with the bytes in memory of the reader's until the next call; 0 at the end; MEDIA_INPUT. */
int block_reader_next(BlockReader *reader, MeasuredFrame *frame, const void **bytes, size_t *size,
                      MediaError *error);

void block_reader_close(BlockReader **reader);

#endif
