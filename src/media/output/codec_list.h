/* Lists the encoders and containers of the linked FFmpeg, and tests hardware encoders. */
#ifndef LUMEQ_MEDIA_CODEC_LIST_H
#define LUMEQ_MEDIA_CODEC_LIST_H

#include <stdbool.h>

#include <libavcodec/codec.h>

#include "media/error.h"

/* Prints a line for a video encoder: its name, its codec, and either "hardware", or "CPU" with the
 * sample depths. */
void codec_list_encoder(const AVCodec *codec, void (*print)(const char *line));

/* Prints such a line for each video encoder, hardware encoders first. */
void codec_list_video(void (*print)(const char *line));

/* Prints a line with name and codec for each sound encoder. */
void codec_list_sound(void (*print)(const char *line));

/* Prints a line for each container: its name, its default video encoder, and its file
 * extensions. */
void codec_list_containers(void (*print)(const char *line));

/* Returns the next video encoder that `--vcodec help` lists, or NULL; *at is NULL at first.
 * `hardware`: 1 for hardware encoders, 0 for the others. */
const AVCodec *codec_list_next(void **at, int hardware);

/* True if FFmpeg has a video decoder of this name that uses NVDEC. */
bool codec_list_has_nvdec(const char *decoder);

/* Tries to open the encoder for a small picture. MEDIA_OUTPUT if this fails. */
int codec_list_try(const AVCodec *codec, MediaError *error);

#endif
