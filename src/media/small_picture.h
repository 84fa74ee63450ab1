/* Small pictures of frames, as they are watched: upright, with square pixels. */
#ifndef LUMEQ_MEDIA_SMALL_PICTURE_H
#define LUMEQ_MEDIA_SMALL_PICTURE_H

#include "media/convert.h"
#include "media/picture_format.h"

/* RGBA. */
typedef struct SmallPicture {
    uint8_t *pixels; /* the caller's to free() */
    int width, height;
} SmallPicture;

/* The frame as large as it fits into so many pixels, turned as told; where `aspect` is more than 1
 * its pixels are wider than high. 0 or AVERROR. */
int small_picture_make(Converter *converter, const AVFrame *frame, PictureTurn by, double aspect,
                       int width, int height, SmallPicture *picture);

/* {0} is a valid one. Not thread-safe. */
typedef struct SmallPictureMaker {
    Converter shrink, to_jpeg;
} SmallPictureMaker;

/* The same of a frame with all that tells how it is shown, in `side` pixels squared, but no larger
 * than it is, as a JPEG in base64, which the caller frees with free(); and its size. HDR is not
 * made darker or paler. NULL: there is no such picture. */
char *small_picture_jpeg(SmallPictureMaker *maker, const AVFrame *frame, int side, int *width,
                         int *height);

void small_picture_close(SmallPictureMaker *maker);

#endif
