/* The table of `lumeq-bench pipeline`. */
#ifndef LUMEQ_BENCH_PIPELINE_ROWS_H
#define LUMEQ_BENCH_PIPELINE_ROWS_H

#include "bench/pipeline/pipeline_run.h"
#include "bench/report.h"

typedef struct PipelineRow {
    const char *what, *backend;
    PipelineResult result;
    int64_t bytes;     /* of a frame, one way; 0: not of interest */
    const char *bound; /* the row that bounds it, or NULL */
    double bound_us;   /* its time for a frame */
} PipelineRow;

/* Their names in CSV and JSON, on standard output. */
void pipeline_print_columns(void);

void pipeline_report(BenchReport *report, BenchFormat format);

/* `video`: the result of a probe. */
void pipeline_row(const BenchReport *report, const PipelineRow *row, const PipelineResult *video);

#endif
