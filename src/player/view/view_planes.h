/* Textures of the frames' planes. */
#ifndef LUMEQ_PLAYER_VIEW_PLANES_H
#define LUMEQ_PLAYER_VIEW_PLANES_H

#include "media/picture_format.h"
#include "player/view/gl.h"
#include "player/view/view_uploader.h"

#define PLANES_MAX 3

/* A texture and the plane it holds. */
typedef struct PlaneTexture {
    GLuint texture, buffer; /* 0: not created yet */
    PicturePlane size;      /* size they were created for */
    int bytes;
    AVBufferRef *held;   /* the chroma plane's buffer; NULL: unknown */
    const uint8_t *data; /* the plane's start in it */
    ptrdiff_t stride;
} PlaneTexture;

/* Valid as {0} with `gl` set. Each plane has two textures: one per side, or one for both if their
 * chroma is the same. */
typedef struct Planes {
    const Gl *gl;
    int direct; /* upload straight from frame memory: software drivers copy at once */
    ViewUploader uploader;
    PlaneTexture texture[PLANES_MAX][2];
    PlaneTexture *used[VIEW_SIDES][PLANES_MAX]; /* NULL: none */
} Planes;

/* See view_set_uploader(). */
void planes_set_uploader(Planes *planes, const ViewUploader *uploader);

/* Returns 0, or -1 with a sentence; the side then has no planes. */
int planes_set(Planes *planes, ViewSide side, const PictureFormat *format, const AVFrame *frame,
               char *why, size_t size);

/* Removes the side's frame. */
void planes_unset(Planes *planes, ViewSide side);

/* Binds the side's textures to units 0, 1 and 2. */
void planes_bind(const Planes *planes, ViewSide side, int count);

void planes_close(Planes *planes);

#endif
