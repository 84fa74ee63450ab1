#include "player/subtitles/subtitle_budget.h"

#include <stdlib.h>
#include <string.h>

/* Room for one more in an array of `count`: 0 or -1. */
static int grow(void **array, int *room, int count, size_t size)
{
    if (count < *room)
        return 0;
    const int more = *room ? 2 * *room : 256;
    void *grown = realloc(*array, (size_t)more * size);
    if (!grown)
        return -1;
    *array = grown;
    *room = more;
    return 0;
}

/* What a line takes, waiting or as an event of the track. */
static int64_t text_bytes(const char *text)
{
    return (int64_t)(strlen(text) + 1 + sizeof(BudgetLine) + sizeof(ASS_Event) + sizeof(int64_t));
}

void subtitle_budget_add(SubtitleBudget *b, const char *text, long long start, long long duration)
{
    const int64_t bytes = b->text_bytes + text_bytes(text);
    void *lines = b->lines;
    char *copy = bytes <= SUBTITLE_TEXT_BUDGET ? strdup(text) : NULL;
    if (!copy || grow(&lines, &b->line_room, b->line_count, sizeof(*b->lines)) < 0) {
        free(copy);
        b->left_out++;
        return;
    }
    b->lines = lines;
    b->text_bytes = bytes;
    b->lines[b->line_count++] = (BudgetLine){copy, start, duration};
}

int64_t subtitle_budget_bytes(const ASS_Image *image)
{
    int64_t bytes = 0;
    for (; image; image = image->next)
        bytes += (int64_t)image->stride * image->h;
    return bytes;
}

static int64_t cost_of(SubtitleBudget *b, ASS_Renderer *renderer, const BudgetLine *line,
                       long long now)
{
    ass_flush_events(b->probe);
    ass_process_chunk(b->probe, line->text, (int)strlen(line->text), line->start, line->duration);
    return subtitle_budget_bytes(ass_render_frame(renderer, b->probe, now, NULL));
}

/* The same of an event of the track, whose styles are the probe's. -1: without memory. */
static int64_t cost_of_event(SubtitleBudget *b, ASS_Renderer *renderer, const ASS_Event *event,
                             long long now)
{
    ass_flush_events(b->probe);
    const int i = ass_alloc_event(b->probe);
    if (i < 0)
        return -1;
    ASS_Event *copy = &b->probe->events[i];
    *copy = *event;
    copy->render_priv = NULL; /* where it lies among the others */
    copy->Name = strdup(event->Name ? event->Name : "");
    copy->Effect = strdup(event->Effect ? event->Effect : "");
    copy->Text = strdup(event->Text ? event->Text : "");
    if (!copy->Name || !copy->Effect || !copy->Text)
        return -1;
    return subtitle_budget_bytes(ass_render_frame(renderer, b->probe, now, NULL));
}

static int is_seen(const ASS_Event *event, long long now)
{
    return event->Start <= now && now < event->Start + event->Duration;
}

static int64_t cost_of_seen(const SubtitleBudget *b, const ASS_Track *track, long long now)
{
    int64_t total = 0;
    for (int i = 0; i < b->event_count; i++)
        if (is_seen(&track->events[i], now))
            total += b->events[i].cost;
    return total;
}

/* By its tags, or by an effect that scrolls it in. */
static int may_grow(const ASS_Event *event)
{
    static const char *const tags[] = {"\\t", "\\mov", "\\fad", "\\k", "\\K"};
    for (size_t i = 0; event->Text && i < sizeof(tags) / sizeof(tags[0]); i++)
        if (strstr(event->Text, tags[i]))
            return 1;
    return event->Effect && event->Effect[0];
}

/* libass passes over lines that are none. */
static int put_in(SubtitleBudget *b, ASS_Track *track, const BudgetLine *line, int64_t cost)
{
    void *events = b->events;
    if (grow(&events, &b->event_room, b->event_count, sizeof(*b->events)) < 0)
        return -1;
    b->events = events;
    ass_process_chunk(track, line->text, (int)strlen(line->text), line->start, line->duration);
    if (track->n_events > b->event_count) {
        const ASS_Event *event = &track->events[b->event_count];
        b->events[b->event_count++] = (BudgetEvent){cost, may_grow(event)};
    }
    return 0;
}

/* Its text goes on to count: how long it was as a line is not known any more. */
static void take_out(SubtitleBudget *b, ASS_Track *track, int i)
{
    const size_t after = (size_t)(b->event_count - i - 1);
    ass_free_event(track, i);
    memmove(&track->events[i], &track->events[i + 1], after * sizeof(*track->events));
    memmove(&b->events[i], &b->events[i + 1], after * sizeof(*b->events));
    track->n_events--;
    b->event_count--;
    b->left_out++;
}

/* Lines that change go before others, which take no time once they have been drawn. */
static int goes_before(const BudgetEvent *a, const BudgetEvent *b)
{
    return a->may_grow != b->may_grow ? a->may_grow : a->cost > b->cost;
}

