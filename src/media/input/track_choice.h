/* The tracks of a kind that a viewer chooses among, and the chapters. */
#ifndef LUMEQ_MEDIA_TRACK_CHOICE_H
#define LUMEQ_MEDIA_TRACK_CHOICE_H

#include "media/input/source.h"

int track_count(const Source *source, enum AVMediaType type);

/* By its number among its kind, from 0; NULL where there is none. */
const AVStream *track_find(const Source *source, enum AVMediaType type, int number);

/* The one that goes with the video best; NULL where there is none. */
const AVStream *track_best(const Source *source, enum AVMediaType type);

/* "h264, 1280x720 yuv420p, limited range" of a decoded frame of the source. */
void track_describe_video(const Source *source, const AVFrame *frame, char *text, size_t size);

/* The size its pictures are shown at: upright, with square pixels. 0 x 0 where it is not known. */
void track_display_size(const Source *source, int *width, int *height);

/* Chapters in their order: how many there are, where one begins (AV_TIME_BASE units from the start
 * of the source, 0 or more), and its title, "" where it has none. */
int source_chapters(const Source *source);
int64_t source_chapter(const Source *source, int number);
const char *source_chapter_title(const Source *source, int number);

/* The title the input gives itself, or NULL. */
const char *source_title(const Source *source);

/* "2 of 3: eng, Commentary (ac3)", the number counted from 1 as people do. */
void track_describe(const Source *source, const AVStream *stream, char *text, size_t size);

#endif
