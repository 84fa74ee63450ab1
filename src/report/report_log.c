#include "report/report_log.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Limit of all numbers, so that a manipulated file cannot overflow sums. */
#define MOST_NUMBER (INT64_C(1) << 50)

/* Numbers at the begin of a line. */
enum { FRAME_NUMBERS = 7, PICTURE_NUMBERS = 5 };

static void print(OutputFile *file, int64_t number)
{
    if (number == REPORT_UNKNOWN)
        output_file_print(file, " -");
    else
        output_file_print(file, " %" PRId64, number);
}

static void print_all(OutputFile *file, const int64_t *numbers, int count)
{
    for (int i = 0; i < count; i++)
        print(file, numbers[i]);
}

void report_log_frame(OutputFile *file, const ReportFrame *f)
{
    output_file_print(file, "frame");
    const int64_t head[] = {f->number, f->begin_us, f->end_us, f->cut,
                            f->width,  f->height,   f->depth};
    print_all(file, head, FRAME_NUMBERS);
    print_all(file, (const int64_t *)f->value.of, REPORT_FIGURES * REPORT_SIDES);
    output_file_print(file, "\n");
}

/* The words come last because they contain spaces. */
void report_log_picture(OutputFile *file, const ReportPicture *p)
{
    output_file_print(file, "picture");
    const int64_t head[] = {p->number, p->time_us, p->entropy, p->width, p->height};
    print_all(file, head, PICTURE_NUMBERS);
    for (int i = 0; i < REPORT_CURVE; i++)
        print(file, p->curve[i]);
    output_file_print(file, " %s %s %s\n", p->jpeg[0], p->jpeg[1], p->words);
}

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

/* Returns -1 if there is no number. */
static int take(char **line, int64_t *number)
{
    const char *word = take_word(line);
    char *end;
    if (!word)
        return -1;
    *number = strtoll(word, &end, 10);
    if (strcmp(word, "-") == 0)
        *number = REPORT_UNKNOWN;
    else if (*end || *number < -MOST_NUMBER || *number > MOST_NUMBER)
        return -1;
    return 0;
}

static int take_all(char **line, int64_t *numbers, int count)
{
    for (int i = 0; i < count; i++)
        if (take(line, &numbers[i]) < 0)
            return -1;
    return 0;
}

static int read_frame(char *line, ReportFrame *f)
{
    int64_t head[FRAME_NUMBERS];
    if (take_all(&line, head, FRAME_NUMBERS) < 0)
        return -1;
    *f = (ReportFrame){.number = head[0],
                       .begin_us = head[1],
                       .end_us = head[2],
                       .cut = (int)head[3],
                       .width = (int)head[4],
                       .height = (int)head[5],
                       .depth = (int)head[6]};
    const int ret = take_all(&line, (int64_t *)f->value.of, REPORT_FIGURES * REPORT_SIDES);
    return ret < 0 ? ret : REPORT_LOG_FRAME;
}

static int fill_picture(char *line, ReportPicture *p)
{
    int64_t head[PICTURE_NUMBERS], number;
    if (take_all(&line, head, PICTURE_NUMBERS) < 0)
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
