/* Interface for uploading planes without OpenGL, for example from GPU memory. */
#ifndef LUMEQ_PLAYER_VIEW_UPLOADER_H
#define LUMEQ_PLAYER_VIEW_UPLOADER_H

#include <stddef.h>

#include "media/error.h"
#include "run/run_frame.h"

typedef enum ViewSide {
    VIEW_INPUT = 0, /* as decoded */
    VIEW_OUTPUT,    /* as equalized */
    VIEW_SIDES,
} ViewSide;

/* One plane to upload. */
typedef struct ViewPlane {
    unsigned texture;  /* GL_TEXTURE_2D of GL_R8, GL_RG8, GL_R16 or GL_RG16 */
    int width, height; /* of the texture, in texels */
    int bytes_per_row; /* width times the bytes per texel */
    const void *data;  /* first row */
    ptrdiff_t stride;  /* bytes between rows; may be negative */
} ViewPlane;

/* Replaces OpenGL's uploads. Textures keep their names until the frames' format or size changes. */
typedef struct ViewUploader {
    /* Uploads the planes of one frame. When this function returns, the textures are ready for the
     * next OpenGL call and the planes are no longer read. Returns 0; 1 if the caller must upload
     * all planes with OpenGL; or a negative value with an error if OpenGL cannot read a plane. */
    int (*upload)(void *opaque, const ViewPlane *planes, int count, MediaError *error);
    /* Called before a texture is deleted or OpenGL fills it. */
    void (*forget)(void *opaque, unsigned texture);
    void *opaque;
} ViewUploader;

#endif
