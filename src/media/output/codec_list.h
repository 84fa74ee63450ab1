/* What the linked FFmpeg writes, for a person: encoders, containers. */
#ifndef LUMEQ_MEDIA_CODEC_LIST_H
#define LUMEQ_MEDIA_CODEC_LIST_H

#include <libavcodec/codec.h>

/* A line for each encoder that takes frames as they are here: its name, its codec, for video
 * whether it needs hardware (these come first) and the bits of a sample, and the files that hold
 * it. */
void codec_list_video(void (*print)(const char *line));
void codec_list_sound(void (*print)(const char *line));

/* A line for each container that is written: its name, the video encoder that it gets when none is
 * asked for, and how its files end. */
void codec_list_containers(void (*print)(const char *line));

/* 1: the encoder needs hardware. */
int codec_list_is_hardware(const AVCodec *codec);

#endif
