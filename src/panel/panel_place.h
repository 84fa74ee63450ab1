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
    Rect free;    /* the part of `picture` that the panel does not cover, to the left of it or
                     above it: for messages and the like */
} PanelPlace;

PanelPlace panel_place(int width, int height, PanelMode mode);

/* From the size of a picture to that of a window which has the panel beside it, and no more. */
void panel_add_room(int *width, int *height);

#endif
