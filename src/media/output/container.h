/* Containers that are written, and what they hold. */
#ifndef LUMEQ_MEDIA_CONTAINER_H
#define LUMEQ_MEDIA_CONTAINER_H

#include <libavformat/avformat.h>

#include "media/error.h"

/* The container of this name (in FFmpeg, or the usual extension of its files), or NULL: by the name
 * of the file. MEDIA_USAGE. */
int container_find(const AVOutputFormat **muxer, const char *name, const char *path,
                   MediaError *error);

/* What files of the container of this name end in, without the dot: as `path` ends, where they may.
 * NULL: anything, or there is no such container. */
const char *container_extension(const char *name, const char *path);

/* Not 0: a file of this name says that it is a video, or a picture. */
int container_promises_video(const char *path);

/* Not 0: it holds one single picture, and nothing else. */
int container_is_picture(const AVOutputFormat *muxer);

/* True for MP4, QuickTime and Apple's m4v. */
int container_is_mp4(const AVOutputFormat *muxer);

/* The codec of a single picture by the name of its file; AV_CODEC_ID_NONE for other containers. */
enum AVCodecID container_picture_codec(const AVOutputFormat *muxer, const char *path);

/* NULL: a stream like this one can be written as it is; else why not, for a person. */
const char *container_refusal(const AVOutputFormat *muxer, const AVStream *stream);

/* Whether it takes a stream like this one, which it may not be able to tell of its codec alone. */
int container_takes_stream(const AVOutputFormat *muxer, const AVStream *stream);

/* True if a container with covers takes this one. */
int container_takes_cover(const AVOutputFormat *muxer, const AVStream *cover);

/* Whether it keeps how the pictures of a stream are turned, by a display matrix. Asked of the
 * linked FFmpeg. */
int container_keeps_matrix(const AVOutputFormat *muxer, enum AVCodecID id, const int32_t matrix[9]);

/* Whether it keeps when a track begins; else sound is heard from the beginning of the file. */
int container_keeps_start(const AVOutputFormat *muxer);

/* True if the video has to be the first track. */
int container_wants_video_first(const AVOutputFormat *muxer);

/* The only rate that it takes of sound; 0: any. */
int container_sound_rate(const AVOutputFormat *muxer);

/* Whether it takes a codec, whatever its parameters. */
int container_takes(const AVOutputFormat *muxer, enum AVMediaType type, enum AVCodecID id);

/* The tag of a stream from another container, as this one writes it; 0: it chooses its own. */
unsigned container_tag(const AVOutputFormat *muxer, const AVCodecParameters *par);

#endif
