/* What the files of the view share. */
#ifndef LUMEQ_PLAYER_VIEW_STATE_H
#define LUMEQ_PLAYER_VIEW_STATE_H

#include "player/view/view.h"
#include "player/view/view_colour.h"
#include "player/view/view_layers.h"
#include "player/view/view_planes.h"
#include "player/view/view_shaders.h"
#include "player/view/view_target.h"

typedef struct ViewPicture {
    int shown; /* there is one */
    PictureFormat format;
    ViewColour colour;
} ViewPicture;

struct View {
    Gl gl;
    char renderer[256];
    int software;
    int max_size;
    ViewQuality quality;
    GLuint vertices;        /* an empty vertex array: core contexts want one */
    GLuint nearest, linear; /* samplers */
    Programs programs;
    Planes planes;
    ViewPicture picture[VIEW_SIDES];
    PictureTurn turn; /* of the stream */
    int mirrored;
    Layer layer[VIEW_LAYERS], handle;
    Scratch upright, across; /* the picture as RGB, and scaled in one direction */
    Scratch memory;          /* what is drawn to be read back */
};

/* How the picture is turned on the screen, mirror included. */
PictureTurn view_turn(const View *view, ViewSide side);

/* The picture's own size once it is turned. */
void view_upright_size(const View *view, ViewSide side, int *width, int *height);

/* Draws the picture of one side into `place`, as far as that lies in `clip`. */
int view_draw_picture(View *view, ViewSide side, const Target *target, Rect place, Rect clip,
                      ViewQuality quality, char *why, size_t size);

#endif