/* The first to be left out, -1: none takes any memory. */
static int most_expensive(const SubtitleBudget *b, const ASS_Track *track, long long now)
{
    int first = -1;
    for (int i = 0; i < b->event_count; i++)
        if (b->events[i].cost > 0 && is_seen(&track->events[i], now) &&
            (first < 0 || goes_before(&b->events[i], &b->events[first])))
            first = i;
    return first;
}

static void shrink(SubtitleBudget *b, ASS_Track *track, long long now, int64_t total, int64_t limit)
{
    int first;
    while (total > limit && (first = most_expensive(b, track, now)) >= 0) {
        total -= b->events[first].cost;
        take_out(b, track, first);
    }
}

void subtitle_budget_halve(SubtitleBudget *b, ASS_Track *track, long long now)
{
    const int64_t total = cost_of_seen(b, track, now);
    shrink(b, track, now, total, total / 2);
}

static int by_cost(const void *a, const void *b)
{
    const int64_t x = (*(BudgetEvent *const *)a)->cost, y = (*(BudgetEvent *const *)b)->cost;
    return (x > y) - (x < y);
}

/* Those that are seen and may have grown, the cheapest first, as they were. The caller frees it. */
static BudgetEvent **growing(const SubtitleBudget *b, const ASS_Track *track, long long now,
                             int *count)
{
    BudgetEvent **events = malloc((size_t)b->event_count * sizeof(BudgetEvent *) + 1);
    *count = 0;
    for (int i = 0; events && i < b->event_count; i++)
        if (b->events[i].may_grow && is_seen(&track->events[i], now))
            events[(*count)++] = &b->events[i];
    if (*count)
        qsort(events, (size_t)*count, sizeof(BudgetEvent *), by_cost);
    return events;
}

static int by_place_backwards(const void *a, const void *b)
{
    const BudgetEvent *x = *(BudgetEvent *const *)a, *y = *(BudgetEvent *const *)b;
    return (x < y) - (x > y);
}

void subtitle_budget_halve_changing(SubtitleBudget *b, ASS_Track *track, long long now)
{
    int count;
    BudgetEvent **events = growing(b, track, now, &count);
    const int left = count / 2;
    /* Those behind one that is taken out move. */
    if (count)
        qsort(events + left, (size_t)(count - left), sizeof(BudgetEvent *), by_place_backwards);
    for (int i = left; i < count; i++)
        take_out(b, track, (int)(events[i] - b->events));
    free(events);
    if (!count)
        subtitle_budget_halve(b, track, now);
}

/* What there is no time for is left out as if it were too large: what it takes is not known. */
static int measure_again(SubtitleBudget *b, ASS_Renderer *renderer, ASS_Track *track, long long now,
                         int (*may_go_on)(void *opaque), void *opaque)
{
    int count, in_time = 1;
    BudgetEvent **events = growing(b, track, now, &count);
    for (int i = 0; i < count; i++) {
        const ASS_Event *event = &track->events[events[i] - b->events];
        const int64_t cost = in_time ? cost_of_event(b, renderer, event, now) : -1;
        in_time = in_time && may_go_on(opaque);
        if (!in_time || cost < 0)
            events[i]->cost = SUBTITLE_BUDGET + 1;
        else if (cost > events[i]->cost)
            events[i]->cost = cost;
    }
    free(events);
    if (count)
        shrink(b, track, now, b->text_bytes + cost_of_seen(b, track, now), SUBTITLE_BUDGET);
    return count;
}

static int is_due(const BudgetLine *line, long long now)
{
    return line->start <= now && now < line->start + line->duration;
}

int subtitle_budget_waits(const SubtitleBudget *b, long long now)
{
    for (int i = 0; i < b->line_count; i++)
        if (is_due(&b->lines[i], now))
            return 1;
    return 0;
}

int subtitle_budget_take(SubtitleBudget *b, ASS_Renderer *renderer, ASS_Track *track, long long now,
                         int (*may_go_on)(void *opaque), void *opaque)
{
    int rendered = measure_again(b, renderer, track, now, may_go_on, opaque);
    int64_t total = -1;
    int left = 0, stopped = rendered && !may_go_on(opaque);
    for (int i = 0; i < b->line_count; i++) {
        BudgetLine *line = &b->lines[i];
        if (stopped || !is_due(line, now)) {
            b->lines[left++] = *line;
            continue;
        }
        total = total < 0 ? b->text_bytes + cost_of_seen(b, track, now) : total;
        int64_t cost = 0;
        if (total <= SUBTITLE_BUDGET) { /* else nothing fits in, whatever it is */
            cost = cost_of(b, renderer, line, now);
            rendered++;
            stopped = !may_go_on(opaque);
        }
        if (total + cost > SUBTITLE_BUDGET || put_in(b, track, line, cost) < 0) {
            b->left_out++;
            b->text_bytes -= text_bytes(line->text);
        }
        total += cost;
        free(line->text);
    }
    b->line_count = left;
    return rendered;
}

void subtitle_budget_close(SubtitleBudget *b)
{
    if (b->probe)
        ass_free_track(b->probe);
    for (int i = 0; i < b->line_count; i++)
        free(b->lines[i].text);
    free(b->lines);
    free(b->events);
    *b = (SubtitleBudget){0};
}
