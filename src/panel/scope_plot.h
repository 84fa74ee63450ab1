/* Draws scopes: graticules and counts. */
#ifndef LUMEQ_PANEL_SCOPE_PLOT_H
#define LUMEQ_PANEL_SCOPE_PLOT_H

#include "panel/canvas.h"
#include "panel/panel_theme.h"
#include "panel/scopes.h"
#include "panel/text.h"

typedef struct ScopePlot {
    const Canvas *canvas;
    Text *text;
    const PanelTheme *theme;
    int size; /* text height; 0: none */
    int line; /* line width */
} ScopePlot;

/* Static parts; uses only the range and matrix of `scopes`. */
void scope_plot_waveform_ground(const ScopePlot *plot, Rect rect, const Scopes *scopes);
void scope_plot_vectors_ground(const ScopePlot *plot, Rect rect, const Scopes *scopes);

/* The counts: brighter means more. The waveform is as wide as the picture, highest level on top.
 * Vectors have Cb to the right and Cr upwards, each in its own colour. */
void scope_plot_waveform(const ScopePlot *plot, Rect rect, const Scopes *scopes);
void scope_plot_vectors(const ScopePlot *plot, Rect rect, const Scopes *scopes);

#endif
