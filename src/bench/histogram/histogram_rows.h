/* The rows of lumeq-bench histogram's report. */
#ifndef LUMEQ_BENCH_HISTOGRAM_ROWS_H
#define LUMEQ_BENCH_HISTOGRAM_ROWS_H

#include "bench/histogram/histogram.h"
#include "bench/report.h"

void histogram_report(BenchReport *report, BenchFormat format);

/* What rows have in common. */
typedef struct HistogramCase {
    const HistogramJob *job;
    const char *type, *content;
    const char *partition, *memory;
    double cpu_us; /* of strategy cpu */
} HistogramCase;

/* `device`: "CPU", a number, or "all"; elements are those of one device, `devices` times. `result`:
 * of the check, or why there is none. */
void histogram_row(const BenchReport *report, const HistogramCase *c, const char *strategy,
                   const char *device, int devices, const HistogramOutcome *outcome,
                   const char *result);

/* All devices at once: rates are sums, the time is what follows from that; copies take as long as
 * the slowest one's. */
void histogram_sum_up(HistogramOutcome *all, const HistogramOutcome *outcomes, int count);

#endif
