/* Finds and describes tracks, chapters and titles, for the player. */
#ifndef LUMEQ_MEDIA_TRACK_CHOICE_H
#define LUMEQ_MEDIA_TRACK_CHOICE_H

#include "media/input/source.h"

int track_count(const Source *source, enum AVMediaType type);

/* Finds a track by its index among the tracks of its type, from 0; NULL if missing. */
const AVStream *track_find(const Source *source, enum AVMediaType type, int number);

/* Finds the track of this type that fits the video best; NULL: the input has no such track. */
const AVStream *track_best(const Source *source, enum AVMediaType type);

/* Opens the decoder of a track. Returns 0 or AVERROR; the caller frees *decoder in both cases. */
int track_open_decoder(AVCodecContext **decoder, const AVCodecParameters *in, AVRational time_base);

/* Describes a decoded frame: "h264, 1280x720 yuv420p, limited range". */
void track_describe_video(const Source *source, const AVFrame *frame, char *text, size_t size);

/* The display size: upright, with square pixels. 0 x 0: unknown. */
void track_display_size(const Source *source, int *width, int *height);

int source_chapters(const Source *source);

/* The start of chapter `number` (from 0), in AV_TIME_BASE units from the start of the source. */
int64_t source_chapter(const Source *source, int number);
const char *source_chapter_title(const Source *source, int number); /* or "" */

/* The input's title tag, or NULL. */
const char *source_title(const Source *source);

/* Describes a track: "2 of 3: eng, Commentary (ac3)", counting from 1. */
void track_describe(const Source *source, const AVStream *stream, char *text, size_t size);

#endif
