#include "media/output/user_data.h"

#include <limits.h>
#include <string.h>

/* Start code and header of an SEI NAL unit, message types, and trailing bits. ITU-T H.264 and
 * H.265, 7.3 and annex D. */
static const uint8_t begin_h264[] = {0, 0, 0, 1, 6}, begin_hevc[] = {0, 0, 0, 1, 39 << 1, 1};
#define REGISTERED 4
#define UNREGISTERED 5
#define END 0x80

/* Framing of closed captions (ATSC A/53 part 4, 6.2.3); their count follows the first part. */
static const uint8_t captions_begin[] = {0xb5, 0, 0x31, 'G', 'A', '9', '4', 3};
#define CAPTIONS_FLAG 0x40
#define CAPTION_BYTES 3
#define MOST_CAPTIONS 31
#define CAPTIONS_END 0xff

/* User data to skip, by its UUID: signatures of x264, x265, FFmpeg's VA-API and Vulkan encoders,
 * and VideoToolbox. */
static const char *const signatures[] = {
    "\xdc\x45\xe9\xbd\xe6\xd9\x48\xb7\x96\x2c\xd8\x20\xd9\x23\xee\xef",
    "\x2c\xa2\xde\x09\xb5\x17\x47\xdb\xbb\x55\xa4\xfe\x7f\xc2\xfc\x4e"
    "x265",
    "\x59\x94\x8b\x28\x11\xec\x45\xaf\x96\x75\x19\xd4\x1f\xea\xa9\x4d",
    "\x03\xfd\xf2\x0a\x5d\x4c\x05\x48\x20\x98\xca\x6b\x0c\x95\x30\x1c",
    "\x47\x56\x4a\xdc\x5c\x4c\x43\x3f\x94\xef\xc5\x11\x3c\xd1\x43\xa8",
};

static int is_user_data(const AVFrameSideData *data)
{
    if (data->type != AV_FRAME_DATA_SEI_UNREGISTERED)
        return 0;
    for (size_t i = 0; i < sizeof(signatures) / sizeof(signatures[0]); i++)
        if (data->size >= strlen(signatures[i]) &&
            memcmp(data->data, signatures[i], strlen(signatures[i])) == 0)
            return 0;
    return 1;
}

/* Writes a byte with emulation prevention; returns the position after it. */
static uint8_t *put(uint8_t *to, int *zeros, uint8_t byte)
{
    if (*zeros == 2 && byte <= 3) {
        *to++ = 3;
        *zeros = 0;
    }
    *zeros = byte ? 0 : *zeros + 1;
    *to++ = byte;
    return to;
}

static size_t most_bytes(size_t size)
{
    return sizeof(begin_hevc) + 1 + (size + size / UINT8_MAX + 2) / 2 * 3 + 3;
}

/* Writes a NAL unit with one message; returns the position after it. */
static uint8_t *put_unit(uint8_t *to, uint8_t type, const uint8_t *data, size_t size, int is_hevc)
{
    int zeros = 0;
    size_t rest = size;
    const size_t begin = is_hevc ? sizeof(begin_hevc) : sizeof(begin_h264);
    memcpy(to, is_hevc ? begin_hevc : begin_h264, begin);
    to += begin;
    *to++ = type;
    for (; rest >= UINT8_MAX; rest -= UINT8_MAX)
        to = put(to, &zeros, UINT8_MAX);
    to = put(to, &zeros, (uint8_t)rest);
    for (size_t i = 0; i < size; i++)
        to = put(to, &zeros, data[i]);
    *to++ = END;
    return to;
}

static uint8_t *put_captions(uint8_t *to, const AVFrameSideData *captions, int is_hevc)
{
    uint8_t data[sizeof(captions_begin) + 2 + MOST_CAPTIONS * CAPTION_BYTES + 1];
    const size_t count = FFMIN(captions->size / CAPTION_BYTES, MOST_CAPTIONS);
    uint8_t *at = data + sizeof(captions_begin);
    memcpy(data, captions_begin, sizeof(captions_begin));
    *at++ = (uint8_t)(CAPTIONS_FLAG | count);
    *at++ = 0;
    memcpy(at, captions->data, count * CAPTION_BYTES);
    at += count * CAPTION_BYTES;
    *at++ = CAPTIONS_END;
    return put_unit(to, REGISTERED, data, (size_t)(at - data), is_hevc);
}

int user_data_units(AVBufferRef **units, const AVFrame *frame, enum AVCodecID codec, int captions)
{
    const AVFrameSideData *cc =
        captions ? av_frame_get_side_data(frame, AV_FRAME_DATA_A53_CC) : NULL;
    size_t most = cc ? most_bytes(sizeof(captions_begin) + 3 + MOST_CAPTIONS * CAPTION_BYTES) : 0;
    *units = NULL;
    for (int i = 0; i < frame->nb_side_data; i++)
        most += is_user_data(frame->side_data[i]) ? most_bytes(frame->side_data[i]->size) : 0;
    if (!most)
        return 0;
    if (codec != AV_CODEC_ID_H264 && codec != AV_CODEC_ID_HEVC)
        return AVERROR(ENOSYS);
    *units = av_buffer_alloc(most);
    if (!*units)
        return AVERROR(ENOMEM);
    const int is_hevc = codec == AV_CODEC_ID_HEVC;
    uint8_t *to = (*units)->data;
    if (cc)
        to = put_captions(to, cc, is_hevc);
    for (int i = 0; i < frame->nb_side_data; i++)
        if (is_user_data(frame->side_data[i]))
            to = put_unit(to, UNREGISTERED, frame->side_data[i]->data, frame->side_data[i]->size,
                          is_hevc);
    (*units)->size = (size_t)(to - (*units)->data);
    return 0;
}

int user_data_insert(AVPacket *packet, const AVBufferRef *units, enum AVCodecID codec)
{
    const uint8_t *b = packet->data;
    const int size = packet->size;
    int at = 0, is_slice = 0;
    for (; at + 3 < size && !is_slice; at++) {
        const int type = codec == AV_CODEC_ID_HEVC ? b[at + 3] >> 1 & 63 : b[at + 3] & 31;
        is_slice = b[at] == 0 && b[at + 1] == 0 && b[at + 2] == 1 &&
                   (codec == AV_CODEC_ID_HEVC ? type < 32 : type >= 1 && type <= 5);
    }
    if (!is_slice)
        return AVERROR(ENOSYS);
    at -= at > 1 && b[at - 2] == 0 ? 2 : 1; /* a start code may have a zero more */
    if (units->size > INT_MAX || av_grow_packet(packet, (int)units->size) < 0)
        return AVERROR(ENOMEM);
    memmove(packet->data + at + units->size, packet->data + at, (size_t)(size - at));
    memcpy(packet->data + at, units->data, units->size);
    return 0;
}
