#include "media/input/sound_check.h"

#include <libavcodec/ac3_parser.h>
#include <libavutil/crc.h>

#define AC3_SYNC_BYTES 2 /* bytes not covered by the checksum */

static int fails(const uint8_t *data, size_t size)
{
    return av_crc(av_crc_get_table(AV_CRC_16_ANSI), 0, data, size) != 0;
}

/* Checks one or more frames. Data that does not begin with a whole frame is not judged. */
static int is_damaged_ac3(const AVPacket *packet)
{
    const uint8_t *data = packet->data;
    uint8_t version;
    uint16_t frame;
    for (size_t left = (size_t)packet->size; left; left -= frame, data += frame) {
        if (av_ac3_parse_header(data, left, &version, &frame) < 0 || frame > left ||
            frame <= AC3_SYNC_BYTES)
            return 0;
        if (fails(data + AC3_SYNC_BYTES, frame - AC3_SYNC_BYTES))
            return 1;
    }
    return 0;
}

int sound_is_damaged(enum AVCodecID codec, const AVPacket *packet)
{
    switch (codec) {
    case AV_CODEC_ID_AC3:
    case AV_CODEC_ID_EAC3: return is_damaged_ac3(packet);
    case AV_CODEC_ID_FLAC: return packet->size > 0 && fails(packet->data, (size_t)packet->size);
    default: return 0;
    }
}
