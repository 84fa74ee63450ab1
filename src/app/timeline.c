#include "app/timeline.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define COLUMNS 64

static double window_begin(const TimelineFrame *frames)
{
    double begin = frames[0].begin_us[0];
    for (int i = 1; i < TIMELINE_FRAMES; i++)
        begin = frames[i].begin_us[0] < begin ? frames[i].begin_us[0] : begin;
    return begin;
}

static double window_length(const TimelineFrame *frames)
{
    double end = 0;
    for (int i = 0; i < TIMELINE_FRAMES; i++)
        for (int stage = 0; stage < LUMEQ_STAGES; stage++)
            end = frames[i].end_us[stage] > end ? frames[i].end_us[stage] : end;
    return end - window_begin(frames);
}

static double window_work(const TimelineFrame *frames)
{
    double work = 0;
    for (int i = 0; i < TIMELINE_FRAMES; i++)
        for (int stage = 0; stage < LUMEQ_STAGES; stage++)
            work += frames[i].end_us[stage] - frames[i].begin_us[stage];
    return work;
}

void timeline_add(Timeline *t, int64_t number, const LumeqFrameStats *stats)
{
    TimelineFrame *frame = &t->last[TIMELINE_FRAMES - 1];
    if (stats->stage_end_us[LUMEQ_STAGE_UPLOAD] <= 0)
        return; /* the CPU has one stage only */
    memmove(t->last, t->last + 1, sizeof(t->last) - sizeof(t->last[0]));
    frame->number = number;
    memcpy(frame->begin_us, stats->stage_begin_us, sizeof(frame->begin_us));
    memcpy(frame->end_us, stats->stage_end_us, sizeof(frame->end_us));
    if (++t->count < TIMELINE_FRAMES)
        return;
    const double overlap = window_work(t->last) / window_length(t->last);
    if (overlap > t->overlap) {
        t->overlap = overlap;
        memcpy(t->best, t->last, sizeof(t->best));
    }
}

static void print_frame(const TimelineFrame *frame, double begin, double column,
                        void (*print)(const char *line))
{
    char line[COLUMNS + 64], *bar;
    const int n = snprintf(line, sizeof(line), "  frame %6lld |", (long long)frame->number);
    bar = line + n;
    memset(bar, ' ', COLUMNS);
    for (int stage = 0; stage < LUMEQ_STAGES; stage++) {
        const int from = (int)((frame->begin_us[stage] - begin) / column);
        const int to = (int)((frame->end_us[stage] - begin) / column);
        for (int i = from; i <= to && i < COLUMNS; i++)
            bar[i] = "UED"[stage];
    }
    snprintf(bar + COLUMNS, sizeof(line) - (size_t)n - COLUMNS, "|");
    print(line);
}

/* How long one stage of a frame and another one of a frame were at work together. */
static double together(const TimelineFrame *frames, int stage, int other)
{
    double sum = 0;
    for (int i = 0; i < TIMELINE_FRAMES; i++)
        for (int k = 0; k < TIMELINE_FRAMES; k++) {
            const double begin = fmax(frames[i].begin_us[stage], frames[k].begin_us[other]);
            const double end = fmin(frames[i].end_us[stage], frames[k].end_us[other]);
            sum += fmax(end - begin, 0);
        }
    return sum;
}

void timeline_print(const Timeline *t, void (*print)(const char *line))
{
    char line[160];
    if (t->count < TIMELINE_FRAMES)
        return;
    const double begin = window_begin(t->best), length = window_length(t->best);
    snprintf(line, sizeof(line),
             "the busiest %d frames in a row: %.0f us of upload (U), equalize (E) and download (D) "
             "within %.0f us, %.2f at a time; a column is %.1f us",
             TIMELINE_FRAMES, window_work(t->best), length, t->overlap, length / COLUMNS);
    print(line);
    snprintf(line, sizeof(line),
             "at the same time: U and E %.1f us, E and D %.1f us, U and D %.1f us",
             together(t->best, LUMEQ_STAGE_UPLOAD, LUMEQ_STAGE_EQUALIZE),
             together(t->best, LUMEQ_STAGE_EQUALIZE, LUMEQ_STAGE_DOWNLOAD),
             together(t->best, LUMEQ_STAGE_UPLOAD, LUMEQ_STAGE_DOWNLOAD));
    print(line);
    for (int i = 0; i < TIMELINE_FRAMES; i++)
        print_frame(&t->best[i], begin, length / COLUMNS, print);
}
