/* The figures of a report: their values for each frame, and sums over frames. Values are fixed
 * point, so sums do not depend on the order of frames. */
#ifndef LUMEQ_REPORT_FIGURES_H
#define LUMEQ_REPORT_FIGURES_H

#include <stdint.h>

/* Defined in README.md. */
typedef enum ReportFigure {
    REPORT_MEAN,
    REPORT_CONTRAST,
    REPORT_ENTROPY,
    REPORT_LOCAL,
    REPORT_BLACK,
    REPORT_WHITE,
    REPORT_NOISE,
    REPORT_MABD,
    REPORT_FLICKER, /* REPORT_AFTER only */
    REPORT_FIGURES
} ReportFigure;

enum { REPORT_BEFORE, REPORT_AFTER, REPORT_SIDES };

/* Values are in units of 1 / REPORT_ONE, the precision of --stats. */
#define REPORT_ONE 10000
#define REPORT_UNKNOWN INT64_MIN

typedef struct ReportValues {
    int64_t of[REPORT_FIGURES][REPORT_SIDES];
} ReportValues;

typedef struct ReportFigureText {
    const char *key;     /* in JSON */
    const char *name;    /* on the page */
    const char *unit;    /* printed after a number, or "" */
    double room;         /* a plot's axis spans at least this, in the figure's unit */
    const char *meaning; /* explanation, in HTML */
} ReportFigureText;

extern const ReportFigureText report_figure_texts[REPORT_FIGURES];

/* report_summary_add() computes MABD and flicker; the caller sets them to REPORT_UNKNOWN. */
typedef struct ReportFrame {
    int64_t number;           /* from 0, consecutive */
    int64_t begin_us, end_us; /* output time */
    int cut;                  /* nonzero: first frame of a scene */
    int width, height, depth; /* of the input */
    ReportValues value;
} ReportFrame;

/* Sum over the frames in which the figure is known. Starts as {0}. */
typedef struct ReportSum {
    int64_t sum, least, most, count;
} ReportSum;

typedef struct ReportSums {
    ReportSum of[REPORT_FIGURES][REPORT_SIDES];
} ReportSums;

void report_sum_take(ReportSum *sum, const ReportSum *more);
void report_sum_add(ReportSums *sums, const ReportValues *values);
void report_sum_merge(ReportSums *sums, const ReportSums *more);

/* The mean in the figure's unit; NAN if unknown. */
double report_sum_mean(const ReportSum *sum);

/* Converts from fixed point to the figure's unit. */
double report_value(int64_t value);

/* Converts to fixed point, rounded; `value` must be finite. */
int64_t report_fixed(double value);

/* Standard deviation in bins. The histogram_*() functions return 0 for an empty histogram. */
double histogram_deviation(const uint32_t *hist, int bins);

/* -sum p log2 p, in bits. */
double histogram_entropy(const uint32_t *hist, int bins);

/* The share of pixels in the bins `from` to `to` (inclusive), 0 to 1. */
double histogram_share(const uint32_t *hist, int bins, int from, int to);

#define REPORT_CURVE 256 /* points of a curve, one per 8-bit code */

/* Maximum width and height of pictures, in pixels. */
#define REPORT_PICTURE_SIDE 480

typedef struct ReportPicture {
    int64_t number, time_us;
    int64_t entropy; /* REPORT_ENTROPY of the source */
    int width, height;
    uint16_t curve[REPORT_CURVE]; /* 8-bit codes with 8 fraction bits */
    char *jpeg[REPORT_SIDES];     /* in base64; owned */
    char *words;                  /* the decision; owned */
} ReportPicture;

/* NULL is allowed. */
void report_picture_free(ReportPicture *picture);

#endif
