#include "report/report_log.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define HISTOGRAMS (2 * REPORT_HISTOGRAM)

static void print(OutputFile *file, int64_t number)
{
    if (number == REPORT_UNKNOWN)
        output_file_print(file, " -");
    else
        output_file_print(file, " %" PRId64, number);
}

void report_log_frame(OutputFile *file, const ReportFrame *f)
{
    output_file_print(file, "frame");
    const int64_t head[] = {f->number, f->begin_us, f->end_us, f->cut,
                            f->width,  f->height,   f->depth};
    for (size_t i = 0; i < sizeof(head) / sizeof(head[0]); i++)
        print(file, head[i]);
    for (int i = 0; i < REPORT_FIGURES * REPORT_SIDES; i++)
        print(file, f->value.of[i / REPORT_SIDES][i % REPORT_SIDES]);
    output_file_print(file, "\n");
}

/* Words come last: there are blanks in them. */
void report_log_picture(OutputFile *file, const ReportPicture *p)
{
    output_file_print(file, "picture");
    const int64_t head[] = {p->number, p->time_us, p->entropy, p->width, p->height};
    for (size_t i = 0; i < sizeof(head) / sizeof(head[0]); i++)
        print(file, head[i]);
    for (int i = 0; i < REPORT_CURVE; i++)
        print(file, p->curve[i]);
    for (int i = 0; i < HISTOGRAMS; i++)
        print(file, p->histogram[i / REPORT_HISTOGRAM][i % REPORT_HISTOGRAM]);
    output_file_print(file, " %s %s %s\n", p->jpeg[0], p->jpeg[1], p->words);
}

/* ---- reading ---- */

/* The next word of a line, or NULL. */
static const char *take_word(char **line)
{
    const char *word = *line;
    char *end = *line + strcspn(*line, " ");
    *line = end;
    if (*end)
        *(*line)++ = '\0';
    return *word ? word : NULL;
}

/* -1: there is none. */
static int take(char **line, int64_t *number)
{
    const char *word = take_word(line);
    char *end;
    if (!word)
        return -1;
    *number = strtoll(word, &end, 10);
    if (strcmp(word, "-") == 0)
        *number = REPORT_UNKNOWN;
    else if (*end)
        return -1;
    return 0;
}

static int read_frame(char *line, ReportFrame *f)
{
    int64_t head[7];
    for (int i = 0; i < 7; i++)
        if (take(&line, &head[i]) < 0)
            return -1;
    *f = (ReportFrame){.number = head[0],
                       .begin_us = head[1],
                       .end_us = head[2],
                       .cut = (int)head[3],
                       .width = (int)head[4],
                       .height = (int)head[5],
                       .depth = (int)head[6]};
    for (int i = 0; i < REPORT_FIGURES * REPORT_SIDES; i++)
        if (take(&line, &f->value.of[i / REPORT_SIDES][i % REPORT_SIDES]) < 0)
            return -1;
    return REPORT_LOG_FRAME;
}

static int fill_picture(char *line, ReportPicture *p)
{
    int64_t head[5], number;
    for (int i = 0; i < 5; i++)
        if (take(&line, &head[i]) < 0)
            return -1;
    p->number = head[0];
    p->time_us = head[1];
    p->entropy = head[2];
    p->width = (int)head[3];
    p->height = (int)head[4];
    for (int i = 0; i < REPORT_CURVE; i++) {
        if (take(&line, &number) < 0)
            return -1;
        p->curve[i] = (uint16_t)number;
    }
    for (int i = 0; i < HISTOGRAMS; i++) {
        if (take(&line, &number) < 0)
            return -1;
        p->histogram[i / REPORT_HISTOGRAM][i % REPORT_HISTOGRAM] = (uint32_t)number;
    }
    for (int side = 0; side < 2; side++) {
        const char *word = take_word(&line);
        p->jpeg[side] = word ? strdup(word) : NULL;
    }
    p->words = strdup(line);
    return p->jpeg[0] && p->jpeg[1] && p->words ? REPORT_LOG_PICTURE : -1;
}

int report_log_read(char *line, ReportFrame *frame, ReportPicture **picture)
{
    line[strcspn(line, "\n")] = '\0';
    const char *kind = take_word(&line);
    if (kind && strcmp(kind, "frame") == 0)
        return read_frame(line, frame);
    if (!kind || strcmp(kind, "picture") != 0)
        return -1;
    *picture = calloc(1, sizeof(**picture));
    const int ret = *picture ? fill_picture(line, *picture) : -1;
    if (ret < 0) {
        report_picture_free(*picture);
        *picture = NULL;
    }
    return ret;
}
