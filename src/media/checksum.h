/* The CRC-32 that zip and PNG use, of what is kept in files. */
#ifndef LUMEQ_MEDIA_CHECKSUM_H
#define LUMEQ_MEDIA_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

/* Goes on from `sum`, which is that of all bytes before, 0 at first. Any thread. */
uint32_t checksum(uint32_t sum, const void *bytes, size_t size);

#endif
