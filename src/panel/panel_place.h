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
    Rect panel;   /* {0}: no panel, perhaps because the window is too small */
    Rect picture; /* area for the picture */
    Rect free;    /* part of `picture` outside the panel, for messages */
} PanelPlace;

/* `density`: pixels per desktop unit, so that the panel has the same visible size on scaled
 * screens. */
PanelPlace panel_place(int width, int height, PanelMode mode, double density);

/* Places the panel over the picture, which fills `around`. `at_left`: on the picture's left side,
 * as in a comparison, where the panel covers only the source; else on the right side. */
PanelPlace panel_place_over(int width, int height, Rect around, bool at_left, double density);

/* The largest part of `whole` beside, above or below the panel; `whole` if they do not overlap. */
Rect panel_free(Rect whole, Rect panel);

/* Enlarges a window of the picture's size, so that the panel has room beside the picture. If the
 * window is too small for a panel, leaves its size unchanged. */
void panel_add_room(int *width, int *height);

#endif
