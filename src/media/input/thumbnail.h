/* Thumbnails of a video at given positions. */
#ifndef LUMEQ_MEDIA_THUMBNAIL_H
#define LUMEQ_MEDIA_THUMBNAIL_H

#include "media/input/source.h"
#include "media/small_picture.h"

typedef struct Thumbnails Thumbnails;

/* Opens thumbnails and takes ownership of the source. For one thread at a time. MEDIA_INPUT:
 * *thumbnails is NULL and the source closed. */
int thumbnails_open(Thumbnails **thumbnails, Source *source, MediaError *error);

typedef SmallPicture Thumbnail;

/*
 * Makes a thumbnail of the key frame at or before a position (AV_TIME_BASE units from the start),
 * scaled to fit into width x height. Returns 0 or MEDIA_INPUT.
 */
int thumbnails_make(Thumbnails *thumbnails, int64_t position, int width, int height,
                    Thumbnail *thumbnail, MediaError *error);

/* Returns that frame itself, which the caller frees. MEDIA_INPUT: *frame is NULL. */
int thumbnails_decode(Thumbnails *thumbnails, int64_t position, AVFrame **frame, MediaError *error);

/* Passes up to `count` frames from that key frame on to `take`, until it returns other than 0.
 * Returns MEDIA_INPUT or its result. */
int thumbnails_follow(Thumbnails *thumbnails, int64_t position, int count,
                      int (*take)(void *opaque, const AVFrame *frame), void *opaque,
                      MediaError *error);

/* *thumbnails may be NULL. */
void thumbnails_close(Thumbnails **thumbnails);

#endif
