/*
 * Draws the picture before or after equalizing, or compares the two. Draws RGBA layers above
 * the pictures. An OpenGL 3.3 core context must be current on the calling thread.
 *
 * Positions and sizes are pixels of the render target, y down. Functions that can fail return 0, or
 * a negative value with an error.
 */
#ifndef LUMEQ_PLAYER_VIEW_H
#define LUMEQ_PLAYER_VIEW_H

#include <stddef.h>
#include <stdint.h>

#include "panel/canvas.h"
#include "player/view/view_uploader.h"
#include "run/run_frame.h"

typedef struct View View;

typedef enum ViewCompare {
    VIEW_COMPARE_OFF = 0, /* one picture */
    VIEW_COMPARE_SPLIT,   /* one picture: input left of a line, output right of it */
    VIEW_COMPARE_SIDE,    /* two pictures: input left or above, output right or below */
} ViewCompare;

/* In drawing order. */
typedef enum ViewLayer {
    VIEW_LAYER_SUBTITLES = 0,
    VIEW_LAYER_PANEL,
    VIEW_LAYER_OSD, /* the first of OSD_PARTS layers */
    VIEW_LAYERS = 16,
} ViewLayer;

/* Places of the pictures; {0} for a hidden side. Without a frame, a side has only its area. */
typedef struct ViewPlaces {
    Rect picture[VIEW_SIDES]; /* visible part */
    Rect whole[VIEW_SIDES];   /* whole picture, possibly larger than its area */
    Rect area[VIEW_SIDES];    /* area available to each side */
} ViewPlaces;

/* Zoom; {0}: the whole picture fits into its area. */
typedef struct ViewZoom {
    double by;   /* 1: fits into the area; up to VIEW_MAX_ZOOM; less than 1 counts as 1 */
    double x, y; /* the picture's point that lies at the area's centre, -0.5 to 0.5 */
} ViewZoom;

#define VIEW_MAX_ZOOM 256.0

/* Maximum window pixels per picture pixel in view_zoom(). */
#define VIEW_MAX_PIXELS 64.0

/* {0} draws nothing. */
typedef struct ViewScene {
    int width, height; /* of the window */
    Rect area;         /* pictures are fitted into this part; the rest is black */
    ViewCompare compare;
    ViewSide shown; /* picture to show when not comparing */
    double split;   /* position of the line in the visible picture, 0 (left) to 1 */
    ViewZoom zoom;
    Rect mark; /* outlined rectangle; no width: none */
} ViewScene;

int view_open(View **view, MediaError *error);

/* The renderer and version, such as "NVIDIA H200/PCIe, OpenGL 4.6"; owned by the view. */
const char *view_renderer(const View *view);

/* Sets the uploader for further frames (copied); NULL: none. `opaque` must stay valid until the
 * uploader is replaced or the view is closed. */
void view_set_uploader(View *view, const ViewUploader *uploader);

/* Copies a frame into the textures of one side. A NULL frame or a failure removes the picture.
 * Fails for formats that picture_format() rejects and for sizes above OpenGL's limit. */
int view_set_frame(View *view, ViewSide side, const AVFrame *frame, MediaError *error);

/* Nonzero: mirrors the picture horizontally. */
void view_set_mirror(View *view, int mirrored);

/* Copies an overlay to a layer. An empty overlay removes the layer. `opacity` (0 to 1) multiplies
 * the overlay's alpha and must be 1 for a scaled overlay. */
int view_set_layer(View *view, ViewLayer layer, const Overlay *overlay, double opacity,
                   MediaError *error);

/* Moves or fades a layer without copying it again. */
void view_move_layer(View *view, ViewLayer layer, int x, int y, double opacity);

/* The picture's size when upright and scaled up to square pixels; 0 x 0 without a frame. */
void view_picture_size(const View *view, ViewSide side, int *width, int *height);

/* Computes the places of the pictures: centred and fitted into the area, or zoomed. A picture that
 * is larger than its area covers the area. VIEW_COMPARE_SIDE places the pictures side by side or
 * one above the other, whichever makes them larger. */
ViewPlaces view_layout(const View *view, const ViewScene *scene);

/* Zooms by a factor (0: the whole picture). The point at (x, y) stays in place. *pixels: the new
 * scale in window pixels per picture pixel. A step that would pass scale 1 stops at 1. */
ViewZoom view_zoom(const View *view, const ViewScene *scene, double times, int x, int y,
                   double *pixels);

/* Moves the picture by (x, y), as far as it still covers its area. */
ViewZoom view_pan(const View *view, const ViewScene *scene, int x, int y);

/* Converts a window rectangle to stored samples of the shown picture (the output in a comparison);
 * {0} if the rectangle is outside. */
Rect view_to_samples(const View *view, const ViewScene *scene, Rect part);

/* The window column of the split line. */
int view_split_column(const ViewPlaces *places, double split);

/* Draws the whole back buffer, unless the scene is empty. */
int view_draw(View *view, const ViewScene *scene, MediaError *error);

/* Draws into a canvas of the scene's size. */
int view_read(View *view, const ViewScene *scene, const Canvas *canvas, MediaError *error);

/* Renders one picture alone in the canvas's size, in the best quality. */
int view_render_picture(View *view, ViewSide side, const Canvas *canvas, MediaError *error);

/* Call while the context is still current. */
void view_close(View **view);

#endif
