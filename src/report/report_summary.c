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
    for (int i = 0; i <= CHOICE_MOST; i++)
        report_picture_free(s->chosen[i]);
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

/* Cuts change brightness but are not flicker. */
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

/* True if picture a represents the shot better: it is not black, as in fades, or it is nearer to
 * the middle. */
static bool is_better(const ReportPicture *a, const ReportPicture *b, const ReportSpan *span)
{
    const ReportSum *entropy = &span->sums.of[REPORT_ENTROPY][REPORT_BEFORE];
    const int64_t middle = span->first + span->frames / 2;
    const int a_shows = 2 * a->entropy * entropy->count >= entropy->sum;
    const int b_shows = 2 * b->entropy * entropy->count >= entropy->sum;
    if (a_shows != b_shows)
        return a_shows;
    return llabs(a->number - middle) < llabs(b->number - middle);
}

static void end_shot(ReportSummary *s)
{
    if (s->shots_seen && s->shots_seen <= REPORT_SHOTS && s->choice.count) {
        ReportShot *shot = &s->shots[s->shot_count - 1];
        int best = 0;
        for (int i = 1; i < s->choice.count; i++)
            if (is_better(s->chosen[i], s->chosen[best], &shot->span))
                best = i;
        shot->picture = s->chosen[best];
        s->chosen[best] = NULL;
    }
    for (int i = 0; i <= CHOICE_MOST; i++) {
        report_picture_free(s->chosen[i]);
        s->chosen[i] = NULL;
    }
    s->choice = (PictureChoice){0};
}

static void begin_shot(ReportSummary *s)
{
    end_shot(s);
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

static void add_to_shot(ReportSummary *s, const ReportFrame *frame, ReportPicture *picture)
{
    if (s->shots_seen <= REPORT_SHOTS)
        add_to_span(&s->shots[s->shot_count - 1].span, frame);
    if (!picture || !has_picture(s, s->shots_seen - 1) ||
        !picture_choice_wants(&s->choice, frame->number, 0)) {
        report_picture_free(picture);
        return;
    }
    s->chosen[s->choice.count] = picture;
    if (!picture_choice_take(&s->choice, frame->number, 0))
        return;
    int left = 0; /* keep the pictures of the remaining candidates, in order */
    for (int i = 0; i <= CHOICE_MOST; i++) {
        ReportPicture *chosen = s->chosen[i];
        s->chosen[i] = NULL;
        if (chosen && left < s->choice.count && chosen->number == s->choice.number[left])
            s->chosen[left++] = chosen;
        else
            report_picture_free(chosen);
    }
}

static bool is_first(const ReportSummary *s, const ReportFrame *frame)
{
    return frame->cut || !s->all.frames;
}

int report_summary_wants(const ReportSummary *s, const ReportFrame *frame)
{
    return is_first(s, frame) ? has_picture(s, s->shots_seen)
                              : has_picture(s, s->shots_seen - 1) &&
                                    picture_choice_wants(&s->choice, frame->number, 0);
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

void report_summary_end(ReportSummary *s)
{
    end_shot(s);
}
