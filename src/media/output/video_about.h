/* Describes encoded video: codec, profile, format, and the version of the encoder. */
#ifndef LUMEQ_MEDIA_VIDEO_ABOUT_H
#define LUMEQ_MEDIA_VIDEO_ABOUT_H

#include <stddef.h>
#include <stdint.h>

#include <libavcodec/avcodec.h>

/* Writes codec, profile and pixel format ("HEVC Main 10, yuv420p10le"), from the encoder and its
 * first packet: x264 and x265 store their profile only there. */
void video_about(const AVCodecContext *encoder, const AVPacket *first, char *text, size_t size);

/* Size of a version text. */
#define ENCODER_VERSION_BYTES 128

/* Finds the version that x264 and x265 store in the first packet or the extradata, such as "x264 -
 * core 164 r3095 baee400". Returns 1, or 0 and "" for other encoders. */
int encoder_version_find(const uint8_t *bytes, size_t size, char text[ENCODER_VERSION_BYTES]);

#endif
