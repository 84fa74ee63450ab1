/* Summarizes how equalizing changed a video. */
#ifndef LUMEQ_SAMPLES_SUMMARY_H
#define LUMEQ_SAMPLES_SUMMARY_H

#include "stats_rows.h"

/* Means over frames. */
typedef struct Summary {
    int frames;
    double mean_in, mean_out, contrast_in, contrast_out, entropy_in, entropy_out;
    /* Mean of |(mean_out(t) - mean_out(t-1)) - (mean_in(t) - mean_in(t-1))| in codes, without scene
     * cuts. */
    double excess_flicker;
} Summary;

/* Summarizes the frames with times in [from, to), in seconds. */
Summary summarize(const StatsRows *rows, double from, double to);

/* Print the table's heading and a line of the table. */
void summary_print_head(void);
void summary_print(const char *name, const Summary *summary);

#endif
