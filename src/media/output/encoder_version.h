/* Finds the version of the encoder library in its packets. */
#ifndef LUMEQ_MEDIA_ENCODER_VERSION_H
#define LUMEQ_MEDIA_ENCODER_VERSION_H

#include <stddef.h>
#include <stdint.h>

/* Size of a version text. */
#define ENCODER_VERSION_BYTES 128

/* Finds the version that x264 and x265 store in the first packet or the extradata, such as "x264 -
 * core 164 r3095 baee400". Returns 1, or 0 and "" for other encoders. */
int encoder_version_find(const uint8_t *bytes, size_t size, char text[ENCODER_VERSION_BYTES]);

#endif
