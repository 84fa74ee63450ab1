/* User data of pictures: the SEI message user_data_unregistered of H.264 and HEVC, in which cameras
 * store place and speed. It is inserted into packets here, because few encoders write it and x265
 * 3.5 writes out of bounds if it is long. */
#ifndef LUMEQ_MEDIA_USER_DATA_H
#define LUMEQ_MEDIA_USER_DATA_H

#include <libavcodec/avcodec.h>

/* Writes the frame's user data as NAL units of this codec, without the old encoder's signature, and
 * its closed captions if `captions` is not 0; NULL if it has neither. Returns 0, AVERROR(ENOSYS) if
 * the codec has no user data, or AVERROR(ENOMEM). */
int user_data_units(AVBufferRef **units, const AVFrame *frame, enum AVCodecID codec, int captions);

/* Inserts the units before the first slice. Returns 0, AVERROR(ENOSYS) if the packet has no start
 * codes, or AVERROR(ENOMEM). */
int user_data_insert(AVPacket *packet, const AVBufferRef *units, enum AVCodecID codec);

#endif
