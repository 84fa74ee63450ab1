/* Copies tags and chapters from one file to another. */
#ifndef LUMEQ_MEDIA_TAGS_H
#define LUMEQ_MEDIA_TAGS_H

#include <libavformat/avformat.h>

/* Copies the first 1,000 tags of a track or file, except tags that describe the old file.
 * `only_names`: copies only language, file name and MIME type, which containers need. Returns 0 or
 * AVERROR(ENOMEM). */
int tags_copy(AVDictionary **to, const AVDictionary *from, int only_names);

/* Removes statistics of the old track (bit rate, number of frames). */
void tags_drop_statistics(AVDictionary **tags);

/* Returns 1 if some tags of this output need QuickTime keys ("use_metadata_tags") and its container
 * can store them. */
int tags_want_keys(const AVFormatContext *to);

/* Adds QuickTime's keys for ordinary tags. Without these, use_metadata_tags would store the tags
 * only under names that no other program knows. Returns 0 or AVERROR(ENOMEM). */
int tags_name_for_quicktime(AVDictionary **tags);

/* Copies the chapters between `start` and `end` (AV_TIME_BASE units; AV_NOPTS_VALUE: no limit) and
 * trims them to that range; `with_tags`: also their titles and other tags. Returns 0 or
 * AVERROR(ENOMEM). */
int chapters_copy(AVFormatContext *to, const AVFormatContext *from, int64_t start, int64_t end,
                  int with_tags);

/* Muxers that write chapters. */
#define CHAPTER_MUXERS "mp4,mov,ipod,matroska,webm,ogg,ogv,oga,nut,asf"

/* Shifts all chapters by `by`, in AV_TIME_BASE units, but not below 0. */
void chapters_move(AVFormatContext *to, int64_t by);

#endif
