/*
 * Whole numbers in as few bits as they are worth: a binary range coder, whose probabilities follow
 * what came before. README.md has the rules.
 */
#ifndef LUMEQ_JOB_RANGE_CODER_H
#define LUMEQ_JOB_RANGE_CODER_H

#include <stddef.h>
#include <stdint.h>

/* A number of 32 bits takes no more bytes. */
#define RANGE_MOST_BYTES 14

/* And a byte holds no more numbers. */
#define RANGE_MOST_NUMBERS 160

#define RANGE_CONTEXTS 34
#define RANGE_LENGTHS 33 /* of numbers, in bits */

/* How likely it is that a bit is 0. Written and read alike. */
typedef struct RangeModel {
    uint16_t length[RANGE_CONTEXTS][64];
    uint16_t below[RANGE_LENGTHS][4]; /* the two bits below the first one */
} RangeModel;

void range_model_begin(RangeModel *model);

/* The length of a number in bits, which its neighbours are told by. */
int range_length(uint32_t number);

/* To memory that has room for it. */
typedef struct RangeWriter {
    uint8_t *to;
    size_t used;
    uint64_t low, waiting;
    uint32_t range;
    uint8_t last;
    int began;
} RangeWriter;

void range_write_begin(RangeWriter *writer, uint8_t *to);
void range_write(RangeWriter *writer, RangeModel *model, int context, uint32_t number);

/* Answers how many bytes it took. */
size_t range_write_end(RangeWriter *writer);

/* What lies behind its bytes counts as zeros. */
typedef struct RangeReader {
    const uint8_t *from;
    size_t left;
    uint32_t range, code;
    int bad; /* this is none of the writer's */
} RangeReader;

void range_read_begin(RangeReader *reader, const uint8_t *from, size_t size);
uint32_t range_read(RangeReader *reader, RangeModel *model, int context);

#endif
