/* RGBA pictures laid over the window. */
#ifndef LUMEQ_PLAYER_VIEW_LAYERS_H
#define LUMEQ_PLAYER_VIEW_LAYERS_H

#include "panel/canvas.h"
#include "player/view/gl.h"
#include "player/view/view_shaders.h"
#include "player/view/view_target.h"

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
