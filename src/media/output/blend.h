/* Blends a picture with alpha over YUV and gray frames. */
#ifndef LUMEQ_MEDIA_BLEND_H
#define LUMEQ_MEDIA_BLEND_H

#include <stddef.h>
#include <stdint.h>

#include "media/convert.h"

/* Borrowed pixels: R, G, B, A in this order, alpha not premultiplied. */
typedef struct BlendPicture {
    const uint8_t *pixels; /* the pixel at the upper left of the place */
    /* bytes to the next pixel to the right in the place, and below: a picture can be drawn
     * rotated or mirrored */
    ptrdiff_t column, row;
    int width, height; /* as seen in the place */
} BlendPicture;

/* In luma pixels, inside the frame, not empty. */
typedef struct BlendPlace {
    int x, y, width, height;
} BlendPlace;

/* {0} is valid. Not thread-safe. */
typedef struct Blender {
    Converter converter;
    AVBufferPool *pool; /* memory for whole frames */
    size_t size;        /* of each */
} Blender;

/*
 * Blends the picture over its place in a direct frame (convert.h), scaled to the place, in the
 * frame's matrix and range; in PQ and HLG its white is 203 nits. A chroma sample becomes the mean
 * of its blended pixels. Shared frame memory is copied first. Deterministic. Returns 0 or AVERROR;
 * the frame is valid in both cases.
 */
int blend_picture(Blender *blender, AVFrame *frame, BlendPlace place, const BlendPicture *picture);

/* Allocates a frame of another size with the same properties and uninitialized pixels, from a pool.
 * NULL: out of memory. The caller frees it. */
AVFrame *blend_frame_like(Blender *blender, const AVFrame *frame, int width, int height);

/* Copies a part of a frame to (x, y) of another one in the same direct format. Both positions must
 * lie on chroma samples. */
void blend_copy(AVFrame *to, int x, int y, const AVFrame *from, BlendPlace part);

void blend_close(Blender *blender);

#endif
