/* Describes encoded video: codec, profile and format. */
#ifndef LUMEQ_MEDIA_VIDEO_ABOUT_H
#define LUMEQ_MEDIA_VIDEO_ABOUT_H

#include <stddef.h>
#include <stdint.h>

#include <libavcodec/avcodec.h>

/* Writes codec, profile and pixel format ("HEVC Main 10, yuv420p10le"), from the encoder and its
 * first packet: x264 and x265 store their profile only there. */
void video_about(const AVCodecContext *encoder, const AVPacket *first, char *text, size_t size);

#endif
