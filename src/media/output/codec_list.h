/* What the linked FFmpeg writes, for a person: encoders, containers. */
#ifndef LUMEQ_MEDIA_CODEC_LIST_H
#define LUMEQ_MEDIA_CODEC_LIST_H

#include <stddef.h>

#include <libavutil/avutil.h>

/* A line for each encoder that takes frames as they are here: its name, its codec, for video
 * whether it needs hardware (these come first) and the bits of a sample, and the files that hold
 * it. */
void codec_list_video(void (*print)(const char *line));
void codec_list_sound(void (*print)(const char *line));

/* A line for each container that is written: its name, the video encoder that it gets when none is
 * asked for, and how its files end. */
void codec_list_containers(void (*print)(const char *line));

/* The encoders that may be meant by the name of a codec (hevc), its other name (h265) or a part of
 * their own (nvenc): "libx265, hevc_nvenc"; "": none. */
void codec_list_meant(enum AVMediaType type, const char *name, char *text, size_t size);

#endif
