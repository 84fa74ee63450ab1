/* What accompanies a track or a frame: orientation, light levels, stereo and spherical layout. */
#ifndef LUMEQ_MEDIA_SIDE_DATA_H
#define LUMEQ_MEDIA_SIDE_DATA_H

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/frame.h>

/* Everything of a track that is copied packet by packet. 0 or AVERROR(ENOMEM). */
int side_data_copy_all(AVStream *to, const AVStream *from);

/* What stays true of a track when its frames or samples are encoded anew. How they are turned comes
 * with the first frame. */
int side_data_copy_lasting(AVStream *to, const AVStream *from);

/* The encoder's parameters become the track's, whose side data stays. 0 or AVERROR. */
int side_data_keep(AVStream *stream, const AVCodecContext *encoder);

/* How its pictures are turned, for the muxer. 0 or AVERROR(ENOMEM). */
int side_data_set_display_matrix(AVStream *stream, const int32_t matrix[9]);

/* What only the first frame says and the container says of a whole track, where the track does not
 * have it yet. */
int side_data_from_frame(AVStream *to, const AVFrame *frame);

/* The other way: a frame that does not say it itself gets what the container says of its track. 0
 * or AVERROR(ENOMEM). */
int side_data_to_frame(AVFrame *to, const AVStream *from);

/* How its pictures are turned to be shown, as FFmpeg has it (9 numbers), or NULL. */
const int32_t *side_data_display_matrix(const AVStream *stream);

/* A frame that does not say how it is turned gets what its EXIF tags say, or else its track. 0 or
 * AVERROR(ENOMEM). */
int side_data_orient(AVFrame *frame, const AVStream *track);

/* The profile of Dolby Vision the track is in, 0 = none. */
int side_data_dolby_vision_profile(const AVStream *stream);

/* Removes from a frame what describes the brightness of its old pixels (HDR10+, Dolby Vision, HDR
 * Vivid); answers the name of one of them, or NULL. */
const char *side_data_drop_dynamic(AVFrame *frame);

#endif
