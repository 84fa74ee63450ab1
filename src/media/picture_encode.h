/* Encodes a single frame as a picture. */
#ifndef LUMEQ_MEDIA_PICTURE_ENCODE_H
#define LUMEQ_MEDIA_PICTURE_ENCODE_H

#include <libavcodec/avcodec.h>

/* Encodes with FFmpeg's encoder for this codec; the frame must have a format it accepts. `quality`:
 * 2 (best) to 31 for JPEG, else 0. Returns 0 or AVERROR. */
int picture_encode(enum AVCodecID codec, AVFrame *frame, int quality, AVPacket *packet);

#endif
