/* What the files of a source share. */
#ifndef LUMEQ_MEDIA_SOURCE_PARTS_H
#define LUMEQ_MEDIA_SOURCE_PARTS_H

#include "media/source.h"

/* source_open.c: opens what is no camera, and looks for its tracks. */
int source_open_format(Source *source, const SourceOptions *options, MediaError *error);

/* source_video.c: picks the video track of what is open. */
int source_pick_video(Source *source, const SourceOptions *options, MediaError *error);

/* source.c: source_is_stopped() for those who want a callback. */
int source_stop_callback(const void *source);

#endif
