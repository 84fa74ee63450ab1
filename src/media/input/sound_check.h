/* Verifies checksums of sound that is copied without decoding. */
#ifndef LUMEQ_MEDIA_SOUND_CHECK_H
#define LUMEQ_MEDIA_SOUND_CHECK_H

#include <libavcodec/codec_id.h>
#include <libavcodec/packet.h>

/* Returns 1 if a checksum in the packet does not match: AC-3, E-AC-3 (ETSI TS 102 366) and FLAC
 * (RFC 9639) frames end with a CRC-16. Other codecs have none. */
int sound_is_damaged(enum AVCodecID codec, const AVPacket *packet);

#endif
