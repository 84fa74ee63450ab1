/*
 * What the window shows: the picture before and after, beside each other or split, and RGBA layers
 * above. Drawn with OpenGL 3.3 core, which must be current on the one thread that calls any of
 * this, from view_open to view_close.
 *
 * All positions and sizes are pixels of what is drawn into, y down. Functions that can fail answer
 * 0, or -1 with a sentence in `why`.
 */
#ifndef LUMEQ_PLAYER_VIEW_H
#define LUMEQ_PLAYER_VIEW_H

#include <stddef.h>
#include <stdint.h>

#include "media/message.h"
#include "panel/canvas.h"
#include "player/view/view_uploader.h"

typedef struct View View;

typedef enum ViewCompare {
    VIEW_COMPARE_OFF = 0, /* one picture */
    VIEW_COMPARE_SPLIT,   /* one place: the input left of a line, the output right of it */
    VIEW_COMPARE_SIDE,    /* both whole: the input left or above, the output right or below */
} ViewCompare;

/* In the order they are drawn in. */
typedef enum ViewLayer {
    VIEW_LAYER_SUBTITLES = 0,
    VIEW_LAYER_PANEL,
    VIEW_LAYER_BEFORE,
    VIEW_LAYER_AFTER,
    VIEW_LAYER_BAR,
    VIEW_LAYER_POINTED,
    VIEW_LAYER_STATISTICS,
    VIEW_LAYER_SETTINGS,
    VIEW_LAYER_MESSAGE,
    VIEW_LAYER_RECORDING,
    VIEW_LAYER_HELP,
    VIEW_LAYERS,
} ViewLayer;

/* Where pictures lie; without a frame of that side, or not shown: {0}. */
typedef struct ViewPlaces {
    Rect picture[VIEW_SIDES]; /* as much of them as is to be seen */
    Rect whole[VIEW_SIDES];   /* all of them, of which a part may be outside */
    Rect area[VIEW_SIDES];    /* what each has to itself */
} ViewPlaces;

/* How large they are shown: all zero: as they fit. */
typedef struct ViewZoom {
    double by;   /* times as large as they fit, at most VIEW_MAX_ZOOM; below 1 as 1 */
    double x, y; /* what of the picture is in the middle of its area, from -0.5 to 0.5 of it */
} ViewZoom;

#define VIEW_MAX_ZOOM 256.0

/* Pixels of the window for each of the picture's, at most: enough to count samples. */
#define VIEW_MAX_PIXELS 64.0

/* {0} shows the output in no area: nothing. */
typedef struct ViewScene {
    int width, height; /* of the window */
    Rect area;         /* the part of it that pictures are fitted into; the rest is black */
    ViewCompare compare;
    ViewSide shown; /* which picture, when not comparing */
    double split;   /* where the line is, 0 (left side of what is seen of the picture) to 1 */
    ViewZoom zoom;
    Rect mark; /* a part of the window that is framed; without a width none */
} ViewScene;

int view_open(View **view, char *why, size_t size);

/* "NVIDIA H200/PCIe, OpenGL 4.6", owned by the view. */
const char *view_renderer(const View *view);

/* Longest side of a frame, a layer or a scene that can be shown. */
int view_max_size(const View *view);

/* For the frames to come. Copied; NULL: none. It is used until the next is set, or view_close. */
void view_set_uploader(View *view, const ViewUploader *uploader);

/*
 * The picture of one side: copied into textures, and shown from the next view_draw on. Chroma
 * planes in the very memory that the other side's frame has them in are not copied twice; to tell,
 * a reference to the buffers of the chroma planes is kept until the next frame of that side or
 * view_close. Fails for formats that picture_format() does not take and for frames beyond
 * view_max_size; the side has no picture then. NULL removes the picture.
 */
int view_set_frame(View *view, ViewSide side, const AVFrame *frame, char *why, size_t size);

/* Not 0: left and right are exchanged, as they are shown. */
void view_set_mirror(View *view, int mirrored);

/*
 * The picture laid over the window with its first pixel at (x, y), perhaps partly outside. The
 * canvas is copied; `opacity` 0..1 goes on top of its own alpha. A NULL canvas removes the layer.
 */
int view_set_layer(View *view, ViewLayer layer, const Canvas *canvas, int x, int y, double opacity,
                   char *why, size_t size);

/* Shows it elsewhere or fades it, without copying it again. */
void view_move_layer(View *view, ViewLayer layer, int x, int y, double opacity);

/* The size of the upright picture with square pixels, at least its own in both directions; 0 x 0
 * without a frame. */
void view_picture_size(const View *view, ViewSide side, int *width, int *height);

/*
 * Where the pictures of a scene lie: as large as they fit into its area, in their shape, centred,
 * or zoomed from there; what is larger than its area leaves none of it empty, wherever its middle
 * is. VIEW_COMPARE_SIDE: beside or above each other, whichever shows them larger.
 */
ViewPlaces view_layout(const View *view, const ViewScene *scene);

/*
 * Another zoom of the same scene, so many times as large (0: the whole picture), at which the point
 * (x, y) of a picture stays where it is. A picture in its own size is not passed by; *pixels is how
 * many pixels of the window one of the picture's has then.
 */
ViewZoom view_zoom(const View *view, const ViewScene *scene, double times, int x, int y,
                   double *pixels);

/* The picture moved by so many pixels, as far as it covers its area. */
ViewZoom view_pan(const View *view, const ViewScene *scene, int x, int y);

/* What of the picture that is shown (the output in a comparison) is in this part of the window: in
 * samples as they are stored, turned as the picture is. Without any: {0}. */
Rect view_find(const View *view, const ViewScene *scene, Rect part);

/* The column of the window that the line of a split is left of. */
int view_split_column(const ViewPlaces *places, double split);

/* Draws into the window's back buffer, all of it. A scene without width or height is none. */
int view_draw(View *view, const ViewScene *scene, char *why, size_t size);

/* The same into memory: a canvas of the scene's size. */
int view_read(View *view, const ViewScene *scene, const Canvas *canvas, char *why, size_t size);

/* The picture of one side alone, as large as the canvas and in the best quality. */
int view_render_picture(View *view, ViewSide side, const Canvas *canvas, char *why, size_t size);

/* While the context is still current. */
void view_close(View **view);

#endif
