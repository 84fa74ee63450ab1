/* Output containers and what they can hold. */
#ifndef LUMEQ_MEDIA_CONTAINER_H
#define LUMEQ_MEDIA_CONTAINER_H

#include <stdbool.h>

#include <libavformat/avformat.h>

#include "media/error.h"

/* Finds the muxer of this name (FFmpeg's, or the usual file extension), or, if it is NULL, by the
 * file name. MEDIA_USAGE. */
int container_find(const AVOutputFormat **muxer, const char *name, const char *path,
                   MediaError *error);

/* The file extension, without dot, for the container of this name: the path's own if it fits. NULL:
 * any, or an unknown container. */
const char *container_extension(const char *name, const char *path);

/* Returns 1 if the extension of the file name is that of a video or a picture. */
int container_promises_video(const char *path);

/* True if it holds a single picture and nothing else. */
bool container_is_picture(const AVOutputFormat *muxer);

/* True for MP4, QuickTime and Apple's m4v. */
bool container_is_mp4(const AVOutputFormat *muxer);

/* The codec of a single picture by its file name; AV_CODEC_ID_NONE for other containers. */
enum AVCodecID container_picture_codec(const AVOutputFormat *muxer, const char *path);

/* Returns NULL if a stream like this one can be copied, else the reason for a person. */
const char *container_refusal(const AVOutputFormat *muxer, const AVStream *stream);

/* True if it accepts a stream with these parameters, which its codec alone may not tell. */
bool container_takes_stream(const AVOutputFormat *muxer, const AVStream *stream);

/* Returns 1 if its muxer writes a header for this stream, such as a cover. */
int container_passes_trial(const AVOutputFormat *muxer, const AVStream *stream);

/* True if it stores rotations (display matrices). */
bool container_keeps_matrix(const AVOutputFormat *muxer);

/* True if it stores start times of tracks; else all sound starts at the beginning of the
 * file. */
bool container_keeps_start(const AVOutputFormat *muxer);

/* True if the video must be the first track. */
bool container_wants_video_first(const AVOutputFormat *muxer);

/* The sample rate to encode sound of this codec with; 0: any. */
int container_sound_rate(const AVOutputFormat *muxer, enum AVCodecID id);

/* FFmpeg's strictness for this muxer: experimental, as for FLAC in mp4, but not for FLV, whose
 * unofficial codecs nothing can play. */
int container_compliance(const AVOutputFormat *muxer);

/* True if it accepts the codec, whatever its parameters. */
bool container_takes(const AVOutputFormat *muxer, enum AVMediaType type, enum AVCodecID id);

/* The codec tag to write for a stream of another container; 0: chosen by the muxer. */
unsigned container_tag(const AVOutputFormat *muxer, const AVCodecParameters *par);

#endif
