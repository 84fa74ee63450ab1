/* Makes thumbnails of frames, upright and with square pixels, and encodes single pictures. */
#ifndef LUMEQ_MEDIA_SMALL_PICTURE_H
#define LUMEQ_MEDIA_SMALL_PICTURE_H

#include <libavcodec/avcodec.h>

#include "media/convert.h"
#include "media/picture_format.h"

/* An RGBA picture: rows of 4 bytes per pixel without padding. */
typedef struct SmallPicture {
    uint8_t *pixels; /* freed by the caller with free() */
    int width, height;
} SmallPicture;

/* Rotates the frame by `by` and scales it to fit into width x height with square pixels; `aspect`
 * is the frame's pixel aspect. Returns 0 or AVERROR. */
int small_picture_make(Converter *converter, const AVFrame *frame, PictureTurn by, double aspect,
                       int width, int height, SmallPicture *picture);

/* Starts as {0}. For one thread at a time. */
typedef struct SmallPictureMaker {
    Converter shrink, to_jpeg;
} SmallPictureMaker;

/* Shrinks the frame to at most `side` pixels in width and height, upright and with square pixels.
 * Returns a JPEG as base64 text and sets *width and *height; free the text with free(). Does
 * not tone-map HDR. Returns NULL on failure, or if picture_format() refuses the format. */
char *small_picture_jpeg(SmallPictureMaker *maker, const AVFrame *frame, int side, int *width,
                         int *height);

void small_picture_close(SmallPictureMaker *maker);

/* Encodes a frame as a picture with FFmpeg's encoder for this codec, which must accept the frame's
 * format. `quality`: 2 (best) to 31 for JPEG, else 0. Returns 0 or AVERROR. */
int picture_encode(enum AVCodecID codec, AVFrame *frame, int quality, AVPacket *packet);

#endif
