/* Where the panel is in a window. */
#ifndef LUMEQ_PANEL_PANEL_PLACE_H
#define LUMEQ_PANEL_PANEL_PLACE_H

#include "panel/canvas.h"

typedef enum PanelMode {
    PANEL_OFF,
    PANEL_BESIDE, /* to the right of the picture, or below it in a window that is not wide */
    PANEL_OVER,   /* over the picture, translucent */
} PanelMode;

/* In pixels of the window. */
typedef struct PanelPlace {
    Rect panel;   /* {0}: none, also where the window is too small for one */
    Rect picture; /* what is left for the picture */
    Rect free;    /* the part of `picture` that the panel does not cover: for messages and so on */
} PanelPlace;

PanelPlace panel_place(int width, int height, PanelMode mode);

/* What a panel over pictures leaves to be seen. */
typedef enum PanelOver {
    PANEL_OVER_ONE,    /* it stands at the right of a picture */
    PANEL_OVER_SPLIT,  /* at the left of one that is to be seen to the right of a line, and not at
                          all where less than a quarter of the panel would be left of it */
    PANEL_OVER_MIDDLE, /* between two, over as much of each */
} PanelOver;

/* PANEL_OVER in a window of this size, where pictures cover `around`: the panel is inside that.
 * `line`: the column of the window that the line of PANEL_OVER_SPLIT is at. */
PanelPlace panel_place_over(int width, int height, Rect around, PanelOver over, int line);

/* The largest part of a rectangle on one side of the panel; all of it where they do not meet. */
Rect panel_free(Rect whole, Rect panel);

/* From the size of a picture to that of a window which has the panel beside it, and no more; the
 * same size where there is none beside such a picture. */
void panel_add_room(int *width, int *height);

#endif
