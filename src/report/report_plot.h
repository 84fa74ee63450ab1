/* Plots of a report as SVG within its page. */
#ifndef LUMEQ_REPORT_PLOT_H
#define LUMEQ_REPORT_PLOT_H

#include "media/output/output_file.h"
#include "report/report_summary.h"

/* More shots than this would be a wall. */
#define REPORT_SHOTS_DRAWN 300

/* A figure over time, before and after, with where shots begin, if they are that few. */
void report_plot(OutputFile *file, const ReportSummary *summary, ReportFigure figure);

/* The curve of a shot's picture over its histograms; shots count from 1. */
void report_plot_curve(OutputFile *file, const ReportPicture *picture, int shot);

#endif
