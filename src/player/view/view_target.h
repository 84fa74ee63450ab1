/* What is drawn into, the window or a texture, and the RGBA pictures that are laid over it. */
#ifndef LUMEQ_PLAYER_VIEW_TARGET_H
#define LUMEQ_PLAYER_VIEW_TARGET_H

#include "panel/canvas.h"
#include "player/view/gl.h"
#include "player/view/view_shaders.h"

/* {0, width, height} is the window's back buffer. */
typedef struct Target {
    GLuint framebuffer;
    int width, height;
    int top_down; /* the first row of memory is the top one, as in textures and canvases */
} Target;

/* A texture to draw into. {0} is a valid one. */
typedef struct Scratch {
    GLuint texture, framebuffer;
    int width, height;
} Scratch;

/* Makes it as large as that, with its content undefined. `format` is the same at every call. */
int scratch_make(const Gl *gl, Scratch *scratch, GLint format, int width, int height, char *why,
                 size_t size);
Target scratch_target(const Scratch *scratch);
void scratch_free(const Gl *gl, Scratch *scratch);

/* From here on, drawing goes there, limited to `clip`. */
void target_use(const Gl *gl, const Target *target, Rect clip);

/* Fills a part of the target that is in use. */
void target_fill(const Gl *gl, const Target *target, Rect rect, Colour colour);

/* Left, top, width and height of a rectangle in clip space, for quad.vert. */
void target_place(const Target *target, Rect rect, float place[4]);

/* Copies a target that is top_down into a canvas of its size. */
int target_read(const Gl *gl, const Target *target, const Canvas *canvas, char *why, size_t size);

/* {0} draws nothing. */
typedef struct Layer {
    GLuint texture;    /* 0: not made yet */
    int width, height; /* of the texture */
    Rect visible;      /* the part of the canvas with anything in it: all that is in the texture */
    int x, y;          /* where the canvas lies */
    int opaque;        /* all of that part is */
    double opacity;
} Layer;

/* Copies a canvas, which may be NULL: nothing. */
int layer_set(const Gl *gl, Layer *layer, const Canvas *canvas, char *why, size_t size);

/* Draws with a program that is in use, into a target that is. */
void layer_draw(const Gl *gl, const Layer *layer, const Program *program, const Target *target);

void layer_free(const Gl *gl, Layer *layer);

#endif
