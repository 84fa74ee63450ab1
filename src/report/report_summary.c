#include "report/report_summary.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

int report_summary_open(ReportSummary *s)
{
    *s = (ReportSummary){.step = 1, .pictured = 1};
    s->points = calloc(REPORT_POINTS, sizeof(*s->points));
    s->shots = calloc(REPORT_SHOTS, sizeof(*s->shots));
    if (s->points && s->shots)
        return 0;
    report_summary_close(s);
    return -1;
}

void report_summary_close(ReportSummary *s)
{
    for (int i = 0; i < s->shot_count; i++)
        report_picture_free(s->shots[i].picture);
    free(s->points);
    free(s->shots);
    *s = (ReportSummary){0};
}

static void add_to_span(ReportSpan *span, const ReportFrame *frame)
{
    if (!span->frames) {
        span->first = frame->number;
        span->begin_us = frame->begin_us;
    }
    span->frames++;
    span->end_us = frame->end_us;
    report_sum_add(&span->sums, &frame->value);
}

/* Computes MABD and flicker, except at cuts. */
static void find_changes(ReportSummary *s, ReportFrame *frame)
{
    int64_t change[REPORT_SIDES];
    for (int side = 0; side < REPORT_SIDES; side++) {
        const int64_t mean = frame->value.of[REPORT_MEAN][side];
        change[side] = mean - s->last_mean[side];
        s->last_mean[side] = mean;
    }
    if (!s->all.frames || frame->cut)
        return;
    for (int side = 0; side < REPORT_SIDES; side++)
        frame->value.of[REPORT_MABD][side] = llabs(change[side]);
    frame->value.of[REPORT_FLICKER][REPORT_AFTER] =
        llabs(change[REPORT_AFTER] - change[REPORT_BEFORE]);
}

static void add_to_points(ReportSummary *s, const ReportFrame *frame)
{
    if (s->all.frames / s->step == REPORT_POINTS) { /* merge neighbours */
        for (int i = 0; i < REPORT_POINTS / 2; i++) {
            const ReportSpan *next = &s->points[2 * i + 1];
            s->points[i] = s->points[2 * i];
            s->points[i].frames += next->frames;
            s->points[i].end_us = next->end_us;
            report_sum_merge(&s->points[i].sums, &next->sums);
        }
        memset(s->points + REPORT_POINTS / 2, 0, REPORT_POINTS / 2 * sizeof(*s->points));
        s->step *= 2;
    }
    const int at = (int)(s->all.frames / s->step);
    add_to_span(&s->points[at], frame);
    s->point_count = at + 1;
}

static bool has_picture(const ReportSummary *s, int64_t shot)
{
    return shot < REPORT_SHOTS && shot % s->pictured == 0;
}

static void begin_shot(ReportSummary *s)
{
    if (s->shots_seen % s->pictured == 0 && s->shots_seen / s->pictured == REPORT_PICTURED) {
        s->pictured *= 2; /* too many pictures: drop every second one */
        for (int i = 0; i < s->shot_count; i++)
            if (!has_picture(s, i)) {
                report_picture_free(s->shots[i].picture);
                s->shots[i].picture = NULL;
            }
    }
    if (s->shots_seen < REPORT_SHOTS)
        s->shots[s->shot_count++] = (ReportShot){0};
    s->shots_seen++;
}

/* The new picture replaces the shot's picture. But it is dropped if its entropy is less than half
 * of the shot's mean entropy, as in a fade. */
static void add_to_shot(ReportSummary *s, const ReportFrame *frame, ReportPicture *picture)
{
    ReportShot *shot = &s->shots[s->shot_count - 1];
    const ReportSum *entropy = &shot->span.sums.of[REPORT_ENTROPY][REPORT_BEFORE];
    if (s->shots_seen <= REPORT_SHOTS)
        add_to_span(&shot->span, frame);
    if (!picture || (shot->picture && 2 * picture->entropy * entropy->count < entropy->sum)) {
        report_picture_free(picture);
        return;
    }
    report_picture_free(shot->picture);
    shot->picture = picture;
}

static bool is_first(const ReportSummary *s, const ReportFrame *frame)
{
    return frame->cut || !s->all.frames;
}

/* Wants frames 0, 1, 2, 4, 8 and so on, so the last of them is in the shot's second half. */
bool report_summary_wants(const ReportSummary *s, const ReportFrame *frame)
{
    if (is_first(s, frame))
        return has_picture(s, s->shots_seen);
    const int64_t frames = s->shots[s->shot_count - 1].span.frames;
    return has_picture(s, s->shots_seen - 1) && !(frames & (frames - 1));
}

void report_summary_add(ReportSummary *s, ReportFrame *frame, ReportPicture *picture)
{
    if (!s->all.frames) {
        s->width = frame->width;
        s->height = frame->height;
        s->depth = frame->depth;
    }
    find_changes(s, frame);
    if (is_first(s, frame))
        begin_shot(s);
    s->cuts += s->all.frames && frame->cut;
    add_to_shot(s, frame, picture);
    add_to_points(s, frame);
    add_to_span(&s->all, frame);
}
