/* What FFmpeg calls "none", for a person. */
#ifndef LUMEQ_MEDIA_CODEC_NAME_H
#define LUMEQ_MEDIA_CODEC_NAME_H

#include <libavcodec/codec_par.h>

/* "h264"; of one that FFmpeg does not know "unknown codec", with its tag in quotes where the file
 * has one. In memory of the calling thread that the next call overwrites. */
const char *codec_name(const AVCodecParameters *par);

#endif
