/* CRC-32 (as in zip and PNG) for lumeq's own files. */
#ifndef LUMEQ_MEDIA_CHECKSUM_H
#define LUMEQ_MEDIA_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

#include <zlib.h>

/* Continues `sum`, the checksum of all previous bytes (initially 0). Any thread. */
static inline uint32_t checksum(uint32_t sum, const void *bytes, size_t size)
{
    return size ? (uint32_t)crc32_z(sum, bytes, size) : sum; /* zlib resets the sum for NULL */
}

#endif
