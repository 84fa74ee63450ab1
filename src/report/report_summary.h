/* Adds frames up: the whole, points of plots over time, and shots. Memory is bounded by the limits
 * below, however long the video is. */
#ifndef LUMEQ_REPORT_SUMMARY_H
#define LUMEQ_REPORT_SUMMARY_H

#include "report/report_figures.h"

/* Points of plots: when there would be more, two neighbours become one. */
#define REPORT_POINTS 2000

/* Shots that are told of each by itself; later ones count in all else. */
#define REPORT_SHOTS 2000

/* Shots that have pictures: of more, every second one, fourth one, and so on. */
#define REPORT_PICTURED 100

/* Microseconds of a picture without which a shot does not end in a fade: what flashes is one. */
#define REPORT_FADED_SHOT 1000000

/* {0} is that of no frames. */
typedef struct ReportSpan {
    int64_t first, frames; /* numbers of frames */
    int64_t begin_us, end_us;
    ReportSums sums;
} ReportSpan;

typedef struct ReportShot {
    ReportSpan span;
    ReportPicture *picture; /* NULL: none */
} ReportShot;

typedef struct ReportSummary {
    ReportSpan all;
    int width, height, depth; /* of the first frame */

    ReportSpan *points; /* each of `step` frames, but for the last one */
    int point_count;
    int64_t step;

    ReportShot *shots; /* the last one is open until report_summary_end() */
    int shot_count;
    int64_t shots_seen; /* those that are not told of, too */
    int64_t cuts;
    int64_t shown_us; /* of the last shot: how long its frames were more than a plain tone ... */
    int is_plain;     /* ... which the last one is */
    int64_t pictured; /* one of so many shots has a picture */
    PictureChoice choice;
    ReportPicture *chosen[CHOICE_MOST + 1]; /* the pictures of `choice` */

    int64_t last_mean[REPORT_SIDES];
} ReportSummary;

/* -1: out of memory. */
int report_summary_open(ReportSummary *summary);

/* Not 0: the picture of the frame, which comes next, is wanted. */
int report_summary_wants(const ReportSummary *summary, const ReportFrame *frame);

/* The next frame, whose MABD and flicker are found here. `picture` is taken over; NULL where none
 * was wanted, or there is none. */
void report_summary_add(ReportSummary *summary, ReportFrame *frame, ReportPicture *picture);

/* After the last frame. */
void report_summary_end(ReportSummary *summary);

/* {0} is allowed. */
void report_summary_close(ReportSummary *summary);

#endif
