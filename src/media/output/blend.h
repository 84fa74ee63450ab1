/* A picture with transparency, laid over frames of YUV and gray. */
#ifndef LUMEQ_MEDIA_BLEND_H
#define LUMEQ_MEDIA_BLEND_H

#include <stddef.h>
#include <stdint.h>

#include "media/convert.h"

/* Plain data, borrowed. Pixels are R, G, B, A in this order, alpha not multiplied in. */
typedef struct BlendPicture {
    const uint8_t *pixels; /* the one at the upper left of the place */
    ptrdiff_t column, row; /* bytes to the next pixel to the right of the place, and to the one
                              below: a picture can be laid down turned or mirrored */
    int width, height;     /* as it lies in the place */
} BlendPicture;

/* In pixels of luma, within the frame and not empty. */
typedef struct BlendPlace {
    int x, y, width, height;
} BlendPlace;

/* {0} is a valid one. Not thread-safe. */
typedef struct Blender {
    Converter converter;
    AVBufferPool *pool; /* of memory for whole frames */
    size_t size;        /* of each */
} Blender;

/*
 * Lays the picture over its place in a direct frame (convert.h), scaled to the place, in the
 * frame's matrix and range; in PQ and HLG its white is 203 nits. A sample of chroma becomes the
 * mean of what its pixels would become. Memory that the frame shares with others is not written to:
 * the frame gets its own. The same input gives the same bytes. 0 or AVERROR; the frame is whole in
 * either case.
 */
int blend_picture(Blender *blender, AVFrame *frame, BlendPlace place, const BlendPicture *picture);

/* A frame of another size with the same properties, not yet written, in memory that is used again.
 * NULL: out of memory. The caller frees it. */
AVFrame *blend_frame_like(Blender *blender, const AVFrame *frame, int width, int height);

/* Copies a part of a frame to (x, y) of one of the same direct format. Both begin at samples of
 * chroma. */
void blend_copy(AVFrame *to, int x, int y, const AVFrame *from, BlendPlace part);

void blend_close(Blender *blender);

#endif
