#include "report/report_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REPLACEMENT "\xEF\xBF\xBD" /* U+FFFD */

/* Bytes of the character that the text begins with; 0: they are no UTF-8. */
static int utf8_length(const char *text)
{
    const unsigned char *s = (const unsigned char *)text;
    const int more = s[0] < 0x80   ? 0
                     : s[0] < 0xC2 ? -1
                     : s[0] < 0xE0 ? 1
                     : s[0] < 0xF0 ? 2
                     : s[0] < 0xF5 ? 3
                                   : -1;
    for (int i = 1; i <= more; i++)
        if ((s[i] & 0xC0) != 0x80)
            return 0;
    if ((s[0] == 0xE0 && s[1] < 0xA0) || (s[0] == 0xED && s[1] > 0x9F) || /* long; surrogates */
        (s[0] == 0xF0 && s[1] < 0x90) || (s[0] == 0xF4 && s[1] > 0x8F))
        return 0;
    return more + 1;
}

static void print_html(OutputFile *file, char c)
{
    switch (c) {
    case '&': output_file_print(file, "&amp;"); break;
    case '<': output_file_print(file, "&lt;"); break;
    case '>': output_file_print(file, "&gt;"); break;
    case '"': output_file_print(file, "&quot;"); break;
    default:
        if ((unsigned char)c < 0x20 || c == 0x7F)
            output_file_print(file, REPLACEMENT);
        else
            output_file_print(file, "%c", c);
    }
}

static void print_json(OutputFile *file, char c)
{
    if (c == '"' || c == '\\')
        output_file_print(file, "\\%c", c);
    else if ((unsigned char)c < 0x20 || c == 0x7F)
        output_file_print(file, "\\u%04x", (unsigned)c);
    else
        output_file_print(file, "%c", c);
}

static void print_text(OutputFile *file, const char *text, void (*print)(OutputFile *, char))
{
    while (*text) {
        const int n = utf8_length(text);
        if (n == 1)
            print(file, *text);
        else
            output_file_print(file, "%.*s", n ? n : 3, n ? text : REPLACEMENT);
        text += n ? n : 1;
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
