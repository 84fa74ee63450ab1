/* Chooses output containers and checks what they can hold. */
#ifndef LUMEQ_MEDIA_CONTAINER_H
#define LUMEQ_MEDIA_CONTAINER_H

#include <stdbool.h>

#include <libavformat/avformat.h>

#include "media/error.h"

/* Finds the muxer by `name`, which is FFmpeg's name or a usual file extension. If `name` is NULL,
 * finds the muxer by the extension of `path`. MEDIA_USAGE. */
int container_find(const AVOutputFormat **muxer, const char *name, const char *path,
                   MediaError *error);

/* The extension, without dot, for a file in the container of this name: that of `path`, unless the
 * container has only other extensions. NULL: no extension, or an unknown container. Valid until the
 * thread's next call, and only while `path` is valid. */
const char *container_extension(const char *name, const char *path);

/* Returns 1 if the extension of the file name is that of a video or a picture. */
int container_promises_video(const char *path);

/* True if the container holds pictures and nothing else. */
bool container_is_picture(const AVOutputFormat *muxer);

/* True for MP4, QuickTime and Apple's m4v. */
bool container_is_mp4(const AVOutputFormat *muxer);

/* The codec for a picture of this file name; AV_CODEC_ID_NONE: not a container for pictures. */
enum AVCodecID container_picture_codec(const AVOutputFormat *muxer, const char *path);

/* Returns NULL if this stream can be copied into the container, else the reason as text. */
const char *container_refusal(const AVOutputFormat *muxer, const AVStream *stream);

/* True if the container accepts this stream's codec with the stream's parameters. */
bool container_takes_stream(const AVOutputFormat *muxer, const AVStream *stream);

/* Returns 1 if the muxer can write a header with this stream, which may be a cover. */
int container_passes_trial(const AVOutputFormat *muxer, const AVStream *stream);

/* True if the container stores rotations (display matrices). */
bool container_keeps_matrix(const AVOutputFormat *muxer);

/* True if the container stores start times of tracks. If not, its sound starts at time 0. */
bool container_keeps_start(const AVOutputFormat *muxer);

bool container_wants_video_first(const AVOutputFormat *muxer);

/* The required sample rate for sound in this codec; 0: any. */
int container_sound_rate(const AVOutputFormat *muxer, enum AVCodecID id);

/* The strict_std_compliance for this muxer. FLV has FF_COMPLIANCE_NORMAL, as nothing plays its
 * unofficial codecs. Others have FF_COMPLIANCE_EXPERIMENTAL, which FLAC in mp4 needs. */
int container_compliance(const AVOutputFormat *muxer);

/* True if the container accepts the codec with some parameters, though perhaps not with all. */
bool container_takes(const AVOutputFormat *muxer, enum AVMediaType type, enum AVCodecID id);

/* The codec tag to write for a stream copied from another container; 0: the muxer chooses. */
unsigned container_tag(const AVOutputFormat *muxer, const AVCodecParameters *par);

#endif
