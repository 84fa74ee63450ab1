/* Names of pictures, and patterns for numbered ones: "frame%04d.png". */
#ifndef LUMEQ_MEDIA_PICTURE_PATTERN_H
#define LUMEQ_MEDIA_PICTURE_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <libavcodec/codec_id.h>

/* The picture codec that this file name implies, or AV_CODEC_ID_NONE. */
enum AVCodecID picture_codec(const char *path);

/* True if the file name (not its folder) has exactly one %d, or %0Nd for at least N digits, where N
 * is 1 to 9. */
bool picture_pattern_is(const char *path);

/* Returns the name with this number; free with av_free(). NULL: out of memory, or not a pattern. */
char *picture_pattern_name(const char *pattern, int64_t number);

/* Returns the number in `name`, a file name without folder; -1 if the pattern does not produce this
 * name. */
int64_t picture_pattern_number(const char *pattern, const char *name);

#endif
