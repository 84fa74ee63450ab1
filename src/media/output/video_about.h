/* A description of encoded video, for the summary of a run. */
#ifndef LUMEQ_MEDIA_VIDEO_ABOUT_H
#define LUMEQ_MEDIA_VIDEO_ABOUT_H

#include <stddef.h>

#include <libavcodec/avcodec.h>

/* Codec, profile and pixel format ("HEVC Main 10, yuv420p10le"), by the encoder and its first
 * packet: x264 and x265 tell their profile in the stream alone. */
void video_about(const AVCodecContext *encoder, const AVPacket *first, char *text, size_t size);

#endif
