/* What a report knows of each frame, in fixed point: sums do not depend on their order, so that a
 * film in parts has the figures of one run. */
#ifndef LUMEQ_REPORT_FIGURES_H
#define LUMEQ_REPORT_FIGURES_H

#include <stdint.h>

/* README.md has their definitions. */
typedef enum ReportFigure {
    REPORT_MEAN,
    REPORT_CONTRAST,
    REPORT_ENTROPY,
    REPORT_LOCAL,
    REPORT_BLACK,
    REPORT_WHITE,
    REPORT_NOISE,
    REPORT_MABD,
    REPORT_FLICKER, /* AFTER alone */
    REPORT_FIGURES
} ReportFigure;

enum { REPORT_BEFORE, REPORT_AFTER, REPORT_SIDES };

/* Values are in units of 1 / REPORT_ONE, as finely as --stats has them. */
#define REPORT_ONE 10000
#define REPORT_UNKNOWN INT64_MIN

typedef struct ReportValues {
    int64_t of[REPORT_FIGURES][REPORT_SIDES];
} ReportValues;

/* Names and what is said about a figure. */
typedef struct ReportFigureText {
    const char *key;     /* in JSON */
    const char *name;    /* on the page */
    const char *unit;    /* after a number */
    double room;         /* a plot shows at least so much from bottom to top */
    const char *meaning; /* in HTML */
} ReportFigureText;

extern const ReportFigureText report_figure_texts[REPORT_FIGURES];

/* A frame. MABD and flicker are of two frames: who adds frames up finds them. */
typedef struct ReportFrame {
    int64_t number;           /* from 0, in order and without gaps */
    int64_t begin_us, end_us; /* in the output */
    int cut;                  /* not 0: the first of a scene */
    int width, height, depth; /* of what came in */
    ReportValues value;
} ReportFrame;

/* Not 0: one plain tone, or nearly, as between a fade out and a fade in. */
int report_frame_is_plain(const ReportFrame *frame);

/* Of those that are known. {0} is that of none. */
typedef struct ReportSum {
    int64_t sum, least, most, count;
} ReportSum;

typedef struct ReportSums {
    ReportSum of[REPORT_FIGURES][REPORT_SIDES];
} ReportSums;

void report_sum_add(ReportSums *sums, const ReportValues *values);
void report_sum_merge(ReportSums *sums, const ReportSums *more);

/* In units. NAN where none is known. */
double report_sum_mean(const ReportSum *sum);
double report_value(int64_t value);

/* Rounded; `value` is a finite number. */
int64_t report_fixed(double value);

/* The standard deviation, in bins. Of an empty histogram, as of the others: 0. */
double histogram_deviation(const uint32_t *hist, int bins);

/* -sum p log2 p, in bits. */
double histogram_entropy(const uint32_t *hist, int bins);

/* The share, 0..1, of what lies in bins `from` to `to`, both included and both there. */
double histogram_share(const uint32_t *hist, int bins, int from, int to);

#define REPORT_CURVE 256    /* points of a curve: one for each code of 8 bits */
#define REPORT_HISTOGRAM 64 /* bins of a histogram that is drawn */

/* Pixels of the longer side. */
#define REPORT_PICTURE_SIDE 480

typedef struct ReportPicture {
    int64_t number, time_us;
    int64_t entropy; /* before, as a ReportFrame has it */
    int width, height;
    uint16_t curve[REPORT_CURVE];            /* codes of 8 bits, 8 fraction bits */
    uint32_t histogram[2][REPORT_HISTOGRAM]; /* before, after: millionths of the picture */
    char *jpeg[2];                           /* before, after, in base64; owned */
    char *words;                             /* owned */
} ReportPicture;

/* NULL is allowed. */
void report_picture_free(ReportPicture *picture);

/*
 * Frames that stand for a shot whose end is not known yet: those whose number is a multiple of the
 * least power of two of which there are no more than CHOICE_MOST in it. The choice for a shot holds
 * those of any part of it. {0} is that of no shot.
 */
#define CHOICE_MOST 4

typedef struct PictureChoice {
    int64_t step;
    int count;
    int64_t number[CHOICE_MOST + 1];
} PictureChoice;

/* Not 0: such a frame will be one of them. */
int picture_choice_wants(const PictureChoice *choice, int64_t number, int cut);

/* Takes it, if it is one. Not 0: those that are not multiples of `step` are none any more. */
int picture_choice_take(PictureChoice *choice, int64_t number, int cut);

#endif
