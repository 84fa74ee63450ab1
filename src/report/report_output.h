/* A report as its readers get it, and what it tells of the run itself. */
#ifndef LUMEQ_REPORT_OUTPUT_H
#define LUMEQ_REPORT_OUTPUT_H

#include "media/output/output_file.h"
#include "report/report_summary.h"

/* Borrowed. */
typedef struct ReportAbout {
    const char *program;        /* with its version */
    const char *input, *output; /* names; output NULL: nothing was written */
    const char *const *options; /* that are not at their defaults, "--name=value" */
    int option_count;
    int partial; /* not 0: the run was interrupted */
} ReportAbout;

/* One JSON object; README.md has its members. */
void report_json(OutputFile *file, const ReportSummary *summary, const ReportAbout *about);

/* One HTML page, which needs nothing else and runs nothing. */
void report_page(OutputFile *file, const ReportSummary *summary, const ReportAbout *about);

#endif
