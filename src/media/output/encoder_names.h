/* The names that people have for encoders. */
#ifndef LUMEQ_MEDIA_ENCODER_NAMES_H
#define LUMEQ_MEDIA_ENCODER_NAMES_H

#include <stddef.h>

#include <libavcodec/avcodec.h>

/* Whether a person is told of this encoder: not of those that FFmpeg itself calls experimental, nor
 * of what frames only pass through. */
int encoder_is_listed(const AVCodec *codec, enum AVMediaType type);

/* The encoders that may be meant by the name of a codec (hevc), its other name (h265) or a part of
 * their own (nvenc): "libx265, hevc_nvenc"; "": none. */
void encoder_names_meant(enum AVMediaType type, const char *name, char *text, size_t size);

#endif
