/*
 * What is kept outside the process: little-endian bytes that begin with four letters and a version,
 * and end with a CRC-32 of all before it.
 */
#ifndef LUMEQ_BYTES_H
#define LUMEQ_BYTES_H

#include <stddef.h>
#include <stdint.h>

/* Writes, and counts on beyond its room. */
typedef struct ByteWriter {
    uint8_t *to; /* NULL: only counts */
    size_t room, size;
} ByteWriter;

/* Reads; beyond the end come zeros, and `bad` is set. */
typedef struct ByteReader {
    const uint8_t *at;
    size_t left;
    int bad;
    uint32_t version; /* that they are of */
} ByteReader;

ByteWriter lumeq_bytes_begin(void *to, size_t room, const char letters[4], uint32_t version);
void lumeq_put8(ByteWriter *w, const uint8_t *values, size_t count);
void lumeq_put32(ByteWriter *w, uint32_t value);
void lumeq_put64(ByteWriter *w, uint64_t value);
void lumeq_put32s(ByteWriter *w, const uint32_t *values, size_t count);

/* Ends what was begun and sets *size to what is needed: 0, or ARGUMENT where there was not enough
 * room for it. */
int lumeq_bytes_end(ByteWriter *w, size_t *size);

/* `bad` unless these are whole bytes of that kind and of a version up to this one. */
ByteReader lumeq_bytes_open(const void *bytes, size_t size, const char letters[4],
                            uint32_t version);
void lumeq_take8(ByteReader *r, uint8_t *values, size_t count);
uint32_t lumeq_take32(ByteReader *r);
uint64_t lumeq_take64(ByteReader *r);
void lumeq_take32s(ByteReader *r, uint32_t *values, size_t count);

/* A number that must lie from `least` to `most`; else `bad` is set and the answer is `least`. */
int32_t lumeq_take_range(ByteReader *r, int32_t least, int32_t most);

/* All was read, and nothing was bad. */
int lumeq_bytes_done(const ByteReader *r);

#endif
