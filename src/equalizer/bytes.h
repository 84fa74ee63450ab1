/*
 * Serialization to little-endian bytes: four letters, a version, the values, and a CRC-32 of
 * everything before it.
 */
#ifndef LUMEQ_BYTES_H
#define LUMEQ_BYTES_H

#include <stddef.h>
#include <stdint.h>

/* Writes up to `room` bytes; only counts further bytes. */
typedef struct ByteWriter {
    uint8_t *to; /* NULL: only counts */
    size_t room, size;
} ByteWriter;

/* Reads bytes. Reading past the end returns zeros and sets `bad`. */
typedef struct ByteReader {
    const uint8_t *at;
    size_t left;
    int bad;
} ByteReader;

ByteWriter lumeq_bytes_begin(void *to, size_t room, const char letters[4], uint32_t version);
void lumeq_put8(ByteWriter *w, const uint8_t *values, size_t count);
void lumeq_put32(ByteWriter *w, uint32_t value);
void lumeq_put64(ByteWriter *w, uint64_t value);
void lumeq_put32s(ByteWriter *w, const uint32_t *values, size_t count);

/* Appends the CRC and sets *size to the required size. Returns 0, or ARGUMENT if the room was
 * too small. */
int lumeq_bytes_end(ByteWriter *w, size_t *size);

/* Begins to read. Sets `bad` if the CRC, the letters or the version are wrong. */
ByteReader lumeq_bytes_open(const void *bytes, size_t size, const char letters[4],
                            uint32_t version);
void lumeq_take8(ByteReader *r, uint8_t *values, size_t count);
uint32_t lumeq_take32(ByteReader *r);
uint64_t lumeq_take64(ByteReader *r);
void lumeq_take32s(ByteReader *r, uint32_t *values, size_t count);

/* Reads a number from `least` to `most`; otherwise sets `bad` and returns `least`. */
int32_t lumeq_take_range(ByteReader *r, int32_t least, int32_t most);

/* True if everything was read and `bad` is not set. */
int lumeq_bytes_done(const ByteReader *r);

#endif
