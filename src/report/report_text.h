/* Texts as HTML and JSON have them, and numbers and times for a person. */
#ifndef LUMEQ_REPORT_TEXT_H
#define LUMEQ_REPORT_TEXT_H

#include <stdint.h>

#include "media/output/output_file.h"

/* Without quotes; bytes that are no UTF-8 become U+FFFD, and so do control characters in HTML. */
void report_text_html(OutputFile *file, const char *text);

/* In quotes. */
void report_text_json(OutputFile *file, const char *text);

/* "null" where it is not finite, else with so many digits behind the point. */
void report_number_json(OutputFile *file, double number, int digits);

/* Room for what the following make. */
typedef struct ReportWord {
    char text[32];
} ReportWord;

/* A figure, with one or two digits behind the point, as its size asks for; a dash where it is not
 * finite. */
ReportWord report_word(double number);

/* 1:02:03.4, or 2:03.4. */
ReportWord report_time(int64_t us);

/* 1,234,567 */
ReportWord report_count(int64_t count);

#endif
