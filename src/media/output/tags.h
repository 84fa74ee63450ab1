/* Tags and chapters, from one file to another. */
#ifndef LUMEQ_MEDIA_TAGS_H
#define LUMEQ_MEDIA_TAGS_H

#include <libavformat/avformat.h>

/* Of a file, a track or a chapter, so many tags are kept. FFmpeg compares each with all before it,
 * here and in its muxers: 40,000 would take seconds, in which no signal is looked at. */
#define TAGS_KEPT 1000

/* What is kept of the tags of a track or file: the first TAGS_KEPT, without what described the old
 * file. `only_names`: just the language and the names that a container asks for. How many were too
 * many, or AVERROR(ENOMEM). */
int tags_copy(AVDictionary **to, const AVDictionary *from, int only_names);

/* Removes figures (bit rate, count of frames) that were taken of the old track. */
void tags_drop_statistics(AVDictionary **tags);

/* Not 0: some tags of this output are known to phones and QuickTime only, and its container keeps
 * them when it is told to write all as keys of QuickTime's ("use_metadata_tags"). */
int tags_want_keys(const AVFormatContext *to);

/* Gives the ordinary tags, which as keys have names that only FFmpeg knows, QuickTime's names, too,
 * and takes back the capitals that Matroska has made of names. 0 or AVERROR(ENOMEM). */
int tags_name_for_quicktime(AVDictionary **tags);

/* Which tags of a recording (device, place, time) the container drops: how many, and their names,
 * as far as they fit into `size`. */
int tags_left_out(const AVFormatContext *to, char *names, size_t size);

/*
 * The chapters between `start` and `end` (AV_TIME_BASE units; AV_NOPTS_VALUE: no limit), cut there.
 * How many of their tags were too many, or AVERROR(ENOMEM).
 */
int chapters_copy(AVFormatContext *to, const AVFormatContext *from, int64_t start, int64_t end,
                  int with_tags);

/* Adds `by` to the times of chapters_copy(). */
void chapters_move(AVFormatContext *to, int64_t by);

/* Whether the muxer writes chapters. */
int chapters_fit(const AVOutputFormat *muxer);

#endif
