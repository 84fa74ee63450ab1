/* How planes of frames get into textures where that is not through ordinary memory. */
#ifndef LUMEQ_PLAYER_VIEW_UPLOADER_H
#define LUMEQ_PLAYER_VIEW_UPLOADER_H

#include <stddef.h>

#include "media/message.h"

typedef enum ViewSide {
    VIEW_INPUT = 0, /* as decoded */
    VIEW_OUTPUT,    /* as equalized */
    VIEW_SIDES,
} ViewSide;

/* One plane of a frame on its way to its texture. */
typedef struct ViewPlane {
    unsigned texture;     /* GL_TEXTURE_2D of GL_R8, GL_RG8, GL_R16 or GL_RG16 */
    int plane;            /* of the frame: 0 luma, 1 and 2 chroma */
    int width, height;    /* of the texture, in texels */
    int bytes_per_row;    /* width times the bytes of a texel */
    const void *data;     /* first row, as the frame has it */
    ptrdiff_t stride;     /* bytes from one row to the next; may be negative */
    const AVFrame *frame; /* it is a plane of */
} ViewPlane;

/*
 * Another way for planes to get into their textures than through ordinary memory. A texture keeps
 * its name until the format or the size of the frames changes.
 */
typedef struct ViewUploader {
    /*
     * Fills the whole textures of `count` planes of one frame at once (each turn costs as much as a
     * plane), before the next OpenGL call may use them; the planes' memory is read no more when it
     * returns. 0; 1: they have to go the usual way, all of them; or -1 with a sentence in `why`:
     * some lie where only this way reaches.
     */
    int (*upload)(void *opaque, const ViewPlane *planes, int count, char *why, size_t size);
    /* A texture, which `upload` may not have seen, is about to be deleted or to go another way.
     * Not 0: it must not, as it may still be written to: it is left to itself. */
    int (*forget)(void *opaque, unsigned texture);
    void *opaque;
} ViewUploader;

#endif
