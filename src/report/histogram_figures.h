/* Figures of a histogram: one definition for --stats and --report. */
#ifndef LUMEQ_REPORT_HISTOGRAM_FIGURES_H
#define LUMEQ_REPORT_HISTOGRAM_FIGURES_H

#include <stdint.h>

/* The standard deviation, in bins. Of an empty histogram, as of the others: 0. */
double histogram_deviation(const uint32_t *hist, int bins);

/* -sum p log2 p, in bits. */
double histogram_entropy(const uint32_t *hist, int bins);

/* The share, 0..1, of what lies in bins `from` to `to`, both included and both there. */
double histogram_share(const uint32_t *hist, int bins, int from, int to);

#endif
