/* What FFmpeg calls "none" and "0x0", for a person. */
#ifndef LUMEQ_MEDIA_CODEC_NAME_H
#define LUMEQ_MEDIA_CODEC_NAME_H

#include <libavcodec/codec_par.h>

/* "h264"; of one that FFmpeg does not know "unknown codec", with its tag in quotes where the file
 * has one. In memory of the calling thread that the next call overwrites. */
const char *codec_name(const AVCodecParameters *par);

/* What FFmpeg has said of an error; where it is about pictures of 0x0, that in words. */
const char *codec_error(const char *said);

#endif
