/* Draws the histogram panel: luma of input and output, the tone curve, and scopes. */
#ifndef LUMEQ_PANEL_PANEL_H
#define LUMEQ_PANEL_PANEL_H

#include "panel/canvas.h"
#include "panel/scopes.h"
#include "panel/text.h"

typedef enum PanelScale {
    PANEL_LINEAR = 0,
    PANEL_LOG = 1, /* makes rare codes visible */
} PanelScale;

/* Units of the axes: codes or, for HDR, nits. */
typedef enum PanelLight {
    PANEL_CODES = 0,
    PANEL_PQ,
    PANEL_HLG, /* nits as on a display of 1,000 nits */
} PanelLight;

typedef enum PanelScope {
    PANEL_HISTOGRAM = 0, /* histograms of input and output, and the curve */
    PANEL_WAVEFORM,      /* of the output */
    PANEL_VECTORSCOPE,   /* of the output */
    PANEL_ALL,           /* all of them if there is room; else PANEL_HISTOGRAM */
} PanelScope;

/* Text size relative to the panel's default. */
typedef struct PanelText {
    double scale;   /* the user's factor; 0 means 1 */
    double density; /* pixels per ordinary desktop pixel; 0 means 1 */
} PanelText;

/* The data to draw; borrowed. A plot whose array is NULL stays empty. */
typedef struct PanelData {
    int bins;  /* at most PANEL_MAX_BINS */
    int depth; /* bits per code: a bin counts 2^depth / bins codes; 0: one code per bin */
    const uint32_t *hist_in, *hist_out;
    const uint32_t *curve; /* for the first input code of each bin: its output code, Q16 */
    int full_range;        /* black and white are the first and last code; 0: 16 and 235 of 256 */
    PanelLight light;
    PanelScale scale;
    int translucent;   /* nonzero: drawn over a picture, with a translucent background */
    const char *words; /* text below the plots; NULL: no room is reserved */
    PanelScope scope;
    const Scopes *scopes; /* NULL: empty plots */
    PanelText text;
} PanelData;

#define PANEL_MAX_BINS 4096

/* Layout of a panel. Bin b spans [b, b + 1) * plot.width / bins pixels from its plot's left side.
 * Parts without room are {0}. */
typedef struct PanelLayout {
    Rect input, output, curve, waveform, vectors; /* plots without their labels */
    int text;                                     /* text height in pixels; 0: no text */
    int digits;                                   /* digits of the longest number */
    int marks;      /* height of the strip for mean and percentiles above each histogram */
    Rect words;     /* text below the plots */
    int word_lines; /* number of lines in `words` */
} PanelLayout;

/* `digits`: number of digits of the highest code; 0: no text. Uses only `words`, `text`, `scope`
 * and `translucent` of the data. */
PanelLayout panel_layout(int width, int height, int digits, const PanelData *data);

/* True if PANEL_ALL fits a panel of this size. */
bool panel_has_room_for_all(int width, int height, PanelText text);

/* The height that a panel of this width over a picture needs for `scope`, at most `height`. */
int panel_scope_height(int width, int height, PanelText text, PanelScope scope);

/*
 * Fills the canvas with the panel. Also draws all lines queued in `text`; NULL: draws no labels.
 *
 * Each pixel column is a bar. Its height is the mean count of its bins, relative to the highest
 * bar. On the linear scale, up to four outliers are cut off at 1.25 times the fifth highest bar.
 * The logarithmic scale is log(1 + n) / log(1 + highest).
 */
void panel_draw(const PanelData *data, const Canvas *canvas, Text *text);

/* The values that are marked in a histogram and printed above it. */
typedef struct PanelMarks {
    int known;     /* 0: nothing to mark */
    double mean;   /* mean code */
    int low, high; /* codes of the 1st and 99th percentile */
} PanelMarks;

/* Returns {0} for an array that is NULL or all zero. */
PanelMarks panel_find_marks(const PanelData *data, const uint32_t *hist);

/* Draws a panel for every frame and reuses unchanged parts. For one thread at a time. */
typedef struct PanelCache PanelCache;

/* A cached panel changes its numbers at most once per interval, so that people can read them. This
 * is the interval's length. */
#define PANEL_NUMBERS_US 250000

/* The number of the interval that contains `now_us`. */
int64_t panel_interval(int64_t now_us);

/* Returns 0, or -1 if out of memory; *cache is then NULL. */
int panel_cache_create(PanelCache **cache);

/* Draws like panel_draw() on a canvas of this size, but numbers may be outdated. The cache owns the
 * canvas. It is valid until the next call. `now_us`: time of any monotonic clock. Returns NULL if
 * out of memory or if the width or height is not positive. */
const Canvas *panel_cache_draw(PanelCache *cache, const PanelData *data, int width, int height,
                               Text *text, int64_t now_us);

/* True if the last call drew outdated numbers. Draw again after PANEL_NUMBERS_US. */
bool panel_cache_is_late(const PanelCache *cache);

/* *cache may be NULL. */
void panel_cache_free(PanelCache **cache);

#endif
