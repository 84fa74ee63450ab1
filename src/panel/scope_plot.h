/* Draws the waveform and the vectorscope. */
#ifndef LUMEQ_PANEL_SCOPE_PLOT_H
#define LUMEQ_PANEL_SCOPE_PLOT_H

#include "panel/canvas.h"
#include "panel/scopes.h"
#include "panel/text.h"

/* Colours of the panel and its plots. */
enum {
    PANEL_BACKGROUND = 0x16191F,
    PANEL_BRIGHT = 0xE6E9EE,
    PANEL_INPUT = 0x74A7DC,
    PANEL_OUTPUT = 0xF2B45C,
};

/* The colours that differ between an opaque and a translucent panel. Alpha and cover: 0 to 255. */
typedef struct PanelTheme {
    int ground, bars; /* alpha of the background and the bars */
    Colour plot;
    int plot_alpha;
    Colour outside; /* codes below black and above white */
    int outside_alpha;
    Colour grid, axis, dim;
    int grid_cover, axis_cover;
} PanelTheme;

typedef struct ScopePlot {
    const Canvas *canvas;
    Text *text;
    const PanelTheme *theme;
    int size; /* text height; 0: none */
    int line; /* line width */
} ScopePlot;

/* Draw the graticules, which depend only on the range and matrix of `scopes`. */
void scope_plot_waveform_ground(const ScopePlot *plot, Rect rect, const Scopes *scopes);
void scope_plot_vectors_ground(const ScopePlot *plot, Rect rect, const Scopes *scopes);

/* Draw the counts; higher counts are brighter. The waveform shows the picture's columns from left
 * to right, and the highest level on top. The vectorscope shows Cb to the right and Cr upwards,
 * each point in the colour of its Cb and Cr. */
void scope_plot_waveform(const ScopePlot *plot, Rect rect, const Scopes *scopes);
void scope_plot_vectors(const ScopePlot *plot, Rect rect, const Scopes *scopes);

#endif
