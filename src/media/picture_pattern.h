/* Names of pictures, and of numbered ones: "frame%04d.png". */
#ifndef LUMEQ_MEDIA_PICTURE_PATTERN_H
#define LUMEQ_MEDIA_PICTURE_PATTERN_H

#include <stddef.h>
#include <stdint.h>

#include <libavcodec/codec_id.h>

/* What a file of this name says that it is: a picture by itself, of this codec; or
 * AV_CODEC_ID_NONE. */
enum AVCodecID picture_codec(const char *path);

/* Not 0: the name of the file, its folder aside, has one place for a number: %d, or %03d for at
 * least so many digits, of which there are 9 at most. */
int picture_pattern_is(const char *path);

/* The name with this number; to be freed with av_free(). NULL: out of memory, or no pattern. */
char *picture_pattern_name(const char *pattern, int64_t number);

/* The number in a name without folder that the pattern gives; -1: it gives no such name. */
int64_t picture_pattern_number(const char *pattern, const char *name);

#endif
