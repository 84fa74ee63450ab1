/* Textures of the frames' planes. */
#ifndef LUMEQ_PLAYER_VIEW_PLANES_H
#define LUMEQ_PLAYER_VIEW_PLANES_H

#include "media/picture_format.h"
#include "player/view/gl.h"
#include "player/view/view_uploader.h"

#define PLANES_MAX 3

typedef struct PlaneTexture {
    GLuint texture, buffer; /* 0: not created yet */
    PicturePlane size;      /* size they were created for */
    int bytes;
} PlaneTexture;

/* Valid as {0} with `gl` set. */
typedef struct Planes {
    const Gl *gl;
    int direct; /* upload straight from frame memory: software drivers copy at once */
    ViewUploader uploader;
    PlaneTexture texture[VIEW_SIDES][PLANES_MAX];
} Planes;

/* See view_set_uploader(). */
void planes_set_uploader(Planes *planes, const ViewUploader *uploader);

/* Uploads the planes of a frame. Returns 0, or a negative value with an error. */
int planes_set(Planes *planes, ViewSide side, const PictureFormat *format, const AVFrame *frame,
               MediaError *error);

/* Binds the side's textures to units 0, 1 and 2. */
void planes_bind(const Planes *planes, ViewSide side, int count);

void planes_close(Planes *planes);

#endif
