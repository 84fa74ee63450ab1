/* One frame as a picture of its own. */
#ifndef LUMEQ_MEDIA_PICTURE_ENCODE_H
#define LUMEQ_MEDIA_PICTURE_ENCODE_H

#include <libavcodec/avcodec.h>

/* By FFmpeg's encoder of that codec, in whose format the frame is. The quality of JPEG is 2 (best)
 * to 31; 0 for what has none. 0 or AVERROR. */
int picture_encode(enum AVCodecID codec, AVFrame *frame, int quality, AVPacket *packet);

#endif
