/* Places the panel in a window. */
#ifndef LUMEQ_PANEL_PANEL_PLACE_H
#define LUMEQ_PANEL_PANEL_PLACE_H

#include "panel/canvas.h"

typedef enum PanelMode {
    PANEL_OFF,
    PANEL_BESIDE, /* right of the picture, or below it in a narrow window */
    PANEL_OVER,   /* over the picture, translucent */
} PanelMode;

/* In window pixels. */
typedef struct PanelPlace {
    Rect panel;   /* {0}: none, or the window is too small */
    Rect picture; /* area for the picture */
    Rect free;    /* part of `picture` outside the panel, for messages */
} PanelPlace;

/* `density`: pixels per desktop unit, so that the panel has the same visible size on scaled
 * screens. */
PanelPlace panel_place(int width, int height, PanelMode mode, double density);

/* Places the panel over the picture `around`, at its right or, if `at_left`, at its left. In a
 * comparison, the panel may cover the source, so it is at the left. */
PanelPlace panel_place_over(int width, int height, Rect around, bool at_left, double density);

/* The largest part of `whole` on one side of the panel; all of `whole` if they do not overlap. */
Rect panel_free(Rect whole, Rect panel);

/* Turns a picture's size into the size of a window that shows the picture and the panel beside it.
 * If no panel fits, the size stays unchanged. */
void panel_add_room(int *width, int *height);

#endif
