/* The log that a part of a film leaves for the whole report: text lines for frames and for
 * candidate pictures. README.md describes the format. */
#ifndef LUMEQ_REPORT_LOG_H
#define LUMEQ_REPORT_LOG_H

#include "media/output/output_file.h"
#include "report/report_figures.h"

/* A frame's picture precedes its line. Errors: see output_file_print(). */
void report_log_frame(OutputFile *file, const ReportFrame *frame);
void report_log_picture(OutputFile *file, const ReportPicture *picture);

/* Parses a line, which is modified. Returns the kind of line (the caller frees a picture), or -1 if
 * it is malformed or memory runs out. */
enum { REPORT_LOG_FRAME = 1, REPORT_LOG_PICTURE };
int report_log_read(char *line, ReportFrame *frame, ReportPicture **picture);

#endif
