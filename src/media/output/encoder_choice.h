/* Which encoder, and which of its pixel formats; encoder_find() is in encoder.h. */
#ifndef LUMEQ_MEDIA_ENCODER_CHOICE_H
#define LUMEQ_MEDIA_ENCODER_CHOICE_H

#include <libavcodec/avcodec.h>

#include "media/error.h"

/* Whether the encoder has an option of its own of this name. */
int encoder_has_option(const AVCodec *codec, const char *name);

/* The format asked for (NULL: none was), or the nearest to `from` that the encoder takes.
 * MEDIA_USAGE. */
int encoder_choose_format(enum AVPixelFormat *format, const AVCodec *codec, const char *asked,
                          enum AVPixelFormat from, MediaError *error);

/* Whether it takes frames in ordinary memory, of a format that they can be converted to. */
int encoder_takes_frames(const AVCodec *codec);

/* Bits of the samples that it takes, 0: it does not say. */
void encoder_depths(const AVCodec *codec, int *least, int *most);

int format_has_alpha(enum AVPixelFormat format);

#endif
