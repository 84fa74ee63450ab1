/* What the files of a source share. */
#ifndef LUMEQ_MEDIA_SOURCE_PARTS_H
#define LUMEQ_MEDIA_SOURCE_PARTS_H

#include "media/input/source.h"

/* source_open.c: opens what is no camera, and looks for its tracks. */
int source_open_format(Source *source, const SourceOptions *options, MediaError *error);

/* source_video.c: picks the video track of what is open. */
int source_pick_video(Source *source, const SourceOptions *options, MediaError *error);

/* source.c: whether there was no memory for something since source_watch_memory(), by the same
 * thread. Demuxers go on without a packet that they had no memory for, or tell it as the end. */
void source_watch_memory(Source *source);
int source_lacks_memory(const Source *source);

/* Keeps what allocators have left in errno, before a call that may change it. */
void source_keep_errno(Source *source);

/* source.c: source_is_stopped() for those who want a callback. */
int source_stop_callback(const void *source);

#endif
