#include "equalizer/bytes.h"

#include <string.h>

#include "lumeq/lumeq.h"

#define CRC_SIZE 4

/* CRC-32 as in zlib and PNG (ISO 3309), four bits at a time. */
static uint32_t crc32(const uint8_t *bytes, size_t size)
{
    static const uint32_t table[16] = {
        0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4,
        0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
        0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c,
    };
    uint32_t crc = ~0u;
    for (size_t i = 0; i < size; i++) {
        crc = table[(crc ^ bytes[i]) & 15] ^ crc >> 4;
        crc = table[(crc ^ bytes[i] >> 4) & 15] ^ crc >> 4;
    }
    return ~crc;
}

static uint8_t *reserve(ByteWriter *w, size_t count)
{
    const size_t from = w->size;
    w->size += count;
    return w->to && w->size <= w->room ? w->to + from : NULL;
}

static void store(uint8_t *to, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        to[i] = (uint8_t)(value >> (8 * i));
}

static uint64_t load(const uint8_t *from, int bytes)
{
    uint64_t value = 0;
    for (int i = 0; i < bytes; i++)
        value |= (uint64_t)from[i] << (8 * i);
    return value;
}

void lumeq_put8(ByteWriter *w, const uint8_t *values, size_t count)
{
    uint8_t *to = reserve(w, count);
    if (to && count)
        memcpy(to, values, count);
}

void lumeq_put32(ByteWriter *w, uint32_t value)
{
    uint8_t *to = reserve(w, 4);
    if (to)
        store(to, value, 4);
}

void lumeq_put64(ByteWriter *w, uint64_t value)
{
    uint8_t *to = reserve(w, 8);
    if (to)
        store(to, value, 8);
}

void lumeq_put32s(ByteWriter *w, const uint32_t *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        lumeq_put32(w, values[i]);
}

ByteWriter lumeq_bytes_begin(void *to, size_t room, const char letters[4], uint32_t version)
{
    ByteWriter w = {to, room, 0};
    lumeq_put8(&w, (const uint8_t *)letters, 4);
    lumeq_put32(&w, version);
    return w;
}

int lumeq_bytes_end(ByteWriter *w, size_t *size)
{
    const size_t length = w->size;
    const int whole = w->to && length + CRC_SIZE <= w->room;
    lumeq_put32(w, whole ? crc32(w->to, length) : 0);
    *size = w->size;
    return whole || !w->to ? 0 : LUMEQ_ERR_ARGUMENT;
}

static const uint8_t *take(ByteReader *r, size_t count)
{
    if (r->bad || count > r->left) {
        r->bad = 1;
        return NULL;
    }
    const uint8_t *from = r->at;
    r->at += count;
    r->left -= count;
    return from;
}

void lumeq_take8(ByteReader *r, uint8_t *values, size_t count)
{
    const uint8_t *from = take(r, count);
    if (from && count)
        memcpy(values, from, count);
    else
        memset(values, 0, count);
}

uint32_t lumeq_take32(ByteReader *r)
{
    const uint8_t *from = take(r, 4);
    return from ? (uint32_t)load(from, 4) : 0;
}

uint64_t lumeq_take64(ByteReader *r)
{
    const uint8_t *from = take(r, 8);
    return from ? load(from, 8) : 0;
}

void lumeq_take32s(ByteReader *r, uint32_t *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        values[i] = lumeq_take32(r);
}

int32_t lumeq_take_range(ByteReader *r, int32_t least, int32_t most)
{
    const int32_t value = (int32_t)lumeq_take32(r);
    if (value >= least && value <= most)
        return value;
    r->bad = 1;
    return least;
}

ByteReader lumeq_bytes_open(const void *bytes, size_t size, const char letters[4], uint32_t version)
{
    ByteReader r = {.at = bytes, .left = size};
    uint8_t kind[4];
    if (size < 8 + CRC_SIZE || crc32(bytes, size - CRC_SIZE) !=
                                   (uint32_t)load((const uint8_t *)bytes + size - CRC_SIZE, 4)) {
        r.bad = 1;
        return r;
    }
    r.left -= CRC_SIZE;
    lumeq_take8(&r, kind, sizeof(kind));
    r.bad |= lumeq_take32(&r) != version || memcmp(kind, letters, sizeof(kind)) != 0;
    return r;
}

int lumeq_bytes_done(const ByteReader *r)
{
    return !r->bad && r->left == 0;
}
