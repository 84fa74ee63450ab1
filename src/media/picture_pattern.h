/* Names of picture files, and patterns for numbered pictures, such as "frame%04d.png". */
#ifndef LUMEQ_MEDIA_PICTURE_PATTERN_H
#define LUMEQ_MEDIA_PICTURE_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <libavcodec/codec_id.h>

/* The picture codec that this file name implies, or AV_CODEC_ID_NONE. */
enum AVCodecID picture_codec(const char *path);

/* True if the file name contains exactly one conversion %d or %0Nd. %0Nd (N: 1 to 9) pads the
 * number with zeros to N digits. A % in the folder's name does not count. */
bool picture_pattern_is(const char *path);

/* Returns the name with this number; free with av_free(). NULL: out of memory, or not a pattern. */
char *picture_pattern_name(const char *pattern, int64_t number);

/* Returns the number in `name`, a file name without folder; -1 if it does not match the pattern. */
int64_t picture_pattern_number(const char *pattern, const char *name);

#endif
