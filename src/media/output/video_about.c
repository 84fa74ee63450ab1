#include "media/output/video_about.h"

#include <stdio.h>
#include <string.h>

#include <libavutil/avstring.h>
#include <libavutil/pixdesc.h>

/* NAL unit types of sequence parameter sets: ITU-T H.264 table 7-1, H.265 table 7-1. */
#define H264_SPS 7
#define HEVC_SPS 33

/* Flags after the profile in an H.264 sequence parameter set. */
#define CONSTRAINT_SET1 0x40
#define CONSTRAINT_SET3 0x10

/* Bytes from the NAL unit header up to and including the profile. */
#define SPS_BYTES 4

/* Reads the profile from the first sequence parameter set after a start code. */
static int find_profile(enum AVCodecID id, const uint8_t *bytes, size_t size)
{
    const int h264 = id == AV_CODEC_ID_H264, hevc = id == AV_CODEC_ID_HEVC;
    for (size_t i = 3; (h264 || hevc) && i + SPS_BYTES <= size; i++) {
        const uint8_t *unit = bytes + i;
        if (unit[-3] || unit[-2] || unit[-1] != 1)
            continue;
        if (h264 && (unit[0] & 0x1f) == H264_SPS)
            return unit[1] == FF_PROFILE_H264_BASELINE && (unit[2] & CONSTRAINT_SET1)
                       ? FF_PROFILE_H264_CONSTRAINED_BASELINE
                   : unit[1] >= FF_PROFILE_H264_HIGH && (unit[2] & CONSTRAINT_SET3)
                       ? unit[1] | FF_PROFILE_H264_INTRA
                       : unit[1];
        if (hevc && (unit[0] >> 1 & 0x3f) == HEVC_SPS)
            return unit[3] & 0x1f;
    }
    return FF_PROFILE_UNKNOWN;
}

void video_about(const AVCodecContext *c, const AVPacket *first, char *text, size_t size)
{
    const size_t extradata = c->extradata ? (size_t)c->extradata_size : 0;
    const char *format =
        av_get_pix_fmt_name(c->sw_pix_fmt != AV_PIX_FMT_NONE ? c->sw_pix_fmt : c->pix_fmt);
    char codec[32];
    int profile = find_profile(c->codec_id, c->extradata, extradata);
    if (profile == FF_PROFILE_UNKNOWN)
        profile = find_profile(c->codec_id, first->data, (size_t)first->size);
    const char *name =
        avcodec_profile_name(c->codec_id, profile != FF_PROFILE_UNKNOWN ? profile : c->profile);
    const int is_raw =
        c->codec_id == AV_CODEC_ID_WRAPPED_AVFRAME || c->codec_id == AV_CODEC_ID_RAWVIDEO;
    av_strlcpy(codec, c->codec_id == AV_CODEC_ID_H264 ? "H.264" : avcodec_get_name(c->codec_id),
               sizeof(codec));
    for (char *letter = codec; *letter; letter++)
        *letter = (char)av_toupper(*letter);
    if (is_raw)
        av_strlcpy(codec, "uncompressed", sizeof(codec));
    snprintf(text, size, "%s%s%s, %s", codec, name ? " " : "", name ? name : "",
             format ? format : "?");
}
