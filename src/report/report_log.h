/* What a part of a film leaves for the report of the whole: lines of text, one for each frame, one
 * for each picture that may be wanted, and samples of the first and the last frame. README.md has
 * them. */
#ifndef LUMEQ_REPORT_LOG_H
#define LUMEQ_REPORT_LOG_H

#include "media/output/output_file.h"
#include "report/report_figures.h"
#include "report/report_samples.h"

/* The picture and the samples, if any, come before their frame, but for the samples of the last
 * one, which come after it. As output_file_print(). */
void report_log_frame(OutputFile *file, const ReportFrame *frame);
void report_log_picture(OutputFile *file, const ReportPicture *picture);
void report_log_samples(OutputFile *file, const ReportSamples *samples);

/* Reads a line: 1: a frame; 2: a picture, which the caller frees; 3: samples; -1: it is none, or
 * there is no memory. The line is changed. */
enum { REPORT_LOG_FRAME = 1, REPORT_LOG_PICTURE, REPORT_LOG_SAMPLES };
int report_log_read(char *line, ReportFrame *frame, ReportPicture **picture,
                    ReportSamples *samples);

#endif
