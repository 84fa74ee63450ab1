/* Which version of an encoder's library made its packets, as far as they say so. */
#ifndef LUMEQ_MEDIA_ENCODER_VERSION_H
#define LUMEQ_MEDIA_ENCODER_VERSION_H

#include <stddef.h>
#include <stdint.h>

/* Room for a version. */
#define ENCODER_VERSION_BYTES 128

/* Looks for what x264 and x265 write of themselves, in the first packet or the extradata: "x264 -
 * core 164 r3095 baee400". 1, and the text; 0, and "": other encoders say nothing. */
int encoder_version_find(const uint8_t *bytes, size_t size, char text[ENCODER_VERSION_BYTES]);

#endif
