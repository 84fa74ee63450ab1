/* Side data of tracks and frames: orientation, HDR metadata, stereo and spherical layout. */
#ifndef LUMEQ_MEDIA_SIDE_DATA_H
#define LUMEQ_MEDIA_SIDE_DATA_H

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/frame.h>

/* Copies all side data, for a track that is not re-encoded. Returns 0 or AVERROR(ENOMEM). */
int side_data_copy_all(AVStream *to, const AVStream *from);

/* Adds a stream like `from`, with its parameters, tags and side data. NULL: out of memory. */
AVStream *side_data_copy_stream(AVFormatContext *to, const AVStream *from);

/* Copies the side data that stays valid when a track is re-encoded. Omits the display matrix,
 * because frames carry it. Returns 0 or AVERROR(ENOMEM). */
int side_data_copy_lasting(AVStream *to, const AVStream *from);

/* Copies the encoder's parameters to a track; keeps the track's side data. Returns 0 or AVERROR. */
int side_data_keep(AVStream *stream, const AVCodecContext *encoder);

/* Copies the frame's side data of types that the track lacks. Returns 0 or AVERROR(ENOMEM). */
int side_data_from_frame(AVStream *to, const AVFrame *frame);

/* Copies the track's side data of types that the frame lacks. Returns 0 or AVERROR(ENOMEM). */
int side_data_to_frame(AVFrame *to, const AVStream *from);

/* The track's display matrix (9 numbers), or NULL. */
const int32_t *side_data_display_matrix(const AVStream *stream);

/* Copies the frame's display matrix. Returns 0 if the frame lacks one. */
int side_data_frame_matrix(const AVFrame *frame, int32_t matrix[9]);

/* If the frame has no display matrix, adds one from the frame's EXIF tags or, without such tags,
 * from the track. Returns 0 or AVERROR(ENOMEM). */
int side_data_orient(AVFrame *frame, const AVStream *track);

/* The track's Dolby Vision profile; 0: none. */
int side_data_dolby_vision_profile(const AVStream *stream);

/* Removes metadata that describes the brightness of the original pixels (HDR10+, Dolby Vision, HDR
 * Vivid). Returns the name of one removed kind, or NULL. */
const char *side_data_drop_dynamic(AVFrame *frame);

#endif
