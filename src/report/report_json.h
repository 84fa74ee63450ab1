#ifndef LUMEQ_REPORT_JSON_H
#define LUMEQ_REPORT_JSON_H

#include "media/output/output_file.h"
#include "report/report_about.h"
#include "report/report_summary.h"

/* The report as one JSON object; README.md has its members. */
void report_json(OutputFile *file, const ReportSummary *summary, const ReportAbout *about);

#endif
