#include "media/checksum.h"

#include <libavutil/crc.h>

uint32_t checksum(uint32_t sum, const void *bytes, size_t size)
{
    if (!size) /* there may be no bytes then, not even a place for them */
        return sum;
    return ~av_crc(av_crc_get_table(AV_CRC_32_IEEE_LE), ~sum, bytes, size);
}
