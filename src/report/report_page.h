#ifndef LUMEQ_REPORT_PAGE_H
#define LUMEQ_REPORT_PAGE_H

#include "media/output/output_file.h"
#include "report/report_about.h"
#include "report/report_summary.h"

/* The report as one HTML page, which needs nothing else and runs nothing. */
void report_page(OutputFile *file, const ReportSummary *summary, const ReportAbout *about);

#endif
