/* Plots of the panel for scopes: their graticules, and what was counted. */
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
    int size; /* height of text, 0: none */
    int line; /* width of one */
} ScopePlot;

/* What does not change from frame to frame; `scopes`: for range and matrix alone. */
void scope_plot_waveform_ground(const ScopePlot *plot, Rect rect, const Scopes *scopes);
void scope_plot_vectors_ground(const ScopePlot *plot, Rect rect, const Scopes *scopes);

/* What was counted: the brighter, the more. A waveform is as wide as the picture, the highest level
 * at the top. Vectors have Cb to the right and Cr upwards, each in the colour that it stands for.
 */
void scope_plot_waveform(const ScopePlot *plot, Rect rect, const Scopes *scopes);
void scope_plot_vectors(const ScopePlot *plot, Rect rect, const Scopes *scopes);

#endif
