/* The planes of the frames that are shown, as textures. */
#ifndef LUMEQ_PLAYER_VIEW_PLANES_H
#define LUMEQ_PLAYER_VIEW_PLANES_H

#include "media/picture_format.h"
#include "player/view/gl.h"
#include "player/view/view_uploader.h"

#define PLANES_MAX 3

/* One texture, and which plane of which frame is in it. */
typedef struct PlaneTexture {
    GLuint texture, buffer; /* 0: not made yet */
    PicturePlane size;      /* what they were made for */
    int bytes;
    AVBufferRef *held;   /* of a chroma plane, NULL: not known */
    const uint8_t *data; /* in it */
    ptrdiff_t stride;
} PlaneTexture;

/* {0} with `gl` set is a valid one. Each plane has two textures: each side uses one of its own, or
 * both use the same when they have the same chroma. */
typedef struct Planes {
    const Gl *gl;
    int direct; /* textures are filled from the frame's memory: the driver copies at once anyway */
    ViewUploader uploader;
    PlaneTexture texture[PLANES_MAX][2];
    PlaneTexture *used[VIEW_SIDES][PLANES_MAX]; /* NULL: none */
} Planes;

/* As view_set_uploader(). */
void planes_set_uploader(Planes *planes, const ViewUploader *uploader);

/* 0, or -1 with a sentence; the side then has no planes. */
int planes_set(Planes *planes, ViewSide side, const PictureFormat *format, const AVFrame *frame,
               char *why, size_t size);

/* The side has no frame any more. */
void planes_unset(Planes *planes, ViewSide side);

/* Binds the side's textures to the units 0, 1 and 2. */
void planes_bind(const Planes *planes, ViewSide side, int count);

void planes_close(Planes *planes);

#endif
