/* Codec names for messages, even for unknown codecs. */
#ifndef LUMEQ_MEDIA_CODEC_NAME_H
#define LUMEQ_MEDIA_CODEC_NAME_H

#include <libavcodec/codec_par.h>

/* Returns a name such as "h264". A codec unknown to FFmpeg is "unknown codec", with its quoted tag
 * if it has one. Thread-local memory that the next call overwrites. */
const char *codec_name(const AVCodecParameters *par);

#endif
