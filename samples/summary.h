/* What equalizing did to a video, in a few numbers. */
#ifndef LUMEQ_SAMPLES_SUMMARY_H
#define LUMEQ_SAMPLES_SUMMARY_H

#include "stats_rows.h"

/* Means over the frames of a part of the video. */
typedef struct Summary {
    int frames;
    double mean_in, mean_out, contrast_in, contrast_out, entropy_in, entropy_out;
    /* Mean over frames of |(mean_out(t) - mean_out(t-1)) - (mean_in(t) - mean_in(t-1))|, in codes;
     * scene cuts are left out. */
    double excess_flicker;
} Summary;

/* Of the frames whose time is in [from, to). */
Summary summarize(const StatsRows *rows, double from, double to);

/* The heading of the table on stdout, and one line of it. */
void summary_print_head(void);
void summary_print(const char *name, const Summary *summary);

#endif
