/* The output formats, and facts about the run. */
#ifndef LUMEQ_REPORT_OUTPUT_H
#define LUMEQ_REPORT_OUTPUT_H

#include "media/output/output_file.h"
#include "report/report_summary.h"

/* Borrowed. */
typedef struct ReportAbout {
    const char *program;        /* with its version */
    const char *input, *output; /* names; output NULL: nothing was written */
    const char *const *options; /* non-default options, "--name=value" */
    int option_count;
    int partial; /* nonzero: the run was interrupted */
} ReportAbout;

/* One JSON object, described in README.md. */
void report_json(OutputFile *file, const ReportSummary *summary, const ReportAbout *about);

/* One self-contained HTML page without scripts. */
void report_page(OutputFile *file, const ReportSummary *summary, const ReportAbout *about);

#endif
