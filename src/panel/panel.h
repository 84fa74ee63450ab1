/*
 * The histogram panel: luma before and after, and the curve between the two, drawn on the CPU.
 * It knows numbers only: neither where they come from nor what the picture is shown on.
 */
#ifndef LUMEQ_PANEL_PANEL_H
#define LUMEQ_PANEL_PANEL_H

#include "panel/canvas.h"
#include "panel/scopes.h"
#include "panel/text.h"

typedef enum PanelScale {
    PANEL_LINEAR = 0,
    PANEL_LOG = 1, /* rare codes are seen as well */
} PanelScale;

typedef enum PanelScope {
    PANEL_HISTOGRAM = 0, /* before and after, and the curve */
    PANEL_WAVEFORM,      /* of the output, as is the next */
    PANEL_VECTORSCOPE,
    PANEL_ALL, /* where there is room; else PANEL_HISTOGRAM */
} PanelScope;

/* How large text is, on top of what suits the panel's size; 0 is as 1. */
typedef struct PanelText {
    double scale;   /* as the user wants it */
    double density; /* pixels that are as large as one of an ordinary screen, in a row */
} PanelText;

/* What is shown. Borrowed; an array that is NULL leaves its plot empty. */
typedef struct PanelData {
    int bins;  /* at most PANEL_MAX_BINS */
    int depth; /* bits of a code: the bins share 2^depth codes evenly; 0: a bin for each code */
    const uint32_t *hist_in, *hist_out;
    const uint32_t *curve; /* output code of the first code in each bin, with 16 fraction bits */
    int full_range; /* 0: black and white are 16 and 235 (of 256), else the first and last code */
    PanelScale scale;
    int translucent;   /* not 0: to be laid over a picture, which is seen through the ground */
    const char *words; /* what was decided, for a person, below the plots; NULL: no room for it */
    PanelScope scope;
    const Scopes *scopes; /* NULL: their plots are empty */
    PanelText text;
} PanelData;

#define PANEL_MAX_BINS 4096

/*
 * Where things are in a panel of some size. Bin b of a plot spans
 * [b, b + 1) * plot.width / bins pixels from its left side; rectangles without room are {0}.
 */
typedef struct PanelLayout {
    Rect input, output, curve, waveform,
        vectors; /* the plots alone, without what is written around them */
    int text;    /* height of a line of text in pixels, 0: too small for text */
    int digits;  /* of the longest number there is room for */
    int marks;   /* height of the strip above each histogram for mean and percentiles */
    Rect words;  /* where these are, in so many lines */
    int word_lines;
} PanelLayout;

/* `digits`: of the last code, 0 leaves no room for text. Of the data, the words, the scale of the
 * text and the scope count. */
PanelLayout panel_layout(int width, int height, int digits, const PanelData *data);

/* Not 0: in a panel of that size, PANEL_ALL shows all. */
int panel_has_room_for_all(int width, int height, PanelText text);

/* What a panel of that width has of that height to show, where it can be lower. */
int panel_scope_height(int width, int height, PanelText text, PanelScope scope);

/*
 * Covers the whole canvas (with alpha 255, unless translucent). `text` may be NULL: no labels then.
 * What has been added to it and not drawn yet is drawn as well.
 *
 * Bars are as high as their count, or where there are more bins than columns of pixels the mean of
 * those under a column, as a share of the highest bar (linear; when few stand out, of 1.25 times
 * the fifth highest, and higher ones are cut off) or of its logarithm: log(1 + n) / log(1 +
 * highest).
 */
void panel_draw(const PanelData *data, const Canvas *canvas, Text *text);

/* What a histogram is marked with. */
typedef struct PanelMarks {
    int known;     /* 0: there is nothing to mark */
    double mean;   /* code */
    int low, high; /* the codes that 1 % and 99 % of the pixels do not exceed */
} PanelMarks;

/* Answers {0} for an array that is NULL or all zero. */
PanelMarks panel_find_marks(const PanelData *data, const uint32_t *hist);

/* A panel that is drawn for every frame: what stays the same is kept. One thread at a time. */
typedef struct PanelCache PanelCache;

/* The numbers of a cached panel stay for this long, to be read: they are those of the first frame
 * of each such stretch of the clock, whatever was drawn before it. */
#define PANEL_NUMBERS_US 250000

/* The number of the stretch that a time is in. */
int64_t panel_stretch(int64_t now_us);

/* Answers 0, or -1 without memory; *cache is then NULL. */
int panel_cache_create(PanelCache **cache);

/*
 * What panel_draw() draws into a canvas of that size. The canvas is the cache's, and stays as it is
 * until the next call. `now_us` is any clock that does not go back. NULL without memory, or when a
 * side is not positive.
 */
const Canvas *panel_cache_draw(PanelCache *cache, const PanelData *data, int width, int height,
                               Text *text, int64_t now_us);

/* Not 0: the numbers drawn last were older ones; after PANEL_NUMBERS_US, drawing again shows those
 * of the data. */
int panel_cache_is_late(const PanelCache *cache);

/* NULL is allowed inside. */
void panel_cache_free(PanelCache **cache);

#endif
