/* Prints and formats text, numbers and times for HTML and JSON. */
#ifndef LUMEQ_REPORT_TEXT_H
#define LUMEQ_REPORT_TEXT_H

#include <stdint.h>

#include "media/output/output_file.h"

/* Prints text, escaped for HTML. Invalid UTF-8 and control characters become U+FFFD. */
void report_text_html(OutputFile *file, const char *text);

/* Prints a string in quotes, escaped for JSON. */
void report_text_json(OutputFile *file, const char *text);

/* Prints a number with `digits` decimals, or "null" if it is not finite. */
void report_number_json(OutputFile *file, double number, int digits);

/* A short formatted text. */
typedef struct ReportWord {
    char text[32];
} ReportWord;

/* A figure with one or two decimals, depending on its size; a dash if it is not finite. */
ReportWord report_word(double number);

/* A time, such as "1:02:03.4" or "2:03.4". */
ReportWord report_time(int64_t us);

/* A count, such as "1,234,567". */
ReportWord report_count(int64_t count);

#endif
