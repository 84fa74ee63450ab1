/* Small pictures of what a video shows here and there, for a person who looks for something. */
#ifndef LUMEQ_MEDIA_THUMBNAIL_H
#define LUMEQ_MEDIA_THUMBNAIL_H

#include "media/input/source.h"
#include "media/small_picture.h"

typedef struct Thumbnails Thumbnails;

/* Of a source of their own, which they close. For one thread at a time. MEDIA_INPUT; *thumbnails is
 * then NULL, and the source closed. */
int thumbnails_open(Thumbnails **thumbnails, Source *source, MediaError *error);

typedef SmallPicture Thumbnail;

/*
 * What is shown at the key frame at or before a position (AV_TIME_BASE units from the start of the
 * source), as large as it fits into so many pixels. 0; MEDIA_INPUT: there is no such picture.
 */
int thumbnails_make(Thumbnails *thumbnails, int64_t position, int width, int height,
                    Thumbnail *thumbnail, MediaError *error);

/* The frame itself, which the caller frees. MEDIA_INPUT, *frame is NULL then. */
int thumbnails_decode(Thumbnails *thumbnails, int64_t position, AVFrame **frame, MediaError *error);

/* Gives up to `count` frames in order to `take`, from that key frame on, until it answers something
 * else than 0. MEDIA_INPUT, or its answer. */
int thumbnails_follow(Thumbnails *thumbnails, int64_t position, int count,
                      int (*take)(void *opaque, const AVFrame *frame), void *opaque,
                      MediaError *error);

/* NULL is allowed inside. */
void thumbnails_close(Thumbnails **thumbnails);

#endif
