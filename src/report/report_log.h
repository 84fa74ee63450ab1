/* The log that a part of a film leaves for the whole report: text lines for frames, for candidate
 * pictures, and for the samples of the first and last frame. README.md describes the format. */
#ifndef LUMEQ_REPORT_LOG_H
#define LUMEQ_REPORT_LOG_H

#include "media/output/output_file.h"
#include "report/report_figures.h"
#include "report/report_samples.h"

/* A frame's picture and samples precede its line, except the samples of the last frame, which
 * follow it. Errors: see output_file_print(). */
void report_log_frame(OutputFile *file, const ReportFrame *frame);
void report_log_picture(OutputFile *file, const ReportPicture *picture);
void report_log_samples(OutputFile *file, const ReportSamples *samples);

/* Parses a line, which is modified. Returns the kind of line (the caller frees a picture), or -1 if
 * it is malformed or memory runs out. */
enum { REPORT_LOG_FRAME = 1, REPORT_LOG_PICTURE, REPORT_LOG_SAMPLES };
int report_log_read(char *line, ReportFrame *frame, ReportPicture **picture,
                    ReportSamples *samples);

#endif
