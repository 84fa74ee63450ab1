/* Blends a picture with alpha over YUV and gray frames. */
#ifndef LUMEQ_MEDIA_BLEND_H
#define LUMEQ_MEDIA_BLEND_H

#include <stddef.h>
#include <stdint.h>

#include "media/convert.h"

/* Borrowed pixels: R, G, B, A in this order, alpha not premultiplied. The strides can rotate or
 * mirror the picture. */
typedef struct BlendPicture {
    const uint8_t *pixels; /* the pixel that is drawn at the upper left */
    ptrdiff_t column, row; /* bytes from a pixel to the pixels drawn right of it and below it */
    int width, height;     /* as drawn */
} BlendPicture;

/* A rectangle in the frame, in luma pixels, not empty. */
typedef struct BlendPlace {
    int x, y, width, height;
} BlendPlace;

/* {0} is valid. Not thread-safe. */
typedef struct Blender {
    Converter converter;
    AVBufferPool *pool; /* memory for whole frames */
    size_t size;        /* bytes per frame */
} Blender;

/*
 * Scales the picture to its place and blends it over a direct frame (convert.h), in the frame's
 * matrix and range. In PQ and HLG, the picture's white becomes 203 nits. If the frame shares its
 * memory, it gets a copy first. Returns 0 or AVERROR; the frame is valid in both cases.
 */
int blend_picture(Blender *blender, AVFrame *frame, BlendPlace place, const BlendPicture *picture);

/* Takes a frame of this size from the pool, with the properties of `frame` and uninitialized
 * pixels. The caller frees it. NULL: out of memory. */
AVFrame *blend_frame_like(Blender *blender, const AVFrame *frame, int width, int height);

/* Copies a part of a frame to (x, y) of another frame in the same direct format. Both positions
 * must be multiples of the chroma subsampling. */
void blend_copy(AVFrame *to, int x, int y, const AVFrame *from, BlendPlace part);

void blend_close(Blender *blender);

#endif
