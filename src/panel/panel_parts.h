/* What the files of the panel share. */
#ifndef LUMEQ_PANEL_PANEL_PARTS_H
#define LUMEQ_PANEL_PANEL_PARTS_H

#include "panel/panel.h"

enum {
    BACKGROUND = 0x16191F,
    BRIGHT = 0xE6E9EE,
    INPUT = 0x74A7DC,
    OUTPUT = 0xF2B45C,
};

/* What differs between a panel of its own and one laid over a picture. */
typedef struct PanelTheme {
    int ground, bars; /* alpha */
    Colour plot;
    int plot_alpha;
    Colour outside; /* codes below black and above white */
    int outside_alpha;
    Colour grid, axis, dim;
    int grid_cover, axis_cover;
} PanelTheme;

/* What a histogram is marked with. */
typedef struct PanelMarks {
    int known;     /* 0: there is nothing to mark */
    double mean;   /* code */
    int low, high; /* the codes that 1 % and 99 % of the pixels do not exceed */
} PanelMarks;

/* What all parts of one drawing share. */
typedef struct Panel {
    const PanelData *data;
    const Canvas *canvas;
    Text *text;
    const PanelTheme *theme;
    PanelLayout layout;
    PanelMarks input, output;
} Panel;

static inline int max_int(int a, int b)
{
    return a > b ? a : b;
}

static inline int min_int(int a, int b)
{
    return a < b ? a : b;
}

/* How many codes there are, and how many of them a bin counts. */
int panel_codes(const PanelData *data);
int panel_bin_codes(const PanelData *data);

/* What the numbers beside a plot take. */
int panel_room_left(const PanelLayout *layout);

int panel_line_width(const Panel *panel);

/* The middle of a code, in pixels. */
double panel_code_x(const Panel *panel, Rect plot, double code);
double panel_code_y(const Panel *panel, Rect plot, double code);

void panel_vertical_line(const Panel *panel, double x, int y, int height, Colour colour, int cover);

/* All that does not depend on the counts and the curve, headers with numbers apart. */
void panel_draw_ground(const Panel *panel);

/* A histogram's name, and its numbers where they fit. */
void panel_draw_header(const Panel *panel, Rect plot, const char *name, Colour colour,
                       const PanelMarks *marks);

/* Answers {0} for an array that is NULL or all zero. */
PanelMarks panel_find_marks(const PanelData *data, const uint32_t *hist);

/* What is drawn into a plot with its ground drawn already. */
void panel_draw_bars(const Panel *panel, Rect plot, const uint32_t *hist, Colour colour);
void panel_draw_marks(const Panel *panel, Rect plot, const PanelMarks *marks, Colour colour);
void panel_draw_curve(const Panel *panel, Rect plot);

#endif
