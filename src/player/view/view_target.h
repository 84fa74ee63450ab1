/* Render targets (the window or a texture), RGBA layers, and textures for planes. */
#ifndef LUMEQ_PLAYER_VIEW_TARGET_H
#define LUMEQ_PLAYER_VIEW_TARGET_H

#include <stdbool.h>

#include "media/picture_format.h"
#include "panel/canvas.h"
#include "player/view/gl.h"
#include "player/view/view_shaders.h"
#include "player/view/view_uploader.h"

/* {0, width, height} is the window's back buffer. */
typedef struct Target {
    GLuint framebuffer;
    int width, height;
    int top_down; /* row 0 is the top row, as in textures and canvases */
} Target;

/* A texture to draw into. Valid as {0}. */
typedef struct Scratch {
    GLuint texture, framebuffer;
    int width, height;
} Scratch;

/* Creates or resizes the texture; its content is undefined. Use the same `format` in all calls. */
int scratch_make(const Gl *gl, Scratch *scratch, GLint format, int width, int height,
                 MediaError *error);
Target scratch_target(const Scratch *scratch);
void scratch_free(const Gl *gl, Scratch *scratch);

/* Makes the target current and limits drawing to `clip`. */
void target_use(const Gl *gl, const Target *target, Rect clip);

/* Fills a part of the current target and limits drawing to this part. */
void target_fill(const Gl *gl, const Target *target, Rect rect, Colour colour);

/* Converts a rectangle to left, top, width and height in OpenGL's clip space, for quad.vert. */
void target_place(const Target *target, Rect rect, float place[4]);

/* Copies a `top_down` target into a canvas of the target's size. */
int target_read(const Gl *gl, const Target *target, const Canvas *canvas, MediaError *error);

/* {0} draws nothing. */
typedef struct Layer {
    bool shown, scaled;
    GLuint texture;    /* 0: not created yet */
    int width, height; /* of the texture */
    Rect place;        /* in the target */
    double opacity;
} Layer;

/* Copies an overlay into the layer's texture. */
int layer_set(const Gl *gl, Layer *layer, const Overlay *overlay, MediaError *error);

/* Draws with `program` into `target`; both must be current. */
void layer_draw(const Gl *gl, const Layer *layer, const Program *program, const Target *target,
                GLuint sampler);

void layer_free(const Gl *gl, Layer *layer);

/* ---- view planes ---- */

#define PLANES_MAX 3

typedef struct PlaneTexture {
    GLuint texture;    /* 0: not created yet */
    PicturePlane size; /* of the plane that the texture was created for */
    int bytes;         /* per component */
} PlaneTexture;

/* Valid as {0} with `gl` set. */
typedef struct Planes {
    const Gl *gl;
    ViewUploader uploader;
    PlaneTexture texture[VIEW_SIDES][PLANES_MAX];
} Planes;

/* See view_set_uploader(). */
void planes_set_uploader(Planes *planes, const ViewUploader *uploader);

/* Uploads the planes of a frame. Returns 0, or a negative value with an error. */
int planes_set(Planes *planes, ViewSide side, const PictureFormat *format, const AVFrame *frame,
               MediaError *error);

/* Binds the side's first `count` textures to the texture units from 0 on. */
void planes_bind(const Planes *planes, ViewSide side, int count);

void planes_close(Planes *planes);

#endif
