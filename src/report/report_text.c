#include "report/report_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "media/printable.h"

#define REPLACEMENT "\xEF\xBF\xBD" /* U+FFFD */

static void print_html(OutputFile *file, uint32_t c, const char *text, int n)
{
    switch (c) {
    case '&': output_file_print(file, "&amp;"); break;
    case '<': output_file_print(file, "&lt;"); break;
    case '>': output_file_print(file, "&gt;"); break;
    case '"': output_file_print(file, "&quot;"); break;
    default:
        if (is_control_character(c))
            output_file_print(file, REPLACEMENT);
        else
            output_file_print(file, "%.*s", n, text);
    }
}

static void print_json(OutputFile *file, uint32_t c, const char *text, int n)
{
    if (is_control_character(c))
        output_file_print(file, "\\u%04x", (unsigned)c);
    else
        output_file_print(file, "%s%.*s", c == '"' || c == '\\' ? "\\" : "", n, text);
}

static void print_text(OutputFile *file, const char *text,
                       void (*print)(OutputFile *, uint32_t, const char *, int))
{
    uint32_t c;
    for (int n; *text; text += n ? n : 1) {
        n = utf8_read(text, &c);
        if (n)
            print(file, c, text, n);
        else
            output_file_print(file, REPLACEMENT);
    }
}

void report_text_html(OutputFile *file, const char *text)
{
    print_text(file, text, print_html);
}

void report_text_json(OutputFile *file, const char *text)
{
    output_file_print(file, "\"");
    print_text(file, text, print_json);
    output_file_print(file, "\"");
}

void report_number_json(OutputFile *file, double number, int digits)
{
    if (isfinite(number))
        output_file_print(file, "%.*f", digits, number);
    else
        output_file_print(file, "null");
}

ReportWord report_word(double number)
{
    ReportWord word = {"\xE2\x80\x93"};
    const double size = fabs(number);
    if (isfinite(number))
        snprintf(word.text, sizeof(word.text), "%.*f", size < 10 ? 2 : 1, number);
    return word;
}

ReportWord report_time(int64_t us)
{
    ReportWord word;
    const char *sign = us < 0 ? "-" : "";
    const int64_t tenths = (llabs(us) + 50000) / 100000, seconds = tenths / 10;
    const int64_t minutes = seconds / 60, hours = minutes / 60;
    if (hours)
        snprintf(word.text, sizeof(word.text), "%s%" PRId64 ":%02d:%02d.%d", sign, hours,
                 (int)(minutes % 60), (int)(seconds % 60), (int)(tenths % 10));
    else
        snprintf(word.text, sizeof(word.text), "%s%d:%02d.%d", sign, (int)minutes,
                 (int)(seconds % 60), (int)(tenths % 10));
    return word;
}

ReportWord report_count(int64_t count)
{
    ReportWord word = {""};
    char digits[32];
    const int n = snprintf(digits, sizeof(digits), "%" PRId64, count);
    for (int i = 0, at = 0; i < n && at < (int)sizeof(word.text) - 2; i++) {
        if (i && (n - i) % 3 == 0)
            word.text[at++] = ',';
        word.text[at++] = digits[i];
    }
    return word;
}
