/* Colours of the panel. */
#ifndef LUMEQ_PANEL_PANEL_THEME_H
#define LUMEQ_PANEL_PANEL_THEME_H

#include "panel/canvas.h"

enum {
    PANEL_BACKGROUND = 0x16191F,
    PANEL_BRIGHT = 0xE6E9EE,
    PANEL_INPUT = 0x74A7DC,
    PANEL_OUTPUT = 0xF2B45C,
};

/* Differences between an opaque panel and a translucent one. */
typedef struct PanelTheme {
    int ground, bars; /* alpha */
    Colour plot;
    int plot_alpha;
    Colour outside; /* codes below black and above white */
    int outside_alpha;
    Colour grid, axis, dim;
    int grid_cover, axis_cover;
} PanelTheme;

#endif
